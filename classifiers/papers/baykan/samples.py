"""Training and test URLs of classifiers, and their folds (Baykan 2013, 3.2)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.datasets.rows import LabelledUrl, distinct, domain_reader
from langfocus.classifiers.errors import DatasetError

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_FOLDS, _NEGATIVES, _THINNING = 101, 102, 103
"""Seed components: each draw has its own random stream."""


@dataclass(frozen=True)
class Corpus:
    """Equal numbers of training URLs per language, grouped by language.

    The URLs of a separate test set, if any, follow.
    """

    languages: tuple[str, ...]
    rows: tuple[LabelledUrl, ...]
    n_tested: int = 0
    """Number of URLs in the test set."""
    n_removed: int = 0
    """Number of test URLs removed as training URLs."""

    @property
    def per_language(self) -> int:
        """Number of training URLs per language."""
        return (len(self.rows) - self.n_tested) // len(self.languages)

    @cached_property
    def urls(self) -> list[str]:
        """URLs of all rows."""
        return [row.url for row in self.rows]

    @cached_property
    def columns(self) -> Numbers:
        """Language index per row, (n_urls,)."""
        numbers = {code: at for at, code in enumerate(self.languages)}
        return np.array([numbers[row.language] for row in self.rows], np.int64)

    @cached_property
    def domains(self) -> Numbers:
        """Registered domain number per row, (n_urls,)."""
        domain = domain_reader()
        _, numbers = np.unique([domain(url) for url in self.urls], return_inverse=True)
        return numbers.astype(np.int64)

    @property
    def is_tested(self) -> Flags:
        """Mask of test set rows, (n_urls,)."""
        return np.arange(len(self.rows)) >= len(self.rows) - self.n_tested


@dataclass(frozen=True)
class Sample:
    """A classifier's positives and an equal number of negatives, with their test folds."""

    places: Numbers
    """Rows of the corpus, (n_urls,)."""
    y: Flags
    """True for the URLs in the language, (n_urls,)."""
    folds: Numbers
    """Test fold per URL, (n_urls,); -1 for none."""
    seed: int

    def parts(self, share: float = 1.0) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield the training rows and test rows of each fold."""
        for fold in range(int(self.folds.max()) + 1):
            yield self.part(fold, share)

    def part(self, fold: int, share: float = 1.0) -> tuple[Numbers, Numbers]:
        """Return a share of a fold's training rows, and its test rows."""
        rng = np.random.default_rng([self.seed, fold, _THINNING])
        training = np.flatnonzero(self.folds != fold)
        return thinned(training, self.y, share, rng), np.flatnonzero(self.folds == fold)


def draw(
    rows: Iterable[LabelledUrl],
    languages: Sequence[str],
    *,
    urls: int | None = None,
    least: int = 10,
    seed: int = 0,
) -> Corpus:
    """Return an equal number of random URLs per language.

    `urls` is the maximum per language; None for the size of the smallest language. Row order does
    not matter. DatasetError if a language has fewer than `least` distinct URLs, or below two
    languages.
    """
    if len(languages) < 2:
        raise DatasetError("a classifier needs a second language as negatives: name two")
    by_language: dict[str, list[LabelledUrl]] = defaultdict(list)
    for row in distinct(rows):
        by_language[row.language].append(row)
    size = min([len(by_language[code]) for code in languages] + ([urls] if urls else []))
    if size < least:
        counts = ", ".join(f"{code} {len(by_language[code])}" for code in languages)
        raise DatasetError(f"too few URLs: {least} of each language are needed ({counts})")
    chosen: list[LabelledUrl] = []
    for place, code in enumerate(languages):
        pool = sorted(by_language[code])
        order = np.random.default_rng([seed, place]).permutation(len(pool))[:size]
        chosen += [pool[at] for at in order]
    return Corpus(tuple(languages), tuple(chosen))


