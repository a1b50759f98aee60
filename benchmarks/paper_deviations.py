"""What the deviations from Baykan 2013 change, for docs/research/papers.md.

Each row is a classifier as it ships beside the same with one point as in the paper, or with one
point changed to find the reason of a difference. F1 is the mean over the five languages of
cross-validation on the same URLs and folds (Baykan 2013, 3.2). Table IV counts the URLs with a stop
word of Table III or with the top-level domain that the paper's queries were restricted to. The
words of random dictionaries are drawn from ours, as many as the paper has (Table II).

    python -m benchmarks.paper_deviations --json docs/research/papers/deviations.json
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.proxyweb import URLS
from classifiers.datasets import LabelledUrl, domain_reader, open_dataset
from classifiers.languages import name
from classifiers.papers import evaluation
from classifiers.papers.baykan.algorithms import (
    BinaryClassifier,
    DecisionTree,
    Markov,
    MaximumEntropy,
    NaiveBayes,
    PaperSupportVectors,
    RankOrder,
    RelativeEntropy,
    SupportVectors,
)
from classifiers.papers.baykan.algorithms.binary import Flags, Floats, Matrix, totals
from classifiers.papers.baykan.algorithms.similarity import row_ranks
from classifiers.papers.baykan.features.custom import CustomFeatures
from classifiers.papers.baykan.features.dictionaries import city_words, dictionary_words
from classifiers.papers.baykan.features.vectors import Grams, vectorizer
from classifiers.papers.baykan.features.words import words
from classifiers.papers.baykan.study.fitting import narrowed, seen
from classifiers.papers.baykan.study.samples import Corpus, draw, sample
from classifiers.urls.cctld import top_level_domain
from crawler.report.files import json_text, write_whole
from crawler.report.printer import WIDE, Printer
from crawler.report.provenance import provenance
from crawler.report.table import Table

FIVE: Final = ("en", "de", "fr", "es", "it")
FOLDS: Final = 5
MODULES: Final = (
    "benchmarks/paper_deviations.py",
    "classifiers/papers/baykan/algorithms",
    "classifiers/papers/baykan/features",
    "classifiers/papers/baykan/study/fitting.py",
    "classifiers/papers/baykan/study/samples.py",
)
STOP_WORDS: Final = {
    "en": "the of to and is it you that he was",
    "de": "dem sich auf als auch wird oder aus wurde werden",
    "fr": "et du une est pour qui dans par plus pas",
    "es": "no el es por me te los para pero yo",
    "it": "non di che per sono ho ma ha ti cosa",
}
"""Table III."""
QUERIED: Final = {"en": "uk", "de": "de", "fr": "fr", "es": "es", "it": "it"}
TABLE_IV: Final = {"en": "22", "de": "80", "fr": "53", "es": "42", "it": "69"}
TABLE_II: Final = {
    "en": (60_306, 473),
    "de": (85_892, 1_640),
    "fr": (62_210, 512),
    "es": (68_406, 146),
    "it": (95_000, 484),
}
"""Language -> words of its dictionary, and cities."""

DOMAIN: Final = domain_reader()

Maker = Callable[[], BinaryClassifier]


class AddedChains(Markov):
    """Markov chains whose probabilities are added, as the paper describes it."""

    def _log_probabilities(self, totals: Floats) -> Floats:
        return np.asarray(np.exp(super()._log_probabilities(totals)))


class RankOrderTies(RankOrder):
    """Rank order whose equally frequent features of a URL have the order of the columns."""

    def _scores(self, X: Matrix) -> Floats:
        X = csr_matrix(X, copy=True)
        X.eliminate_zeros()
        rows, _ = row_ranks(X)
        order = np.lexsort((X.indices, -X.data, rows))
        ranks = np.empty(len(rows))
        ranks[order] = np.arange(len(rows)) - X.indptr[rows]
        no, yes = (self._out_of_place(ranks, each[X.indices]) for each in self.ranks_)
        return np.asarray(np.bincount(rows, no - yes, minlength=X.shape[0]), np.float64)


class MostFrequent(BinaryClassifier):
    """Relative entropy of the k most frequent features of both classes."""

    def __init__(self, size: int = 400) -> None:
        self.size = size

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        counts = totals(X, np.ones(len(is_yes), bool))
        self.kept_ = np.sort(np.argsort(-counts, kind="stable")[: self.size])
        self.model_ = RelativeEntropy().fit(X[:, self.kept_], is_yes)

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(self.model_.decision_function(X[:, self.kept_]))


class IterativeScaling(BinaryClassifier):
    """Maximum entropy by improved iterative scaling, ended early (Nigam 1999; Baykan 2013, 2.2)."""

    def __init__(self, rounds: int = 20) -> None:
        self.rounds = rounds

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        X = csr_matrix(X)
        self.weights_ = np.zeros((2, X.shape[1]))
        lengths = np.asarray(X.sum(axis=1)).ravel().astype(int)
        sizes = np.unique(lengths[lengths > 0])
        wanted = np.vstack([totals(X, rows) for rows in (~is_yes, is_yes)])
        for _ in range(self.rounds):
            yes = 1 / (1 + np.exp(-self._scores(X)))
            for row, share in enumerate((1 - yes, yes)):
                expected = np.vstack([X[lengths == n].T @ share[lengths == n] for n in sizes])
                self.weights_[row] += self._step(expected, wanted[row], sizes)

    @staticmethod
    def _step(expected: Floats, wanted: Floats, sizes: npt.NDArray[np.int64]) -> Floats:
        """Solve `sum of expected * exp(step * length) = wanted` by Newton's method."""
        step = np.zeros(len(wanted))
        for _ in range(8):
            grown = expected * np.exp(np.outer(sizes, step))
            slope = np.maximum((grown * sizes[:, None]).sum(axis=0), 1e-9)
            step = np.clip(step - (grown.sum(axis=0) - wanted) / slope, -1.0, 1.0)
        return step

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(X @ (self.weights_[1] - self.weights_[0]))


