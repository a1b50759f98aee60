"""The paper's figures, checked against what its own formulas say of them."""

from collections.abc import Iterator, Sequence

import pytest

from classifiers.papers.baykan.study import paper
from classifiers.papers.baykan.study.names import parse
from classifiers.papers.evaluation import Measures


def fours() -> Iterator[tuple[str, Sequence[float]]]:
    for table in (paper.BASELINES, paper.WORDS, paper.CUSTOM, paper.COMPARISON, paper.FLASH):
        for language, rows in table.items():
            yield from ((f"{language} {name}", row) for name, row in rows.items())
    for language, of_features in paper.EMPTY.items():
        for name, row in of_features.items():
            yield f"{language} {name}", row[:4]
            yield f"{language} {name} not empty", row[6:]


@pytest.mark.parametrize(("name", "row"), list(fours()))
def test_precision_and_f1_follow_from_the_other_two(name: str, row: Sequence[float]) -> None:
    precision, recall, negative_success, f1 = row
    found = Measures(recall / 100, negative_success / 100)
    # Rounded figures, and means over folds.
    assert 100 * found.precision == pytest.approx(precision, abs=0.2)
    assert 100 * found.f1 == pytest.approx(f1, abs=0.2)


def test_the_tables_agree_with_each_other_on_svm() -> None:
    for place, language in enumerate(paper.LANGUAGES):
        allgrams = paper.SVM_FEATURES["allgrams-from-word"][place]
        assert paper.SVM_FEATURES["words"][place] == paper.WORDS[language]["svm:words"][3]
        assert allgrams == paper.COMPARISON[language]["svm:allgrams-from-word"][3]
        assert ("allgrams-from-word", allgrams) == paper.NGRAMS[language]["svm"]
        assert paper.EMPTY[language]["svm:custom"][:4] == paper.CUSTOM[language]["svm:custom"]


def test_the_diagonals_of_the_confusion_matrices_are_the_recalls() -> None:
    for name in ("cctld", "ip"):
        for place, language in enumerate(paper.LANGUAGES):
            recall = paper.BASELINES[language][name][1]
            assert paper.CONFUSION[name][place][place] == pytest.approx(recall, abs=0.5001)


def test_every_classifier_of_the_paper_has_a_name_here() -> None:
    for table in (paper.BASELINES, paper.WORDS, paper.CUSTOM, paper.COMPARISON, paper.FLASH):
        for rows in table.values():
            assert [parse(name).text for name in rows] == list(rows)
