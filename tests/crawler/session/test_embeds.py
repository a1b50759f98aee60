"""The files that wait for their hosts, their bounds, and the wake-up after each of them."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.base import Record
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.reading.configured import page_method, reader_of
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.embeds import Embeds
from langfocus.crawler.session.preparation import check_goals
from langfocus.crawler.spiders.embeds import EmbedFetches
from langfocus.crawler.spiders.fetches import Fetches
from langfocus.crawler.spiders.site_files import SiteFiles
from langfocus.crawler.strategies.orderings import BREADTH_FIRST
from tests.support.keptpages import TYPE, begun
from tests.support.smallweb import SENTENCES

DELAY_S = 2.0


def files(number: int, host: str = "a.de") -> dict[str, bool]:
    return {f"http://{host}/{n}.png": False for n in range(number)}


def waiting(folder: Path, **settings: object) -> tuple[Crawl, Embeds]:
    given = {f"LANGFOCUS_{name}": value for name, value in settings.items()}
    crawl = begun(folder, None, given, embeds=True)
    assert crawl.visitor.embeds is not None
    return crawl, crawl.visitor.embeds


def fetched(embeds: Embeds, size: int, now: float = 0.0) -> list[tuple[str, float]]:
    """Fetch all files that may be fetched; return their URLs and times."""
    found = []
    while (at := embeds.ready_at()) is not None:
        now = max(now, at)
        embed = embeds.next(now)
        assert embed is not None
        found.append((embed.url, now))
        left = embeds.bytes_left(embed)
        outcome = "fetched" if size <= left else "too_large" if left else "embeds_full"
        embeds.settle(embed, outcome, min(size, left))
        embeds.done(embed.host, now + DELAY_S)
    return found


def test_each_file_is_fetched_once_and_each_host_at_its_delay(tmp_path: Path) -> None:
    crawl, embeds = waiting(tmp_path)
    embeds.add(1, files(5) | files(3, "b.de"))
    embeds.add(2, files(6))  # five are known
    times = fetched(embeds, 10)
    assert sorted(url for url, _ in times) == sorted(files(6) | files(3, "b.de"))
    assert [at for url, at in times if "//a.de/" in url] == [n * DELAY_S for n in range(6)]
    assert (embeds.numbers["fetched"], embeds.numbers["waiting"], embeds.bytes) == (9, 0, 90)
    crawl.close("finished")


def test_the_host_of_a_running_request_is_left_alone(tmp_path: Path) -> None:
    crawl, embeds = waiting(tmp_path)
    embeds.add(1, files(2))
    running = embeds.next(0.0)
    assert running is not None
    embeds.add(2, files(3))
    assert (embeds.ready_at(), embeds.next(9.0)) == (None, None)
    embeds.done(running.host, 5.0)
    assert embeds.ready_at() == 5.0
    crawl.close("finished")


@pytest.mark.parametrize(
    ("setting", "most", "numbers", "left_out"),
    [
        ("EMBEDS_PER_PAGE", 3, {"fetched": 5}, 5),
        ("EMBEDS_PER_DOMAIN", 3, {"fetched": 3}, 7),
        ("EMBED_BYTES", 9, {"too_large": 10}, 0),
        ("EMBED_BYTES_PER_PAGE", 25, {"fetched": 4, "too_large": 1, "embeds_full": 5}, 0),
        ("EMBED_BYTES_PER_DOMAIN", 25, {"fetched": 2, "too_large": 1, "embeds_full": 7}, 0),
    ],
)
def test_bounds(
    setting: str, most: int, numbers: dict[str, int], left_out: int, tmp_path: Path
) -> None:
    crawl, embeds = waiting(tmp_path, **{setting: most})
    embeds.add(1, files(8, "x.a.de"))
    embeds.add(2, files(2, "y.a.de"))
    fetched(embeds, 10)
    assert +embeds.numbers == numbers
    counted = crawl.run.connection.execute("SELECT value FROM counts WHERE name = 'embeds_full'")
    assert counted.fetchall() == ([(left_out,)] if left_out else [])
    crawl.close("finished")


@pytest.mark.parametrize(("scope", "number"), [("", 0), ("+ .is", 1)])
def test_a_page_that_the_scope_takes_has_files_in_any_language(
    scope: str, number: int, tmp_path: Path
) -> None:
    (tmp_path / "scope.txt").write_text(f"{scope}\n")
    given = {"lang": "de", "seeds": "http://a.is/", "embeds": True}
    given |= {"scope": str(tmp_path / "scope.txt")} if scope else {}
    config = Config.read(given, {})
    read = reader_of(config, page_method("composite"), BREADTH_FIRST)
    page = Download("http://a.is/", 200, f"{SENTENCES['en'] * 3}<img src=a.png>".encode(), TYPE)
    assert len(read(page, 0).embeds) == number


def test_imports_and_redirects_in_a_row_are_bounded(tmp_path: Path) -> None:
    crawl, embeds = waiting(tmp_path)
    embeds.add(1, {"http://a.de/0": False})
    number = 0
    while embed := embeds.next(1e9):
        number += 1
        embeds.settle(embed, "fetched", 0, {f"http://a.de/{number}": False})
        embeds.done(embed.host, 0.0)
    assert number == 6
    crawl.close("finished")


def test_a_fetched_page_is_no_file_but_a_media_file_is_fetched_whole(tmp_path: Path) -> None:
    crawl, embeds = waiting(tmp_path)
    assert isinstance(crawl.frontier, SqliteFrontier)
    lease = crawl.frontier.next(1.0)
    assert lease is not None
    assert not embeds.is_page(lease.url)
    crawl.contacts.take_slot(lease, lease.url, None)
    assert embeds.is_page(lease.url)
    crawl.frontier.admit(lease, Record("media", 1.0), [], now=1.0)
    assert not embeds.is_page(lease.url)
    crawl.close("finished")


def test_a_later_session_continues_with_the_files_that_wait(tmp_path: Path) -> None:
    crawl, embeds = waiting(tmp_path)
    embeds.add(1, files(3))
    embed = embeds.next(0.0)
    assert embed is not None
    embeds.settle(embed, "fetched", 7)
    assert not embeds.has_file("http://a.de/1.png")
    assert embeds.has_file(embed.url)
    crawl.close("finished")
    crawl, embeds = waiting(tmp_path)
    assert (dict(embeds.numbers), embeds.bytes) == ({"waiting": 2, "fetched": 1}, 7)
    assert len(fetched(embeds, 1)) == 2
    crawl.close("finished")


class Engine:
    """An engine of one request at a time; each wake-up polls at once, as a pending one does."""

    poll: Callable[[], float | None]

    def __init__(self) -> None:
        self.polls: list[float | None] = []
        active: set[Request] = set()
        self.downloader = SimpleNamespace(
            active=active,
            total_concurrency=1,
            needs_backout=lambda: bool(active),
            middleware=SimpleNamespace(download_async=self._download),
            handlers=SimpleNamespace(download_request_async=None),
        )
        wake = SimpleNamespace(schedule=lambda: self.polls.append(self.poll()))
        nothing = lambda request: None  # noqa: E731
        self._slot = SimpleNamespace(add_request=nothing, remove_request=nothing, nextcall=wake)

    async def _download(self, send: object, request: Request) -> Response:
        return Response(request.url, body=b"x")


def test_the_end_of_a_file_wakes_the_engine_for_the_next(tmp_path: Path) -> None:
    crawl, embeds = waiting(tmp_path)
    embeds.add(1, files(2))
    engine = Engine()
    crawler: Any = SimpleNamespace(engine=engine)
    of_pages = Fetches(crawl, crawler)
    fetches = EmbedFetches(embeds, of_pages, SiteFiles(of_pages, obey=False))
    engine.poll = fetches.ready_at

    async def run() -> None:
        fetches.begin()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

    asyncio.run(run())
    # Without an alarm the engine would poll again after its heartbeat of five seconds.
    assert len(engine.polls) == 1
    assert engine.polls[0] is not None
    crawl.close("finished")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"LANGFOCUS_FRONTIER": "redis://localhost:1/"}, "-a embeds: not for a shared crawl"),
        ({"LANGFOCUS_WARC": False}, "-a embeds=true: the files go into WARC files"),
    ],
)
def test_a_crawl_that_cannot_have_files_is_refused(
    settings: dict[str, object], message: str
) -> None:
    config = Config.read({"lang": "de", "seeds": "http://a.de/", "embeds": True}, settings)
    with pytest.raises(SettingError, match=message):
        check_goals(config, doubts=True)