class TwoMarks(Grams):
    """N-grams of words that have a mark at both ends and no more."""

    def _text(self, urls: Iterable[str]) -> Any:
        smallest, self.smallest = self.smallest, 1
        try:
            return super()._text(urls)
        finally:
            self.smallest = smallest


def decisions(
    corpus: Corpus, extractor: Any, make: Maker
) -> Iterator[tuple[Flags, Flags, npt.NDArray[np.int64]]]:
    """Yield the decisions, truths and folds of each language's classifier."""
    counts = None
    if not isinstance(extractor, CustomFeatures):
        # Ties are decided by the order of columns, which is that of the URLs.
        order = np.random.default_rng(0).permutation(len(corpus.urls))
        shuffled = extractor.fit_transform([corpus.urls[at] for at in order])
        counts = csr_matrix(shuffled)[np.argsort(order)]
        names = extractor.get_feature_names_out()
    for language in FIVE:
        own = sample(corpus, language, n_folds=FOLDS)
        urls = np.array([corpus.urls[place] for place in own.places], object)
        said_yes = np.zeros(len(own.y), bool)
        for fold in range(FOLDS):
            train, test = np.flatnonzero(own.folds != fold), np.flatnonzero(own.folds == fold)
            model = make()
            if counts is None:
                training = extractor.fit_transform(urls[train].tolist(), own.y[train])
                testing = extractor.transform(urls[test].tolist())
            else:
                is_seen = seen(counts[own.places[train]])
                training = narrowed(counts[own.places[train]], is_seen)
                testing = narrowed(counts[own.places[test]], is_seen)
                if isinstance(model, Markov):
                    model.set_params(names=names[is_seen])
            said_yes[test] = model.fit(training, own.y[train]).predict(testing)
        yield said_yes, own.y, own.folds


def f1(corpus: Corpus, extractor: Any, make: Maker) -> list[float]:
    """Return F1 of each language, and the mean."""
    found = [
        100 * float(evaluation.by_fold(*each)[:, 3].mean())
        for each in decisions(corpus, extractor, make)
    ]
    return [*found, float(np.mean(found))]


def one_a_domain(rows: Sequence[LabelledUrl]) -> list[LabelledUrl]:
    """Return one URL of each registered domain and language, drawn at random."""
    found: dict[tuple[str, str], LabelledUrl] = {}
    for at in np.random.default_rng(1).permutation(len(rows)):
        found.setdefault((rows[at].language, DOMAIN(rows[at].url)), rows[at])
    return list(found.values())


