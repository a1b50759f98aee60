"""CPU time of a URL in the frontier, by the number of hosts, compared with Scrapy's queue.

    python -m benchmarks.frontier [--hosts 100,10000,50000,1000000] [--urls-per-host 1]

For each number of hosts the SQLite frontier is filled with pages of 60 links each, to hosts in
random order. A fresh process then opens it, once best-first with a different score for every URL,
once drawn uniformly. Every host is a registered domain, and domains and addresses have the caps of
a crawl with default settings. A *pop* is `next` and `release`; a *settled* page is `next` and
`admit` without links. The clock advances by 0.1 ms for each, with 1 s between two contacts of a
host, so that hosts rest and come back. Use the rates by CPU second: other processes hardly change
them. Memory is the growth of the resident set, SQLite's page cache (64 MB) included. Disk is the
size of the full `run.db`. A folder as large as a national archive's takes an hour or more:

    python -m benchmarks.frontier --hosts 1000000 --urls-per-host 10

In the same minutes Scrapy's default queue (`DownloaderAwarePriorityQueue` over `LifoMemoryQueue`,
16 downloads in progress) takes as many requests to as many hosts, at most a million, since it holds
them in memory. It neither rests hosts, caps them nor writes anything to disk. Every measurement
runs in a separate process. Prints one JSON line, and a table on stderr.
"""

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from crawler.frontier.base import PAGE, Link, Record
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.run import open_run
from crawler.strategies.orderings import Draw

_META: dict[str, object] = {
    "lang": "de",
    "ordering": "svm",
    "filter": "none",
    "tolerance": 1,
    "host_cap": 0,
    "directory_depth": 1,
    "web": "live",
    "seeds": [],
    "identify": "composite",
}
_LINKS_PER_PAGE = 60
_DELAY_S = 1.0
_TICK_S = 0.0001
_ACTIVE_DOWNLOADS = 16
_STRIDE = 1_000_003


def addresses(hosts: int, urls: int) -> Iterator[str]:
    """Yield URLs that go around all hosts, in another order than on disk."""
    for number in range(urls):
        host = number % hosts * _STRIDE % hosts
        yield f"http://www.host-{host:07d}.example/section/page-{number // hosts}.html"


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


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
    return SqliteFrontier(open_run(folder, _META, now).connection, rules, now=now)


def fill(folder: Path, draw: Draw, hosts: int, urls: int) -> dict[str, float]:
    """Admit all URLs, the links of one page at a time."""
    chance = random.Random(1)
    record = Record(PAGE, 0.0, 200, True, True, "de", 0.9, "text", "utf-8")
    now = 0.0
    frontier = frontier_in(folder, draw, now)
    frontier.seed([Link("http://start.example/", 1.0)], now)
    links: list[Link] = []
    spent = cpu_s = slowest = 0.0
    for number, address in enumerate(addresses(hosts, urls), 1):
        links.append(Link(address, chance.gauss(0.0, 1.0) if draw is Draw.FIRST else 0.0))
        if len(links) < _LINKS_PER_PAGE and number < urls:
            continue
        now += 2 * _DELAY_S
        lease = frontier.next(now)
        if lease is None:
            raise RuntimeError("nothing to lease")
        started_at, cpu_at = time.perf_counter(), time.process_time()
        frontier.admit(lease, record, links, now=now)
        took = time.perf_counter() - started_at
        cpu_s += time.process_time() - cpu_at
        spent += took
        slowest = max(slowest, took)
        links.clear()
    if frontier.counts().queued + frontier.counts().pages != urls + 1:
        raise RuntimeError("not every URL was queued")
    return {
        "admits_per_s": round(urls / spent),
        "admits_per_cpu_s": round(urls / cpu_s),
        "slowest_admit_ms": round(1000 * slowest, 1),
    }


