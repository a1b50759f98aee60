"""Cross-validation of classifiers on any languages (Baykan 2013, 3.2), computed once each.

N-grams and words are counted once for all URLs. A classifier receives only the columns of its
training URLs: the result equals counting fitted on the training URLs alone.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_matrix

from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.papers import evaluation
from langfocus.classifiers.papers.baykan.algorithms import algorithm, ask, parse, vectorizer
from langfocus.classifiers.papers.baykan.grams import CUSTOM, Countries, Names
from langfocus.classifiers.papers.baykan.samples import Corpus, Flags, Numbers, Sample, sample

Progress = Callable[[int, int], None]
Texts = Mapping[str, Sequence[str]]
"""Language -> its texts."""


@dataclass(frozen=True)
class Setting:
    """Choice of training and test URLs."""

    is_disjoint: bool = False
    """Whether training and test URLs share no registered domain."""
    share: float = 1.0
    """Used share of the training URLs."""


STANDARD: Final = Setting()
DISJOINT: Final = Setting(is_disjoint=True)


class Parted(NamedTuple):
    """Features of a fold's training and test URLs."""

    training: Any
    testing: Any
    names: Names
    """Column names."""


_Parting = Callable[[Numbers, Numbers, Flags], Parted]
"""Function from the training rows, test rows and labels of a sample to features."""


@dataclass(kw_only=True)
class Study:
    """Classifier decisions about URLs outside training, computed on demand.

    With a separate test set (Baykan 2013, 5.1) there is a single fold. This set is from another
    source or year and unbalanced: every test URL counts, and a classifier's other languages have
    equal weight as negatives, so that the measures do not depend on their sizes.
    """

    corpus: Corpus = field(kw_only=False)
    n_folds: int = 10
    seed: int = 0
    """Random seed; equal corpus, folds and seed give equal decisions."""
    jobs: int = 1
    """Number of worker processes; 1 is this process. Results do not depend on it."""
    servers: Countries | None = None
    """Server countries, for the IP baseline and the custom-made features."""
    texts: Texts | None = None
    """Texts by language, for the experiment trained on texts."""
    on_progress: Progress | None = None
    """Called with the finished steps and the total steps; a step is a feature set for a language in
    a setting.
    """
    _decisions: dict[tuple[Setting, str, str], Flags] = field(default_factory=dict, init=False)
    _samples: dict[tuple[str, bool], Sample] = field(default_factory=dict, init=False)
    _counted: tuple[str, csr_matrix, Names] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.languages = self.corpus.languages
        if self.corpus.n_tested:
            self.n_folds = 1
        elif not 2 <= self.n_folds <= self.corpus.per_language:
            raise StudyError(
                f"{self.n_folds} folds: cross-validation needs 2 folds or more, and not more than "
                f"the {self.corpus.per_language} URLs of a language"
            )

    def sample(self, language: str, setting: Setting = STANDARD) -> Sample:
        """Return the positives, negatives and folds of a language's classifiers."""
        key = (language, setting.is_disjoint)
        if key not in self._samples:
            drawn = partial(sample, n_folds=self.n_folds, seed=self.seed)
            self._samples[key] = drawn(self.corpus, language, is_disjoint=setting.is_disjoint)
        return self._samples[key]

    def urls(self, language: str, setting: Setting = STANDARD) -> list[str]:
        """Return the URLs of a sample in sample order."""
        return [self.corpus.urls[place] for place in self.sample(language, setting).places]

    def run(self, names: Iterable[str], settings: Sequence[Setting] = (STANDARD,)) -> None:
        """Compute all missing decisions; StudyError if a classifier needs unknown countries."""
        wanted: dict[str, list[str]] = {}
        for name in names:
            parsed = parse(name)
            if parsed.needs_addresses and self.servers is None:
                raise StudyError(f"{name} needs the countries of servers: give addresses")
            if parsed.algorithm:
                wanted.setdefault(parsed.features, []).append(name.removeprefix("ip+"))
        steps = [
            (features, language, setting, missing)
            for features, trained in wanted.items()
            for setting, language in product(settings, self.languages)
            if (missing := [x for x in trained if (setting, language, x) not in self._decisions])
        ]
        for done, step in enumerate(steps, start=1):
            self._compute(*step)
            if self.on_progress:
                self.on_progress(done, len(steps))

    def decisions(self, name: str, language: str, setting: Setting = STANDARD) -> Flags:
        """Return a classifier's decisions about the test URLs of its sample, (n_urls,)."""
        self.run([name], [setting])
        if name.startswith("ip+"):
            trained = self._decisions[setting, language, name.removeprefix("ip+")]
            return trained | self.decisions("ip", language, setting)
        key = (setting, language, name)
        if key not in self._decisions:
            self._decisions[key] = ask(name, language, self.urls(language, setting), self.servers)
        return self._decisions[key]

    def scores(
        self, name: str, language: str, setting: Setting = STANDARD, among: Flags | None = None
    ) -> evaluation.Matrix:
        """Return P, R, p(-|-), F1 in each fold, (n_folds, 4); `among` selects URLs."""
        drawn, said_yes = self.sample(language, setting), self.decisions(name, language, setting)
        tested = drawn.folds if among is None else np.where(among, drawn.folds, -1)
        if not self.corpus.n_tested:
            return evaluation.by_fold(said_yes, drawn.y, tested)
        chosen, own = tested >= 0, self.languages.index(language)
        columns = self.corpus.columns[drawn.places][chosen]
        measures = evaluation.of_languages(said_yes[chosen], columns, own)
        return np.array(
            [[measures.precision, measures.recall, measures.negative_success, measures.f1]]
        )

    def first_fold(self, features: str, language: str) -> tuple[Parted, Flags, Flags]:
        """Return a custom set in the first fold, and the answers of training and test URLs."""
        y = self.sample(language).y
        train, test = self.sample(language).part(0)
        return self._parting(features, language)(train, test, y), y[train], y[test]

    def _parting(self, features: str, language: str, setting: Setting = STANDARD) -> _Parting:
        """Return the fold splitter of a feature set for a sample's URLs."""
        if features in CUSTOM:
            return partial(custom_parts, features, self.urls(language, setting), self.servers)
        # Only the last feature set is kept.
        if self._counted is None or self._counted[0] != features:
            extractor = vectorizer(features)
            # Some algorithms break ties by column order, which follows the URL order.
            order = np.random.default_rng(self.seed).permutation(len(self.corpus.urls))
            counts = extractor.fit_transform([self.corpus.urls[at] for at in order])
            names = extractor.get_feature_names_out()
            self._counted = features, counts[np.argsort(order)], names
        _, counts, names = self._counted
        return partial(counted_parts, counts[self.sample(language, setting).places], names)

    def _compute(
        self, features: str, language: str, setting: Setting, classifiers: Sequence[str]
    ) -> None:
        """Compute classifier decisions with one feature set, fold by fold."""
        drawn = self.sample(language, setting)
        parting = self._parting(features, language, setting)
        parts = list(drawn.parts(setting.share))
        with warnings.catch_warnings():
            # joblib replaces workers whose memory grew by dictionaries; no result is lost.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            calls = (delayed(_answers)(parting, *part, drawn, classifiers) for part in parts)
            of_folds = Parallel(n_jobs=self.jobs)(calls)
        for name in classifiers:
            said_yes = np.zeros(len(drawn.y), bool)
            for (_, test), answers in zip(parts, of_folds, strict=True):
                said_yes[test] = answers.get(name, False)
            self._decisions[setting, language, name] = said_yes


