"""The experiments of Baykan 2013, 4: one function from a study to a result for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from classifiers.languages import name as language_name
from classifiers.papers.baykan.study import blocks, paper, paper_figures, subsets
from classifiers.papers.baykan.study.blocks import F1
from classifiers.papers.baykan.study.names import label
from classifiers.papers.baykan.study.validation import Experiment, Study
from classifiers.papers.table import MEASURES, Cell, MeasureTable, Result, Row

WORD_ALGORITHMS: Final = ("nb", "me", "re", "ros", "svm")
CUSTOM_ALGORITHMS: Final = ("nb", "me", "re", "svm", "dt")
NGRAM_ALGORITHMS: Final = ("nb", "me", "svm", "re", "ros", "markov")
SINGLE: Final = tuple(
    f"{size}-grams-from-{source}" for source in ("url", "word") for size in (3, 4, 5, 6)
)
MULTIPLE: Final = tuple(
    f"{sizes}-from-{source}"
    for source in ("url", "word")
    for sizes in ("3-4-grams", "3-4-5-grams", "3-4-5-6-grams", "allgrams")
)


def baselines(study: Study) -> Result:
    """Tables V to VIII and Figure 1."""
    names = blocks.possible(study, ("cctld", "cctld+", "ip"))
    measured = blocks.four_measures(
        study,
        names,
        blocks.Heading(
            name="baselines",
            title="Top-level domain and IP address",
            source="Baykan 2013, Tables V and VII",
            published=paper.BASELINES,
            notes=blocks.notes(study),
        ),
    )
    # The two differ in English only.
    shown = [row for row in measured.rows if _is_new(row)]
    measured = replace(measured, rows=tuple(shown))
    sources = {"cctld": "Table VI", "cctld+": "Table VI, in brackets", "ip": "Table VIII"}
    confusions = [
        blocks.confusion(
            study,
            name,
            name=f"confusion-{name}",
            title=f"Confusion of {label(name)}: share of Yes, %",
            source=f"Baykan 2013, {sources[name]}",
        )
        for name in names
    ]
    figure = paper_figures.points(
        measured, "figure-1", "F1 of the baselines", blocks.possible(study, ("cctld", "ip"))
    )
    return Result("baselines", (measured, *confusions), (figure,))


def _is_new(row: Row) -> bool:
    return row.key["classifier"] != "cctld+" or row.key["language"] == "en"


def words(study: Study) -> Result:
    """Table IX."""
    table = blocks.four_measures(
        study,
        [f"{algorithm}:words" for algorithm in WORD_ALGORITHMS],
        blocks.Heading(
            name="words",
            title="Words as features",
            source="Baykan 2013, Table IX",
            published=paper.WORDS,
            best_in_paper=paper.BEST["words"],
        ),
    )
    return Result("words", (table,))


def ngrams(study: Study) -> Result:
    """Table X: the best n-grams of each algorithm; Markov takes those of one size only."""
    grids = {
        algorithm: [
            f"{algorithm}:{features}"
            for features in (SINGLE if algorithm == "markov" else SINGLE + MULTIPLE)
        ]
        for algorithm in NGRAM_ALGORITHMS
    }
    study.run([name for grid in grids.values() for name in grid])
    rows = [row for language in study.languages for row in _best_ngrams(study, language, grids)]
    table = MeasureTable(
        "ngrams",
        "The best n-grams of each algorithm",
        "Baykan 2013, Table X",
        ("language", "algorithm", "n-grams", "n-grams in the paper"),
        MEASURES,
        tuple(rows),
        F1,
        (blocks.STAR, "chosen by F1 on the test folds, as in the paper"),
    )
    return Result("ngrams", (table,))


def _best_ngrams(study: Study, language: str, grids: Mapping[str, Sequence[str]]) -> list[Row]:
    chosen = {
        algorithm: max(grid, key=lambda name: float(study.scores(name, language)[:, F1].mean()))
        for algorithm, grid in grids.items()
    }
    first = blocks.best_of(study, list(chosen.values()), language)
    rows = []
    for algorithm, name in chosen.items():
        features, published = paper.NGRAMS.get(language, {}).get(algorithm, ("", None))
        *others, f1 = blocks.cells(study, name, language)
        rows.append(
            Row(
                (language_name(language), algorithm, name.partition(":")[2], features),
                (*others, Cell(f1.ours, f1.spread, published)),
                is_best=name == first,
                is_best_in_paper=algorithm == "svm" and published is not None,
                key={"language": language, "classifier": name},
            )
        )
    return rows


def svm_features(study: Study) -> Result:
    """Table XI."""
    names = [f"svm:{features}" for features in paper.SVM_FEATURES]
    study.run(names)
    first = {language: blocks.best_of(study, names, language) for language in study.languages}
    table = MeasureTable(
        "svm-features",
        "F1 of SVM with words and n-grams",
        "Baykan 2013, Table XI",
        ("classifier", "* in"),
        (*study.languages, blocks.MEAN),
        tuple(_svm_row(study, features, first) for features in paper.SVM_FEATURES),
        notes=(blocks.STAR,),
    )
    return Result("svm-features", (table,))


def _svm_row(study: Study, features: str, first: Mapping[str, str | None]) -> Row:
    """F1 by language, and the languages in which these features are significantly the best."""
    name = f"svm:{features}"
    published = dict(zip(paper.LANGUAGES, paper.SVM_FEATURES[features], strict=True))
    found = []
    for language in study.languages:
        f1 = blocks.cells(study, name, language)[F1]
        found.append(Cell(f1.ours, f1.spread, published.get(language)))
    leads = [language for language, best_name in first.items() if best_name == name]
    return Row(
        (label(name), " ".join(leads)),
        (*found, blocks.average(found)),
        is_best=len(leads) == len(study.languages),
        key={"classifier": name},
    )


def custom(study: Study) -> Result:
    """Table XII."""
    table = blocks.four_measures(
        study,
        [f"{algorithm}:custom" for algorithm in CUSTOM_ALGORITHMS],
        blocks.Heading(
            name="custom",
            title="Custom-made features",
            source="Baykan 2013, Table XII",
            published=paper.CUSTOM,
            best_in_paper=paper.BEST["custom"],
            notes=blocks.notes(study),
        ),
    )
    return Result("custom", (table,))


def domains(study: Study) -> Result:
    """4.3.1: test URLs whose registered domain is in the training set."""
    rows = []
    for language in study.languages:
        is_seen, is_multilingual = subsets.domain_seen(study, language)
        seen, multilingual = 100 * float(is_seen.mean()), 100 * float(is_multilingual.mean())
        rows.append(
            Row(
                (language_name(language),),
                (
                    Cell(seen, paper=paper.DOMAINS_SEEN.get(language)),
                    Cell(multilingual, paper=paper.MULTILINGUAL_SEEN.get(language)),
                ),
                key={"language": language},
            )
        )
    table = MeasureTable(
        "domains",
        "Test URLs whose domain is in the training set, %",
        "Baykan 2013, 4.3.1",
        ("language",),
        ("domain seen", "in two languages or more"),
        tuple(rows),
    )
    return Result("domains", (table,))


TABLES: Final[Mapping[str, Experiment]] = {
    "baselines": baselines,
    "words": words,
    "ngrams": ngrams,
    "svm-features": svm_features,
    "custom": custom,
    "domains": domains,
}
