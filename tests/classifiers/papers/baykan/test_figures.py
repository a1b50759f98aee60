"""The paper's figures, checked against the paper's formulas."""

import pytest

from langfocus.classifiers.papers.baykan.algorithms import parse
from langfocus.classifiers.papers.baykan.measures import Figures, marked, printed
from langfocus.classifiers.papers.evaluation import Measures
from langfocus.classifiers.tables.country_domains import TABLE_I

OF_CLASSIFIERS = ("V", "IX", "X", "XI", "XII", "XIII", "XIV", "XVI")
FOURS = {
    f"{table} {language} {name}": figures
    for table in ("V", "IX", "XII", "XIV", "XVI")
    for (language, name), figures in printed(table).items()
}
for (language, name), figures in printed("XIII").items():
    FOURS |= {f"{language} {name}": figures[:4], f"{language} {name} not empty": figures[6:]}


@pytest.mark.parametrize("name", FOURS)
def test_precision_and_f1_follow_from_the_other_two(name: str) -> None:
    precision, recall, negative_success, f1 = (figure or 0.0 for figure in FOURS[name])
    found = Measures(recall / 100, negative_success / 100)
    # Rounded figures, and means over folds.
    assert 100 * found.precision == pytest.approx(precision, abs=0.2)
    assert 100 * found.f1 == pytest.approx(f1, abs=0.2)


@pytest.mark.parametrize("language", TABLE_I)
def test_the_tables_agree_with_each_other(language: str) -> None:
    def of(table: str, name: str) -> Figures:
        return printed(table)[language, name]

    allgrams = of("XI", "svm:allgrams-from-word")
    assert of("XI", "svm:words") == of("IX", "svm:words")[3:]
    assert allgrams == of("XIV", "svm:allgrams-from-word")[3:]
    assert allgrams == of("X", "svm:allgrams-from-word")
    assert of("XIII", "svm:custom")[:4] == of("XII", "svm:custom")
    assert of("XIV", "dt:custom") == of("XII", "dt:custom")
    for name in ("cctld", "ip"):
        assert of("XIV", name) == of("V", name)
        # The diagonal of a confusion matrix has the recalls.
        recall = of("V", name)[1]
        assert of("VI", name)[list(TABLE_I).index(language)] == pytest.approx(recall, abs=0.5001)


def test_every_classifier_of_the_paper_has_a_name_here() -> None:
    for table in OF_CLASSIFIERS:
        assert {language for language, _ in printed(table)} == set(TABLE_I)
        assert [parse(name) for _, name in printed(table)]


def test_a_later_table_wins_and_marks_are_no_part_of_a_name() -> None:
    assert printed("XIV", "Figure 5")["mean", "cctld"] == (63, None, None, None)
    assert marked(["V", "XIV"])["de"] == "dt:custom"
    assert "en" not in marked(["XVI"])
    assert printed("no table") == {}
