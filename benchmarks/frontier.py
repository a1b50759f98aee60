"""URLs a second in the frontier, by the number of hosts, compared with Scrapy's queue.

    python -m benchmarks.run --only frontier

For each number of hosts the SQLite frontier is filled with pages of 60 links each, to hosts in
random order. A fresh process then opens it, once best-first with a different score for every URL,
once drawn uniformly. Every host is a registered domain, and domains and addresses have the caps of
a crawl with default settings. A *pop* is `next` and `release`. The clock advances by 0.1 ms for
each, with 1 s between two contacts of a host, so that hosts rest and come back. Seconds are of
processor time. Memory is the growth of the resident set, SQLite's page cache (64 MB) included.

In the same minutes Scrapy's default queue (`DownloaderAwarePriorityQueue` over `LifoMemoryQueue`,
16 downloads in progress) takes as many requests to as many hosts. It neither rests hosts, caps them
nor writes anything to disk. Every measurement runs in a process of its own. There are at most three
rounds, and one with a million hosts, so that row has no spread.
"""

import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from benchmarks.claim import Claim, ratios
from benchmarks.crawling import RUN
from benchmarks.memory import resident_mb
from langfocus.crawler.frontier.base import PAGE, Record
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.run.folder import open_run
from langfocus.crawler.strategies.links import Draw, Link

_LINKS_PER_PAGE = 60
_DELAY_S = 1.0
_TICK_S = 0.0001
_ACTIVE_DOWNLOADS = 16
_STRIDE = 1_000_003
_RIVAL_S = 5.0
"""Seconds after which a slow rival is asked no more."""

POPS: Final = "pops_per_s"
_UNITS: Final = {"admits_per_s": "a second", POPS: "a second", "memory_mb": "MB"}

Row = dict[str, dict[str, float]]


def addresses(hosts: int, urls: int) -> Iterator[str]:
    """Yield URLs that go around all hosts, in another order than on disk."""
    for number in range(urls):
        host = number % hosts * _STRIDE % hosts
        yield f"http://www.host-{host:07d}.example/section/page-{number // hosts}.html"


def frontier_in(folder: Path, draw: Draw, now: float) -> SqliteFrontier:
    """Return the frontier of a run folder with the settings of a crawl by `svm` or `random`."""
    rules = FrontierRules(
        draw=draw,
        doubts_up_to=0.0 if draw is Draw.FIRST else None,
        host_cap=0,
        domain_cap=1000,
        address_cap=2000,
        delay_s=_DELAY_S,
    )
    return SqliteFrontier(open_run(folder, RUN, now).connection, rules, now=now)


def fill(folder: Path, draw: Draw, hosts: int, urls: int) -> dict[str, float]:
    """Admit all URLs, the links of one page at a time."""
    chance = random.Random(1)
    record = Record(PAGE, 0.0, 200, True, True, "de", 0.9, "text", "utf-8")
    now = 0.0
    frontier = frontier_in(folder, draw, now)
    frontier.seed([Link("http://start.example/", 1.0)], now)
    links: list[Link] = []
    spent = 0.0
    for number, address in enumerate(addresses(hosts, urls), 1):
        links.append(Link(address, chance.gauss(0.0, 1.0) if draw is Draw.FIRST else 0.0))
        if len(links) < _LINKS_PER_PAGE and number < urls:
            continue
        now += 2 * _DELAY_S
        lease = frontier.next(now)
        if lease is None:
            raise RuntimeError("nothing to lease")
        started_at = time.process_time()
        frontier.admit(lease, record, links, now=now)
        spent += time.process_time() - started_at
        links.clear()
    if frontier.counts().queued + frontier.counts().pages != urls + 1:
        raise RuntimeError("not every URL was queued")
    return {"admits_per_s": urls / spent}


def take(folder: Path, draw: Draw, pops: int) -> dict[str, float]:
    """Open a filled frontier and take URLs from it."""
    before = resident_mb(os.getpid())
    now = 1e6
    frontier = frontier_in(folder, draw, now)
    now += _DELAY_S
    started_at = time.process_time()
    for _ in range(pops):
        now += _TICK_S
        lease = frontier.next(now)
        if lease is None:
            now = frontier.ready_at(now) or now
            lease = frontier.next(now)
        if lease is None:
            raise RuntimeError("nothing to lease")
        frontier.release(lease, now=now)
    per_s = pops / (time.process_time() - started_at)
    return {POPS: per_s, "memory_mb": resident_mb(os.getpid()) - before}


def scrapy_queue(hosts: int, urls: int, pops: int, seconds: float) -> dict[str, float]:
    """Push to and pop from Scrapy's default queue, at most as often as `seconds` allow."""
    from scrapy import Request
    from scrapy.pqueues import DownloaderAwarePriorityQueue
    from scrapy.settings import Settings
    from scrapy.squeues import LifoMemoryQueue
    from scrapy.utils.httpobj import urlparse_cached

    urls = min(urls, max(hosts, 1_000_000))
    downloader = SimpleNamespace(
        slots={}, get_slot_key=lambda request: urlparse_cached(request).hostname or ""
    )
    engine = SimpleNamespace(downloader=downloader)
    crawler: Any = SimpleNamespace(settings=Settings(), engine=engine)
    before = resident_mb(os.getpid())
    queue = DownloaderAwarePriorityQueue.from_crawler(crawler, LifoMemoryQueue, "")
    spent = 0.0
    for address in addresses(hosts, urls):
        request = Request(address)
        started_at = time.process_time()
        queue.push(request)
        spent += time.process_time() - started_at
    memory_mb = resident_mb(os.getpid()) - before
    for slot in list(queue.pqueues)[:_ACTIVE_DOWNLOADS]:
        downloader.slots[slot] = SimpleNamespace(active=[None])
    started_at = time.process_time()
    done = 0
    while done < pops and time.process_time() - started_at < seconds and queue.pop() is not None:
        done += 1
    per_s = done / (time.process_time() - started_at)
    return {"admits_per_s": urls / spent, POPS: per_s, "memory_mb": memory_mb}


def alone(measure: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """Return the result of a measurement that runs in a separate process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(measure, *arguments).result()


def measure(hosts: int, least_urls: int = 100_000, pops: int = 20_000) -> Row:
    """Return the figures of every queue for a number of hosts."""
    urls, rows = max(hosts, least_urls // hosts * hosts), {}
    for name, draw in (("best-first", Draw.FIRST), ("uniform", Draw.UNIFORM)):
        with tempfile.TemporaryDirectory() as folder:
            filled = alone(fill, Path(folder), draw, hosts, urls)
            rows[name] = filled | alone(take, Path(folder), draw, pops)
    rows["Scrapy"] = alone(scrapy_queue, hosts, urls, pops, _RIVAL_S)
    return rows


def claims(rounds: int, hosts: Sequence[int]) -> Iterator[Claim]:
    """Yield admissions and pops a second, and the memory of a host."""
    for number in hosts:
        # A round with a million hosts takes about three minutes, because all costs grow with hosts.
        found = [measure(number) for _ in range(min(rounds, 1 if number >= 10**6 else 3))]
        for figure, unit in _UNITS.items():
            for name in found[0]:
                values = [each[name][figure] for each in found]
                yield Claim(f"{number:,} hosts, {figure.replace('_', ' ')}: {name}", values, unit)
        ours, theirs = ([each[name][POPS] for each in found] for name in ("best-first", "Scrapy"))
        floor = 50.0 if number >= 10_000 else None
        yield Claim(f"{number:,} hosts, pops: times Scrapy", ratios(ours, theirs), "", floor)
