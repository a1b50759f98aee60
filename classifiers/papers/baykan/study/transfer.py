"""Experiments on a test set of its own: the counterparts of Tables XV, XVI and Figure 6."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from classifiers.languages import name as language_name
from classifiers.papers.baykan.study import blocks, bootstrap, paper
from classifiers.papers.baykan.study.blocks import F1, MEAN
from classifiers.papers.baykan.study.comparisons import SizeHeading, sizes
from classifiers.papers.baykan.study.held_out import HeldOutStudy
from classifiers.papers.baykan.study.names import label
from classifiers.papers.table import MEASURES, Cell, MeasureTable, Result, Row

COMPARED: Final = (
    "cctld",
    "ip",
    "svm:words",
    "svm:allgrams-from-word",
    "dt:custom",
    "re:allgrams-from-word",
    "ip+svm:allgrams-from-word",
)
"""The classifiers of Table XVI, and words."""

INTERVAL: Final = (
    "from, to: 95 % interval of F1 by a bootstrap over the registered domains of the test set,"
    " 1,000 draws"
)
STAR: Final = (
    "* the difference to each other one is above 0 in 97.5 % of the draws of the bootstrap"
)
WEIGHTS: Final = "all test URLs count; the other languages have equal weight as negatives"
_LEVEL: Final = 0.025


def test_set(study: HeldOutStudy) -> Result:
    """The test URLs, and classifiers on all of them and on those of unseen domains."""
    names = blocks.possible(study, COMPARED)
    study.run(names)
    draws = {
        language: _draws(study, names, language, study.corpus.is_tested)
        for language in study.languages
    }
    unseen = study.corpus.is_tested & study.corpus.is_unseen
    of_unseen = {language: _draws(study, names, language, unseen) for language in study.languages}
    tables = (
        _urls(study),
        _compared(study, names, draws),
        _unseen(study, names, of_unseen),
    )
    return Result("test-set", tables)


Draws = Mapping[str, bootstrap.Figures]


def _draws(
    study: HeldOutStudy, names: Sequence[str], language: str, chosen: blocks.Flags
) -> bootstrap.Figures:
    """F1 of each classifier in each draw, on the chosen rows of the corpus; nan without any."""
    places = study.sample(language).places
    among = chosen[places]
    columns = study.corpus.columns[places][among]
    own = study.languages.index(language)
    if own not in columns or (columns == own).all():
        return np.full((bootstrap.DRAWS, len(names)), np.nan)
    said_yes = np.column_stack([study.decisions(name, language)[among] for name in names])
    domains = study.corpus.domains[places][among]
    return bootstrap.f1_draws(said_yes, columns, own, domains, seed=study.seed)


def _urls(study: HeldOutStudy) -> MeasureTable:
    """The counterpart of Table XV."""
    corpus = study.corpus
    rows = []
    for column, language in enumerate(study.languages):
        chosen = corpus.is_tested & (corpus.columns == column)
        cells = (
            Cell(float(chosen.sum()), paper=paper.FLASH_URLS.get(language)),
            Cell(float(len(np.unique(corpus.domains[chosen])))),
            Cell(100 * float(corpus.is_unseen[chosen].mean())),
        )
        rows.append(Row((language_name(language),), cells, key={"language": language}))
    return MeasureTable(
        "test-urls",
        "The test set",
        "Baykan 2013, Table XV",
        ("language",),
        ("URLs", "registered domains", "of unseen domains, %"),
        tuple(rows),
        notes=(
            f"{corpus.n_removed} test URLs were left out because they are training URLs",
            f"training URLs of each language: {corpus.per_language}",
        ),
        digits=0,
    )


def _compared(study: HeldOutStudy, names: Sequence[str], draws: Draws) -> MeasureTable:
    """The counterpart of Table XVI."""
    rows = []
    for language in study.languages:
        first = _best(names, draws[language])
        for place, name in enumerate(names):
            published = paper.FLASH.get(language, {}).get(name)
            low, high = bootstrap.interval(100 * draws[language][:, place])
            f1 = blocks.cells(study, name, language, published)
            star = "*" if name == first else ""
            rows.append(
                Row(
                    (language_name(language), label(name) + star),
                    (*(Cell(each.ours, paper=each.paper) for each in f1), Cell(low), Cell(high)),
                    is_best=name == first,
                    is_best_in_paper=paper.BEST["flash"].get(language) == name,
                    key={"language": language, "classifier": name},
                )
            )
    rows += [_mean(study, name, at, rows, draws) for at, name in enumerate(names)]
    return MeasureTable(
        "test-set",
        "Classifiers on the test set",
        "in brackets: Baykan 2013, Table XVI, on Flash pages",
        ("language", "classifier"),
        (*MEASURES, "from", "to"),
        tuple(rows),
        notes=(WEIGHTS, INTERVAL, STAR, *blocks.notes(study)),
    )


def _mean(study: HeldOutStudy, name: str, place: int, rows: Sequence[Row], draws: Draws) -> Row:
    """The macro averages of a classifier, with the interval of the mean F1."""
    own = [row.cells[:4] for row in rows if row.key["classifier"] == name]
    of_draws = np.mean([draws[language][:, place] for language in study.languages], axis=0)
    low, high = bootstrap.interval(100 * of_draws)
    key = {"language": MEAN, "classifier": name}
    return Row((MEAN, label(name)), (*blocks.macro(own), Cell(low), Cell(high)), key=key)


def _best(names: Sequence[str], draws: bootstrap.Figures) -> str | None:
    """The classifier that is above each other one in nearly all draws, if there is one."""
    if len(names) < 2 or np.isnan(draws).all():
        return None
    first = int(np.argmax(np.nanmean(draws, axis=0)))
    others = np.delete(draws, first, axis=1)
    is_above = (draws[:, [first]] > others).mean(axis=0) >= 1 - _LEVEL
    return names[first] if is_above.all() else None


def _unseen(study: HeldOutStudy, names: Sequence[str], draws: Draws) -> MeasureTable:
    """F1 on test URLs of any domain and of domains that no training URL has."""
    among = study.corpus.is_unseen
    rows = []
    for name in names:
        for text, flags in (("any", None), ("unseen", among)):
            cells = [
                Cell(
                    blocks.cells(
                        study,
                        name,
                        language,
                        among=None if flags is None else flags[study.sample(language).places],
                    )[F1].ours
                )
                for language in study.languages
            ]
            key = {"classifier": name, "domains": text}
            low, high = float("nan"), float("nan")
            if flags is not None:
                place = names.index(name)
                of_draws = [draws[language][:, place] for language in study.languages]
                low, high = bootstrap.interval(100 * np.mean(of_draws, axis=0))
            figures = (*cells, blocks.average(cells), Cell(low), Cell(high))
            rows.append(Row((label(name), text), figures, key=key))
    return MeasureTable(
        "test-unseen",
        "F1 on test URLs of any domain, and of domains not trained on",
        "",
        ("classifier", "domains"),
        (*study.languages, MEAN, "from", "to"),
        tuple(rows),
        notes=(INTERVAL.replace("F1", "the mean"),),
    )


def test_sizes(study: HeldOutStudy) -> Result:
    """Figure 6: macro-averaged F1 on the test set with fewer and fewer training URLs."""
    heading = SizeHeading(
        "test-sizes",
        "figure-6",
        "Macro-averaged F1 on the test set by the share of the training URLs",
        "Baykan 2013, Figure 6 and 5.1",
        smallest=paper.SMALLEST_TRAINING_F1_ON_FLASH,
    )
    return sizes(study, heading)


TRANSFER: Final[Mapping[str, Callable[[HeldOutStudy], Result]]] = {
    "test-set": test_set,
    "test-sizes": test_sizes,
}
"""The experiments that need a test set."""