def without_name(url: str) -> list[str]:
    """Return the words of a URL that are not in the label of its registered domain."""
    name_of_domain = set(words(DOMAIN(url).partition(".")[0]))
    return [word for word in words(url) if word not in name_of_domain]


def words_of(corpus: Corpus) -> float:
    """Return the mean number of words of a URL."""
    return float(np.mean([len(words(url)) for url in corpus.urls]))


def of_paper_size(which: int, of: Callable[[str], Iterable[str]]) -> Callable[[str], set[str]]:
    """Return dictionaries of the paper's size, drawn at random from ours."""
    found: dict[str, set[str]] = {}

    def drawn(language: str) -> set[str]:
        if language not in found:
            listed = sorted(of(language))
            size = min(len(listed), TABLE_II[language][which])
            chosen = np.random.default_rng(0).choice(len(listed), size, replace=False)
            found[language] = {listed[at] for at in chosen}
        return found[language]

    return drawn


def cases(rows: Sequence[LabelledUrl], urls: int) -> Iterator[tuple[str, str, list[float]]]:
    """Yield for each row of the table the place, the variant and its figures."""
    corpus = draw(rows, FIVE, urls=urls)
    spread = draw(one_a_domain(rows), FIVE, urls=urls)

    def on(place: str, variant: str, features: Any, make: Maker, of: Corpus = corpus) -> Any:
        made = vectorizer(features) if isinstance(features, str) else features
        return place, variant, f1(of, made, make)

    yield on("IX, NB, words", "as it ships", "words", NaiveBayes)
    yield on("IX, RE, words", "as it ships", "words", RelativeEntropy)
    yield on("IX, RE, words", "smoothing 0.001", "words", lambda: RelativeEntropy(0.001))
    yield on("IX, NB, words", "smoothing 0.001", "words", lambda: NaiveBayes(0.001))
    yield on("IX, ROS, words", "as it ships", "words", RankOrder)
    yield on("IX, ROS, words", "ties in the order of columns", "words", RankOrderTies)
    yield on("IX, ROS, words", "profile of 100", "words", lambda: RankOrder(100))
    yield on("IX, ROS, words", "profile of 4,000", "words", lambda: RankOrder(4000))
    fewer = draw(rows, FIVE, urls=urls // 4)
    yield on("IX, ROS, words", "a quarter of the URLs", "words", RankOrder, fewer)
    yield on("IX, ROS, words", "one URL of a domain", "words", RankOrder, spread)
    nameless = CountVectorizer(analyzer=without_name, dtype=np.float64)
    yield on("IX, ROS, words", "without the name of the domain", nameless, RankOrder)
    yield on("IX, SVM, words", "as it ships", "words", SupportVectors)
    yield on("IX, SVM, words", "one URL of a domain", "words", SupportVectors, spread)
    yield on("IX, SVM, words", "the paper's SVM", "words", PaperSupportVectors)
    yield on("IX, ME, words", "as it ships", "words", MaximumEntropy)
    yield on("IX, ME, words", "without prior", "words", lambda: MaximumEntropy(1e6))
    yield on("IX, ME, words", "iterative scaling, 20 rounds", "words", IterativeScaling)
    five = "5-grams-from-url"
    yield on("X, Markov, 5-grams of URLs", "as it ships", five, lambda: Markov(5))
    yield on("X, Markov, 5-grams of URLs", "probabilities added", five, lambda: AddedChains(5))
    for size in (5, 6):
        place = f"XI, SVM, {size}-grams of words"
        yield on(place, "as it ships", f"{size}-grams-from-word", SupportVectors)
        yield on(place, "two marks a word", TwoMarks(size, size), SupportVectors)
    three = "3-grams-from-word"
    yield on("2008, RE, 3-grams of words", "all 3-grams", three, RelativeEntropy)
    for size in (400, 4000):
        variant = f"the {size:,} most frequent"
        yield on("2008, RE, 3-grams of words", variant, three, partial(MostFrequent, size))
    yield on("XII, DT", "as it ships", CustomFeatures(), DecisionTree)
    yield on("XII, DT", "leaves of one URL", CustomFeatures(), lambda: DecisionTree(1))
    yield on("XII, DT", "trained dictionaries of all", CustomFeatures(folds=1), DecisionTree)
    small = CustomFeatures(
        dictionary=of_paper_size(0, dictionary_words), cities=of_paper_size(1, city_words)
    )
    yield on("XII, DT", "dictionaries as small as the paper's", small, DecisionTree)


def differing(corpus: Corpus, features: str) -> float:
    """Return the share of decisions in which relative entropy and naive Bayes differ, in %."""
    extractor = vectorizer(features)
    both = [list(decisions(corpus, extractor, make)) for make in (NaiveBayes, RelativeEntropy)]
    pairs = zip(*both, strict=True)
    return 100 * float(np.mean([np.mean(one[0] != other[0]) for one, other in pairs]))


def table_ii() -> Table:
    """Return the sizes of the dictionaries."""
    rows = [
        [
            name(language),
            f"{len(dictionary_words(language)):,} ({TABLE_II[language][0]:,})",
            f"{len(city_words(language)):,} ({TABLE_II[language][1]:,})",
        ]
        for language in FIVE
    ]
    title = "Sizes of dictionaries (in brackets: Baykan 2013, Table II)"
    return Table(title, ["language", "words", "cities"], rows)


def table_iv(rows: Sequence[LabelledUrl]) -> Table:
    """Return the share of URLs with a word or top-level domain that the paper asked for."""
    kinds = sorted({row.label_kind for row in rows})
    found = []
    for language in FIVE:
        asked = set(STOP_WORDS[language].split())
        has: dict[str, list[bool]] = {kind: [] for kind in kinds}
        for row in rows:
            if row.language == language:
                is_under = top_level_domain(row.url) == QUERIED[language]
                has[row.label_kind].append(is_under or not asked.isdisjoint(words(row.url)))
        every = [each for kind in kinds for each in has[kind]]
        shares = [f"{100 * np.mean(has[kind]):.0f}" if has[kind] else "-" for kind in kinds]
        all_kinds = f"{100 * np.mean(every):.0f} ({TABLE_IV[language]})"
        found.append([name(language), *shares, all_kinds])
    title = "URLs with a stop word or top-level domain of the queries, % (Baykan 2013, Table IV)"
    return Table(title, ["language", *kinds, "all"], found)


def main() -> int:
    """Measure, print and write the tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--urls", type=int, default=2000, help="URLs of each language (2000)")
    parser.add_argument("--json", type=Path, help="file to write")
    given = parser.parse_args()
    rows = [row for row in open_dataset(URLS) if row.language in FIVE]
    corpus = draw(rows, FIVE, urls=given.urls)
    same = " and ".join(
        f"{differing(corpus, features):.2f} % with {features}"
        for features in ("words", "allgrams-from-word")
    )
    spread = draw(one_a_domain(rows), FIVE, urls=given.urls)
    of_url = f"{words_of(corpus):.1f}, with one URL of a domain {words_of(spread):.1f}"
    printer, lines = Printer(width=WIDE), []
    for place, variant, found in cases(rows, given.urls):
        lines.append([place, variant, *(f"{value:.1f}" for value in found)])
        print(*lines[-1], sep=" | ", flush=True)
    head = ["table, algorithm, features", "variant", *FIVE, "mean"]
    notes = [
        f"{given.urls:,} URLs of each language, {FOLDS} folds.",
        f"Decisions in which NB and RE differ: {same}.",
        f"Words of a URL: {of_url}.",
    ]
    changed = Table("F1 with and without deviations", head, lines, notes=notes, text_columns=2)
    tables = {"deviations": changed, "table-ii": table_ii(), "table-iv": table_iv(rows)}
    for table in tables.values():
        printer.table(table)
    if given.json:
        command = ["python", "-m", "benchmarks.paper_deviations", *sys.argv[1:]]
        measured = provenance(command, [URLS], date.today(), modules=MODULES)
        written = [table.as_json(key) for key, table in tables.items()]
        print(write_whole(given.json, json_text({"measured": measured, "tables": written})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
