"""Cost of a link in a shared frontier: admits and pops per second of one client.

The goal is 50,000 links/s admitted in batches of 60. The rival is scrapy-redis: one ZADD and one
SADD round trip per link for its queue and its set of seen URLs, without cap, tally or politeness.
The benchmark starts a separate redis-server with an append-only file. Prints one JSON line. A page
is one pop and one admit of 60 links; other processes hardly change its CPU time (`load` is the
number of processes that wanted a core). `focus` is an ordering that learns: each link has evidence,
and each page is learned from. Memory is that of the server: per queued URL of 40
characters, and per host besides its URLs.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from crawler.frontier.base import PAGE, Link, Record
from crawler.frontier.rules import FrontierRules
from crawler.shared.redis import RedisFrontier
from crawler.shared.stored import connect
from crawler.strategies.filters import make_filter
from crawler.strategies.focus.belief import Prior
from crawler.strategies.focus.evidence import Evidence
from crawler.strategies.orderings import Draw
from tests.support.redisserver import RedisServer

BATCH = 60
_KINDS = (*(draw.value for draw in Draw), "focus")


def page_links(page: int) -> list[Link]:
    """Sixty links to about nine hosts, one in four of them already known from the previous page."""
    first = page * BATCH * 3 // 4
    return [
        Link(f"http://h{n // 7}.de/page/{n}.html", n % 3 - 1.0, evidence(n))
        for n in range(first, first + BATCH)
    ]


def evidence(number: int) -> Evidence:
    """Numbers as a URL model gives them: two with seven digits, two whole ones."""
    named = float(np.float32(number % 97 / 7 - 6))
    return Evidence(named, float(np.float32(named / 3)), 1.0, float(number % 2))


def rules_of(kind: str) -> FrontierRules:
    """Rules for `first`, `uniform` or `focus`."""
    if kind == "focus":
        prior = Prior.shipped()
        return FrontierRules(filter=make_filter("server"), prior=prior, doubts_up_to=0.0)
    return FrontierRules(filter=make_filter("server"), draw=Draw(kind))


def timed(times: list[float], do: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    answer = do()
    times.append(time.perf_counter() - began)
    return answer


def measure(server: RedisServer, kind: str, pages: int) -> dict[str, float]:
    frontier = RedisFrontier(connect(server.url), kind, rules_of(kind), now=0.0)
    frontier.seed([Link(f"http://seed{n}.de/", 2.0) for n in range(pages)], 0.0)
    client = connect(server.url)
    client_s, server_s = time.process_time(), server_cpu(client)
    pops: list[float] = []
    admits: list[float] = []
    record = Record(PAGE, 0.0, 200, True, True, "de", is_reference=True)
    for number in range(pages):
        lease = timed(pops, lambda: frontier.next(0.0))
        links = page_links(number)
        answers = timed(admits, lambda: frontier.admit(lease, record, links, now=0.0))  # noqa: B023  # called at once
        assert len(answers) == BATCH
    assert frontier.counts().pages == pages
    client_s, server_s = time.process_time() - client_s, server_cpu(client) - server_s
    frontier.close()
    client.flushall()
    client.close()
    return {
        "links_per_s": round(pages * BATCH / sum(admits)),
        "pops_per_s": round(pages / sum(pops)),
        "client_cpu_us_a_page": round(client_s / pages * 1e6),
        "server_cpu_us_a_page": round(server_s / pages * 1e6),
    }


def memory(server: RedisServer, kind: str, hosts: int = 16000) -> dict[str, float]:
    """Return the bytes per URL and per host, from queues of one and of ten URLs per host."""
    used = [queue_bytes(server, kind, hosts, urls) for urls in (0, 1, 10)]
    url = (used[2] - used[1]) / 9 / hosts
    return {"url_bytes": round(url), "host_bytes": round((used[1] - used[0]) / hosts - url)}


def queue_bytes(server: RedisServer, kind: str, hosts: int, urls: int) -> int:
    client = connect(server.url)
    client.flushall()
    frontier = RedisFrontier(client, "memory", rules_of(kind), now=0.0)
    for number in range(urls):
        found = [
            Link(f"http://h{n:08}.de/page/{number:015}", 0.0, evidence(n)) for n in range(hosts)
        ]
        assert len(found[0].url) == 40
        frontier.seed(found, 0.0)
    assert frontier.counts().queued == hosts * urls
    used = int(client.info("memory")["used_memory"])
    client.flushall()
    client.close()
    return used


def server_cpu(client: Any) -> float:
    cpu = client.info("cpu")
    return float(cpu["used_cpu_user"] + cpu["used_cpu_sys"])


def rival(server: RedisServer, pages: int) -> dict[str, float] | None:
    try:
        from scrapy import Request, Spider
        from scrapy_redis.dupefilter import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
            RFPDupeFilter,
        )
        from scrapy_redis.queue import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
            PriorityQueue,
        )
    except ImportError:
        return None
    import redis

    client = redis.Redis.from_url(server.url)
    seen = RFPDupeFilter(client, "rival:seen")
    queue = PriorityQueue(client, Spider(name="rival"), "rival:queue")
    pushes: list[float] = []
    pops: list[float] = []

    def admit(links: list[Link]) -> None:
        for link in links:
            request = Request(link.url, priority=int(link.score))
            if not seen.request_seen(request):
                queue.push(request)

    for number in range(pages):
        links = page_links(number)
        timed(pushes, lambda: admit(links))  # noqa: B023  # called at once
    for _ in range(pages):
        assert timed(pops, queue.pop) is not None
    client.close()
    return {
        "links_per_s": round(pages * BATCH / sum(pushes)),
        "pops_per_s": round(pages / sum(pops)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=500)
    pages = parser.parse_args().pages
    with tempfile.TemporaryDirectory(prefix="redis") as folder:
        server = RedisServer(Path(folder))
        server.start()
        try:
            result = {
                "date": time.strftime("%Y-%m-%d"),
                "pages": pages,
                "load": round(os.getloadavg()[0], 1),
                **{kind: measure(server, kind, pages) for kind in _KINDS},
                "scrapy_redis": rival(server, pages),
                **{f"memory_{kind}": memory(server, kind) for kind in _KINDS},
            }
        finally:
            server.kill()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