def take(folder: Path, draw: Draw, hosts: int, urls: int, pops: int) -> dict[str, float]:
    """Open a filled frontier and take URLs from it."""
    size = sum(path.stat().st_size for path in folder.glob("run.db*"))
    before = resident_bytes()
    now = 1e6
    started_at = time.perf_counter()
    frontier = frontier_in(folder, draw, now)
    opening_s = time.perf_counter() - started_at
    opened = resident_bytes()
    now += _DELAY_S
    started_at = time.perf_counter()
    frontier.ready_at(now)
    first = frontier.next(now)
    first_pop_s = time.perf_counter() - started_at
    if first is None:
        raise RuntimeError("nothing to lease")
    frontier.release(first, now=now)
    record = Record(PAGE, 0.0, 200, True, True, "de", 0.9, "text", "utf-8")

    def rate(number: int, end: Callable[..., object]) -> tuple[int, int]:
        nonlocal now
        started_at, cpu_at = time.perf_counter(), time.process_time()
        for _ in range(number):
            now += _TICK_S
            lease = frontier.next(now)
            if lease is None:
                now = frontier.ready_at(now) or now
                lease = frontier.next(now)
            if lease is None:
                raise RuntimeError("nothing to lease")
            end(lease, now=now)
        seconds, cpu_s = time.perf_counter() - started_at, time.process_time() - cpu_at
        return round(number / seconds), round(number / cpu_s)

    pops_per_s, pops_per_cpu_s = rate(pops, frontier.release)
    settled_per_s, settled_per_cpu_s = rate(
        min(pops, frontier.counts().queued // 2),
        lambda lease, now: frontier.admit(lease, record, now=now),
    )
    grown = max(opened, resident_bytes()) - before
    return {
        "pops_per_s": pops_per_s,
        "pops_per_cpu_s": pops_per_cpu_s,
        "settled_per_s": settled_per_s,
        "settled_per_cpu_s": settled_per_cpu_s,
        "opening_s": round(opening_s, 2),
        "first_pop_s": round(first_pop_s, 2),
        "memory_mb": round(grown / 1e6, 1),
        "memory_per_host": round(grown / hosts),
        "disk_per_url": round(size / urls),
    }


def scrapy_queue(hosts: int, urls: int, pops: int, seconds: float) -> dict[str, float]:
    """Push to and pop from Scrapy's default queue."""
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
    before = resident_bytes()
    queue = DownloaderAwarePriorityQueue.from_crawler(crawler, LifoMemoryQueue, "")
    spent = 0.0
    for address in addresses(hosts, urls):
        request = Request(address)
        started_at = time.perf_counter()
        queue.push(request)
        spent += time.perf_counter() - started_at
    grown = resident_bytes() - before
    for slot in list(queue.pqueues)[:_ACTIVE_DOWNLOADS]:
        downloader.slots[slot] = SimpleNamespace(active=[None])
    return {
        "admits_per_s": round(urls / spent),
        "pops_per_s": round(pop_rate(queue.pop, pops, seconds), 1),
        "memory_mb": round(grown / 1e6, 1),
        "memory_per_host": round(grown / hosts),
        "memory_per_url": round(grown / urls),
    }


def pop_rate(pop: Callable[[], object], pops: int, seconds: float) -> float:
    """Return pops per second, measured over `pops` pops or over the pops that `seconds` allow."""
    started_at = time.perf_counter()
    spent = 0.0
    done = 0
    while done < pops and spent < seconds:
        if pop() is None:
            break
        done += 1
        spent = time.perf_counter() - started_at
    return done / spent


def alone(measure: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """Return the result of a measurement that runs in a separate process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(measure, *arguments).result()


def measure(hosts: int, arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Return the figures of every queue for a number of hosts."""
    urls = max(hosts * arguments.urls_per_host, arguments.urls // hosts * hosts)
    rows = {}
    wanted = arguments.only.split(",")
    for name, draw in (("sqlite-best-first", Draw.FIRST), ("sqlite-uniform", Draw.UNIFORM)):
        if name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            filled = alone(fill, Path(folder), draw, hosts, urls)
            taken = alone(take, Path(folder), draw, hosts, urls, arguments.pops)
            rows[name] = filled | taken
            show(hosts, urls, name, rows[name])
    if "scrapy" in wanted:
        rows["scrapy"] = alone(scrapy_queue, hosts, urls, arguments.pops, arguments.seconds)
        show(hosts, urls, "scrapy", rows["scrapy"])
    return rows


def show(hosts: int, urls: int, name: str, row: dict[str, float]) -> None:
    """Print a row of the table."""
    figures = "  ".join(f"{key} {value:,}" for key, value in row.items())
    print(f"{hosts:>9,} hosts {urls:>11,} URLs  {name:18} {figures}", file=sys.stderr, flush=True)


def main() -> None:
    """Measure everything and print the line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hosts", default="100,10000,50000,1000000")
    parser.add_argument("--urls-per-host", type=int, default=1, help="the least number of pops")
    parser.add_argument("--urls", type=int, default=100_000, help="the least number of URLs")
    parser.add_argument("--pops", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=5.0, help="time limit of a rival")
    parser.add_argument("--only", default="sqlite-best-first,sqlite-uniform,scrapy")
    arguments = parser.parse_args()
    result: dict[str, object] = {
        "date": time.strftime("%Y-%m-%d"),
        "links_per_page": _LINKS_PER_PAGE,
        "hosts": {
            number: measure(number, arguments) for number in map(int, arguments.hosts.split(","))
        },
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
