"""Experiments with their own tables: Table XV, Figure 2, 4.3.1, and three of 2008."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.datasets.texts import recognised, texts_by_language
from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.languages import name as language_name
from langfocus.classifiers.papers import evaluation
from langfocus.classifiers.papers.baykan.algorithms import DecisionTree, algorithm, label, parse
from langfocus.classifiers.papers.baykan.grams import Counts, text_words, words
from langfocus.classifiers.papers.baykan.measures import (
    F1,
    MEAN,
    Experiment,
    Tables,
    average,
    cells,
    four,
    macro,
    measured,
    of_language,
    printed,
)
from langfocus.classifiers.papers.baykan.similarity import Flags, Matrix
from langfocus.classifiers.papers.baykan.study import Study, Texts
from langfocus.classifiers.papers.page_cases import visible_text
from langfocus.classifiers.papers.table import MEASURES, Cell, Row

DEPTH: Final = 3
"""Tests from the root to a leaf of the displayed tree."""
FEW: Final = "custom-2008"
N_CHOSEN: Final = 15
"""Number of features that the 2008 study selected from 74."""
LOSS_OF_2008: Final = -3.0
"""Points of F1 by which its 15 features exceeded all 74."""
LEAST_TEXTS: Final = 10
"""Minimum texts of a language."""

_HELD_OUT: Final = 0.3
_ORDER: Final = 104


def test_set(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Tables XV and XVI."""
    corpus, theirs = study.corpus, printed("XV")
    rows = []
    for column, language in enumerate(study.languages):
        chosen = corpus.is_tested & (corpus.columns == column)
        figures = (
            Cell(float(chosen.sum()), paper=theirs.get((language, ""), (None,))[0]),
            Cell(float(len(np.unique(corpus.domains[chosen])))),
        )
        rows.append(of_language(language, figures))
    yield row.table(
        "language",
        ("URLs", "registered domains"),
        rows,
        name="test-urls",
        title="The test set",
        source="Baykan 2013, Table XV",
        notes=(
            f"{corpus.n_removed} test URLs were left out because they are training URLs",
            f"training URLs of each language: {corpus.per_language}",
        ),
        digits=0,
    )
    yield from four(row, study, names)


