"""Cross-validation of classifiers on any languages (Baykan 2013, 3.2), computed once each.

N-grams and words are counted once for all URLs. A classifier gets only the columns that occur in
its training URLs: the result is the same as if the counting had been fitted on these alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_matrix

from classifiers.errors import StudyError
from classifiers.papers import evaluation
from classifiers.papers.baykan import samples
from classifiers.papers.baykan.algorithms import algorithm, ask, parse
from classifiers.papers.baykan.grams import CUSTOM, Names, vectorizer
from classifiers.papers.baykan.samples import Corpus, Flags, JoinedCorpus, Numbers, Sample
from classifiers.papers.baykan.servers import Countries

Progress = Callable[[int, int], None]
Texts = Mapping[str, Sequence[str]]
"""Language -> texts in it."""


@dataclass(frozen=True)
class Setting:
    """The choice of training and test URLs."""

    is_disjoint: bool = False
    """Whether training and test URLs share no registered domain."""
    share: float = 1.0
    """Share of the training URLs that is used."""


STANDARD: Final = Setting()
DISJOINT: Final = Setting(is_disjoint=True)


@dataclass(frozen=True)
class Parted:
    """The features of the training and the test URLs of a fold."""

    training: Any
    testing: Any
    names: Names
    """Those of the columns."""


@dataclass(frozen=True)
class CountedUrls:
    """The counts of a feature set on the URLs of a sample, and the names of its columns."""

    counts: csr_matrix
    names: Names

    def parted(self, train: Numbers, test: Numbers, y: Flags) -> Parted:
        """Return the columns that occur in the training rows."""
        training = self.counts[train]
        is_seen = np.zeros(len(self.names), bool)
        is_seen[training.indices] = True
        return Parted(training[:, is_seen], self.counts[test][:, is_seen], self.names[is_seen])


@dataclass(frozen=True)
class CustomUrls:
    """The URLs of a sample for a custom-made feature set, which is learned in each fold."""

    features: str
    urls: Sequence[str]
    servers: Countries | None

    def parted(self, train: Numbers, test: Numbers, y: Flags) -> Parted:
        """Return the features by what the training rows taught."""
        extractor = vectorizer(self.features, self.servers)
        training = extractor.fit_transform([self.urls[at] for at in train], y[train])
        testing = extractor.transform([self.urls[at] for at in test])
        return Parted(training, testing, extractor.get_feature_names_out())


class Study:
    """Decisions of classifiers about URLs they were not trained on, computed on demand.

    Parameters
    ----------
    corpus : Corpus
        The same number of URLs of each language.
    n_folds, seed : int
        Of the cross-validation; the same corpus, folds and seed give the same decisions.
    jobs : int
        Processes that compute; 1 is this process. Results do not depend on it.
    servers : mapping or None
        The countries of servers, for the IP baseline and the custom-made features.
    texts : mapping or None
        Texts in each language, for the experiment that learns from them.
    on_progress : callable or None
        Called with the number of finished steps and the number of all steps; a step is a feature
        set for a language in a setting.
    """

    least_folds = 2

    def __init__(
        self,
        corpus: Corpus,
        *,
        n_folds: int = 10,
        seed: int = 0,
        jobs: int = 1,
        servers: Countries | None = None,
        texts: Texts | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        if n_folds < self.least_folds or n_folds > corpus.per_language:
            raise StudyError(
                f"{n_folds} folds: cross-validation needs 2 folds or more, and not more than the "
                f"{corpus.per_language} URLs of a language"
            )
        self.corpus = corpus
        self.n_folds = n_folds
        self.seed = seed
        self.jobs = jobs
        self.servers = servers
        self.texts = texts
        self.on_progress = on_progress
        self._decisions: dict[tuple[Setting, str, str], Flags] = {}
        self._samples: dict[tuple[str, bool], Sample] = {}
        self._counted: tuple[str, csr_matrix, Names] | None = None

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

    def urls(self, language: str, setting: Setting = STANDARD) -> list[str]:
        """Return the URLs of a sample, in its order."""
        return [self.corpus.urls[place] for place in self.sample(language, setting).places]

    def run(self, names: Iterable[str], settings: Sequence[Setting] = (STANDARD,)) -> None:
        """Compute all decisions that are missing; StudyError if one needs unknown countries."""
        algorithms: dict[str, list[str]] = {}
        for name in map(parse, names):
            if name.needs_addresses and self.servers is None:
                raise StudyError(f"{name.text} needs the countries of servers: give addresses")
            if name.algorithm and name.features:
                algorithms.setdefault(name.features, []).append(name.algorithm)
        steps = [
            (features, language, setting, missing)
            for features, wanted in algorithms.items()
            for setting, language in product(settings, self.languages)
            if (missing := [a for a in wanted if not self._knows(a, features, language, setting)])
        ]
        for done, step in enumerate(steps, start=1):
            self._compute(*step)
            if self.on_progress:
                self.on_progress(done, len(steps))

    def decisions(self, name: str, language: str, setting: Setting = STANDARD) -> Flags:
        """Return the decision of a classifier about each test URL of its sample, (n_urls,)."""
        self.run([name], [setting])
        parsed = parse(name)
        if parsed.algorithm is None:
            return self._asked(name, language, setting)
        said_yes = self._decisions[setting, language, parsed.trained]
        return said_yes | self._asked("ip", language, setting) if parsed.with_ip else said_yes

    def scores(
        self, name: str, language: str, setting: Setting = STANDARD, among: Flags | None = None
    ) -> evaluation.Matrix:
        """Return P, R, p(-|-), F1 in each fold, (n_folds, 4); `among` selects URLs."""
        sample = self.sample(language, setting)
        tested = sample.folds if among is None else np.where(among, sample.folds, -1)
        said_yes = self.decisions(name, language, setting)
        return evaluation.by_fold(said_yes, sample.y, tested)

    def counts(self, features: str) -> tuple[csr_matrix, Names]:
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

    def first_fold(self, features: str, language: str) -> tuple[Parted, Flags, Flags]:
        """Return a custom set in the first fold, and the answers of training and test URLs."""
        sample = self.sample(language)
        train, test = sample.part(0)
        urls = CustomUrls(features, self.urls(language), self.servers)
        return urls.parted(train, test, sample.y), sample.y[train], sample.y[test]

    def _drawn(self, language: str, *, is_disjoint: bool) -> Sample:
        return samples.sample(
            self.corpus, language, n_folds=self.n_folds, seed=self.seed, is_disjoint=is_disjoint
        )

    def _knows(self, algorithm: str, features: str, language: str, setting: Setting) -> bool:
        return (setting, language, f"{algorithm}:{features}") in self._decisions

    def _asked(self, baseline: str, language: str, setting: Setting) -> Flags:
        key = (setting, language, baseline)
        if key not in self._decisions:
            urls = self.urls(language, setting)
            self._decisions[key] = ask(baseline, language, urls, self.servers)
        return self._decisions[key]

    def _compute(
        self, features: str, language: str, setting: Setting, algorithms: Sequence[str]
    ) -> None:
        """Compute the decisions of some algorithms with one feature set, fold by fold."""
        sample = self.sample(language, setting)
        rows: CountedUrls | CustomUrls
        if features in CUSTOM:
            rows = CustomUrls(features, self.urls(language, setting), self.servers)
        else:
            counts, names = self.counts(features)
            rows = CountedUrls(counts[sample.places], names)
        parts = list(sample.parts(setting.share))
        with warnings.catch_warnings():
            # joblib replaces workers that read dictionaries, as their memory grows; no result is
            # lost then.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            calls = (delayed(_answers)(rows, part, sample, features, algorithms) for part in parts)
            of_folds = Parallel(n_jobs=self.jobs)(calls)
        for name in algorithms:
            said_yes = np.zeros(len(sample.y), bool)
            for (_, test), answers in zip(parts, of_folds, strict=True):
                said_yes[test] = answers.get(name, False)
            self._decisions[setting, language, f"{name}:{features}"] = said_yes


def _answers(
    rows: CountedUrls | CustomUrls,
    part: tuple[Numbers, Numbers],
    sample: Sample,
    features: str,
    algorithms: Sequence[str],
) -> dict[str, Flags]:
    """The decisions of algorithms about the test rows of a fold; none without training."""
    train, test = part
    # Folds of whole domains may lack a class or test rows if there are few domains.
    if not len(test) or len(np.unique(sample.y[train])) < 2:
        return {}
    parted, found = rows.parted(train, test, sample.y), {}
    if not len(parted.names):
        return {}
    for name in algorithms:
        model = algorithm(name, features, sample.seed)
        if name == "markov":
            model.names = parted.names
        found[name] = model.fit(parted.training, sample.y[train]).predict(parted.testing)
    return found


class HeldOutStudy(Study):
    """A study with one fold, whose test URLs are those of a test set of its own (5.1).

    The test set is of another source or year. It is not drawn to be balanced: every test URL
    counts, and the other languages of a classifier have equal weight as negatives, so that the
    measures do not depend on their numbers.
    """

    corpus: JoinedCorpus
    least_folds = 1

    def __init__(self, corpus: JoinedCorpus, **options: Any) -> None:
        super().__init__(corpus, n_folds=1, **options)

    def scores(
        self, name: str, language: str, setting: Setting = STANDARD, among: Flags | None = None
    ) -> evaluation.Matrix:
        """Return P, R, p(-|-), F1 on the test URLs, (1, 4); `among` selects URLs."""
        sample = self.sample(language, setting)
        chosen = self.corpus.is_tested[sample.places]
        if among is not None:
            chosen &= among
        said_yes = self.decisions(name, language, setting)[chosen]
        columns = self.corpus.columns[sample.places][chosen]
        own = self.languages.index(language)
        found = evaluation.of_languages(said_yes, columns, own)
        return np.array([[found.precision, found.recall, found.negative_success, found.f1]])

    def _drawn(self, language: str, *, is_disjoint: bool) -> Sample:
        return samples.sample_of_test_set(self.corpus, language, self.seed)
