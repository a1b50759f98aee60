"""The paper's own SVM beside ours, on URLs of any domain and of domains not trained on."""

from __future__ import annotations

from typing import Final

from classifiers.papers.baykan.features import dictionaries
from classifiers.papers.baykan.study import blocks, paper
from classifiers.papers.baykan.study.beyond import DISJOINT
from classifiers.papers.baykan.study.blocks import F1, MEAN
from classifiers.papers.baykan.study.names import label
from classifiers.papers.baykan.study.validation import STANDARD, Study
from classifiers.papers.table import MeasureTable, Result, Row

DOMAINS: Final = {DISJOINT: "unseen", STANDARD: "any"}
FEATURES: Final = ("words", "3-grams-from-word", "allgrams-from-word", "custom")


def svm_of_paper(study: Study) -> Result:
    """F1 of `svm-perf` (Baykan 2013, 2.2) and of `svm`, with four feature sets."""
    features = [each for each in FEATURES if each != "custom" or dictionaries.are_installed()]
    names = [f"{svm}:{each}" for each in features for svm in ("svm-perf", "svm")]
    study.run(names, tuple(DOMAINS))
    rows = []
    for name in names:
        of_features = paper.SVM_FEATURES.get(name.partition(":")[2])
        for setting, text in DOMAINS.items():
            cells = []
            for language in study.languages:
                published: list[float | None] = [None] * 4
                if setting == STANDARD and of_features and language in paper.LANGUAGES:
                    published[F1] = of_features[paper.LANGUAGES.index(language)]
                cells.append(blocks.cells(study, name, language, published, setting=setting)[F1])
            key = {"classifier": name, "domains": text}
            rows.append(Row((label(name), text), (*cells, blocks.average(cells)), key=key))
    table = MeasureTable(
        "svm-perf",
        "F1 of the paper's SVM (hinge loss, weights not scaled) and of ours",
        "in brackets: Baykan 2013, Table XI",
        ("classifier", "domains"),
        (*study.languages, MEAN),
        tuple(rows),
        notes=blocks.notes(study),
    )
    return Result("svm-perf", (table,))
