"""Cross-validation of classifiers on any languages (Baykan 2013, 3.2), computed once each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from joblib import delayed
from scipy.sparse import csr_matrix

from classifiers.errors import StudyError
from classifiers.papers import evaluation
from classifiers.papers.baykan.algorithms import algorithm
from classifiers.papers.baykan.features.custom import load_dictionaries
from classifiers.papers.baykan.features.vectors import vectorizer
from classifiers.papers.baykan.study import fitting, samples
from classifiers.papers.baykan.study.baselines import ask
from classifiers.papers.baykan.study.names import CUSTOM, Name, parse
from classifiers.papers.baykan.study.samples import Corpus, Sample
from classifiers.papers.baykan.study.servers import Servers
from classifiers.papers.baykan.study.workers import Workers
from classifiers.papers.table import Result

Flags = npt.NDArray[np.bool_]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Setting:
    """The choice of training and test URLs."""

    is_disjoint: bool = False
    """Whether training and test URLs share no registered domain."""
    share: float = 1.0
    """Share of the training URLs that is used."""


STANDARD: Final = Setting()


class Study:
    """Decisions of classifiers about URLs they were not trained on, computed on demand.

    Parameters
    ----------
    corpus : Corpus
        The same number of URLs of each language.
    n_folds, seed : int
        Of the cross-validation; the same corpus, folds and seed give the same decisions.
    workers : Workers
        The processes that compute them.
    servers : Servers or None
        The countries of servers, for the IP baseline and the custom-made features.
    on_progress : callable or None
        Called with the number of finished calls and the number of all calls.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        n_folds: int = 10,
        seed: int = 0,
        workers: Workers | None = None,
        servers: Servers | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        self._check_folds(corpus, n_folds)
        self.corpus = corpus
        self.n_folds = n_folds
        self.seed = seed
        self.workers = workers or Workers()
        self.servers = servers
        self.on_progress = on_progress
        self._decisions: dict[tuple[Setting, str, str], Flags] = {}
        self._samples: dict[tuple[str, bool], Sample] = {}
        self._counted: tuple[str, csr_matrix, fitting.Names] | None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the corpus."""
        return self.corpus.languages

    def sample(self, language: str, setting: Setting = STANDARD) -> Sample:
        """Return the positives, negatives and folds of a language's classifiers."""
        key = (language, setting.is_disjoint)
        if key not in self._samples:
            self._samples[key] = self._drawn(language, is_disjoint=setting.is_disjoint)
        return self._samples[key]

    def splits(self, language: str, setting: Setting = STANDARD) -> fitting.Splits:
        """Return the training and test rows of a language's classifiers."""
        sample = self.sample(language, setting)
        return fitting.Splits(sample.y, sample.folds, setting.share, self.seed)

    def urls(self, language: str, setting: Setting = STANDARD) -> list[str]:
        """Return the URLs of a sample, in its order."""
        return [self.corpus.urls[place] for place in self.sample(language, setting).places]

    def knows(self, name: str) -> bool:
        """Whether a classifier can be computed: some need the countries of servers."""
        return self.servers is not None or not parse(name).needs_addresses

    def run(self, names: Iterable[str], settings: Sequence[Setting] = (STANDARD,)) -> None:
        """Compute all decisions that are missing; StudyError if one needs unknown countries."""
        wanted = [parse(name) for name in dict.fromkeys(names)]
        for name in wanted:
            if not self.knows(name.text):
                raise StudyError(f"{name.text} needs the countries of servers: give addresses")
        for setting in settings:
            self._ask_baselines(wanted, setting)
        missing = self._missing(wanted, settings)
        if missing:
            self._compute(missing)

    def decisions(self, name: str, language: str, setting: Setting = STANDARD) -> Flags:
        """Return the decision of a classifier about each test URL of its sample, (n_urls,)."""
        self.run([name], [setting])
        parsed = parse(name)
        if parsed.is_baseline:
            return self._decisions[setting, language, name]
        trained = self._decisions[setting, language, parsed.trained]
        if parsed.with_ip:
            return trained | self._decisions[setting, language, "ip"]
        return trained

    def scores(
        self, name: str, language: str, setting: Setting = STANDARD, among: Flags | None = None
    ) -> evaluation.Matrix:
        """Return P, R, p(-|-), F1 in each fold, (n_folds, 4); `among` selects URLs."""
        sample = self.sample(language, setting)
        tested = sample.folds if among is None else np.where(among, sample.folds, -1)
        said_yes = self.decisions(name, language, setting)
        return evaluation.by_fold(said_yes, sample.y, tested)

    def counts(self, features: str) -> tuple[csr_matrix, fitting.Names]:
        """Return the counts of a feature set on all URLs, and the names of its columns.

        Only the last feature set is kept.
        """
        if self._counted is None or self._counted[0] != features:
            extractor = vectorizer(features)
            # Some algorithms decide ties by the order of columns, which is that of the URLs.
            order = np.random.default_rng(self.seed).permutation(len(self.corpus.urls))
            counts = extractor.fit_transform([self.corpus.urls[at] for at in order])
            names = extractor.get_feature_names_out()
            self._counted = features, counts[np.argsort(order)], names
        return self._counted[1:]

    def _check_folds(self, corpus: Corpus, n_folds: int) -> None:
        if n_folds < 2:
            raise StudyError(f"cross-validation needs 2 folds or more, not {n_folds}")
        if n_folds > corpus.per_language:
            raise StudyError(
                f"{corpus.per_language} URLs of a language do not fill {n_folds} folds"
            )

    def _drawn(self, language: str, *, is_disjoint: bool) -> Sample:
        return samples.sample(
            self.corpus,
            language,
            n_folds=self.n_folds,
            seed=self.seed,
            is_disjoint=is_disjoint,
        )

    def _ask_baselines(self, wanted: Sequence[Name], setting: Setting) -> None:
        asked = {name.text for name in wanted if name.is_baseline}
        asked |= {"ip" for name in wanted if name.with_ip}
        for language in self.languages:
            for name in sorted(asked):
                key = (setting, language, name)
                if key not in self._decisions:
                    urls = self.urls(language, setting)
                    self._decisions[key] = ask(name, language, urls, self.servers)

    def _missing(
        self, wanted: Sequence[Name], settings: Sequence[Setting]
    ) -> dict[str, list[tuple[Setting, str, str]]]:
        """Feature set -> setting, language and algorithm of all decisions that are not known."""
        missing: dict[str, list[tuple[Setting, str, str]]] = defaultdict(list)
        for name in wanted:
            if name.algorithm is None or name.features is None:
                continue
            for setting in settings:
                for language in self.languages:
                    item = (setting, language, name.algorithm)
                    is_known = (setting, language, name.trained) in self._decisions
                    if not is_known and item not in missing[name.features]:
                        missing[name.features].append(item)
        return {features: items for features, items in missing.items() if items}

    def _compute(self, missing: dict[str, list[tuple[Setting, str, str]]]) -> None:
        n_calls = sum(
            len(list(_grouped(items))) * self.n_folds if features in CUSTOM else len(items)
            for features, items in missing.items()
        )
        with self.workers.open() as compute:
            for done, (key, answer) in enumerate(compute(self._calls(missing)), start=1):
                self._keep(key, answer)
                if self.on_progress:
                    self.on_progress(done, n_calls)

    def _keep(self, key: tuple[Setting, str, str], answer: Any) -> None:
        setting, language, features = key
        n_urls = len(self.sample(language, setting).y)
        for name, (rows, said_yes) in answer.items():
            place = (setting, language, f"{name}:{features}")
            self._decisions.setdefault(place, np.zeros(n_urls, bool))[rows] = said_yes

    def _calls(self, missing: dict[str, list[tuple[Setting, str, str]]]) -> Iterator[Any]:
        is_custom_too = not missing.keys().isdisjoint(CUSTOM)
        for features, items in missing.items():
            if features in CUSTOM:
                yield from self._calls_on_urls(features, items)
            else:
                yield from self._calls_on_counts(features, items, is_custom_too)

    def _calls_on_counts(
        self, features: str, items: Sequence[tuple[Setting, str, str]], is_custom_too: bool
    ) -> Iterator[Any]:
        counts, names = self.counts(features)
        for (setting, language), algorithms in _grouped(items):
            own, splits = (
                counts[self.sample(language, setting).places],
                self.splits(language, setting),
            )
            for name in algorithms:
                key = (setting, language, features)
                named = names if fitting.takes_names(algorithm(name, features)) else None
                yield delayed(_count_call)(own, splits, name, named, key, is_custom_too)

    def _calls_on_urls(
        self, features: str, items: Sequence[tuple[Setting, str, str]]
    ) -> Iterator[Any]:
        for (setting, language), algorithms in _grouped(items):
            urls, splits = self.urls(language, setting), self.splits(language, setting)
            for fold in range(self.n_folds):
                key = (setting, language, features)
                yield delayed(_url_call)(urls, splits, fold, algorithms, self.servers, key)


