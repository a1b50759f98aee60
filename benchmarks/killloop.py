"""A crawl whose processes are killed again and again loses nothing and does nothing twice.

    python -m benchmarks.killloop [--kills 50] [--pages 3000] [--frontier redis]
    python -m benchmarks.killloop --readers [--kills 60]

Serves a web (`benchmarks.killweb`) and starts `scrapy crawl langfocus` on it. It sends the crawl
SIGKILL 0.5 to 3 seconds after its first fetch, and one time in five at any moment of its first two
seconds. Then it starts the crawl again. After the last kill the crawl may end. With `--frontier
redis` three processes share a frontier in a redis-server with an append-only file, and any of the
four is killed. With `--frontier cluster` some share shards in a Redis Cluster of three masters,
each with a replica that takes over when its master is killed. A walk of the web and the server's
own log judge the result. Every reachable URL has exactly one record with the right outcome. Crowded
hosts have exactly as many URLs as the cap. No host was contacted sooner than the delay after its
last answer. The WARC files hold each answer of the run once and nothing else, and an export has the
text of every page in the language (`benchmarks.killoutputs`). Nothing that was answered is fetched
again, except after a kill. With `--readers` the crawl goes on, and each second one of the processes
that read its pages is killed, after it stood still while pages came: then nothing at all is fetched
again. Prints one JSON line; exit code 1 if anything is wrong.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from operator import methodcaller
from pathlib import Path
from random import Random
from subprocess import TimeoutExpired
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.claim import Claim
from benchmarks.crawling import command, environment, rows, summary
from benchmarks.killoutputs import misarchived, misexported
from benchmarks.killweb import HOST_CAP, KillWeb, Resource
from benchmarks.servers import processes
from benchmarks.servers.loopback import Access, Proxy, loopback
from benchmarks.servers.rediscluster import RedisCluster
from benchmarks.servers.redisserver import RedisServer
from langfocus.crawler.reading.page import CRASHED
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.stored import StoredCrawl

_BUSY = 503
_FILES = (".xml", ".gz", ".rss", "/tdmrep.json")
_START_S = 300.0
_END_S = 900.0
_STOPPED_S = 0.5


class Row(NamedTuple):
    """A settled URL as the crawl recorded it."""

    url: str
    outcome: str
    status: int | None


@dataclass
class Worker:
    """A process of the crawl, which is started again and again until `stack` is closed."""

    line: Sequence[str]
    proxy: str
    stack: ExitStack
    process: processes.Forked | None = None

    def start(self) -> None:
        """Start it unless it runs."""
        if self.process is None:
            crawl = processes.started(*self.line[2:], environment=environment(self.proxy))
            self.process = self.stack.enter_context(crawl)

    def ends_within(self, seconds: float) -> bool:
        """Wait at most `seconds`; return True if it has ended by itself."""
        try:
            return self.process is not None and self.process.wait(seconds) is not None
        except TimeoutExpired:
            return False

    def kill(self) -> None:
        """Send SIGKILL and wait for the end."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def fault(self) -> str:
        """Wait for the end; return how the process failed, "" if it did not."""
        if self.process is None or (self.ends_within(_END_S) and not self.process.returncode):
            return ""
        self.process.kill()
        _, said = self.process.communicate()
        return f"exit code {self.process.returncode}: {said[-300:]}"


@dataclass
class Kills:
    """Counts of the kills, their times and when readers stopped, by the clock of the log."""

    hit: Counter[str] = field(default_factory=Counter)
    at: list[float] = field(default_factory=list)
    stopped: list[float] = field(default_factory=list)


def wait_for_fetches(server: Proxy, worker: Worker) -> bool:
    """Return as soon as requests arrive again; False if the worker ended before."""
    before, deadline = len(server.log), time.monotonic() + _START_S
    while len(server.log) == before:
        if worker.ends_within(0.01):
            return False
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing was fetched within {_START_S} s")
    return True


def kill_workers(
    server: Proxy,
    workers: Sequence[Worker],
    redis: RedisServer | RedisCluster | None,
    kills: int,
    random: Random,
) -> Kills:
    """Kill one process at a time until `kills` kills were made or the crawl ended."""
    done = Kills()
    for _ in range(kills):
        for worker in workers:
            worker.start()
        victim = random.choice(workers)
        if random.random() < 0.2:
            pause_s = random.uniform(0.0, 2.0)
        elif wait_for_fetches(server, victim):
            pause_s = random.uniform(0.5, 3.0)
        else:
            break
        if victim.ends_within(pause_s):
            break
        if redis is not None and random.random() < 0.25:
            done.at.append(time.monotonic())
            redis.fail(random)
            done.hit["redis-server"] += 1
        else:
            victim.kill()
            done.at.append(time.monotonic())
            done.hit["worker"] += 1
    return done


