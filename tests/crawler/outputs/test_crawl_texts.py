"""Crawls that keep texts: the run, the feeds and the exports agree, also after a kill."""

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from crawler.configuration import CrawlSettings
from crawler.crawl import Crawl, open_crawl
from crawler.errors import RunFolderError, SettingError
from crawler.goals import watch
from crawler.options import CrawlOptions
from crawler.outputs.export import export
from crawler.outputs.page_item import PageItem
from crawler.outputs.parquet import schema
from crawler.report.harvest import summarise
from crawler.strategies import SEED
from crawler.visit import Download
from langfocus import Run
from tests.support.commandline import call
from tests.support.crawls import crawl, summary
from tests.support.smallweb import SENTENCES

WORDS = SENTENCES["de"].split()


def german(number: int) -> str:
    """A German text that is like no other with another number."""
    turned = WORDS[number % 13 :] + WORDS[: number % 13]
    return " ".join(f"{word} {' '.join(turned[:3])} Nummer{number}" for word in WORDS * 2)


def html(*paragraphs: str) -> bytes:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f"<html><title>Titel</title><body><main>{body}</main></body></html>".encode()


@dataclass
class Texts:
    """A crawl of pages that a test names; it may be opened again and again."""

    folder: Path
    kept: str | None = None
    opened: Crawl | None = None

    def kill(self) -> None:
        if self.opened is not None:
            self.opened.run.connection.close()
            self.opened.lock.close()
            self.opened = None

    def open(self) -> Crawl:
        self.kill()
        options = CrawlOptions("de", strategy="bfs", host_cap=0, web="sample")
        settings = CrawlSettings(self.folder, delay_s=0, text=self.kept, sample_hosts=50)
        self.opened = open_crawl(options, settings)
        return self.opened

    def settle(self, url: str, body: bytes) -> None:
        crawl = self.opened or self.open()
        crawl.frontier.seed(crawl.visitor.links([url], SEED), crawl.clock())
        lease = crawl.frontier.next(crawl.clock())
        while lease is not None and lease.url != url:
            crawl.visitor.refused(lease, "robots")
            lease = crawl.frontier.next(crawl.clock())
        assert lease is not None
        crawl.visitor.answered(lease, Download(url, 200, body, "text/html; charset=utf-8"))

    def items(self) -> list[PageItem]:
        return list(Run(self.folder).texts())


@pytest.fixture
def texts(tmp_path: Path) -> Iterator[Texts]:
    crawl = Texts(tmp_path)
    yield crawl
    crawl.kill()


def test_copies_and_repeated_lines_are_found_also_after_a_kill(texts: Texts) -> None:
    texts.settle("http://a.de/1", html("Menu der Seite", german(1)))
    texts.open()
    texts.settle("http://b.de/2", html(german(1) + " anders"))
    texts.settle("http://a.de/3", html("Menu der Seite", german(3)))
    texts.open()
    texts.settle("http://a.de/4", html("Menu der Seite", german(4), SENTENCES["en"] * 2))
    one, copy, three, four = texts.items()
    assert [item.duplicate_of for item in (one, copy, three, four)] == [None, one.url, None, None]
    assert one.text == f"Menu der Seite\n{german(1)}"
    assert three.text == f"Menu der Seite\n{german(3)}"
    assert four.text == german(4)
    assert four.other_paragraphs == [{"language": "en", "text": SENTENCES["en"] * 2}]
    assert (four.title, four.words) == ("Titel", len(german(4).split()))
    corpus = summarise(texts.folder).corpus
    assert (corpus.texts, corpus.duplicates, corpus.duplicate_share) == (4, 1, 0.25)
    assert corpus.words == (one.words or 0) + (three.words or 0) + (four.words or 0)


def test_the_words_of_earlier_sessions_count_for_the_goal(texts: Texts) -> None:
    for url, text in (("http://a.de/1", german(1)), ("http://b.de/", german(1))):
        texts.settle(url, html(text))
    connection, words = texts.open().run.connection, len(german(1).split())
    for goal, is_over in ((words, True), (words + 1, False)):
        assert watch(CrawlOptions("de", words=goal), connection, 0.0).is_over() is is_over


