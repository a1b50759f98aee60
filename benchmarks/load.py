"""Load of the frontier alone: memory of a queued URL, and the time of each call as the queue grows.

    python -m benchmarks.load --stores 1,16,sqlite --urls 100 --hosts 1 --minutes 20

Pages of 60 links fill a frontier with the caps and the delay of a crawl. The links lead to URLs on
hosts in random order, each host a registered domain. No model scores the links: scores are random.
Stores are SQLite and one Redis server with 1 shard or more, which writes nothing to disk. `--urls`
and `--hosts` are in millions. Filling ends after this number of URLs, after the minutes of a store,
or when the server has `--gigabytes`. At 1, 2 and 5 times each power of ten, prints a JSON line:
bytes of a queued URL (in the memory of Redis or in the file of SQLite), and microseconds of a call
since the previous size: `admit` of a page with 60 links, `next`, and `settle` of a page without
links; SQLite's `write` is a commit of 20 calls. For Redis, also prints the processor time of any
call.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import date
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.crawling import RUN
from benchmarks.servers.redisserver import RedisServer
from langfocus.crawler.frontier.base import PAGE, Frontier, Record
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.report.provenance import provenance
from langfocus.crawler.run.folder import open_run
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.redis import RedisFrontier
from langfocus.crawler.shared.sharded import ShardedFrontier
from langfocus.crawler.strategies.links import Link

_LINKS: Final = 60
_PAGES_PER_S: Final = 20
"""Settled by one worker: how many there are between two deliveries of links to other shards."""
_TOGETHER: Final = 20
"""Calls whose changes SQLite writes together; a crawl does so every 20 ms."""
_RULES: Final = FrontierRules(
    doubts_up_to=0.0, domain_cap=1000, address_cap=2000, host_queue=200, delay_s=1.0
)
_RECORD: Final = Record(PAGE, 0.0, 200, True, True, "de", 0.9, "text", "utf-8")
_ROUND: Final = {factor * 10**power for power in range(4, 9) for factor in (1, 2, 5)}


Row = dict[str, Any]


class Store(NamedTuple):
    """A frontier, and functions for its bytes, and for the processor time of its server."""

    frontier: Frontier
    size: Callable[[], int]
    cpu_s: Callable[[], float]


@contextmanager
def sqlite(folder: Path) -> Iterator[Store]:
    """Yield the frontier of a run folder."""
    with closing(open_run(folder, RUN, 0.0).connection) as connection:
        frontier = SqliteFrontier(connection, _RULES, now=0.0)
        yield Store(frontier, lambda: sum(f.stat().st_size for f in folder.iterdir()), lambda: 0.0)


@contextmanager
def redis(folder: Path, shards: int) -> Iterator[Store]:
    """Yield the frontier of a crawl on a server of its own."""
    server = RedisServer(folder)
    server.start("--appendonly", "no")
    try:
        client = connect(server.url)
        info: Any = client.info
        join = RedisFrontier.join if shards == 1 else ShardedFrontier.join
        yield Store(
            join(client, "load", _RULES, Membership(shards=shards), now=0.0),
            lambda: int(info("memory")["used_memory"]),
            lambda: float(info("cpu")["used_cpu_user"] + info("cpu")["used_cpu_sys"]),
        )
    finally:
        server.kill()


def fill(store: Store, urls: int, hosts: int, ends_at: float, most_bytes: float) -> Iterator[Row]:
    """Fill a frontier; yield the figures of each size, times since the size before."""
    frontier, chance, known, size = store.frontier, random.Random(1), 0, 0
    later: list[Callable[[], None]] = []
    frontier.group(later.append)
    frontier.seed([Link(f"http://seed-{n}.example/", 9.0) for n in range(1000)], 0.0)
    empty, spent, cpu_s, calls = (
        store.size(),
        defaultdict[str, float](float),
        store.cpu_s(),
        Counter[str](),
    )

    def call(name: str, do: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        answer = do()
        spent[name] += time.perf_counter() - began
        calls[name] += 1
        return answer

    for number in count(1):
        if known >= urls or time.monotonic() >= ends_at or size >= most_bytes:
            break
        now = number / _PAGES_PER_S
        lease = call("next", partial(frontier.next, now))
        names = [f"host-{chance.randrange(hosts)}.example" for _ in range(_LINKS)]
        links = [
            Link(f"http://{name}/section/page-{known + place}.html", chance.gauss(0.0, 1.0))
            for place, name in enumerate(names if number % 10 else ())
        ]
        name = "admit" if links else "settle"
        call(name, partial(frontier.admit, lease, _RECORD, links, now=now))
        before, known = known, known + len(links)
        if number % _TOGETHER == 0:
            while later:
                call("write", later.pop())
        if number % 1000 == 0:
            size = store.size()
        if before < (reached := max(each for each in (0, *_ROUND) if each <= known)):
            size = store.size()
            us = {name: round(1e6 * spent[name] / calls[name], 1) for name in calls}
            server_us = round(1e6 * (store.cpu_s() - cpu_s) / calls.total(), 1)
            figures = {"bytes_of_url": round((size - empty) / known), "us": us}
            yield {"urls": reached, **figures, "server_cpu_us_of_call": server_us}
            cpu_s = store.cpu_s()
            spent.clear()
            calls.clear()


def main() -> None:
    """Print the figures of all stores."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--stores", default="1,16,sqlite")
    parser.add_argument("--urls", type=float, default=100.0)
    parser.add_argument("--hosts", type=float, default=1.0)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--gigabytes", type=float, default=14.0)
    given = parser.parse_args()
    print(json.dumps(provenance(sys.orig_argv, [], date.today())))
    for name in given.stores.split(","):
        sizes = int(given.urls * 1e6), int(given.hosts * 1e6)
        with tempfile.TemporaryDirectory() as folder:
            opened = sqlite(Path(folder)) if name == "sqlite" else redis(Path(folder), int(name))
            with opened as store:
                ends_at = time.monotonic() + 60 * given.minutes
                for row in fill(store, *sizes, ends_at, 1e9 * given.gigabytes):
                    print(json.dumps({"store": name, **row}), flush=True)


if __name__ == "__main__":
    main()