def domains(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield 4.3.1: test URLs under a training set domain, also in two languages."""
    rows = []
    for language in study.languages:
        shares = (100 * float(is_so.mean()) for is_so in domain_seen(study, language))
        pairs = zip(shares, row.figures_of(language)[:2], strict=True)
        rows.append(of_language(language, [Cell(x, paper=y) for x, y in pairs]))
    yield row.table("language", ("domain seen", "in two languages or more"), rows)


def domain_seen(study: Study, language: str) -> tuple[Flags, Flags]:
    """Return masks of URLs under a training set domain, at all and in two languages.

    Two arrays (n_urls,). The languages are the sample URLs' languages, not only Yes and No.
    """
    sample = study.sample(language)
    domain, columns = study.corpus.domains[sample.places], study.corpus.columns[sample.places]
    shape = (int(study.corpus.domains.max()) + 1, len(study.languages))
    is_seen, is_multilingual = np.zeros(len(domain), bool), np.zeros(len(domain), bool)
    for train, test in sample.parts():
        in_training = np.zeros(shape, bool)
        in_training[domain[train], columns[train]] = True
        n_languages = in_training[domain[test]].sum(axis=1)
        is_seen[test], is_multilingual[test] = n_languages > 0, n_languages > 1
    return is_seen, is_multilingual


def best_combination(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield F1 of each language's best classifier combination (slides of 2008, Table 9).

    Candidates are single classifiers and pairs that say Yes if either does (`or`) or if both do
    (`and`). Unlike in the slides, the best candidate for a fold is chosen by the other folds.
    """
    rows = []
    for language in study.languages:
        of_folds, favourite = _chosen_elsewhere(study, language, names)
        figures = measured(of_folds, (None, None, None, row.figures_of(language)[0]))
        heads = (language_name(language), favourite)
        rows.append(Row(heads, figures, key={"language": language}))
    rows.append(Row((MEAN, ""), macro([line.cells for line in rows]), key={"language": MEAN}))
    yield row.table("language | combination", MEASURES, rows, headline=F1)


def _chosen_elsewhere(
    study: Study, language: str, names: Sequence[str]
) -> tuple[evaluation.Matrix, str]:
    """Return the measures per fold of the other folds' best combination, and the modal choice."""
    sample = study.sample(language)
    tried = {label(name): study.decisions(name, language) for name in names}
    for (left, first), (right, second) in itertools.combinations(list(tried.items()), 2):
        tried |= {f"{left} or {right}": first | second, f"{left} and {right}": first & second}
    scores = {
        name: evaluation.by_fold(said_yes, sample.y, sample.folds)
        for name, said_yes in tried.items()
    }
    choices = []
    for fold in range(study.n_folds):
        elsewhere = np.arange(study.n_folds) != fold
        means = {name: float(of[elsewhere, F1].mean()) for name, of in scores.items()}
        choices.append(max(means, key=lambda name: means[name]))
    found = np.array([scores[choice][fold] for fold, choice in enumerate(choices)])
    return found, max(dict.fromkeys(choices), key=choices.count)


def tree(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield Figure 2: the top of the first language's tree over custom-made features.

    The tree is trained on all folds but the first and tested on the first. At a leaf, f(+) and f(-)
    are the shares of positive and of negative test URLs in the leaf.
    """
    language = study.languages[0]
    title = f"{row.title} for {language_name(language)}"
    leaves = top_of_tree(study, language)
    yield row.table("leaf | says", ("f(+)", "f(-)"), leaves, title=title)


def top_of_tree(study: Study, language: str, depth: int = DEPTH) -> list[Row]:
    """Return the leaves of the tree cut at a depth, each with the tests on its path."""
    parted, learned, y = study.first_fold("custom", language)
    grown: Any = DecisionTree(study.seed).fit(parted.training, learned).tree_
    rows = np.asarray(parted.testing, np.float32)

    def leaves(node: int, here: Flags, path: tuple[str, ...]) -> Iterator[Row]:
        feature, threshold = int(grown.feature[node]), float(grown.threshold[node])
        if feature < 0 or len(path) == depth:
            says = "Yes" if grown.value[node][0][1] > grown.value[node][0][0] else "No"
            shares = (100 * (here & of).sum() / max(1, of.sum()) for of in (y, ~y))
            cells = tuple(Cell(round(float(share), 1)) for share in shares)
            yield Row((" and ".join(path) or "any URL", says), cells)
            return
        is_left = rows[:, feature] <= threshold
        name = f"{parted.names[feature]}"
        left, right = int(grown.children_left[node]), int(grown.children_right[node])
        yield from leaves(left, here & is_left, (*path, f"{name} <= {threshold:g}"))
        yield from leaves(right, here & ~is_left, (*path, f"{name} > {threshold:g}"))

    return list(leaves(0, np.ones(len(y), bool), ()))


def few_features(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield F1 of a decision tree with 15 of the 74 features of 2008, beside F1 with all 74.

    Features are selected on the first fold's training URLs and measured on its test URLs.
    """
    make = partial(DecisionTree, study.seed)
    losses, steps = [], []
    for language in study.languages:
        parted, learned, tested = study.first_fold(FEW, language)
        training, testing = parted.training, parted.testing
        order, gains = selected(make, training, learned, N_CHOSEN, study.seed)
        every = 100 * _f1(make(), training, learned, testing, tested)
        few = 100 * _f1(make(), training[:, order], learned, testing[:, order], tested)
        figures = (Cell(every), Cell(few), Cell(few - every, paper=LOSS_OF_2008))
        losses.append(of_language(language, figures))
        chosen = parted.names[order].tolist()
        for step, (feature, gain) in enumerate(zip(chosen, gains, strict=True), start=1):
            key = {"language": language, "feature": feature}
            heads = (language_name(language), str(step), feature)
            steps.append(Row(heads, (Cell(100 * gain),), key=key))
    losses.append(Row((MEAN,), macro([line.cells for line in losses]), key={"language": MEAN}))
    columns = ("all 74", f"best {N_CHOSEN}", "difference")
    title = f"{row.title} and with {N_CHOSEN}"
    note = "F1 on training URLs that the tree of the step was not fitted on"
    others = {"name": f"{row.name}-steps", "title": "The chosen features", "source": ""}
    yield row.table("language", columns, losses, title=title, headline=2)
    yield row.table("language | step | feature", ("F1",), steps, notes=(note,), **others)


def _f1(model: Any, training: Matrix, learned: Flags, testing: Matrix, tested: Flags) -> float:
    """Return F1 of a classifier, fitted on training rows and scored on test rows."""
    return evaluation.of_binary(model.fit(training, learned).predict(testing), tested).f1


def selected(
    make: Callable[[], Any], X: Matrix, is_yes: Flags, most: int, seed: int
) -> tuple[list[int], list[float]]:
    """Return the columns of a greedy selection, the best first, and F1 after each step.

    Each step adds the column with the highest F1 on three tenths of the rows, held out from
    fitting; the first column wins ties. A step costs one fit per remaining column. Unlike
    scikit-learn's SequentialFeatureSelector, it returns each step's gain, and its precision is the
    balanced-class precision (Baykan 2013, 3.3).
    """
    from sklearn.model_selection import train_test_split

    learn, judge = train_test_split(
        np.arange(len(is_yes)), test_size=_HELD_OUT, random_state=seed, stratify=is_yes
    )

    def f1(columns: list[int]) -> float:
        return _f1(make(), X[learn][:, columns], is_yes[learn], X[judge][:, columns], is_yes[judge])

    order: list[int] = []
    found: list[float] = []
    left = list(range(X.shape[1]))
    while left and len(order) < most:
        scores = [f1([*order, each]) for each in left]
        best = int(np.argmax(scores))
        order.append(left.pop(best))
        found.append(scores[best])
    return order, found


def texts_of(path: Path, languages: Sequence[str]) -> Texts:
    """Return the visible texts of labelled texts or pages in each language.

    StudyError if the path is neither, or if a language has fewer than LEAST_TEXTS.
    """
    source = recognised(path)
    if source is None:
        raise StudyError(f"{path}: neither labelled texts nor labelled pages")
    own = texts_by_language(visible_text(row) for row in source if row.language in languages)
    found = {code: own.get(code, []) for code in languages}
    if min(map(len, found.values())) < LEAST_TEXTS:
        counts = ", ".join(f"{code} {len(texts)}" for code, texts in found.items())
        raise StudyError(f"{path}: {LEAST_TEXTS} texts of each language are needed ({counts})")
    return found


def content(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield F1 on the same test URLs, trained on URL words and on text words (2008, Table 10)."""
    if study.texts is None:
        raise StudyError(f"experiment {row.name} needs texts")
    n_texts = min(len(study.texts[code]) for code in study.languages)
    rows = []
    for name in names:
        lines: dict[str, list[Cell]] = {"URLs": [], "content": []}
        for language in study.languages:
            theirs = row.figures_of(language, name)
            trained = measured(_trained_on(study.texts, n_texts, study, name, language))
            of_urls = cells(study, name, language)
            for text, found, paper in zip(lines, (of_urls, trained), theirs, strict=False):
                lines[text].append(replace(found[F1], paper=paper))
        for text, figures in lines.items():
            key = {"classifier": name, "trained on": text}
            rows.append(Row((label(name), text), (*figures, average(figures)), key=key))
    drawn = (_drawn(study.texts[code], n_texts, 0) for code in study.languages)
    n_words = sum(len(text_words(text)) for each in drawn for text in each)
    note = f"content: {n_texts} texts of each language, {n_words:,} words in all"
    columns = (*study.languages, MEAN)
    yield row.table("classifier | trained on", columns, rows, notes=(note,))


def _trained_on(
    texts: Texts, n_texts: int, study: Study, name: str, language: str
) -> npt.NDArray[np.float64]:
    """Return the measures per fold of a classifier trained on texts, (n_folds, 4)."""
    others = [code for code in study.languages if code != language]
    chosen = _drawn(texts[language], n_texts, study.seed)
    n_yes = len(chosen)
    for code in others:
        chosen += _drawn(texts[code], max(1, n_texts // len(others)), study.seed)
    counter = Counts(text_words)
    learned = counter.fit_transform(chosen)
    counter.pieces = words
    parsed, sample = parse(name), study.sample(language)
    fitted = algorithm(str(parsed.algorithm), str(parsed.features), study.seed)
    fitted.fit(learned, np.arange(len(chosen)) < n_yes)
    said_yes = fitted.predict(counter.transform(study.urls(language)))
    return evaluation.by_fold(said_yes, sample.y, sample.folds)


def _drawn(texts: Sequence[str], number: int, seed: int) -> list[str]:
    order = np.random.default_rng([seed, _ORDER]).permutation(len(texts))[:number]
    return [texts[at] for at in order]
