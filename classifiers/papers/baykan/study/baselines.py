"""Decisions of the classifiers without training, for the paper's languages and for others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from classifiers.languages import tlds_of
from classifiers.papers.baykan.algorithms import classifier
from classifiers.papers.baykan.features.words import parts
from classifiers.papers.baykan.study.servers import Servers
from classifiers.tables.country_domains import TABLE_I
from classifiers.urls import cctld

Flags = npt.NDArray[np.bool_]


def ask(name: str, language: str, urls: Sequence[str], servers: Servers | None) -> Flags:
    """Whether a baseline says Yes to each URL, (n_urls,).

    Table I of the paper has five languages. Unlike in the paper, another language has all its
    top-level domains; for `ip` they represent countries.
    """
    if language in TABLE_I:
        asked = classifier(name, language, countries=servers)
        return np.asarray(asked.fit(urls, None).predict(urls), bool)
    if name == "ip" and servers is not None:
        domains = tlds_of(language)
        codes = (servers(parts(url)[0]) for url in urls)
        return np.array([code is not None and code.lower() in domains for code in codes], bool)
    return cctld.score(urls, language) > 0