def kill_readers(server: Proxy, workers: Sequence[Worker], kills: int, random: Random) -> Kills:
    """Kill a reader of a crawl each second until `kills` were made or the crawl ended.

    For half a second it is stopped, so that it holds pages.
    """
    done = Kills()
    for worker in workers:
        worker.start()
    wait_for_fetches(server, workers[0])
    while done.hit.total() < kills and not workers[0].ends_within(_STOPPED_S):
        found = [worker.process.pid for worker in workers if worker.process is not None]
        for _ in range(2):  # the process of each crawl that starts readers, then these
            found = [child for pid in found for child in processes.children(pid)]
        for pid in random.sample(found, min(1, len(found))):
            os.kill(pid, signal.SIGSTOP)
            done.stopped.append(time.monotonic())
            time.sleep(_STOPPED_S)
            os.kill(pid, signal.SIGKILL)
            done.hit["reader"] += 1
    return done


def merged(folder: Path, folders: Sequence[Path], redis_url: str) -> Path:
    """Merge the run folders of all workers into one run, and return its folder."""
    merged = folder / "merged"
    line = ["langfocus", "merge", str(merged), *map(str, folders), redis_url]
    done = processes.run(*line, environment=environment(None))
    if done.returncode:
        raise RuntimeError(f"the runs were not merged: {done.stderr[-300:]}")
    return merged


def misrecorded(web: KillWeb, records: Sequence[Row]) -> list[str]:
    """Return the errors in the records, by a walk of the web.

    A busy page gets all its requests. If a kill cuts off the last one, its status stays unknown.
    """
    expected = web.settled()
    cut_off: dict[tuple[str, int | None], tuple[str, None]] = {
        ("page", _BUSY): ("interrupted", None)
    }
    found = {row.url: (row.outcome, row.status) for row in records if not web.is_crowded(row.url)}
    wrong = [
        f"{url}: recorded {n} times"
        for url, n in Counter(row.url for row in records).items()
        if n > 1
    ]
    wrong += [f"{url}: not reachable in the web" for url in found.keys() - expected.keys()]
    wrong += [
        f"{url}: {found[url]} instead of {what}"
        for url, what in expected.items()
        if url in found and found[url] not in (what, cut_off.get(what))
    ]
    unfetched = expected.keys() - found.keys()
    wrong += [f"{url}: no record" for url in unfetched if not web.is_optional(url)]
    return wrong + _miscrowded(web, records)


def _miscrowded(web: KillWeb, records: Sequence[Row]) -> list[str]:
    crowds, wrong = web.crowds(), []
    crowded: dict[str, set[str]] = defaultdict(set)
    for row in records:
        if web.is_crowded(row.url):
            crowded[urlsplit(row.url).netloc].add(row.url)
            if (row.outcome, row.status) != web.outcome(row.url):
                wrong.append(f"{row.url}: {row.outcome} {row.status}")
    for host in crowds.keys() | crowded.keys():
        has, available = len(crowded[host]), len(crowds.get(host, ()))
        if has != min(HOST_CAP, available):
            wrong.append(f"{host}: {has} of {available} URLs for a cap of {HOST_CAP}")
    return wrong


def slots_in(redis: RedisServer | RedisCluster, crawl: str, shards: int) -> dict[str, int]:
    """Return the slots of the cap that each host holds in a shared frontier."""
    stored = StoredCrawl(connect(redis.url), crawl, shards)
    found: dict[str, int] = {}
    for part in stored.parts:
        ask = methodcaller("hgetall", part.key("sent"))
        sent = part.run(ask)[0]
        found |= {host: int(number) for host, number in sent.items()}
    stored.close()
    return found


def asked(log: Iterable[Access]) -> dict[str, set[str]]:
    """Return the URLs of pages that were asked for, by host, from the server's log."""
    found = defaultdict(set)
    for access in log:
        if not access.url.endswith(("/robots.txt", *_FILES)):
            found[access.host].add(access.url)
    return found


def misadmitted(log: Iterable[Access], slots: dict[str, int]) -> list[str]:
    """Return hosts whose slots are beyond the cap, or fewer than the URLs that they were asked for.

    A kill between the slot and the request leaves a slot without a request.
    """
    urls = asked(log)
    return [
        f"{host}: asked for {len(urls.get(host, ()))} URLs, with {slots.get(host, 0)} slots"
        for host in sorted(urls.keys() | slots.keys())
        if not len(urls.get(host, ())) <= slots.get(host, 0) <= HOST_CAP
    ]


