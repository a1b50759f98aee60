"""The number of requests at once, in Scrapy's own downloader."""

import asyncio
import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.utils.test import get_crawler

from langfocus.crawler.spiders.concurrency import IN_SLOT, Throttle, slot_settings
from tests.support.crawls import ROOT

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


async def limited(requests: int) -> None:
    settings: dict[str, Any] = {
        "CONCURRENT_REQUESTS": requests,
        "DOWNLOAD_DELAY": 5,
        **slot_settings(requests),
    }
    settings["DOWNLOAD_HANDLERS"] = dict.fromkeys(("http", "https"))
    downloader = Downloader(get_crawler(settings_dict=settings))
    asked = [Request(f"http://{host}.de/", meta={**IN_SLOT}) for host in "aabcd"]
    [slot] = {id(slot): slot for _, slot in map(downloader._get_slot, asked)}.values()
    assert slot.download_delay() == 0
    assert slot.free_transfer_slots() == (requests or sys.maxsize)
    downloader.active.update(asked[:2])
    assert not downloader.needs_backout()
    downloader.active.update(asked)
    assert downloader.needs_backout() is (requests == 3)
    engine: Any = SimpleNamespace(downloader=downloader)
    Throttle().slow_down(engine, "x", 0.0)
    downloader.active = set(asked[:2])
    assert downloader.needs_backout()
    downloader.close()


@pytest.mark.parametrize("requests", [3, 0])
def test_scrapy_delays_no_request_and_holds_none_back_below_the_limit(requests: int) -> None:
    asyncio.run(limited(requests))


def test_only_one_module_knows_the_slots_of_scrapy() -> None:
    folder = ROOT / "crawler"
    found = {path.name for path in folder.rglob("*.py") if KNOWS_SLOTS.search(path.read_text())}
    assert found == {"concurrency.py"}
