"""What each experiment finds, on URLs made by rule."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from langfocus.classifiers.papers.baykan import custom, dictionaries, measures, special
from langfocus.classifiers.papers.baykan.experiments import EXPERIMENTS, of_classifiers
from langfocus.classifiers.papers.baykan.samples import draw
from langfocus.classifiers.papers.baykan.study import Study
from langfocus.classifiers.papers.table import MEASURES, Result
from langfocus.crawler.report.formatting import json_text
from tests.support.studyurls import FIVE, SYLLABLES, labelled


def words(language: str) -> frozenset[str]:
    """A dictionary that is loaded at once; those of the extra take many seconds."""
    return frozenset(SYLLABLES[language])


@pytest.fixture(scope="module", autouse=True)
def _small_dictionaries() -> Iterator[None]:
    small = partial(custom.CustomFeatures, dictionary=words, cities=words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(custom, "CustomFeatures", small)
        yield


@pytest.fixture(scope="module")
def study() -> Study:
    rows = labelled(40)
    hosts = {row.url.split("/")[2]: row.language.upper() for row in rows}
    hosts = {host: "GB" if code == "EN" else code for host, code in hosts.items()}
    return Study(draw(rows, FIVE), n_folds=2, servers=hosts)


def run(study: Study, name: str, classifiers: tuple[str, ...] | None = None) -> Result:
    """Carry out an experiment, and check that every table has its cells, percentages and JSON."""
    experiment = EXPERIMENTS[name]
    experiment = replace(experiment, classifiers=classifiers or experiment.classifiers)
    result = experiment.carried_out(study)
    for table in result.tables:
        assert table.rows
        for row in table.rows:
            assert len(row.cells) == len(table.columns)
            assert len(row.heads) == len(table.heads)
        shares = [
            cell.ours
            for row in table.rows
            for column, cell in zip(table.columns, row.cells, strict=True)
            if column != "difference" and not np.isnan(cell.ours)
        ]
        assert 0 <= min(shares) <= max(shares) <= 100
    assert json.loads(json_text(result.as_json()))["experiment"] == name
    return result


def test_baselines_stand_beside_tables_v_to_viii(study: Study) -> None:
    result = run(study, "baselines")
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


def test_words_have_a_row_for_each_algorithm_and_language_and_their_means(study: Study) -> None:
    result = run(study, "words")
    (table,) = result.tables
    assert len(table.rows) == 5 * (5 + 1)
    svm = [row for row in table.rows if row.key["classifier"] == "svm:words"]
    of_languages = [row.cells[3] for row in svm[:5]]
    assert svm[5].cells[3].ours == pytest.approx(np.mean([cell.ours for cell in of_languages]))
    of_folds = 100 * study.scores("svm:words", "en")[:, 3]
    assert of_languages[0].ours == pytest.approx(of_folds.mean())
    assert of_languages[0].spread == pytest.approx(of_folds.std(ddof=1))
    assert of_languages[0].difference == pytest.approx(of_folds.mean() - 90.5)


def test_the_best_ngrams_of_an_algorithm_have_the_highest_f1(study: Study) -> None:
    sets = ("3-grams-from-word", "6-grams-from-url", "allgrams-from-word")
    tried = [f"nb:{features}" for features in sets]
    markov = ["markov:3-grams-from-word", "markov:6-grams-from-url"]
    (table,) = run(study, "ngrams", classifiers=(*tried, *markov)).tables
    row = table.rows[0]
    highest = max(100 * study.scores(name, "en")[:, 3].mean() for name in tried)
    assert row.cells[3].ours == pytest.approx(highest)
    assert (row.heads[3], row.cells[3].paper) == ("allgrams-from-url", 91.9)
    assert len(table.rows) == 10


@pytest.mark.parametrize(
    ("name", "classifiers", "place", "theirs"),
    [
        ("custom", (), 5, [97.5, 90.1, 97.7, 93.7]),
        ("svm-features", ("svm:words", "svm:allgrams-from-word"), 1, [94.2, 97.2, 94.4, 95, 96.1]),
        ("domains", (), 0, [51]),
        ("domain-disjoint", ("cctld", "svm:words"), 0, [None]),
        ("svm-perf", ("svm-perf:words", "svm:words"), 1, [90.5, 96.2]),
    ],
)
def test_the_figures_of_the_paper_stand_beside_ours(
    study: Study, name: str, classifiers: tuple[str, ...], place: int, theirs: list[float]
) -> None:
    row = run(study, name, classifiers).tables[0].rows[place]
    assert [cell.paper for cell in row.cells[: len(theirs)]] == theirs


def test_table_xiii_leaves_empty_urls_out(study: Study) -> None:
    all_urls, without = run(study, "feature-comparison").tables
    first = all_urls.rows[0].cells
    assert first[4].paper == 19.3
    assert first[5].ours <= first[4].ours
    assert without.rows[0].cells[3].paper == 94.9


def test_the_comparison_has_all_approaches_and_their_figures(study: Study) -> None:
    table, of_three, means = run(study, "comparison").tables
    assert [row.heads[0] for row in of_three.rows] == ["SVM words", "SVM allgrams", "DT custom"]
    assert [row.cells[0].paper for row in means.rows] == [63, 81, 95, 95, 94, None]
    ours = [row.cells[3].ours for row in table.rows if row.key["language"] == "mean"]
    assert [row.cells[0].ours for row in means.rows] == ours


def test_training_sizes_shrink_to_a_thousandth(study: Study) -> None:
    (table,) = run(study, "training-sizes").tables
    assert [column.split()[-2] for column in table.columns] == ["40", "4", "2", "2"]
    of_ip = next(row for row in table.rows if row.key["classifier"] == "ip")
    assert len({cell.ours for cell in of_ip.cells}) == 1


def test_the_best_combination_is_chosen_on_other_folds(study: Study) -> None:
    result = run(study, "best-combination")
    (table,) = result.tables
    assert table.columns == MEASURES
    assert [row.cells[3].paper for row in table.rows[:5]] == [91, 93, 91, 93, 95]
    # The servers here tell every language, so nothing that is chosen can be wrong.
    assert [row.cells[3].ours for row in table.rows] == [100] * 6


def test_the_leaves_of_the_tree_hold_all_test_urls(study: Study) -> None:
    (table,) = run(study, "tree").tables
    for column in (0, 1):
        assert sum(row.cells[column].ours for row in table.rows) == pytest.approx(100, abs=0.5)
    paths = [row.heads[0].split(" and ") for row in table.rows]
    assert paths[0][0].replace("<=", ">") == paths[-1][0]
    (root,) = special.top_of_tree(study, "en", depth=0)
    assert (root.heads[0], [cell.ours for cell in root.cells]) == ("any URL", [100, 100])
    assert {row.heads[1] for row in table.rows} == {"Yes", "No"}


def test_a_few_features_chosen_on_training_urls_stand_beside_all(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert special.N_CHOSEN == 15
    monkeypatch.setattr(special, "N_CHOSEN", 3)
    result = run(study, "few-features")
    losses, steps = result.tables
    assert [row.key["language"] for row in losses.rows] == [*FIVE, "mean"]
    for row in losses.rows:
        every, few, difference = (cell.ours for cell in row.cells)
        assert difference == pytest.approx(few - every)
        assert row.cells[2].paper == -3.0
    of_german = [row for row in steps.rows if row.key["language"] == "de"]
    assert [row.heads[1] for row in of_german] == ["1", "2", "3"]
    chosen = {row.key["feature"] for row in of_german}
    assert len(chosen) == 3
    assert chosen <= set(custom.FEATURES[74])


def test_the_papers_figures_are_shown_only_where_there_are_any() -> None:
    own = Study(draw(labelled(12, ("nl", "de")), ("nl", "de")), n_folds=2)
    rows = run(own, "words").tables[0].rows
    theirs = {row.key["language"]: row.cells[3].paper for row in rows[::-1]}
    assert theirs == {"nl": None, "mean": None, "de": 96.2}


def test_experiments_try_what_the_paper_tried() -> None:
    tried = {name: row.classifiers for name, row in EXPERIMENTS.items()}
    # Table X: 16 n-grams for five algorithms, 8 of one size for Markov chains.
    assert (len(tried["ngrams"]), len(tried["svm-features"])) == (5 * 16 + 8, 17)
    assert tried["words"] == tuple(f"{each}:words" for each in ("nb", "me", "re", "ros", "svm"))
    settings = [setting.is_disjoint for setting in EXPERIMENTS["svm-perf"].data]
    assert (len(tried["svm-perf"]), settings) == (8, [True, False])


def test_what_cannot_be_computed_is_left_out_with_a_note(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    blind = run(Study(draw(labelled(12), FIVE), n_folds=2), "baselines").tables[0]
    assert {row.key["classifier"] for row in blind.rows} == {"cctld", "cctld+"}
    assert blind.notes[1:] == (measures.WITHOUT_SERVERS,)
    monkeypatch.setattr(dictionaries, "are_installed", lambda: False)
    table, _, _ = run(study, "comparison").tables
    assert table.notes[1:] == (measures.WITHOUT_DICTIONARIES,)
    assert "dt:custom" not in {row.key["classifier"] for row in table.rows}


def test_chosen_classifiers_have_the_figures_of_all_tables(study: Study) -> None:
    (table,) = of_classifiers(["cctld+", "ros:words", "me:custom"]).carried_out(study).tables
    assert [row.cells[3].paper for row in table.rows[:3]] == [80.2, 68.3, 93.1]
    assert {row.is_best_in_paper for row in table.rows} == {False}


def tree_of_one() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(criterion="entropy", random_state=0)


def test_the_greedy_search_chooses_the_columns_that_tell_first() -> None:
    # Column 3 says most of the class and column 5 the rest; all others are noise.
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 2, (600, 8)).astype(float)
    matrix[:, 5] = rng.integers(0, 4, 600)
    y = (matrix[:, 3] > 0) | (matrix[:, 5] == 0)
    order, f1 = special.selected(tree_of_one, matrix, y, 3, 0)
    assert order[:2] == [3, 5]
    assert f1[0] < f1[1] == 1.0
    # Among equals the first column is chosen, and no more than there are.
    doubled = np.column_stack([matrix, matrix])
    assert special.selected(tree_of_one, doubled, y, 2, 0)[0] == [3, 5]
    assert sorted(special.selected(tree_of_one, matrix[:, :3], y, 9, 0)[0]) == [0, 1, 2]


def test_the_greedy_search_judges_on_rows_that_it_has_not_learned_from() -> None:
    rng = np.random.default_rng(0)
    matrix, y = np.arange(400.0)[:, None], rng.integers(0, 2, 400).astype(bool)
    _, (f1,) = special.selected(tree_of_one, matrix, y, 1, 0)
    assert f1 < 0.75, "1 on rows that it has learned"