def smallest_gap(log: Sequence[Access], deaths: Sequence[float] = ()) -> float:
    """Return the least time between an answer of a host and its next request.

    An answer ends at the first of the crawl's `deaths` after its request, if nobody takes it.
    """
    of_host = defaultdict(list)
    for access in log:
        of_host[access.host].append(access)
    gaps = [
        b.time - min([a.ended, *(at for at in deaths if at > a.time)])
        for accesses in of_host.values()
        for a, b in pairwise(accesses)
    ]
    return min(gaps, default=float("inf"))


def asked_twice(log: Sequence[Access], kills_at: Sequence[float]) -> list[str]:
    """Return URLs that were asked for again after an answer, without a kill in between."""
    answers = defaultdict(list)
    for access in log:
        if access.status != _BUSY and not access.url.endswith("/robots.txt"):
            answers[access.url].append(access)
    return [
        f"{url}: asked for again without a kill"
        for url, of_url in answers.items()
        for first, second in pairwise(of_url)
        if not any(first.time < at < second.time for at in kills_at)
    ]


def while_stopped(log: Iterable[Access], stopped: Sequence[float]) -> int:
    """Return the number of pages downloaded while a reader process was stopped."""
    ended = [access.ended for access in log if access.status == 200 and "robots" not in access.url]
    return sum(any(at < end < at + _STOPPED_S for at in stopped) for end in ended)


@dataclass
class Killed:
    """A crawl after all kills: the log of its web, and its run folders.

    `run` merges the runs of all workers. `slots` are the slots of the cap that each host holds.
    """

    log: Sequence[Access]
    kills: Kills
    folders: Sequence[Path]
    run: Path
    slots: dict[str, int]
    wrong: list[str]


def crawled(web: KillWeb, arguments: argparse.Namespace, folder: Path) -> Killed:
    """Run a crawl through all kills, to its end."""
    random, number = Random(arguments.random_state), 1
    with ExitStack() as stack:
        server = stack.enter_context(loopback(web, arguments.latency, spread=0.5))
        redis: RedisServer | RedisCluster | None = None
        settings: dict[str, object] = {
            "DOWNLOAD_DELAY": arguments.delay,
            "CONCURRENT_REQUESTS": 16,
            "RETRY_TIMES": 3,
            "LANGFOCUS_RETRY_DELAY": 0.3,
            "LANGFOCUS_QUIET": True,
            "LANGFOCUS_SITEMAPS": True,
        }
        if arguments.frontier == "redis":
            redis = RedisServer(folder)
            redis.start()
        elif arguments.frontier == "cluster":
            redis = RedisCluster(folder, 3, replicas=3)
        if redis is not None:
            number = arguments.workers
            stack.callback(redis.kill)
            settings |= {"LANGFOCUS_FRONTIER": redis.url, "LANGFOCUS_CRAWL": "killloop"}
            settings |= {"LANGFOCUS_SHARDS": arguments.shards}
        folders = [folder / f"run{n}" for n in range(number)]
        crawl = ["lang=de", f"strategy={arguments.strategy}", "filter=none", f"seeds={web.seed}"]
        lines = [command(*crawl, **settings, JOBDIR=run) for run in folders]
        workers = [Worker(line, server.url, stack) for line in lines]
        if arguments.readers:
            kills = kill_readers(server, workers, arguments.kills, random)
        else:
            kills = kill_workers(server, workers, redis, arguments.kills, random)
        for worker in workers:
            worker.start()
        wrong = [fault for worker in workers if (fault := worker.fault())]
        if redis is None:
            slots = dict(rows(folders[0], "SELECT host, sent FROM hosts WHERE sent > 0"))
            return Killed(server.log, kills, folders, folders[0], slots, wrong)
        slots = slots_in(redis, "killloop", arguments.shards)
        run = merged(folder, folders, redis.url)
        return Killed(server.log, kills, folders, run, slots, wrong)


def measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run the crawl through all kills and judge it."""
    web, began_at = KillWeb(arguments.pages), time.monotonic()
    killed = crawled(web, arguments, folder)
    log, kills, run, wrong = killed.log, killed.kills, killed.run, killed.wrong
    if kills.hit.total() < arguments.kills:
        wrong.append(f"the crawl was over after {kills.hit.total()} kills: take more pages")
    if arguments.frontier == "sqlite":
        left = rows(run, "SELECT COUNT(*) FROM urls WHERE queued = 1")[0][0]
        wrong += [f"{left} URLs are still queued"] * bool(left)
    # The host of a dead worker of several is still leased.
    gap = smallest_gap(log, kills.at if arguments.frontier == "sqlite" else ())
    wrong += [f"a host was asked again after {gap:.3f} s"] * (gap < arguments.delay)
    records = [Row(*row) for row in rows(run, "SELECT url, outcome, status FROM pages")]
    crashed = [row.url for row in records if row.outcome == CRASHED]
    if 2 * len(crashed) > kills.hit["reader"]:
        wrong.append(f"{len(crashed)} pages crashed, more than two kills each")
    web.resources.update((url, Resource("crashed")) for url in crashed)
    wrong += misrecorded(web, records) + misadmitted(log, killed.slots)
    wrong += asked_twice(log, kills.at)
    wrong += misexported(run, folder / "pages.jsonl") + misarchived(killed.folders)
    return {
        "frontier": arguments.frontier,
        "strategy": arguments.strategy,
        "kills": dict(kills.hit),
        "crashed": len(crashed),
        "answered_while_stopped": while_stopped(log, kills.stopped),
        **found(web, run),
        "hosts": len({access.host for access in log}),
        "requests": len(log),
        "delay_s": arguments.delay,
        "smallest_gap_s": round(gap, 4),
        "seconds": round(time.monotonic() - began_at, 1),
        "wrong": sorted(wrong)[:20],
        "wrong_in_all": len(wrong),
    }


def found(web: KillWeb, run: Path) -> dict[str, Any]:
    """Return figures of a run beside the same figures of the web."""
    settled, crowds = web.settled(), web.crowds()
    optional = sum(map(web.is_optional, settled))
    capped = sum(min(HOST_CAP, len(urls)) for urls in crowds.values())
    outcomes = Counter(outcome for (outcome,) in rows(run, "SELECT outcome FROM pages"))
    return {
        "records": outcomes.total(),
        "sitemaps": outcomes["sitemap"],
        "finish_reason": summary(run)["finish_reason"],
        "reachable": len(settled) + sum(map(len, crowds.values())),
        "expected": len(settled) - optional + capped,
    }


def claims(kills: int) -> Iterator[Claim]:
    """Yield what was wrong after kills of a crawl, alone and shared, and of its readers."""
    usual = [f"--kills={kills}", "--strategy=focus", "--latency=0.2"]
    redis, many = "--frontier=redis", [f"--kills={3 * kills}", f"--pages={500 + 200 * kills}"]
    victims = {
        "crawl": [f"--pages={60 * kills}"],
        "crawl, redis": [f"--pages={60 * kills}", redis],
        "readers": ["--readers", *many],
        "readers, redis": ["--readers", *many, redis],
    }
    for name, line in victims.items():
        with tempfile.TemporaryDirectory() as folder:
            result = measure(parser().parse_args([*usual, *line]), Path(folder))
        wrong, made = result["wrong_in_all"], sum(result["kills"].values())
        print(*result["wrong"], sep="\n", end="", file=sys.stderr)
        yield Claim(f"without a fault after {made} kills: {name}", [-wrong], "faults", 0.0)


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--pages", type=int, default=3000, help="about as many URLs are crawled")
    parser.add_argument("--frontier", choices=("sqlite", "redis", "cluster"), default="sqlite")
    parser.add_argument("--workers", type=int, default=3, help="of a shared frontier")
    parser.add_argument("--shards", type=int, default=1, help="of a shared frontier")
    parser.add_argument("--strategy", default="bfs")
    parser.add_argument("--delay", type=float, default=0.1, help="DOWNLOAD_DELAY, seconds")
    parser.add_argument("--latency", type=float, default=0.5, help="of an answer, seconds")
    parser.add_argument("--random-state", type=int, default=1)
    parser.add_argument("--readers", action="store_true", help="kill readers of pages, not crawls")
    parser.add_argument("--folder", type=Path, help="keep the files of the crawl")
    return parser


def main(line: Sequence[str] | None = None) -> int:
    """Print the JSON line; 1 if anything was wrong."""
    return judged(parser().parse_args(line), measure)


def judged(
    given: argparse.Namespace, measure: Callable[[argparse.Namespace, Path], dict[str, Any]]
) -> int:
    """Print what is measured in the folder of the arguments, or a new one; 1 for any fault."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = measure(given, folder)
    print(json.dumps(result))
    return int(bool(result["wrong_in_all"]))


if __name__ == "__main__":
    sys.exit(main())