def _grouped(
    items: Sequence[tuple[Setting, str, str]],
) -> Iterator[tuple[tuple[Setting, str], tuple[str, ...]]]:
    """Yield each setting and language with all their algorithms."""
    groups: dict[tuple[Setting, str], list[str]] = defaultdict(list)
    for setting, language, name in items:
        groups[setting, language].append(name)
    yield from ((key, tuple(names)) for key, names in groups.items())


Key = tuple[Setting, str, str]


def _count_call(
    counts: csr_matrix,
    splits: fitting.Splits,
    name: str,
    names: fitting.Names | None,
    key: Key,
    is_custom_too: bool,
) -> Any:
    if is_custom_too:
        # A worker whose memory grows after its first call counts as one that leaks and is replaced,
        # so it reads the dictionaries before it computes anything.
        load_dictionaries()
    said_yes = fitting.on_counts(counts, splits, name, key[2], names)
    return key, {name: (np.arange(len(said_yes)), said_yes)}


def _url_call(
    urls: Sequence[str],
    splits: fitting.Splits,
    fold: int,
    algorithms: Sequence[str],
    servers: Servers | None,
    key: Key,
) -> Any:
    return key, fitting.on_urls(urls, splits, fold, algorithms, key[2], servers)


Experiment = Callable[[Study], Result]
"""A function that carries out one experiment."""
