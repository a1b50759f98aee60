"""The number of requests at once, in Scrapy's own downloader."""

import re
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.utils.test import get_crawler

import crawler
from crawler.spiders.concurrency import Throttle, begin, end, in_progress, is_full

KNOWS_SLOTS = re.compile(
    r"download_slot|DOWNLOAD_SLOTS|CONCURRENT_REQUESTS_PER|DOWNLOAD_DELAY_JITTER|"
    r"\bdownloader\.(?:slots|active|total_concurrency|domain_concurrency)|get_slot|dont_throttle|"
    r"AUTOTHROTTLE|THROTTLING|scrapy\.core\.downloader import"
)


def test_the_crawl_becomes_faster_again_when_there_are_no_more_faults() -> None:
    downloader = SimpleNamespace(total_concurrency=6, active=set(range(6)))
    engine: Any = SimpleNamespace(downloader=downloader)
    throttle = Throttle()
    throttle.recover(engine, 0.0)
    for now in (0.0, 1.0, 2.5):
        throttle.slow_down(engine, "x", now)
    assert downloader.total_concurrency == 1
    throttle.recover(engine, 10.0)
    assert downloader.total_concurrency == 1
    for _ in range(9):
        throttle.recover(engine, 60.0)
    assert downloader.total_concurrency == 6


def test_a_request_that_waits_takes_no_place_of_the_limit_whatever_happens_to_it() -> None:
    downloader = SimpleNamespace(total_concurrency=6, active=set(range(6)))
    engine: Any = SimpleNamespace(downloader=downloader)
    throttle, waiting = Throttle(), ExitStack()
    for _ in range(50):
        waiting.enter_context(throttle.beside(engine))
    assert downloader.total_concurrency == 6 + 4 * 6
    downloader.active = set(range(30))
    throttle.slow_down(engine, "x", 0.0)
    assert downloader.total_concurrency == 3 + 4 * 6
    waiting.close()
    assert downloader.total_concurrency == 3
    for _ in range(9):
        throttle.recover(engine, 60.0)
    assert downloader.total_concurrency == 6
    downloader.total_concurrency = 0  # no limit
    with throttle.beside(engine):
        assert downloader.total_concurrency == 0


@pytest.mark.parametrize("requests", [3, 0])
def test_the_limit_is_that_of_scrapy_and_a_request_is_counted_until_it_ends(requests: int) -> None:
    settings = {"CONCURRENT_REQUESTS": requests, "DOWNLOAD_HANDLERS": {}}
    downloader = Downloader(get_crawler(settings_dict=settings))
    counted: set[Request] = set()
    scheduled: list[int] = []
    nextcall = SimpleNamespace(schedule=lambda: scheduled.append(1))
    slot = SimpleNamespace(
        add_request=counted.add, remove_request=counted.remove, nextcall=nextcall
    )
    engine: Any = SimpleNamespace(downloader=downloader, _slot=slot)
    asked = [Request(f"http://{host}.de/") for host in "abc"]
    for request in asked:
        assert not is_full(engine)
        begin(engine, request)
    assert is_full(engine) is (requests == 3)
    assert (counted, in_progress(engine)) == (set(asked), 3)
    end(engine, asked[0])
    assert (counted, in_progress(engine)) == (set(asked[1:]), 2)
    assert not is_full(engine)
    assert scheduled == [1]
    Throttle().slow_down(engine, "x", 0.0)
    assert is_full(engine)
    downloader.close()


def test_only_one_module_knows_the_slots_of_scrapy() -> None:
    folder = Path(crawler.__file__).parent
    found = {path.name for path in folder.rglob("*.py") if KNOWS_SLOTS.search(path.read_text())}
    assert found == {"concurrency.py"}
