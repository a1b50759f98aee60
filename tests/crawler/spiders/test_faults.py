"""What goes wrong in this process costs at most one URL, and nothing on other hosts."""

import asyncio
import errno
import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from twisted.internet.error import getConnectError
from twisted.python.failure import Failure

from langfocus.crawler.frontier.base import Lease, LeaseError
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.network import BusyAddressError, LocalFaultError
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.spiders.faults import local_fault
from langfocus.crawler.spiders.fetch import KEY, Fetch
from langfocus.crawler.spiders.fetches import Fetches
from langfocus.crawler.spiders.scheduler import FrontierScheduler
from langfocus.crawler.spiders.site_files import SiteFiles
from langfocus.crawler.strategies.links import Link
from tests.crawler.frontier.test_frontier_contract import lease_now

CALLBACKS = ("parse", "on_failure", "robots.txt", "robots.txt failed")


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    options = Config.read({"lang": "de", "seeds": "http://a.de/", "strategy": "bfs"})
    config = replace(options, run_folder=tmp_path, delay_s=0.0, patience_s=0.0)
    opened = open_crawl(config, CrawlClock(lambda: 1e9, elapsed=lambda: 0.0))
    opened.start()
    yield opened
    opened.close("finished")


@pytest.fixture
def fetches(crawl: Crawl) -> Fetches:
    downloader = SimpleNamespace(total_concurrency=64, active=set(range(8)))
    downloader.needs_backout, downloader.handlers = bool, SimpleNamespace(download_request_async=0)
    slot = SimpleNamespace(
        add_request=id, remove_request=id, nextcall=SimpleNamespace(schedule=int)
    )
    engine: Any = SimpleNamespace(downloader=downloader, _slot=slot)
    return Fetches(crawl, cast(Any, SimpleNamespace(engine=engine)))


def end(name: str, fetches: Fetches, lease: Lease, error: Exception | None = None) -> None:
    """End the download of a page or a file as Scrapy does."""
    request = Request(lease.url, meta={KEY: Fetch(lease, 0.0)})
    response = HtmlResponse(lease.url, body=b"<p>x</p>", request=request)
    failure = Failure(error or OSError("x"))  # type: ignore[no-untyped-call]
    failure.request = request  # type: ignore[attr-defined]
    if name == "parse":
        fetches.settle_answer(response)
    elif name == "on_failure":
        fetches.settle_failure(failure)
    else:

        async def download_async(send: object, request: Request) -> HtmlResponse:
            if name == "robots.txt":
                return response
            raise error or OSError("x")

        downloader: Any = fetches.engine.downloader
        downloader.middleware = SimpleNamespace(download_async=download_async)
        asyncio.run(SiteFiles(fetches).fetch(lease, "x", request))


@pytest.fixture
def scheduler(crawl: Crawl, fetches: Fetches, monkeypatch: pytest.MonkeyPatch) -> FrontierScheduler:
    monkeypatch.setattr("langfocus.crawler.spiders.scheduler.create_looping_call", lambda _: None)
    wake_up: Any = SimpleNamespace(at=lambda _: None)
    return FrontierScheduler(crawl, fetches, wake_up, obey=True)


def outcomes(crawl: Crawl) -> list[tuple[str]]:
    return crawl.run.connection.execute("SELECT outcome FROM pages").fetchall()


def broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize("name", CALLBACKS)
def test_an_unexpected_fault_settles_its_url_and_the_crawl_ends(
    name: str, crawl: Crawl, fetches: Fetches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langfocus.crawler.spiders.site_files.redirect_target", broken)
    monkeypatch.setattr("langfocus.crawler.spiders.fetches.download_of", broken)
    monkeypatch.setattr("langfocus.crawler.spiders.fetches.explain", broken)
    end(name, fetches, lease_now(crawl.frontier, crawl.clock()))
    assert outcomes(crawl) == [("error",)]
    assert not crawl.queue.has_more()


def test_an_unexpected_fault_before_a_request_settles_its_url_too(
    crawl: Crawl, scheduler: FrontierScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl.robots, "verdict", broken)
    assert scheduler.next_request() is None
    assert outcomes(crawl) == [("error",)]


def test_a_queue_that_cannot_be_read_ends_the_crawl(
    crawl: Crawl, scheduler: FrontierScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl.frontier, "next", broken)
    assert scheduler.next_request() is None
    assert not scheduler.has_pending_requests()
    assert crawl.ending.fault.startswith("the queue of the run cannot be read: ZeroDivisionError")


def test_a_robots_txt_that_is_awaited_is_not_asked_for_again(
    crawl: Crawl, fetches: Fetches, scheduler: FrontierScheduler
) -> None:
    asked: list[str] = []

    async def crawled() -> None:
        came = asyncio.Event()

        async def download_async(send: object, request: Request) -> None:
            asked.append(request.url)
            await came.wait()
            raise BusyAddressError("192.0.2.1", 0.0)

        downloader: Any = fetches.engine.downloader
        downloader.middleware = SimpleNamespace(download_async=download_async)
        assert scheduler.next_request() is scheduler.next_request() is None
        counts = crawl.frontier.counts()
        assert (counts.queued, counts.leased) == (1, 1)
        came.set()
        await asyncio.gather(*scheduler.files._tasks.values())
        assert scheduler.next_request() is None
        await asyncio.gather(*scheduler.files._tasks.values())

    crawl.frontier.seed([Link("http://c.de/", 1.0)], crawl.clock())
    for url in ("http://a.de/", "http://c.de/"):
        assert crawl.robots.move(url, "http://victim.de/robots.txt", crawl.clock())
    asyncio.run(crawled())
    assert asked == ["http://victim.de/robots.txt"] * 2


def test_a_fault_after_a_url_was_settled_changes_nothing(
    crawl: Crawl, fetches: Fetches, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetches._wants_items = True
    monkeypatch.setattr("langfocus.crawler.spiders.fetches.settled_item", broken)
    end("parse", fetches, lease_now(crawl.frontier, crawl.clock()))
    assert outcomes(crawl) == [("page",)]


def test_a_url_that_cannot_be_settled_at_all_ends_the_crawl(
    crawl: Crawl, fetches: Fetches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl.visitor, "failed", broken)
    end("on_failure", fetches, lease_now(crawl.frontier, crawl.clock()))
    assert "http://a.de/ can be neither settled nor given back" in crawl.ending.fault
    assert not outcomes(crawl)


@pytest.mark.parametrize("name", ["on_failure", "robots.txt failed"])
def test_a_fault_of_this_machine_gives_the_url_back_and_slows_the_crawl_down(
    name: str, crawl: Crawl, fetches: Fetches, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        lease = lease_now(crawl.frontier, crawl.clock() + 1000)
        end(name, fetches, lease, LocalFaultError("Too many open files"))
    assert outcomes(crawl) == []
    assert crawl.queue.counts().queued == 1
    assert fetches.engine.downloader.total_concurrency == 4
    assert [record.getMessage()[:20] for record in caplog.records] == ["Too many open files:"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.EMFILE, "Too many open files"),
        (errno.ENFILE, "Too many open files in system"),
        (errno.ENOBUFS, "No buffer space available"),
        (errno.EADDRNOTAVAIL, "Cannot assign requested address"),
        (errno.ECONNREFUSED, ""),
        (errno.EHOSTUNREACH, ""),
    ],
)
def test_a_fault_of_this_machine_is_told_from_one_of_a_server(number: int, expected: str) -> None:
    with pytest.raises(Exception) as caught, wrap_twisted_exceptions():  # noqa: PT011  any
        raise getConnectError((number, "x"))  # type: ignore[no-untyped-call]
    assert local_fault(caught.value) == expected
    assert local_fault(OSError(number, "x")) == expected
    assert local_fault(BusyAddressError("x", 1.0)) == local_fault(LeaseError("x")) == ""


def test_garbage_that_a_command_leaves_until_its_seeds_are_queued_is_collected_after_that(
    scheduler: FrontierScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langfocus.crawler.spiders.scheduler.end_on_hangup", lambda: None)
    usual = gc.get_threshold()
    gc.disable()
    try:
        scheduler.open(cast(Any, None))
        assert gc.isenabled()
        assert gc.get_freeze_count() > 9999
    finally:
        gc.enable()
        gc.unfreeze()
        gc.set_threshold(*usual)
