"""The URLs that binary classifiers are trained and tested on (Baykan 2013, 3.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.datasets import LabelledUrl, distinct, domain_reader
from classifiers.errors import DatasetError
from classifiers.papers.baykan.study import folds

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_FOLDS: Final = 101
_NEGATIVES: Final = 102


@dataclass(frozen=True)
class Corpus:
    """The same number of URLs of each language, grouped by language."""

    languages: tuple[str, ...]
    rows: tuple[LabelledUrl, ...]

    @property
    def per_language(self) -> int:
        """Return the number of URLs of each language."""
        return len(self.rows) // len(self.languages)

    @cached_property
    def urls(self) -> list[str]:
        """Return the URLs of all rows."""
        return [row.url for row in self.rows]

    @cached_property
    def columns(self) -> Places:
        """Return the index of each row's language, (n_urls,)."""
        numbers = {code: at for at, code in enumerate(self.languages)}
        return np.array([numbers[row.language] for row in self.rows], np.int64)

    @cached_property
    def domains(self) -> Places:
        """Return a number for each row's registered domain, (n_urls,)."""
        domain = domain_reader()
        _, numbers = np.unique([domain(url) for url in self.urls], return_inverse=True)
        return numbers.astype(np.int64)


@dataclass(frozen=True)
class Sample:
    """Positives and as many negatives of one classifier, with the fold in which each is tested."""

    language: str
    places: Places
    """Rows of the corpus, (n_urls,)."""
    y: Flags
    folds: Places


def draw(
    rows: Iterable[LabelledUrl],
    languages: Sequence[str],
    *,
    urls: int | None = None,
    least: int = 10,
    seed: int = 0,
) -> Corpus:
    """The same number of URLs of each language, drawn at random.

    `urls` is the largest such number; None for the number of the smallest language. The order of
    the rows does not matter. DatasetError if a language has fewer than `least` distinct URLs, or if
    there are fewer than two languages.
    """
    if len(languages) < 2:
        raise DatasetError("a classifier needs a second language as negatives: name two")
    found: dict[str, list[LabelledUrl]] = defaultdict(list)
    for row in distinct(rows):
        found[row.language].append(row)
    size = min([len(found[code]) for code in languages] + ([urls] if urls else []))
    if size < least:
        counts = ", ".join(f"{code} {len(found[code])}" for code in languages)
        raise DatasetError(f"too few URLs: {least} of each language are needed ({counts})")
    chosen: list[LabelledUrl] = []
    for place, code in enumerate(languages):
        pool = sorted(found[code])
        order = np.random.default_rng([seed, place]).permutation(len(pool))[:size]
        chosen += [pool[at] for at in order]
    return Corpus(tuple(languages), tuple(chosen))


def sample(
    corpus: Corpus, language: str, *, n_folds: int = 10, seed: int = 0, is_disjoint: bool = False
) -> Sample:
    """All URLs of a language, and as many others in equal parts from the other languages.

    Folds are stratified by language; with `is_disjoint` they consist of whole registered domains.
    """
    own = corpus.languages.index(language)
    places = np.concatenate([np.flatnonzero(corpus.columns == own), _negatives(corpus, own, seed)])
    y = corpus.columns[places] == own
    rng = np.random.default_rng([seed, own, _FOLDS])
    if is_disjoint:
        tested = folds.disjoint(corpus.domains[places], y, n_folds, rng)
    else:
        # The language itself comes first, so that the others together are stratified too.
        strata = np.where(y, -1, corpus.columns[places])
        tested = folds.stratified(strata, n_folds, rng)
    return Sample(language, places, y, tested)


def _negatives(corpus: Corpus, own: int, seed: int) -> Places:
    others = [column for column in range(len(corpus.languages)) if column != own]
    share, rest = divmod(corpus.per_language, len(others))
    chosen = []
    for rank, column in enumerate(others):
        rng = np.random.default_rng([seed, own, column, _NEGATIVES])
        pool = np.flatnonzero(corpus.columns == column)
        chosen.append(rng.permutation(pool)[: share + (rank < rest)])
    return np.concatenate(chosen)