def joined(training: Corpus, tested: Iterable[LabelledUrl]) -> Corpus:
    """Return the training corpus with the test URLs in its languages, except training URLs.

    A test URL counts once. DatasetError if a language has no test URL.
    """
    known = {row.url for row in training.rows}
    wanted = [row for row in distinct(tested) if row.language in training.languages]
    new = [row for row in wanted if row.url not in known]
    if missing := [code for code in training.languages if code not in {r.language for r in new}]:
        raise DatasetError(f"the test set has no URLs in {', '.join(missing)}: see --languages")
    new.sort(key=lambda row: (training.languages.index(row.language), row))
    return Corpus(training.languages, (*training.rows, *new), len(new), len(wanted) - len(new))


def sample(
    corpus: Corpus, language: str, *, n_folds: int = 10, seed: int = 0, is_disjoint: bool = False
) -> Sample:
    """Return all URLs of a language, and as many in equal parts from the other languages.

    Folds are stratified by language; with `is_disjoint` they consist of whole registered domains. A
    separate test set is fold 0 as a whole, and the training URLs are in no fold.
    """
    own = corpus.languages.index(language)
    columns = corpus.columns[~corpus.is_tested]
    places = np.concatenate([np.flatnonzero(columns == own), _negatives(columns, own, seed)])
    if corpus.n_tested:
        folds = np.repeat([-1, 0], [len(places), corpus.n_tested])
        places = np.concatenate([places, np.flatnonzero(corpus.is_tested)])
        return Sample(places, corpus.columns[places] == own, folds, seed)
    y = columns[places] == own
    rng = np.random.default_rng([seed, own, _FOLDS])
    if is_disjoint:
        folds = disjoint(corpus.domains[places], y, n_folds, rng)
    else:
        # The language itself is first, so that all other languages are stratified too.
        folds = stratified(np.where(y, -1, columns[places]), n_folds, rng)
    return Sample(places, y, folds, seed)


def _negatives(columns: Numbers, own: int, seed: int) -> Numbers:
    others = [column for column in range(int(columns.max()) + 1) if column != own]
    share, rest = divmod(int((columns == own).sum()), len(others))
    chosen = []
    for rank, column in enumerate(others):
        rng = np.random.default_rng([seed, own, column, _NEGATIVES])
        pool = np.flatnonzero(columns == column)
        chosen.append(rng.permutation(pool)[: share + (rank < rest)])
    return np.concatenate(chosen)


def stratified(strata: Numbers, n_folds: int, rng: np.random.Generator) -> Numbers:
    """Return the fold per URL, (n_urls,); sizes differ by at most 1, also within each stratum."""
    shuffled = rng.permutation(len(strata))
    ordered = shuffled[np.argsort(strata[shuffled], kind="stable")]
    numbers = np.empty(len(strata), np.int64)
    numbers[ordered] = np.arange(len(strata)) % n_folds
    return numbers


def disjoint(groups: Numbers, y: Flags, n_folds: int, rng: np.random.Generator) -> Numbers:
    """Return the fold per URL, (n_urls,), without group overlap and with balanced classes.

    Groups are placed from the largest to the smallest, each into the least full fold.
    """
    n_groups = int(groups.max()) + 1
    sizes = np.stack([np.bincount(groups[y], minlength=n_groups),
                      np.bincount(groups[~y], minlength=n_groups)], axis=1)  # fmt: skip
    present = rng.permutation(np.flatnonzero(sizes.sum(axis=1)))
    present = present[np.argsort(-sizes[present].sum(axis=1), kind="stable")]
    full = np.zeros((n_folds, 2))
    of_group = np.full(n_groups, -1, np.int64)
    for group in present:
        fold = int(np.argmin(full @ sizes[group]))
        of_group[group] = fold
        full[fold] += sizes[group]
    return of_group[groups]


def thinned(training: Numbers, y: Flags, share: float, rng: np.random.Generator) -> Numbers:
    """Return a share of the training URLs, equal for positives and negatives, at least one of each.

    With the same generator, a smaller share is a subset of a larger share.
    """
    if share >= 1:
        return training
    kept = []
    for is_positive in (True, False):
        pool = rng.permutation(training[y[training] == is_positive])
        kept.append(pool[: max(1, round(share * len(pool)))])
    return np.sort(np.concatenate(kept))
