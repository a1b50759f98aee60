"""The training examples of the URL model: labelled URLs, their paths, and made-up paths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.datasets import LabelledUrl, domain_reader, stable_share
from classifiers.training import wordlists

FIVE: Final = ("en", "de", "fr", "es", "it")
"""The languages of Baykan 2013."""

_FULL_SIZE: Final = 10_000
"""URLs from which a language counts in full; with fewer it counts in proportion."""
_OTHERS: Final = 0.03
"""Weight of a language other than the five, relative to one of them."""
_COPIED: Final = 1_000
"""URLs of a language from which its paths are also learned without their hosts."""
_MADE_UP: Final = 2_000
"""Made-up paths of each language that is not written in Latin letters."""
_MADE_UP_SHARE: Final = 0.3
"""Weight of all made-up paths beside the URLs of the language."""
_MADE_UP_MASS: Final = 0.02
"""Weight of all made-up paths as negatives, even if the language has few URLs: letters of this
language alone must not count for a larger language."""
_WORDY: Final = re.compile(r"(?:[A-Za-z]{3,}[^A-Za-z]+){2}[A-Za-z]{3,}")
"""Three words or more."""


@dataclass(frozen=True)
class Examples:
    """Training examples; the labelled URLs come first."""

    urls: list[str]
    columns: npt.NDArray[np.int64]
    """The language of each example, (n_urls,)."""
    weights: npt.NDArray[np.float64]
    """Weight of each example, (n_urls,); the sum for a language is a little more than its mass."""
    rest_weights: npt.NDArray[np.float64]
    """Weight of each example as a negative of other languages, (n_urls,)."""
    folds: npt.NDArray[np.int64]
    """The part that an example belongs to, (n_urls,); a registered domain is in one part, a path in
    that of its URL. -1 for made-up paths, which are never left out."""
    n_labelled: int
    """Number of labelled URLs."""
    masses: npt.NDArray[np.float64]
    """Weight of each language among the negatives of another, (n_languages,)."""


def collect(
    rows: Sequence[LabelledUrl],
    languages: Sequence[str],
    *,
    folds: int,
    seed: int,
    made_up: bool,
) -> Examples:
    """The rows, their paths without hosts, and, with `made_up`, made-up paths."""
    index = {code: at for at, code in enumerate(languages)}
    counts = Counter(row.language for row in rows)
    masses = np.array([_mass(code, counts[code]) for code in languages])
    each = {code: masses[index[code]] / counts[code] for code in languages}
    parts = folds_of([row.url for row in rows], folds, seed)
    items = [
        (row.url, row.language, each[row.language], each[row.language], part)
        for row, part in zip(rows, parts, strict=True)
    ]
    for row, part in zip(rows, parts, strict=True):
        path = _path(row.url)
        if counts[row.language] >= _COPIED and _WORDY.search(path):
            items.append((path, row.language, each[row.language], each[row.language], part))
    for code in languages if made_up else ():
        paths = wordlists.paths(code, _MADE_UP, seed)
        share = _MADE_UP_SHARE * masses[index[code]] / _MADE_UP
        items += [(path, code, share, _MADE_UP_MASS / _MADE_UP, -1) for path in paths]
    urls, codes, weights, rest_weights, numbers = zip(*items, strict=True)
    return Examples(
        list(urls),
        np.array([index[code] for code in codes], np.int64),
        np.array(weights),
        np.array(rest_weights),
        np.array(numbers, np.int64),
        len(rows),
        masses,
    )


def folds_of(urls: Sequence[str], n_folds: int, seed: int) -> list[int]:
    """The number of the part of each URL, the same for all URLs of a registered domain."""
    domain = domain_reader()
    return [int(stable_share(domain(url), seed, "calibration") * n_folds) for url in urls]


def _mass(language: str, count: int) -> float:
    full = 1.0 if language in FIVE else _OTHERS
    return full * min(count, _FULL_SIZE) / _FULL_SIZE


def _path(url: str) -> str:
    """The part of a URL from the first `/` after its host; '' if there is none."""
    rest = url.partition("://")[2] or url
    return rest[len(rest.partition("/")[0]) :]
