"""`scrapy report`, called as a person calls it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.report_run import Row, make_run

ROOT = Path(__file__).parents[3]


def scrapy(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_run_is_reported_and_its_files_are_written(tmp_path: Path) -> None:
    run = tmp_path / "run"
    make_run(run, [Row()] * 3 + [Row(language="fr")]).close()
    figures = tmp_path / "figures.json"
    done = scrapy("report", str(run), "--json", str(figures))
    assert (done.returncode, done.stderr) == (0, "")
    assert "75.0 %" in done.stdout
    assert "French (fr)" in done.stdout
    written = json.loads(figures.read_text(encoding="utf-8"))
    assert written == json.loads((run / "summary.json").read_text(encoding="utf-8"))
    assert (run / "report.html").stat().st_size > 5000


def test_what_is_no_run_gets_one_line_and_exit_code_1(tmp_path: Path) -> None:
    done = scrapy("report", str(tmp_path))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"scrapy report: {tmp_path} is not the folder of a run: it has no run.db\n"
    )


def test_without_a_folder_it_says_what_to_name() -> None:
    done = scrapy("report")
    assert done.returncode == 2
    assert "scrapy report RUN_FOLDER" in done.stderr
