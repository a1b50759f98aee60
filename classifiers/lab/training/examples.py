"""What the classifiers of the URL model learn from: labelled URLs, and URLs made of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.lab.datasets import LabelledUrl, domain_reader, stable_share
from classifiers.lab.training import wordlists

FIVE: Final = ("en", "de", "fr", "es", "it")
"""The languages of Baykan 2013."""

_FULL_SIZE: Final = 10_000
"""URLs of a language from which it counts in full; below, as much as it has."""
_OTHERS: Final = 0.03
"""What another language than the five counts beside them."""
_COPIED: Final = 1_000
"""URLs a language needs for its paths to be learned without their hosts."""
_MADE_UP: Final = 2_000
"""Made-up paths of each language that is not written in Latin letters."""
_MADE_UP_SHARE: Final = 0.3
"""What all of these count beside the URLs of the language."""
_MADE_UP_MASS: Final = 0.02
"""What all of these count as negatives, however few URLs the language has: letters that no
other language has must not be taken for those of a larger one."""
_WORDY: Final = re.compile(r"(?:[A-Za-z]{3,}[^A-Za-z]+){2}[A-Za-z]{3,}")
"""Three words or more."""


@dataclass(frozen=True)
class Examples:
    """URLs, the first of which are labelled ones."""

    urls: list[str]
    columns: npt.NDArray[np.int64]
    """Which language each is in, (n_urls,)."""
    weights: npt.NDArray[np.float64]
    """What each counts, (n_urls,); those of a language add up to its mass and a little more."""
    rest_weights: npt.NDArray[np.float64]
    """What each counts as a negative of other languages, (n_urls,)."""
    is_held_out: npt.NDArray[np.bool_]
    """Of each labelled URL, whether the points of Yes are set on its domain."""
    is_left_out: npt.NDArray[np.bool_]
    """The same for all URLs: what is made of a URL is left out with it."""
    masses: npt.NDArray[np.float64]
    """What each language counts as negative of another, (n_languages,)."""


def collect(
    rows: Sequence[LabelledUrl],
    languages: Sequence[str],
    *,
    held_out: float,
    seed: int,
    made_up: bool,
) -> Examples:
    """The rows, their paths without hosts, and made-up paths where `made_up` says so."""
    index = {code: at for at, code in enumerate(languages)}
    counts = Counter(row.language for row in rows)
    masses = np.array([_mass(code, counts[code]) for code in languages])
    each = {code: masses[index[code]] / counts[code] for code in languages}
    domain = domain_reader()
    shares = (stable_share(domain(row.url), seed, "calibration") for row in rows)
    is_held_out = np.fromiter(shares, np.float64, len(rows)) < held_out
    items = [
        (row.url, row.language, each[row.language], each[row.language], out)
        for row, out in zip(rows, is_held_out.tolist(), strict=True)
    ]
    for row, out in zip(rows, is_held_out.tolist(), strict=True):
        path = _path(row.url)
        if counts[row.language] >= _COPIED and _WORDY.search(path):
            items.append((path, row.language, each[row.language], each[row.language], out))
    for code in languages if made_up else ():
        paths = wordlists.paths(code, _MADE_UP, seed)
        share = _MADE_UP_SHARE * masses[index[code]] / _MADE_UP
        items += [(path, code, share, _MADE_UP_MASS / _MADE_UP, False) for path in paths]
    urls, codes, weights, rest_weights, left_out = zip(*items, strict=True)
    return Examples(
        list(urls),
        np.array([index[code] for code in codes], np.int64),
        np.array(weights),
        np.array(rest_weights),
        is_held_out,
        np.array(left_out),
        masses,
    )


def _mass(language: str, count: int) -> float:
    full = 1.0 if language in FIVE else _OTHERS
    return full * min(count, _FULL_SIZE) / _FULL_SIZE


def _path(url: str) -> str:
    """A URL from the first `/` after its host, '' where there is none."""
    rest = url.partition("://")[2] or url
    return rest[len(rest.partition("/")[0]) :]
