"""`langfocus report`, called as a person calls it."""

import json
from pathlib import Path

import pytest

from tests.support.commandline import call
from tests.support.report_run import Row, make_run


def test_a_run_is_reported_and_its_files_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    make_run(run, [Row()] * 3 + [Row(language="fr")]).close()
    assert call("report", run) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "75.0 %" in printed.out
    assert "French (fr)" in printed.out
    assert json.loads((run / "summary.json").read_text(encoding="utf-8"))["pages"] == 4
    assert (run / "report.html").stat().st_size > 5000


def test_a_folder_without_a_run_is_one_line_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("report", tmp_path) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"langfocus: {tmp_path} is not the folder of a run: it has no run.db\n"
