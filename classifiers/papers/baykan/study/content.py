"""Classifiers of URLs that were trained on the content of pages (slides of 2008, Table 10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from classifiers.datasets.texts import LabelledPage, LabelledText, recognised
from classifiers.errors import StudyError
from classifiers.pages.parse import parse_page
from classifiers.papers import evaluation
from classifiers.papers.baykan.algorithms import algorithm
from classifiers.papers.baykan.features.words import text_words, words
from classifiers.papers.baykan.study import blocks, paper
from classifiers.papers.baykan.study.blocks import F1, MEAN
from classifiers.papers.baykan.study.names import label, parse
from classifiers.papers.baykan.study.validation import Study
from classifiers.papers.table import Cell, MeasureTable, Result, Row

ALGORITHMS: Final = ("nb:words", "me:words")
LEAST: Final = 10
"""Fewest texts of a language."""

_ORDER: Final = 104

Texts = Mapping[str, Sequence[str]]


def by_language(path: Path, languages: Sequence[str]) -> Texts:
    """The visible texts of labelled texts or pages in each language.

    StudyError if the path is neither, or if a language has fewer than LEAST.
    """
    source = recognised(path)
    if source is None:
        raise StudyError(f"{path}: neither labelled texts nor labelled pages")
    found: dict[str, list[str]] = defaultdict(list)
    for row in source:
        if row.language in languages:
            found[row.language].append(_text(row))
    if any(len(found[code]) < LEAST for code in languages):
        counts = ", ".join(f"{code} {len(found[code])}" for code in languages)
        raise StudyError(f"{path}: {LEAST} texts of each language are needed ({counts})")
    return found


def _text(row: LabelledText | LabelledPage) -> str:
    if isinstance(row, LabelledText):
        return row.text
    return parse_page(row.body, content_type=None, url=row.url).text


def content(study: Study, texts: Texts) -> Result:
    """F1 on the same test URLs, trained on words of URLs and on words of texts."""
    study.run(ALGORITHMS)
    n_texts = min(len(texts[code]) for code in study.languages)
    rows = []
    for name in ALGORITHMS:
        cells: dict[str, list[Cell]] = defaultdict(list)
        for language in study.languages:
            of_urls, of_content = paper.CONTENT[name].get(language, (None, None))
            trained = 100 * _trained_on(texts, n_texts, study, name, language)
            f1 = blocks.cells(study, name, language)[F1]
            cells["URLs"].append(Cell(f1.ours, f1.spread, of_urls))
            mean, spread = evaluation.mean_and_spread(trained)
            cells["content"].append(Cell(float(mean[F1]), float(spread[F1]), of_content))
        for text, figures in cells.items():
            key = {"classifier": name, "trained on": text}
            rows.append(Row((label(name), text), (*figures, blocks.average(figures)), key=key))
    table = MeasureTable(
        "content",
        "F1 of classifiers trained on URLs and on the content of pages, tested on URLs",
        "Baykan 2008, Table 10",
        ("classifier", "trained on"),
        (*study.languages, MEAN),
        tuple(rows),
        notes=(
            f"content: {n_texts} texts of each language, "
            f"{_n_words(texts, study.languages, n_texts)} words in all",
        ),
    )
    return Result("content", (table,))


def _trained_on(
    texts: Texts, n_texts: int, study: Study, name: str, language: str
) -> evaluation.Matrix:
    """The measures in each fold of a classifier that learned from texts, (n_folds, 4)."""
    chosen, is_yes = _sample(texts, n_texts, study, language)
    counter = CountVectorizer(analyzer=text_words, dtype=np.float64)
    learned = counter.fit_transform(chosen)
    tested = CountVectorizer(analyzer=words, dtype=np.float64, vocabulary=counter.vocabulary_)
    parsed = parse(name)
    fitted = algorithm(str(parsed.algorithm), str(parsed.features), study.seed)
    said_yes = fitted.fit(learned, is_yes).predict(tested.transform(study.urls(language)))
    sample = study.sample(language)
    return evaluation.by_fold(said_yes, sample.y, sample.folds)


def _sample(
    texts: Texts, n_texts: int, study: Study, language: str
) -> tuple[list[str], blocks.Flags]:
    """Texts of a language, and as many of the others in equal parts."""
    others = [code for code in study.languages if code != language]
    chosen = _drawn(texts[language], n_texts, study.seed)
    n_yes = len(chosen)
    for code in others:
        chosen += _drawn(texts[code], max(1, n_texts // len(others)), study.seed)
    return chosen, np.arange(len(chosen)) < n_yes


def _drawn(texts: Sequence[str], number: int, seed: int) -> list[str]:
    order = np.random.default_rng([seed, _ORDER]).permutation(len(texts))[:number]
    return [texts[at] for at in order]


def _n_words(texts: Texts, languages: Iterable[str], number: int) -> str:
    drawn = (_drawn(texts[code], number, 0) for code in languages)
    return f"{sum(len(text_words(text)) for each in drawn for text in each):,}"
