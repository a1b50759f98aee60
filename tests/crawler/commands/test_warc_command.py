"""`langfocus warc`, called as a person calls it."""

import re
from pathlib import Path

import pytest

from crawler.sources.archive import ArchiveWeb
from tests.crawler.outputs.test_warc import Kept
from tests.support.commandline import call


def test_a_run_is_indexed_and_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept(tmp_path / "run")
    for number in range(3):
        kept.settle(number, body=b"same")
    kept.end()
    package = tmp_path / "x.wacz"
    assert call("warc", tmp_path / "run", "--wacz", package) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.endswith(f"{package}\n")
    assert len(ArchiveWeb(package)) == len(ArchiveWeb(tmp_path / "run")) == 3
    told = dict(re.findall(r"\| ([a-z]+) +\| +(\d+) \|", printed.out))
    assert told == {"files": "1", "responses": "1", "revisits": "2"}
    assert call("warc", tmp_path / "run") == 0
    assert capsys.readouterr().out.endswith("run/index.cdxj\n")


def test_a_run_without_warc_files_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Kept(tmp_path).end()
    assert call("warc", tmp_path) == 1
    assert capsys.readouterr().err == (
        f"langfocus: {tmp_path}: the run has no WARC files; crawl with LANGFOCUS_WARC=True\n"
    )
