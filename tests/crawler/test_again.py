"""A run since another one asks for its pages again and tells what changed."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from crawler.clock import CrawlClock
from crawler.configuration import CrawlSettings
from crawler.crawl import Crawl, open_crawl
from crawler.errors import RunFolderError, SettingError
from crawler.options import CrawlOptions
from crawler.report.crawl_tables import headline
from crawler.report.harvest import summarise
from crawler.revisits import FIRST_SCORE
from crawler.visit import Download
from tests.support.crawls import rows
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


def opened(folder: Path, day: float, since: Path | None = None, **more: str) -> Crawl:
    arguments = {"lang": "de", "seeds": "http://a.de/", "strategy": "bfs", "host_cap": "0", **more}
    if since is not None:
        arguments["since"] = str(since)
    settings = CrawlSettings(run_folder=folder, delay_s=0.0, patience_s=0.0, text="none")
    clock = CrawlClock(lambda: day * DAY_S, elapsed=lambda: 0.0)
    crawl = open_crawl(CrawlOptions.read(arguments), settings, clock)
    crawl.start()
    return crawl


def fetched(crawl: Crawl, server: SmallServer, most: int = 100) -> None:
    for _ in range(most):
        lease = crawl.next()
        if lease is None:
            break
        answer = server.answer(lease.url, crawl.revisits.conditions(lease.url))
        crawl.visitor.answered(lease, answer)


def crawled(
    folder: Path, server: SmallServer, day: float, since: Path | None = None, most: int = 100
) -> list[str]:
    """Crawl to the end and return the paths in the order of the requests."""
    server.asked.clear()
    crawl = opened(folder, day, since)
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
    told = {n: getattr(summary.changes, n) for n in summary.changes.__dataclass_fields__}
    assert told == {
        "earlier": 6,
        "changed": 1,
        "stayed": 4,
        "not_modified": 3,
        "vanished": 1,
        "moved": 0,
        "failed": 0,
        "not_asked": 0,
        "new": 1,
    }
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
    assert scores["http://a.de/plain"] > scores["http://a.de/tag"] > FIRST_SCORE
    assert scores["http://a.de/date"] == FIRST_SCORE
    looks = "SELECT looks, changes FROM visits JOIN pages ON id = page WHERE url = 'http://a.de/{}'"
    assert rows(tmp_path / "last", looks.format("tag")) == [(6, 3)]


def test_a_killed_run_goes_on_and_asks_for_each_page_once(
    tmp_path: Path, server: SmallServer
) -> None:
    crawled(tmp_path / "1", server, 0)
    server.asked.clear()
    killed = opened(tmp_path / "2", 1, tmp_path / "1")
    fetched(killed, server, 2)
    killed.next()
    killed.run.connection.close()
    killed.lock.close()
    again = opened(tmp_path / "2", 2, tmp_path / "1")
    fetched(again, server)
    again.close("finished")
    assert sorted(server.asked) == sorted(server.pages)
    changes = summarise(tmp_path / "2").changes
    assert changes is not None
    assert (changes.stayed, changes.not_asked) == (6, 0)


def test_pages_that_a_run_did_not_ask_for_are_left_to_the_next(
    tmp_path: Path, server: SmallServer
) -> None:
    crawled(tmp_path / "1", server, 0)
    asked = crawled(tmp_path / "2", server, 1, tmp_path / "1", most=2)
    changes = summarise(tmp_path / "2").changes
    assert changes is not None
    assert changes.not_asked == 4
    more = crawled(tmp_path / "3", server, 2, tmp_path / "2")
    assert len(asked) == 2
    assert sorted(more) == sorted(server.pages)


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
