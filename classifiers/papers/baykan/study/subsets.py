"""Subsets of test URLs: empty ones, and those of known domains."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.papers.baykan.features.vectors import Words
from classifiers.papers.baykan.study.validation import STANDARD, Setting, Study

Flags = npt.NDArray[np.bool_]

TRIVIAL: Final = frozenset({"com", "net", "www", "index", "html"})
"""Words that leave a URL empty (Baykan 2013, 4.6)."""


def empty(study: Study, language: str, setting: Setting = STANDARD) -> Flags:
    """Whether each URL has only trivial words and words of no training URL, (n_urls,)."""
    words = Words()
    counts = words.fit_transform(study.urls(language, setting))
    tells = ~np.isin(words.get_feature_names_out().astype(str), sorted(TRIVIAL))
    is_empty = np.ones(counts.shape[0], bool)
    for train, test in study.splits(language, setting).parts():
        is_known = np.zeros(counts.shape[1])
        is_known[counts[train].indices] = 1.0
        is_empty[test] = counts[test] @ (is_known * tells) == 0
    return is_empty


def domain_seen(study: Study, language: str, setting: Setting = STANDARD) -> tuple[Flags, Flags]:
    """Whether each URL's registered domain is in the training set, at all and in two languages.

    Two arrays (n_urls,). The languages are those of the sample's URLs, not only Yes and No.
    """
    places = study.sample(language, setting).places
    domains, columns = study.corpus.domains[places], study.corpus.columns[places]
    shape = (int(study.corpus.domains.max()) + 1, len(study.languages))
    is_seen, is_multilingual = np.zeros(len(places), bool), np.zeros(len(places), bool)
    for train, test in study.splits(language, setting).parts():
        in_training = np.zeros(shape, bool)
        in_training[domains[train], columns[train]] = True
        n_languages = in_training[domains[test]].sum(axis=1)
        is_seen[test], is_multilingual[test] = n_languages > 0, n_languages > 1
    return is_seen, is_multilingual
