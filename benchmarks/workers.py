"""Effect of a second and a third worker on a crawl that shares its frontier in Redis.

    python -m benchmarks.workers [--pages 3000] [--rounds 3]

Crawls a web (`benchmarks.killweb`, a separate process on this machine) by one process with an
unshared frontier, then by one, two and three workers with a shared frontier. Each crawl uses a
fresh server, and all run in the same minutes. Pages per second are counted between the server's
first and last request. Each crawl must settle the same URLs, fill the same slots of every host's
cap and keep the delay, by the server's own log. CPU time is that of the crawl's processes, their
start included, and of redis-server. It shows the bottleneck when cores are few. With few
`--connections` and a long `--latency` the bottleneck is the waiting for servers, which workers
share. Prints one JSON line.
"""

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.killloop import (
    Row,
    Worker,
    finish,
    merged,
    misadmitted,
    misrecorded,
    slots_in,
    smallest_gap,
)
from benchmarks.killweb import KillWeb, served
from crawler.shared.stored import connect
from tests.support.crawls import command, rows
from tests.support.redisserver import RedisServer

_CRAWL = "workers"


def crawl(web: KillWeb, workers: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Crawl the whole web with `workers` workers; 0 is one process with an unshared frontier."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="workers")))
        server = stack.enter_context(served(web, arguments.latency))
        settings: dict[str, object] = {
            "DOWNLOAD_DELAY": arguments.delay,
            "LANGFOCUS_RETRY_DELAY": 0.3,
            "CONCURRENT_REQUESTS": arguments.connections,
            "LANGFOCUS_QUIET": True,
        }
        redis = RedisServer(folder) if workers else None
        if redis is not None:
            redis.start("--appendfsync", "everysec")
            stack.callback(redis.kill)
            settings |= {"LANGFOCUS_FRONTIER": redis.url, "LANGFOCUS_CRAWL": _CRAWL}
        folders = [folder / f"run{n}" for n in range(max(1, workers))]
        line = ["lang=de", "strategy=bfs", "filter=none", f"seeds={web.seed}"]
        processes = [
            Worker(command(*line, **settings, JOBDIR=run), server.proxy, folder / f"{run.name}.log")
            for run in folders
        ]
        cpu_s = children_s()
        wrong = finish(processes)
        cpu_s = children_s() - cpu_s
        run, slots, redis_s = folders[0], None, 0.0
        if redis is not None:
            client = connect(redis.url)
            usage = client.info("cpu")
            redis_s = usage["used_cpu_user"] + usage["used_cpu_sys"]
            client.close()
            slots = slots_in(redis, _CRAWL)
            run = merged(folder, folders, redis.url)
        records = [Row(*row) for row in rows(run, "SELECT url, outcome, status FROM pages")]
        wrong += misrecorded(web, records)
        if slots is None:
            slots = dict(rows(run, "SELECT host, sent FROM hosts WHERE sent > 0"))
        wrong += misadmitted(server.log, slots)
        shares = [rows(one, "SELECT COUNT(*) FROM pages")[0][0] for one in folders]
    gap = smallest_gap(server.log)
    if gap < arguments.delay:
        wrong.append(f"a host was asked again after {gap:.3f} s")
    seconds = max(a.ended for a in server.log) - min(a.began for a in server.log)
    return {
        "records": len(records),
        "shares": shares,
        "per_second": len(records) / seconds,
        "crawler_cpu_s": cpu_s,
        "redis_cpu_s": redis_s,
        "wrong": wrong,
    }


def children_s() -> float:
    """Return the CPU seconds of all processes that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main(line: Sequence[str] | None = None) -> int:
    """Alternate the crawls; return 1 if the result of one differs from the web."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds between contacts")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before each answer")
    parser.add_argument("--connections", type=int, default=64, help="of each worker")
    arguments = parser.parse_args(line)
    web = KillWeb(arguments.pages)
    runs: dict[int, list[dict[str, Any]]] = {number: [] for number in (0, 1, 2, 3)}
    for _ in range(arguments.rounds):
        for number, of_number in runs.items():
            of_number.append(crawl(web, number, arguments))
    print(
        json.dumps(
            {
                "date": time.strftime("%Y-%m-%d"),
                "cores": os.cpu_count(),
                "load": round(os.getloadavg()[0], 1),
                "pages": arguments.pages,
                "connections": arguments.connections,
                "latency_s": arguments.latency,
                **{
                    "alone" if number == 0 else f"{number} workers": {
                        "records_per_s": [round(run["per_second"], 1) for run in of_number],
                        "shares": of_number[-1]["shares"],
                        "crawler_cpu_ms_a_record": round(
                            statistics.median(
                                1000 * run["crawler_cpu_s"] / run["records"] for run in of_number
                            ),
                            2,
                        ),
                        "redis_cpu_ms_a_record": round(
                            statistics.median(
                                1000 * run["redis_cpu_s"] / run["records"] for run in of_number
                            ),
                            2,
                        ),
                        "wrong": [fault for run in of_number for fault in run["wrong"]][:5],
                    }
                    for number, of_number in runs.items()
                },
            }
        )
    )
    return int(any(run["wrong"] for of_number in runs.values() for run in of_number))


if __name__ == "__main__":
    sys.exit(main())