def counted_parts(
    counts: csr_matrix, names: Names, train: Numbers, test: Numbers, y: Flags
) -> Parted:
    """Return the count columns that occur in the training rows."""
    training = counts[train]
    is_seen = np.zeros(len(names), bool)
    is_seen[training.indices] = True
    return Parted(training[:, is_seen], counts[test][:, is_seen], names[is_seen])


def custom_parts(
    features: str,
    urls: Sequence[str],
    servers: Countries | None,
    train: Numbers,
    test: Numbers,
    y: Flags,
) -> Parted:
    """Return custom-made features, with dictionaries fitted to the training rows."""
    extractor = vectorizer(features, servers)
    training = extractor.fit_transform([urls[at] for at in train], y[train])
    testing = extractor.transform([urls[at] for at in test])
    return Parted(training, testing, extractor.get_feature_names_out())


def _answers(
    parting: _Parting, train: Numbers, test: Numbers, drawn: Sample, classifiers: Sequence[str]
) -> dict[str, Flags]:
    """Return classifier decisions about a fold's test rows; empty without training rows."""
    y = drawn.y
    # Folds of whole domains may lack a class or test rows if there are few domains.
    if not len(test) or len(np.unique(y[train])) < 2:
        return {}
    parted, answers = parting(train, test, y), {}
    if not len(parted.names):
        return {}
    for name in classifiers:
        kind, _, features = name.partition(":")
        model = algorithm(kind, features, drawn.seed)
        if kind == "markov":
            model.names = parted.names
        answers[name] = model.fit(parted.training, y[train]).predict(parted.testing)
    return answers
