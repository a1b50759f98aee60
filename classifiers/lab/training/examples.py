"""The training examples of the URL model: labelled URLs, their paths, and made-up paths."""

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
    is_held_out: npt.NDArray[np.bool_]
    """Whether a labelled URL is held out for the calibration of the decision thresholds."""
    is_left_out: npt.NDArray[np.bool_]
    """Whether an example is held out; a path is held out with its URL, (n_urls,)."""
    masses: npt.NDArray[np.float64]
    """Weight of each language among the negatives of another, (n_languages,)."""


def collect(
    rows: Sequence[LabelledUrl],
    languages: Sequence[str],
    *,
    held_out: float,
    seed: int,
    made_up: bool,
) -> Examples:
    """The rows, their paths without hosts, and, with `made_up`, made-up paths."""
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
    """The part of a URL from the first `/` after its host; '' if there is none."""
    rest = url.partition("://")[2] or url
    return rest[len(rest.partition("/")[0]) :]
