"""`langfocus train --from-run`: the pages of crawls add a language to the URL model."""

from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from classifiers.training import examples
from classifiers.training import urls as training
from classifiers.training.urls import Options, fit
from classifiers.urls import modelfile
from classifiers.urls.model import UrlModel
from tests.support.commandline import call
from tests.support.report_run import Row, make_run
from tests.support.studyurls import labelled

OPTIONS = Options(buckets=1 << 14, min_urls=20, word_lists=False)
PAGES = labelled(80, ("nl", "en"))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "base.npz"
    modelfile.write(fit(labelled(60, ("de", "fr")), OPTIONS), path)
    return path


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training in a second: few buckets, no word lists."""
    monkeypatch.setattr(examples, "are_installed", lambda: False)
    monkeypatch.setattr(training, "Options", partial(Options, buckets=1 << 14))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run for Dutch; a tenth of its pages is doubtful."""
    folder = tmp_path / "nl-soft"
    rows = [Row(page.url, language=page.language, method="text") for page in PAGES]
    with closing(make_run(folder, rows, lang="nl")) as connection:
        connection.execute("UPDATE pages SET confidence = (id % 10 > 0)")
        connection.commit()
    return folder


def test_a_run_adds_its_language_to_a_model(
    base: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "nl.npz"
    setting = f"LANGFOCUS_URL_MODEL={base}"
    assert call("train", "--from-run", run.parent / "nl-*", "-s", setting, "--output", output) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "144 sure pages of 1 run, 16 rows left out (doubtful 16)"
    assert told[1].startswith("Dutch (nl): 72 URLs on ")
    assert "no classifier before" in told[1]
    assert told[2].startswith(f"{output}: version 3-")
    (extension,) = modelfile.read(output).facts["extensions"]
    assert extension["runs"] == {"nl-soft": 72}
    says_yes = UrlModel.load(output).score([page.url for page in PAGES], "nl") > 0
    assert (says_yes == np.array([page.language == "nl" for page in PAGES])).mean() > 0.95


def test_too_few_pages_of_a_language_are_told(
    base: Path, run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.commands.train._LEAST_URLS", 100)
    setting = f"LANGFOCUS_URL_MODEL={base}"
    assert call("train", "--from-run", run, "-s", setting) == 1
    assert capsys.readouterr().err.startswith("langfocus: nl: 72 sure pages on ")


@pytest.mark.usefixtures("_small")
def test_a_run_is_learned_from_beside_a_table(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, output = tmp_path / "urls.tsv", tmp_path / "all.npz"
    lines = ["url\tlang\tlabel_kind\tsource", *map("\t".join, labelled(60, ("de", "fr")))]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert call("train", table, "--from-run", run, "--output", output) == 0
    assert "264 usable URLs" in capsys.readouterr().out
    facts = modelfile.read(output).facts
    assert set(facts["languages"]) == {"de", "fr", "nl", "en"}
    assert facts["label_kinds"]["crawled"] == facts["sources"]["nl-soft"] == 144


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--from-run", "none"), "none: no folder of a run; it has no run.db"),
        (("sample", "-s", "LANGFOCUS_URL_MODEL=a.npz"), "LANGFOCUS_URL_MODEL: a model learns from"),
        ((), "expected a file or folder of labelled URLs, or --from-run RUN"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("train", *arguments) in {1, 2}
    message = capsys.readouterr().err
    assert message.startswith(f"langfocus: {told}")
    assert message.count("\n") == 1
