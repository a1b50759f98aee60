"""A run since an earlier run fetches the earlier pages again and records changes."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from langfocus.crawler.corpus.sources import NOT_KEPT, source_of
from langfocus.crawler.errors import RunFolderError, SettingError
from langfocus.crawler.frontier.base import FIRST_SCORE
from langfocus.crawler.http.download import Download, Exchange
from langfocus.crawler.outputs.package import INDEX, write_index
from langfocus.crawler.outputs.takedown import take_down
from langfocus.crawler.report.crawl import headline
from langfocus.crawler.report.harvest import summarise
from langfocus.crawler.run.folder import PAYLOADS, maintaining
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.sources.archive import ArchiveWeb
from langfocus.crawler.sources.contract import NotArchived
from tests.support.crawls import rows
from tests.support.keptpages import begun
from tests.support.smallweb import SENTENCES

DAY_S = 86_400.0
TEXT = f"<p>{SENTENCES['de'] * 9}</p>"


class SmallServer:
    """Pages by their path on a.de; a page with a version has an ETag or a Last-Modified."""

    def __init__(self, pages: Mapping[str, tuple[str, str]]) -> None:
        self.pages = dict(pages)
        self.asked: list[str] = []

    def answer(self, url: str, conditions: Mapping[str, bytes]) -> Download:
        self.asked.append(url.removeprefix("http://a.de/"))
        path = self.asked[-1]
        if path not in self.pages:
            return Download(url, 404, b"gone")
        version, body = self.pages[path]
        name = "If-Modified-Since" if version.endswith("GMT") else "If-None-Match"
        etag, modified = (None, version) if version.endswith("GMT") else (version or None, None)
        if version and conditions.get(name) == version.encode():
            return Download(url, 304, etag=etag, modified=modified)
        return Download(url, 200, (TEXT + body).encode(), "text/html", etag=etag, modified=modified)


def opened(
    folder: Path,
    day: float,
    since: Path | None = None,
    *,
    keeps: bool = False,
    **more: str,
) -> Crawl:
    clock = CrawlClock(lambda: day * DAY_S, elapsed=lambda: 0.0)
    arguments = {"host_cap": "0", **({} if since is None else {"since": str(since)}), **more}
    return begun(folder, clock, {"LANGFOCUS_WARC": keeps}, **arguments)


def exchange_of(answer: Download, now: float) -> Exchange:
    """Return an answer as it came over the wire."""
    head = f"HTTP/1.1 {answer.status} x\r\nContent-Type: text/html\r\n"
    head += f"ETag: {answer.etag}\r\n" if answer.etag else ""
    return Exchange(answer.url, now, f"{head}\r\n".encode(), answer.body)


def fetched(crawl: Crawl, server: SmallServer, most: int = 100) -> None:
    for _ in range(most):
        lease = crawl.queue.next()
        if lease is None:
            break
        answer = server.answer(lease.url, crawl.queue.revisits.conditions(lease.url))
        sent = exchange_of(answer, crawl.clock())
        crawl.visitor.answered(lease, replace(answer, exchange=sent))


def crawled(
    folder: Path,
    server: SmallServer,
    day: float,
    since: Path | None = None,
    most: int = 100,
    *,
    keeps: bool = False,
) -> list[str]:
    """Crawl to the end and return the paths in the order of the requests."""
    server.asked.clear()
    crawl = opened(folder, day, since, keeps=keeps)
    fetched(crawl, server, most)
    crawl.close("finished")
    return list(server.asked)


def links(*paths: str) -> str:
    return "".join(f"<a href='/{path}'>x</a>" for path in paths)


@pytest.fixture
def server() -> SmallServer:
    return SmallServer(
        {
            "": ('"start"', links("tag", "date", "plain", "gone", "edited")),
            "tag": ('W/"1"', "a"),
            "date": ("Sun, 22 Nov 2026 13:00:00 GMT", "b"),
            "plain": ("", "c"),
            "gone": ('"g"', "d"),
            "edited": ('"1"', "e"),
        }
    )


def test_a_run_since_another_tells_what_changed_vanished_and_stayed(
    tmp_path: Path, server: SmallServer
) -> None:
    crawled(tmp_path / "1", server, 0)
    del server.pages["gone"]
    server.pages["edited"] = ('"2"', "E" + links("new"))
    server.pages["new"] = ("", "n")
    asked = crawled(tmp_path / "2", server, 1, tmp_path / "1")
    assert asked[-1] == "new"
    summary = summarise(tmp_path / "2")
    assert summary.changes is not None
    values = {name: number for name, number in summary.changes.items() if number}
    found = "changed 1, earlier 6, new 1, not_modified 3, stayed 4, vanished 1"
    assert ", ".join(f"{name} {number}" for name, number in sorted(values.items())) == found
    assert ("of these stayed", "4 (3 by the server's word)") in headline(summary)
    states = dict(rows(tmp_path / "2", "SELECT url, outcome FROM pages"))
    assert states["http://a.de/tag"] == states["http://a.de/date"] == "unchanged"
    kept = "SELECT language, status FROM pages WHERE outcome = 'unchanged'"
    assert set(rows(tmp_path / "2", kept)) == {("de", 304)}
    assert summary.pages == 4
    assert summarise(tmp_path / "1").changes is None


def test_pages_that_changed_more_often_are_asked_for_first(
    tmp_path: Path, server: SmallServer
) -> None:
    crawled(tmp_path / "0", server, 0)
    for day in range(1, 6):
        server.pages["plain"] = ("", f"each day {day}")
        if day % 2:
            server.pages["tag"] = (f'"{day}"', f"every other day {day}")
        crawled(tmp_path / str(day), server, day, tmp_path / str(day - 1))
    asked = crawled(tmp_path / "last", server, 6, tmp_path / "5")
    assert asked[:2] == ["plain", "tag"]
    scores = dict(rows(tmp_path / "last", "SELECT url, score FROM pages"))
    for path, share in (("plain", 1.0), ("tag", 0.6), ("date", 0.0)):
        assert scores[f"http://a.de/{path}"] == FIRST_SCORE + share
    looks = "SELECT looks, changes FROM visits JOIN pages ON id = page WHERE url = 'http://a.de/{}'"
    assert rows(tmp_path / "last", looks.format("tag")) == [(6, 3)]


def test_the_default_strategy_asks_for_all_earlier_pages_before_new_links(
    tmp_path: Path, server: SmallServer
) -> None:
    server.pages["english-page"] = ("", links("", "deutsch-und-gut"))
    server.pages["deutsch-und-gut"] = ("", "")
    crawled(tmp_path / "1", server, 0)
    seed = "http://a.de/english-page"
    server.asked.clear()
    since = tmp_path / "1"
    crawl = opened(tmp_path / "2", 1, since, strategy="focus", expected="only", seeds=seed)
    fetched(crawl, server)
    crawl.close("finished")
    asked = server.asked
    assert sorted(asked[:6]) == ["", "date", "edited", "gone", "plain", "tag"]
    scores = dict(rows(tmp_path / "2", "SELECT url, score FROM pages"))
    assert max(scores.values()) < FIRST_SCORE


def test_a_killed_run_goes_on_and_asks_for_each_page_once(
    tmp_path: Path, server: SmallServer
) -> None:
    crawled(tmp_path / "1", server, 0)
    server.asked.clear()
    killed = opened(tmp_path / "2", 1, tmp_path / "1")
    fetched(killed, server, 2)
    killed.queue.next()
    killed.run.connection.close()
    killed.resources.close()
    again = opened(tmp_path / "2", 2, tmp_path / "1")
    fetched(again, server)
    again.close("finished")
    assert sorted(server.asked) == sorted(server.pages)
    changes = summarise(tmp_path / "2").changes or {}
    assert (changes["stayed"], changes["not_asked"]) == (6, 0)


def test_pages_that_a_run_did_not_ask_for_are_left_to_the_next(
    tmp_path: Path, server: SmallServer
) -> None:
    crawled(tmp_path / "1", server, 0)
    assert len(crawled(tmp_path / "2", server, 1, tmp_path / "1", most=2)) == 2
    assert (summarise(tmp_path / "2").changes or {})["not_asked"] == 4
    assert sorted(crawled(tmp_path / "3", server, 2, tmp_path / "2")) == sorted(server.pages)


def test_a_run_that_cannot_be_asked_again_is_refused_before_anything_is_written(
    tmp_path: Path, server: SmallServer
) -> None:
    crawled(tmp_path / "1", server, 0)
    with pytest.raises(RunFolderError, match="no run"):
        opened(tmp_path / "2", 1, tmp_path / "none")
    with pytest.raises(SettingError, match="its language is de, not en"):
        opened(tmp_path / "2", 1, tmp_path / "1", lang="en")
    with pytest.raises(SettingError, match="not since itself"):
        opened(tmp_path / "1", 1, tmp_path / "1")
    assert not (tmp_path / "2").exists()
    crawled(tmp_path / "2", server, 1, tmp_path / "1")
    with pytest.raises(RunFolderError, match="holds a crawl with since="):
        opened(tmp_path / "2", 1)


def kept_records(folder: Path, path: str) -> list[ArcWarcRecord]:
    """Return the answers for a page in the WARC files of a run, as warcio reads them."""
    found = []
    for file in sorted(folder.glob("pages-*")):
        with file.open("rb") as opened_file:
            found += [
                record
                for record in ArchiveIterator(opened_file, check_digests="raise")
                if record.rec_type in ("response", "revisit")
                and record.rec_headers.get_header("WARC-Target-URI") == f"http://a.de/{path}"
            ]
    return found


def test_an_answer_304_is_a_revisit_of_the_record_with_the_body(
    tmp_path: Path, server: SmallServer
) -> None:
    server.pages["plain"] = ("", "e")  # has the body of the page `edited`
    crawled(tmp_path / "0", server, 0, keeps=True)
    server.pages["tag"] = ('W/"2"', "changed")
    for run in (1, 2, 3):
        crawled(tmp_path / str(run), server, run, tmp_path / str(run - 1), keeps=run != 2)
    first = kept_records(tmp_path / "0", "date")[0].rec_headers
    (revisit,) = kept_records(tmp_path / "3", "date")
    headers = revisit.rec_headers
    assert revisit.rec_type == "revisit"
    assert revisit.http_headers.get_statuscode() == "304"
    assert headers.get_header("WARC-Profile").endswith("/1.1/revisit/server-not-modified")
    assert headers.get_header("WARC-Refers-To-Target-URI") == "http://a.de/date"
    assert headers.get_header("WARC-Refers-To-Date") == first.get_header("WARC-Date")
    assert headers.get_header("WARC-Payload-Digest") is None
    crawled(tmp_path / "bare", server, 4)
    crawled(tmp_path / "late", server, 5, tmp_path / "bare", keeps=True)
    (revisit,) = kept_records(tmp_path / "late", "tag")
    assert revisit.rec_headers.get_header("WARC-Refers-To-Date") is None  # no run kept it
    # Run 1 kept the body of `tag` that run 2, without WARC files, found unchanged.
    (changed,) = kept_records(tmp_path / "1", "tag")
    (revisit,) = kept_records(tmp_path / "3", "tag")
    date = revisit.rec_headers.get_header("WARC-Refers-To-Date")
    assert date == changed.rec_headers.get_header("WARC-Date")
    (revisit,) = kept_records(tmp_path / "3", "edited")
    assert revisit.rec_headers.get_header("WARC-Refers-To-Target-URI") == "http://a.de/plain"


def test_a_page_that_answered_304_is_replayed_from_the_run_that_has_it(
    tmp_path: Path, server: SmallServer
) -> None:
    crawled(tmp_path / "0", server, 0, keeps=True)
    server.pages["tag"] = ('W/"2"', "changed")
    crawled(tmp_path / "1", server, 1, tmp_path / "0", keeps=True)
    crawled(tmp_path / "2", server, 2, tmp_path / "1", keeps=True)
    newest_first = ",".join(str(tmp_path / run) for run in "210")
    for paths in (newest_first, f"{tmp_path / '2'},{tmp_path / '1'}"):
        web = ArchiveWeb(paths)
        answer = web.respond("http://a.de/tag")
        assert (answer.status, answer.header("ETag")) == (200, 'W/"2"')
        assert answer.body.endswith(b"changed")
    with pytest.raises(NotArchived):
        web.respond("http://a.de/date")
    assert write_index(tmp_path / "2") == 6
    lines = (tmp_path / "2" / INDEX).read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("de,a)/tag "))
    assert '"mime": "warc/revisit", "status": "304", "length"' in line
    assert ArchiveWeb(f"{tmp_path / '2' / INDEX},{tmp_path / '1'}").respond("http://a.de/tag")


def copied(tmp_path: Path) -> SmallServer:
    """Three runs, each since the last: x stays, y changes once, z answers 304 in the last."""
    server = SmallServer(
        {"": ("", "<a href=x>x</a><a href=y>y</a>"), "x": ("", "x"), "y": ("", "y")}
    )
    crawled(tmp_path / "0", server, 0, keeps=True)
    server.pages["y"] = ("", "z")
    crawled(tmp_path / "1", server, 1, tmp_path / "0", keeps=True)
    server.pages["x"] = ("2", "x")
    crawled(tmp_path / "2", server, 2, tmp_path / "1", keeps=True)
    return server


def test_a_body_of_an_earlier_run_is_a_revisit_that_every_reader_resolves(tmp_path: Path) -> None:
    server = copied(tmp_path)
    crawled(tmp_path / "3", server, 3, tmp_path / "2", keeps=True)
    kinds = {
        (run, path): kept_records(tmp_path / run, path)[0].rec_type
        for run in "0123"
        for path in ("x", "y")
    }
    assert [key for key, kind in kinds.items() if kind == "response"] == [
        ("0", "x"),
        ("0", "y"),
        ("1", "y"),
    ]
    for run in "123":  # the last is an answer 304
        headers = kept_records(tmp_path / run, "x")[0].rec_headers
        assert headers.get_header("WARC-Refers-To-Target-URI") == "http://a.de/x"
        assert headers.get_header("WARC-Refers-To-Date") == "1970-01-01T00:00:00Z"
    web = ArchiveWeb(f"{tmp_path / '3'},{tmp_path / '0'}")
    assert web.respond("http://a.de/x").body == (TEXT + "x").encode()
    for run in "123":
        (part,) = source_of(tmp_path / run, None).parts
        bodies = {one.values["url"]: one.body for one in part.pages() if not isinstance(one, str)}
        assert bodies["http://a.de/x"] == (TEXT + "x").encode()
        assert bodies["http://a.de/y"].endswith(b"z")
    first = summarise(tmp_path / "1")
    assert (first.revisits, summarise(tmp_path / "0").revisits) == (2, 0)
    assert first.revisit_bytes == sum(len(TEXT + text) for text in ("x", server.pages[""][1]))
    assert "answers that another archive has" in dict(headline(first))


def test_a_revisit_without_its_archive_is_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    copied(tmp_path)
    ArchiveWeb(tmp_path / "1")
    assert "2 revisits are left out" in caplog.text
    (tmp_path / "0" / "run.db").unlink()
    (part,) = source_of(tmp_path / "1", None).parts
    assert [one for one in part.pages() if isinstance(one, str)] == [NOT_KEPT, NOT_KEPT]


def test_a_take_down_forgets_the_payloads_of_other_archives(tmp_path: Path) -> None:
    copied(tmp_path)
    with maintaining(tmp_path / "1") as connection:
        take_down(connection, tmp_path / "1", ["a.de/x"])
    with closing(sqlite3.connect(tmp_path / "1" / PAYLOADS)) as payloads:
        urls = [url for (url,) in payloads.execute("SELECT url FROM payloads ORDER BY url")]
    assert urls == ["http://a.de/", "http://a.de/y"]
