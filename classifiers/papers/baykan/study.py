"""Cross-validation of classifiers on any languages (Baykan 2013, 3.2), computed once each.

N-grams and words are counted once for all URLs. A classifier gets only the columns that occur in
its training URLs: the result is the same as if the counting had been fitted on these alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_matrix

from classifiers.errors import StudyError
from classifiers.papers import evaluation
from classifiers.papers.baykan import samples
from classifiers.papers.baykan.algorithms import Name, algorithm, ask, parse
from classifiers.papers.baykan.grams import CUSTOM, Names, vectorizer
from classifiers.papers.baykan.samples import Corpus, Flags, JoinedCorpus, Numbers, Sample
from classifiers.papers.baykan.servers import Servers

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

Asked = tuple[Setting, str, str]
"""A setting, a language and an algorithm, or a feature set."""


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
    servers : Servers or None
        The countries of servers, for the IP baseline and the custom-made features.
    texts : mapping or None
        Texts in each language, for the experiment that learns from them.
    on_progress : callable or None
        Called with the number of finished calls and the number of all calls.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        n_folds: int = 10,
        seed: int = 0,
        jobs: int = 1,
        servers: Servers | None = None,
        texts: Texts | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        self._check_folds(corpus, n_folds)
        self.corpus = corpus
        self.n_folds = n_folds
        self.seed = seed
        self.jobs = jobs
        self.servers = servers
        self.texts = texts
        self.on_progress = on_progress
        self._decisions: dict[Asked, Flags] = {}
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
        wanted = [parse(name) for name in dict.fromkeys(names)]
        for name in wanted:
            if name.needs_addresses and self.servers is None:
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
        own = name if parsed.algorithm is None else parsed.trained
        said_yes = self._decisions[setting, language, own]
        return said_yes | self._decisions[setting, language, "ip"] if parsed.with_ip else said_yes

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

    def features(self, name: str, language: str) -> tuple[Any, Any, Any, tuple[Flags, Flags]]:
        """Return the vectorizer, training and test rows and answers of a custom set, first fold."""
        sample = self.sample(language)
        return _vectorized(name, self.servers, self.urls(language), sample.y, sample.part(0))

    def _check_folds(self, corpus: Corpus, n_folds: int) -> None:
        if n_folds < 2:
            raise StudyError(f"cross-validation needs 2 folds or more, not {n_folds}")
        if n_folds > corpus.per_language:
            raise StudyError(
                f"{corpus.per_language} URLs of a language do not fill {n_folds} folds"
            )

    def _drawn(self, language: str, *, is_disjoint: bool) -> Sample:
        return samples.sample(
            self.corpus, language, n_folds=self.n_folds, seed=self.seed, is_disjoint=is_disjoint
        )

    def _ask_baselines(self, wanted: Sequence[Name], setting: Setting) -> None:
        asked = {name.text for name in wanted if name.algorithm is None}
        asked |= {"ip" for name in wanted if name.with_ip}
        for language in self.languages:
            for name in sorted(asked):
                key = (setting, language, name)
                if key not in self._decisions:
                    urls = self.urls(language, setting)
                    self._decisions[key] = ask(name, language, urls, self.servers)

    def _missing(
        self, wanted: Sequence[Name], settings: Sequence[Setting]
    ) -> dict[Asked, list[str]]:
        """Setting, language and feature set -> algorithms of all decisions that are not known.

        Those of a feature set are together, since it is counted once.
        """
        trained = [name for name in wanted if name.algorithm is not None]
        missing: dict[Asked, list[str]] = {}
        for features in dict.fromkeys(name.features or "" for name in trained):
            algorithms = dict.fromkeys(str(n.algorithm) for n in trained if n.features == features)
            for setting, language in product(settings, self.languages):
                for name in algorithms:
                    if (setting, language, f"{name}:{features}") not in self._decisions:
                        missing.setdefault((setting, language, features), []).append(name)
        return missing

    def _compute(self, missing: Mapping[Asked, Sequence[str]]) -> None:
        calls = [call for asked, names in missing.items() for call in self._calls(asked, names)]
        with warnings.catch_warnings():
            # joblib replaces workers that read dictionaries, as their memory grows; no result is
            # lost then.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            # Calls take a tenth of a second or more, so batches would only delay the last ones.
            work = Parallel(
                n_jobs=self.jobs,
                backend="loky",
                return_as="generator_unordered",
                batch_size=1,
                pre_dispatch="2*n_jobs",
            )
            answers = work(delayed(_answer)(*self._ready(*call)) for call in calls)
            for done, (asked, answer) in enumerate(answers, start=1):
                self._keep(asked, answer)
                if self.on_progress:
                    self.on_progress(done, len(calls))

    def _keep(self, asked: Asked, answer: Mapping[str, tuple[Numbers, Flags]]) -> None:
        setting, language, features = asked
        n_urls = len(self.sample(language, setting).y)
        for name, (rows, said_yes) in answer.items():
            place = (setting, language, f"{name}:{features}")
            self._decisions.setdefault(place, np.zeros(n_urls, bool))[rows] = said_yes

    def _calls(self, asked: Asked, names: Sequence[str]) -> Iterator[tuple[Asked, Any]]:
        """Yield a call for each algorithm; for each fold if features are learned in each."""
        if asked[2] in CUSTOM:
            yield from ((asked, (names, fold)) for fold in range(self.n_folds))
        else:
            yield from ((asked, name) for name in names)

    def _ready(self, asked: Asked, which: Any) -> tuple[Asked, Any, Any]:
        """Return a call with its data, which are read only when a worker is free."""
        setting, language, features = asked
        sample = self.sample(language, setting)
        if features in CUSTOM:
            urls = self.urls(language, setting)
            data = (urls, sample, setting.share, *which, features, self.servers)
            return asked, on_urls, data
        counts, columns = self.counts(features)
        named = columns if which == "markov" else None
        own = counts[sample.places]
        return asked, on_counts, (own, sample, setting.share, which, features, named)


class HeldOutStudy(Study):
    """A study with one fold, whose test URLs are those of a test set of its own (5.1).

    The test set is of another source or year. It is not drawn to be balanced: every test URL
    counts, and the other languages of a classifier have equal weight as negatives, so that the
    measures do not depend on their numbers. `DISJOINT` measures on URLs of domains that no training
    URL has.
    """

    corpus: JoinedCorpus

    def __init__(self, corpus: JoinedCorpus, **options: Any) -> None:
        super().__init__(corpus, n_folds=1, **options)

    def run(self, names: Iterable[str], settings: Sequence[Setting] = (STANDARD,)) -> None:
        """Compute all decisions that are missing."""
        super().run(names, [replace(setting, is_disjoint=False) for setting in settings])

    def scores(
        self, name: str, language: str, setting: Setting = STANDARD, among: Flags | None = None
    ) -> evaluation.Matrix:
        """Return P, R, p(-|-), F1 on the test URLs, (1, 4); `among` selects URLs."""
        trained = replace(setting, is_disjoint=False)
        sample = self.sample(language, trained)
        chosen = self.corpus.is_tested[sample.places]
        if setting.is_disjoint:
            chosen &= self.corpus.is_unseen[sample.places]
        if among is not None:
            chosen &= among
        said_yes = self.decisions(name, language, trained)[chosen]
        columns = self.corpus.columns[sample.places][chosen]
        own = self.languages.index(language)
        others = [said_yes[columns == at] for at in range(len(self.languages)) if at != own]
        wrong = [float(each.mean()) for each in others if len(each)]
        of_own = said_yes[columns == own]
        found = evaluation.Measures(
            float(of_own.mean()) if len(of_own) else float("nan"),
            1.0 - float(np.mean(wrong)) if wrong else float("nan"),
        )
        return np.array([[found.precision, found.recall, found.negative_success, found.f1]])

    def _check_folds(self, corpus: Corpus, n_folds: int) -> None:
        """Accept one fold: training and test URLs are apart."""

    def _drawn(self, language: str, *, is_disjoint: bool) -> Sample:
        return samples.sample_of_test_set(self.corpus, language, self.seed)


def _answer(asked: Asked, compute: Callable[..., Any], data: tuple[Any, ...]) -> Any:
    return asked, compute(*data)


def on_counts(
    counts: csr_matrix,
    sample: Sample,
    share: float,
    name: str,
    features: str,
    names: Names | None,
) -> dict[str, tuple[Numbers, Flags]]:
    """Return the rows and the decisions about counts, each by training without the URL's fold.

    `names` (n_features,) are those of the columns, for Markov chains.
    """
    said_yes = np.zeros(len(sample.y), bool)
    for train, test in sample.parts(share):
        is_seen = seen(counts[train])
        if not (is_seen.any() and _can_fit(sample, train, test)):
            continue  # without training no decision is Yes
        model = algorithm(name, features, sample.seed)
        if names is not None:
            model.names = names[is_seen]
        model.fit(narrowed(counts[train], is_seen), sample.y[train])
        said_yes[test] = model.predict(narrowed(counts[test], is_seen))
    return {name: (np.arange(len(said_yes)), said_yes)}


def on_urls(
    urls: Sequence[str],
    sample: Sample,
    share: float,
    names: Sequence[str],
    fold: int,
    features: str,
    servers: Servers | None,
) -> dict[str, tuple[Numbers, Flags]]:
    """Return the decisions of several algorithms in one fold, by features learned in it.

    The keys are the algorithms, the values the test rows and the decisions about them.
    """
    train, test = sample.part(fold, share)
    if not _can_fit(sample, train, test):
        return {name: (test, np.zeros(len(test), bool)) for name in names}
    _, training, testing, (y, _) = _vectorized(features, servers, urls, sample.y, (train, test))
    fitted = {name: algorithm(name, features, sample.seed).fit(training, y) for name in names}
    return {name: (test, model.predict(testing)) for name, model in fitted.items()}


def _vectorized(
    features: str,
    servers: Servers | None,
    urls: Sequence[str],
    y: Flags,
    rows: tuple[Numbers, Numbers],
) -> tuple[Any, Any, Any, tuple[Flags, Flags]]:
    """The vectorizer of a custom set, its training and test rows, and their answers."""
    train, test = rows
    extractor = vectorizer(features, servers)
    training = extractor.fit_transform([urls[at] for at in train], y[train])
    testing = extractor.transform([urls[at] for at in test])
    return extractor, training, testing, (y[train], y[test])


def _can_fit(sample: Sample, train: Numbers, test: Numbers) -> bool:
    """Whether the training rows have both classes and there are test rows.

    Folds of whole domains may lack one of these if there are few domains.
    """
    return len(test) > 0 and len(np.unique(sample.y[train])) == 2


def seen(counts: csr_matrix) -> Flags:
    """Whether each column occurs, (n_features,)."""
    is_seen = np.zeros(counts.shape[1], bool)
    is_seen[counts.indices] = True
    return is_seen


def narrowed(counts: csr_matrix, columns: Flags) -> csr_matrix:
    """The selected columns in their order, (n_urls, n_selected)."""
    new = np.cumsum(columns, dtype=np.int32) - 1
    kept = columns[counts.indices]
    before = np.concatenate([[0], np.cumsum(kept)])
    return csr_matrix(
        (counts.data[kept], new[counts.indices[kept]], before[counts.indptr]),
        (counts.shape[0], int(columns.sum())),
    )