@pytest.mark.parametrize(
    ("kept", "urls"),
    [
        (None, ["http://a.de/1"]),
        ("relevant", ["http://a.de/1"]),
        ("all", ["http://a.de/1", "http://a.de/2"]),
        ("none", []),
    ],
)
def test_a_setting_names_the_pages_whose_text_is_kept(
    texts: Texts, kept: str | None, urls: list[str]
) -> None:
    texts.kept = kept
    texts.settle("http://a.de/1", html(german(1)))
    texts.settle("http://a.de/2", html(SENTENCES["en"] * 3))
    assert [item.url for item in texts.items()] == urls


def test_a_page_that_the_extractor_cannot_read_is_counted(
    texts: Texts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("crawler.outputs.text_keeper.paragraphs_of", fail)
    texts.settle("http://a.de/1", html(german(1)))
    assert texts.items() == []
    told = summarise(texts.folder)
    assert (told.relevant, told.counts["text_failed"]) == (1, 1)


def test_a_damaged_text_is_set_aside_and_the_others_are_exported(
    texts: Texts, tmp_path: Path
) -> None:
    for number in (1, 2):
        texts.settle(f"http://a.de/{number}", html(german(number)))
    texts.open().close("finished")
    with closing(sqlite3.connect(tmp_path / "run.db")) as connection, connection:
        connection.execute("UPDATE texts SET content = x'00' WHERE page = 1")
        connection.execute("UPDATE texts SET copy_of = 1 WHERE page = 2")
    told = export([tmp_path], tmp_path / "x.jsonl", "jsonl")
    assert (told.pages, told.damaged) == (1, 1)
    texts.opened = None
    left = texts.open().run.connection.execute("SELECT page, copy_of FROM texts").fetchall()
    assert left == [(2, None)]


def test_a_crawl_stops_at_its_words_and_its_feeds_are_its_exports(tmp_path: Path) -> None:
    feeds = {tmp_path / f"feed.{kind}": {"format": kind} for kind in ("jsonl", "parquet")}
    done = crawl(
        *("lang=de", "web=sample", "words=1500"),
        JOBDIR=tmp_path / "run",
        LANGFOCUS_SAMPLE_HOSTS=300,
        LANGFOCUS_LINKS=True,
        FEEDS=json.dumps({str(path): told for path, told in feeds.items()}),
    )
    assert done.returncode == 0, done.stderr
    assert "clean words in German" in done.stdout
    told = summary(tmp_path / "run")
    assert told["finish_reason"] == "words"
    feed = _read(tmp_path / "feed.jsonl")
    last = next(item["words"] for item in reversed(feed) if item["words"])
    assert told["corpus"]["words"] - last < 1500 <= told["corpus"]["words"]
    for name in ("x.jsonl", "x.parquet", "x.jsonl.gz", "x.txt"):
        assert call("export", tmp_path / "run", "--output", tmp_path / name) == 0
    exported = _read(tmp_path / "x.jsonl")
    assert [item for item in feed if item["text"] is not None] == exported
    assert all(item["links"] is not None for item in exported)
    assert _read(tmp_path / "feed.parquet") == feed
    assert _read(tmp_path / "x.parquet") == _read(tmp_path / "x.jsonl.gz") == exported
    clean = [item["text"] for item in exported if item["words"] and not item["duplicate_of"]]
    assert (tmp_path / "x.txt").read_text() == "".join(f"{text}\n\n" for text in clean)


def _read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        from pyarrow import parquet  # type: ignore[import-untyped]

        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
        return rows
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.splitlines()]


def test_a_parquet_file_has_a_column_for_each_field() -> None:
    assert schema().names == [field.name for field in fields(PageItem)]


def test_what_cannot_be_exported_is_told_in_one_line(
    texts: Texts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RunFolderError, match="is not the folder of a run"):
        export([tmp_path], tmp_path / "x.jsonl", "jsonl")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SettingError, match="needs --output"):
        export([tmp_path], None, "parquet")
    texts.folder, texts.kept = tmp_path / "run", "none"
    texts.open()
    assert call("export", tmp_path / "run") == 1
    told = "langfocus: no texts: the run kept none (LANGFOCUS_TEXT)\n"
    assert capsys.readouterr().err == told
    assert call("export", "x", "--output", tmp_path / "x.csv") == 2
