"""Baseline: the language of the top-level domain alone (Baykan 2013, 2.2 and 4.1)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.languages import tlds_of
from langfocus.classifiers.tables.language_codes import PROJECT_CODES


def top_level_domain(url: str) -> str:
    """Return the last host label of a URL in lower case; '' without any."""
    host = host_of(url[:2048])
    return host.rpartition(".")[2] if "." in host else ""


def host_of(url: str) -> str:
    """Return a URL's host in lower case, without credentials, port and final period."""
    rest = url.partition("://")
    authority = rest[2] if rest[1] else rest[0]
    for delimiter in "/?#":
        authority = authority.partition(delimiter)[0]
    return authority.rpartition("@")[2].partition(":")[0].strip().lower().rstrip(".")


def score(urls: Sequence[str], language: str) -> npt.NDArray[np.float32]:
    """Return 1.0 for URLs under a top-level domain of the language, else 0.0, (n_urls,)."""
    if language not in PROJECT_CODES:
        raise LanguageError(f"no language has the code {language!r}")
    domains = tlds_of(language)
    matches = (top_level_domain(url) in domains for url in urls)
    return np.fromiter(matches, np.float32, len(urls))
