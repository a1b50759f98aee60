"""What each experiment finds, on URLs made by rule."""

import json
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from classifiers.papers.baykan.features import custom
from classifiers.papers.baykan.study import (
    blocks,
    comparisons,
    experiments,
    few_features,
    paper,
    validation,
)
from classifiers.papers.baykan.study.beyond import best_combination, domain_disjoint
from classifiers.papers.baykan.study.samples import draw
from classifiers.papers.baykan.study.servers import Servers
from classifiers.papers.baykan.study.svm_of_paper import svm_of_paper
from classifiers.papers.baykan.study.tree_top import tree
from classifiers.papers.baykan.study.validation import Study
from classifiers.papers.table import MEASURES, Cell, MeasureTable, Result
from crawler.report.study_files import study_json
from tests.support.studyurls import FIVE, SYLLABLES, labelled


def words(language: str) -> frozenset[str]:
    """A dictionary that is loaded at once; those of the extra take many seconds."""
    return frozenset(SYLLABLES[language])


@pytest.fixture(scope="module", autouse=True)
def _small_dictionaries() -> Iterator[None]:
    small = partial(custom.CustomFeatures, dictionary=words, cities=words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(custom, "CustomFeatures", small)
        patch.setattr(validation, "load_dictionaries", lambda: None)
        yield


@pytest.fixture(scope="module")
def study() -> Study:
    rows = labelled(40)
    hosts = {row.url.split("/")[2]: row.language.upper() for row in rows}
    hosts = {host: "GB" if code == "EN" else code for host, code in hosts.items()}
    return Study(draw(rows, FIVE), n_folds=2, servers=Servers(hosts))


def cells(table: MeasureTable) -> Iterator[Cell]:
    for row in table.rows:
        yield from row.cells


def check(result: Result) -> None:
    """What holds for every table: as many cells as columns, percentages, JSON."""
    for table in result.tables:
        assert table.rows
        for row in table.rows:
            assert len(row.cells) == len(table.columns)
            assert len(row.heads) == len(table.heads)
        shares = [
            cell.ours
            for row in table.rows
            for column, cell in zip(table.columns, row.cells, strict=True)
            if column != "URLs" and not np.isnan(cell.ours)
        ]
        assert 0 <= min(shares) <= max(shares) <= 100
    assert json.loads(study_json({}, [result]))["experiments"][0]["experiment"] == result.experiment


def test_baselines_stand_beside_tables_v_to_viii(study: Study) -> None:
    result = experiments.baselines(study)
    check(result)
    measured, cctld, _, ip = result.tables
    by_key = {(row.key["language"], row.key["classifier"]): row for row in measured.rows}
    assert ("de", "cctld+") not in by_key
    assert [cell.paper for cell in by_key["en", "cctld+"].cells] == [71.6, 91.1, 63.8, 80.2]
    assert [cell.ours for cell in by_key["fr", "ip"].cells] == [100] * 4
    assert [round(cell.ours) for cell in ip.rows[0].cells] == [100, 0, 0, 0, 0]
    is_fr = np.array([url.split("/")[2].endswith(".fr") for url in study.corpus.urls])
    of_fr = 100 * is_fr[study.corpus.columns == FIVE.index("fr")].mean()
    assert cctld.rows[2].cells[2].ours == pytest.approx(of_fr)
    assert (cctld.rows[2].cells[2].paper, cctld.digits) == (37, 0)
    (figure,) = result.figures
    assert [series["label"] for series in figure.data["series"]] == ["ccTLD", "IP"]


def test_words_have_a_row_for_each_algorithm_and_language_and_their_means(study: Study) -> None:
    result = experiments.words(study)
    check(result)
    (table,) = result.tables
    assert len(table.rows) == 5 * (5 + 1)
    svm = [row for row in table.rows if row.key["classifier"] == "svm:words"]
    of_languages = [row.cells[3] for row in svm[:5]]
    assert svm[5].cells[3].ours == pytest.approx(np.mean([cell.ours for cell in of_languages]))
    of_folds = 100 * study.scores("svm:words", "en")[:, 3]
    assert of_languages[0].ours == pytest.approx(of_folds.mean())
    assert of_languages[0].spread == pytest.approx(of_folds.std(ddof=1))
    assert of_languages[0].difference == pytest.approx(of_folds.mean() - 90.5)


def test_the_best_ngrams_of_an_algorithm_have_the_highest_f1(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "SINGLE", ("3-grams-from-word", "6-grams-from-url"))
    monkeypatch.setattr(experiments, "MULTIPLE", ("allgrams-from-word",))
    monkeypatch.setattr(experiments, "NGRAM_ALGORITHMS", ("nb", "markov"))
    result = experiments.ngrams(study)
    check(result)
    row = result.tables[0].rows[0]
    tried = [
        f"nb:{features}"
        for features in ("3-grams-from-word", "6-grams-from-url", "allgrams-from-word")
    ]
    highest = max(100 * study.scores(name, "en")[:, 3].mean() for name in tried)
    assert row.cells[3].ours == pytest.approx(highest)
    assert (row.heads[3], row.cells[3].paper) == ("allgrams-from-url", 91.9)
    assert len(result.tables[0].rows) == 10


def test_table_xiii_leaves_empty_urls_out(study: Study) -> None:
    result = comparisons.feature_comparison(study)
    check(result)
    with_empty, without = result.tables
    first = with_empty.rows[0]
    assert first.cells[4].paper == 19.3
    assert first.cells[5].ours <= first.cells[4].ours
    assert len(with_empty.rows) == len(without.rows) == 15
    assert without.rows[0].cells[3].paper == 94.9


def test_the_comparison_has_all_approaches_and_their_figures(study: Study) -> None:
    result = comparisons.comparison(study)
    check(result)
    points, bars = result.figures
    assert len(points.data["series"]) == 3
    assert len(bars.data["labels"]) == len(bars.data["y"]) == len(comparisons.COMPARED)
    assert bars.data["paper"] == [63, 81, 95, 95, 94, None]


def test_custom_made_features_have_the_rows_of_table_xii(study: Study) -> None:
    result = experiments.custom(study)
    check(result)
    (table,) = result.tables
    of_de = [row for row in table.rows if row.key["language"] == "de"]
    assert [row.cells[3].paper for row in of_de] == [93.7, 97.3, 88.2, 97.3, 97.7]
    assert [row.is_best_in_paper for row in of_de] == [False] * 4 + [True]


def test_table_xi_has_a_column_for_each_language(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: paper.SVM_FEATURES[name] for name in ("words", "allgrams-from-word")}
    monkeypatch.setattr(paper, "SVM_FEATURES", few)
    result = experiments.svm_features(study)
    check(result)
    (table,) = result.tables
    assert table.columns == (*FIVE, "mean")
    assert [cell.paper for cell in table.rows[1].cells] == [94.2, 97.2, 94.4, 95.0, 96.1, 95.4]
    ours = [cell.ours for cell in table.rows[1].cells]
    assert ours[5] == pytest.approx(np.mean(ours[:5]))


def test_without_countries_what_needs_them_is_left_out_with_a_note() -> None:
    blind = Study(draw(labelled(12), FIVE), n_folds=2)
    result = experiments.baselines(blind)
    assert {row.key["classifier"] for row in result.tables[0].rows} == {"cctld", "cctld+"}
    assert blocks.WITHOUT_SERVERS in result.tables[0].notes


def test_training_sizes_shrink_to_a_thousandth(study: Study) -> None:
    result = comparisons.training_sizes(study)
    check(result)
    (figure,) = result.figures
    assert all(line["x"] == [40, 4, 2, 2] for line in figure.data["lines"])
    of_ip = next(row for row in result.tables[0].rows if row.key["classifier"] == "ip")
    assert len({cell.ours for cell in of_ip.cells}) == 1


def test_a_domain_seen_in_all_folds_is_counted(study: Study) -> None:
    result = experiments.domains(study)
    check(result)
    assert [row.cells[0].paper for row in result.tables[0].rows] == [51, 47, 54, 57, 52]


def test_disjoint_domains_stand_below_those_of_any_kind(study: Study) -> None:
    result = domain_disjoint(study)
    check(result)
    assert [row.heads[1] for row in result.tables[0].rows][:2] == ["any", "unseen"]


def test_the_best_combination_is_chosen_on_other_folds(study: Study) -> None:
    result = best_combination(study)
    check(result)
    (table,) = result.tables
    assert table.columns == MEASURES
    assert [row.cells[3].paper for row in table.rows[:5]] == [91, 93, 91, 93, 95]
    # The servers here tell every language, so nothing that is chosen can be wrong.
    assert [row.cells[3].ours for row in table.rows] == [100] * 6


def test_the_leaves_of_the_tree_hold_all_test_urls(study: Study) -> None:
    result = tree(study)
    check(result)
    (table,), (figure,) = result.tables, result.figures
    assert sum(row.cells[0].ours for row in table.rows) == pytest.approx(100, abs=0.5)
    assert sum(row.cells[1].ours for row in table.rows) == pytest.approx(100, abs=0.5)
    root = figure.data["root"]
    assert root["test"].startswith(root["otherwise"].partition(" > ")[0])
    says = {row.heads[1] for row in table.rows}
    assert says == {"Yes", "No"}


def test_a_few_features_chosen_on_training_urls_stand_beside_all(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert few_features.N_CHOSEN == 15
    monkeypatch.setattr(few_features, "N_CHOSEN", 3)
    result = few_features.few_features(study)
    losses, steps = result.tables
    assert [row.key["language"] for row in losses.rows] == [*FIVE, "mean"]
    for row in losses.rows:
        every, few, difference = (cell.ours for cell in row.cells)
        assert 0 <= min(every, few) <= max(every, few) <= 100
        assert difference == pytest.approx(few - every)
        assert row.cells[2].paper == -3.0
    of_german = [row for row in steps.rows if row.key["language"] == "de"]
    assert [row.heads[1] for row in of_german] == [str(step) for step in range(1, 4)]
    chosen = [row.key["feature"] for row in of_german]
    assert len(set(chosen)) == 3
    assert set(chosen) <= set(custom.FEATURES[74])
    json.loads(study_json({}, [result]))


def test_the_papers_figures_are_shown_only_where_there_are_any() -> None:
    own = Study(draw(labelled(12, ("nl", "de")), ("nl", "de")), n_folds=2)
    rows = experiments.words(own).tables[0].rows
    assert {row.cells[3].paper for row in rows if row.key["language"] == "nl"} == {None}
    assert {row.cells[3].paper for row in rows if row.key["language"] == "mean"} == {None}
    of_de = next(row for row in rows if row.key["language"] == "de")
    assert of_de.cells[3].paper == paper.WORDS["de"]["nb:words"][3]


def test_the_papers_svm_is_beside_ours_on_both_kinds_of_domains(study: Study) -> None:
    (table,) = svm_of_paper(study).tables
    found = [(row.key["classifier"], row.key["domains"]) for row in table.rows]
    assert found[:2] == [("svm-perf:words", "unseen"), ("svm-perf:words", "any")]
    assert len(found) == 16
    of_words = table.rows[1].cells
    assert [cell.paper for cell in of_words[:2]] == [90.5, 96.2]
    assert all(0 < cell.ours <= 100 for row in table.rows for cell in row.cells)
