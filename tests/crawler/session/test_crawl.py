"""An open crawl: its parts own what changes, and all of it is closed at the end."""

import ast
import sqlite3
from dataclasses import fields
from pathlib import Path

import pytest

from langfocus.crawler.errors import StorageError
from langfocus.crawler.session.crawl import Crawl
from tests.support.crawls import ROOT, rows
from tests.support.keptpages import begun

MOST_PARTS = 12


def assigned(path: Path) -> list[str]:
    """Return the attributes that a module assigns."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return [ast.unparse(node) for node in nodes if isinstance(node.ctx, ast.Store)]


def test_nothing_outside_of_a_part_of_a_crawl_assigns_to_it() -> None:
    assert len(fields(Crawl)) <= MOST_PARTS
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "crawler").rglob("*.py")
        for name in assigned(path)
        if "crawl." in name or name.startswith("ending.")
    }
    assert found == set()


def test_a_crawl_that_ended_has_its_reason_and_lets_another_session_in(tmp_path: Path) -> None:
    for reason in ("pages", "shutdown"):
        crawl = begun(tmp_path)
        crawl.close(reason)
        assert (crawl.ending.finish_reason, crawl.ending.fault) == (reason, "")
        assert crawl.queue.counts().queued == 1  # the last ones, as the database is closed
        with pytest.raises(sqlite3.ProgrammingError):
            crawl.run.connection.execute("SELECT 1")
    reasons = "SELECT finish_reason FROM sessions ORDER BY id"
    assert rows(tmp_path, reasons) == [("pages",), ("shutdown",)]


def test_a_run_that_cannot_be_written_at_the_end_is_a_fault_and_is_unlocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise StorageError("the disk is full")

    crawl = begun(tmp_path)
    monkeypatch.setattr(crawl.frontier, "close", full)
    crawl.close("pages")
    assert crawl.ending.fault == "the disk is full"
    begun(tmp_path).close("finished")


def test_after_an_error_while_a_crawl_is_opened_its_folder_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as once:
        once.setattr("langfocus.crawler.session.opening.UnreadSeeds", broken)
        with pytest.raises(ZeroDivisionError):
            begun(tmp_path)
    begun(tmp_path).close("finished")
