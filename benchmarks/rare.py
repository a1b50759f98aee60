"""Harvest in small languages, on webs where one page in five hundred is wanted.

Crawls a web of `benchmarks.rare_webs` from seven seeds with `host_cap=500`. The judge reads the
server's log: a download is an answer that is no redirect and no robots.txt, and counts once for
each URL. `--how` has three ways of crawling:

- `order`: one URL at a time without delays, in this process (`benchmarks.focus`): the order alone.
- `time`: with connections, latencies, a crawl delay and patience, in this process. The clock jumps
  to the next event, so that a result depends on no machine.
- `http`: as a person starts a crawl, through a proxy on loopback, with the same latencies.

The oracle (`benchmarks.focus.OracleCrawl`) knows languages, obeys the cap and pays for faults. It
waits for a host's delay where a crawl may fetch something else, so that a delay costs it no
download. What can be reached is what the oracle finds in `REACH` downloads.

Figures of each crawl: relevant pages after some numbers of downloads, and divided by the oracle's;
the area under that curve divided by the oracle's area; downloads for each relevant page until 50,
80, 90 and 95 % of what can be reached (None: not reached); the share of each kind of host that was
found (`kinds`); downloads of farms.

    python -m benchmarks.rare --webs graph-1 --strategies focus,svm,cctld,soft,random
    python -m benchmarks.rare --webs sites-1 --pages 30000 --share .01 --langs gl,ga
    python -m benchmarks.rare --webs graph-1 --langs ga --counts 500 --how http
    python -m benchmarks.rare --webs graph-1 --without farms,lies,soft404
    python -m benchmarks.rare --webs plain-1,hard-1 --langs uk,el --how http

Families: tune on `graph`, judge on `sites`. The webs of `benchmarks.focus` are crawled with ten
pages of a host. Prints a JSON line for each crawl, then means.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from pathlib import Path
from typing import Any, Final
from unittest import mock
from urllib.parse import urlsplit

from scrapy import Request

from benchmarks import rare_webs
from benchmarks.crawling import ROOT, command, environment
from benchmarks.focus import ORACLE, KnownCrawl, OracleCrawl, Strategy, _Time
from benchmarks.focus_webs import GeneratedWeb, open_known
from benchmarks.markdown import markdown
from benchmarks.proxyweb import URLS
from benchmarks.rare_webs import STATES, RareWeb
from langfocus.classifiers.errors import ModelError
from langfocus.crawler.frontier.base import Lease, Sending
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.reservations import TDMREP_PATH
from langfocus.crawler.report.effort import effort
from langfocus.crawler.report.table import Table
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.session.visit import OTHER_VERSION
from langfocus.crawler.sources.contract import Answer, Unreachable
from langfocus.crawler.spiders.messages import download_of
from langfocus.crawler.spiders.web_handler import response_to
from langfocus.crawler.url import normalise

REACH: Final = 8000
DELAY_S: Final = 0.2
CONNECTIONS: Final = 64
_REDIRECTS: Final = range(300, 400)
_NO_DOWNLOADS: Final = ("/robots.txt", TDMREP_PATH)

Line = dict[str, Any]
Web = RareWeb | GeneratedWeb


def require() -> None:
    """End with a reason if the data of the webs are missing."""
    for path in (rare_webs.TEXTS, rare_webs.GRAPH, URLS):
        if not path.exists():
            sys.exit(f"skipped: {path} is not here")


class _Log:
    """The URLs of a web's answers in their order, each once."""

    def __init__(self, web: Web) -> None:
        self._web, self._respond = web, web.respond  # before `crawled` puts a log in its place
        self.urls: dict[str, None] = {}

    def respond(self, url: str) -> Answer:
        answer = self._respond(url)
        if answer.status not in _REDIRECTS and urlsplit(url).path not in _NO_DOWNLOADS:
            self.urls.setdefault(normalise(url) or url)
        return answer


def crawled(web: Web, lang: str, strategy: str, downloads: int) -> list[str]:
    """Return the downloads of a crawl in this process."""
    log = _Log(web)
    with mock.patch.object(web, "respond", log.respond, create=True):
        KnownCrawl(web, lang).course(Strategy.read(strategy), downloads)  # type: ignore[arg-type]
    return list(log.urls)


def crawled_in_time(web: Web, lang: str, strategy: str, downloads: int) -> list[str]:
    """Return the downloads of a crawl on a clock of its own, with connections and delays."""
    log, clock, ordering = _Log(web), _Time(), Strategy.read(strategy)
    with tempfile.TemporaryDirectory() as folder:
        config = Config(
            lang=lang, strategy=ordering.ordering, filter=ordering.filter,
            tolerance=ordering.tolerance, host_cap=web.host_cap, seeds=tuple(web.seeds(lang)),
            run_folder=Path(folder) / "run",
            delay_s=DELAY_S, retry_times=0, retry_delay_s=0.0, keeps_warc=False,
        )  # fmt: skip
        crawl = open_crawl(config, CrawlClock(clock, clock))
        try:
            crawl.start()
            _Connections(web, log, crawl, clock).run(downloads)
        finally:
            crawl.close("finished")
    print(f"# {lang} {strategy}: {clock.now - _Time().now:.0f} s on the crawl's clock", flush=True)
    return list(log.urls)


class _Connections:
    """Downloads that take time: each ends after the latency of its host."""

    def __init__(self, web: Web, log: _Log, crawl: Crawl, clock: _Time) -> None:
        self._web, self._log, self._crawl, self._clock = web, log, crawl, clock
        self._flying: list[tuple[float, int, Lease]] = []
        self._number = 0

    def run(self, downloads: int) -> None:
        """Crawl until that many downloads, or until nothing is left."""
        queue = self._crawl.queue
        while len(self._log.urls) < downloads:
            while len(self._flying) < CONNECTIONS and (lease := queue.next()) is not None:
                self._send(lease)
            times = [queue.ready_at()] if len(self._flying) < CONNECTIONS else []
            times += [self._flying[0][0]] if self._flying else []
            if not (known := [time for time in times if time is not None]):
                break
            self._clock.now = max(self._clock.now + 1e-4, min(known))
            while self._flying and self._flying[0][0] <= self._clock.now:
                self._settle(heappop(self._flying)[2])

    def _send(self, lease: Lease) -> None:
        crawl, now = self._crawl, self._clock.now
        if reason := crawl.visitor.refusal(lease):
            crawl.visitor.refused(lease, reason)
            return
        if crawl.robots.ask(lease.url, now) is not None:  # these webs have no robots.txt
            crawl.robots.keep(lease.url, 404, b"", now)
        if crawl.frontier.knows_version(lease):
            crawl.visitor.refused(lease, OTHER_VERSION)
            return
        sending = crawl.frontier.send(lease, None, now=now)
        if sending is Sending.NOW:
            self._number += 1
            heappush(self._flying, (now + self._web.latency_s(lease.url), self._number, lease))
        elif sending is not Sending.LATER:
            crawl.visitor.refused(lease, sending.value)

    def _settle(self, lease: Lease) -> None:
        try:
            answer = self._log.respond(lease.url)
        except Unreachable as error:
            self._crawl.visitor.failed(lease, error.reason, is_final=True)
            return
        response = response_to(Request(lease.url), answer)
        self._crawl.visitor.answered(lease, download_of(response, self._clock.now))


def crawled_over_http(web: Web, lang: str, strategy: str, downloads: int) -> list[str]:
    """Return the downloads of `scrapy crawl langfocus` through a proxy."""
    log, ordering = _Log(web), Strategy.read(strategy)
    with tempfile.TemporaryDirectory() as folder, _Proxy(web, log) as port:
        line = command(
            f"lang={lang}", f"strategy={ordering.ordering}", f"filter={ordering.filter}",
            f"pages={downloads}", f"host_cap={web.host_cap}", f"seeds={','.join(web.seeds(lang))}",
            JOBDIR=folder, LANGFOCUS_QUIET=True, DOWNLOAD_DELAY=DELAY_S,
        )  # fmt: skip
        env = environment(f"http://127.0.0.1:{port}")
        subprocess.run(line, cwd=ROOT, env=env, check=True, stderr=subprocess.DEVNULL)
    return list(log.urls)


class _Proxy:
    """Serves a web on loopback in a thread of this process."""

    def __init__(self, web: Web, log: _Log) -> None:
        self._web, self._log = web, log
        self._loop = asyncio.new_event_loop()

    def __enter__(self) -> int:
        serving = asyncio.start_server(self._serve, "127.0.0.1", 0)
        server = self._loop.run_until_complete(serving)
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        port: int = server.sockets[0].getsockname()[1]
        return port

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                url = head.split(" ", 2)[1]
                await asyncio.sleep(self._web.latency_s(url))
                writer.write(self._answered(url))
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError, Unreachable):
            writer.close()

    def _answered(self, url: str) -> bytes:
        answer = self._log.respond(url)
        lines = [f"HTTP/1.1 {answer.status} X", f"Content-Length: {len(answer.body)}"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body


class Judged:
    """What can be reached of a web in a language, and the figures of crawls beside it."""

    def __init__(self, web: Web, lang: str, counts: Sequence[int]) -> None:
        """Let the oracle crawl."""
        self._web, self._lang, self._counts = web, lang, counts
        self._course = OracleCrawl(web, lang).course(REACH)  # type: ignore[arg-type]
        self.best = list(accumulate(map(int, self._course))) or [0]

    def oracle(self) -> Line:
        """Return the line of the oracle."""
        return self._figures(ORACLE, self._course)

    def line(self, strategy: str, urls: Sequence[str]) -> Line:
        """Return the line of a crawl."""
        web, lang = self._web, self._lang
        relevant = [web.language(url) == lang for url in urls]
        found = Counter(
            web.kind_of(url) for url, is_it in zip(urls, relevant, strict=True) if is_it
        )
        farms = sum(web.kind_of(url) == "farm" for url in urls)
        return {**self._figures(strategy, relevant), "kinds": found, "farms": farms}

    def _figures(self, strategy: str, relevant: Sequence[bool]) -> Line:
        found, reach = list(accumulate(map(int, relevant))) or [0], self.best[-1]
        own, best = (
            effort([n for n, is_it in enumerate(course, 1) if is_it], reach, self._counts[-1])
            for course in (relevant, self._course)
        )
        return {
            **{"web": self._web.name, "lang": self._lang, "strategy": strategy, "reach": reach},
            "relevant": {str(n): found[min(n, len(found)) - 1] for n in self._counts},
            "ratio": {
                str(n): round(
                    found[min(n, len(found)) - 1]
                    / max(1, self.best[min(n, REACH, len(self.best)) - 1]),
                    3,
                )
                for n in self._counts
            },
            "area": round(own.area / best.area, 3),
            "downloads_for_each": {
                share: each and round(each, 2) for share, each in own.downloads_for_each.items()
            },
        }


_WAYS: Final = {"order": crawled, "time": crawled_in_time, "http": crawled_over_http}


def opened(name: str, given: argparse.Namespace, without: str = "") -> Web:
    """Return the web with a name; the program ends for a name of no web."""
    if "plain" in name or "hard" in name:
        return open_known(name, given.cache)
    return RareWeb(name, given.pages, given.share, without)


def add_webs(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `opened`, and the languages."""
    parser.add_argument("--webs", default="graph-1", help="graph-SEED, sites-SEED, plain-SEED, ...")
    parser.add_argument("--langs", default=",".join(STATES))
    parser.add_argument("--pages", type=int, default=400_000, help="of a rare web")
    parser.add_argument("--share", type=float, default=0.002, help="of each small language there")
    parser.add_argument("--cache", type=Path, default=Path("build"), help="of the unseen webs")


def _lines(given: argparse.Namespace, counts: Sequence[int]) -> Iterator[Line]:
    run = _WAYS[given.how]
    for name in given.webs.split(","):
        web = opened(name, given, given.without)
        web.slowness = given.slowness
        for lang in given.langs.split(","):
            judged = Judged(web, lang, counts)
            yield judged.oracle()
            for strategy in given.strategies.split(","):
                start = time.process_time()
                try:
                    urls = run(web, lang, strategy, counts[-1])
                except ModelError as error:
                    print(f"# {lang} {strategy}: {error}", flush=True)
                    continue
                yield {
                    **judged.line(strategy, urls),
                    "cpu_s": round(time.process_time() - start, 1),
                }


def tables(lines: Sequence[Line], counts: Sequence[int]) -> Iterator[Table]:
    """Yield a table of ratios for each number of downloads, then one of areas."""
    langs, names = (
        list(dict.fromkeys(line[key] for line in lines)) for key in ("lang", "strategy")
    )
    for count in [*counts, None]:
        found = defaultdict(list)
        for line in lines:
            figure = line["area"] if count is None else line["ratio"][str(count)]
            found[line["strategy"], line["lang"]].append(figure)
            found[line["strategy"], "mean"].append(figure)
        rows = [
            [name, *(_mean(found[name, of]) for of in [*langs, "mean"])]
            for name in names
            if name != ORACLE
        ]
        what = "area" if count is None else f"after {count:,} downloads"
        yield Table(f"{what}, divided by the oracle's", ["strategy", *langs, "mean"], rows)


def _mean(values: Sequence[float]) -> str:
    return f"{statistics.fmean(values):.3f}" if values else ""


def main() -> None:
    """Crawl all webs in all languages with all strategies."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_webs(parser)
    parser.add_argument("--strategies", default="focus/both-conservative:5")
    parser.add_argument("--counts", default="500,2000", help="numbers of downloads")
    parser.add_argument("--without", default="", help=f"of {', '.join(rare_webs.SWITCHES)}")
    parser.add_argument("--slowness", type=float, default=1.0, help="factor of all latencies")
    parser.add_argument("--how", choices=_WAYS, default="order")
    given = parser.parse_args()
    require()
    counts, lines = sorted(map(int, given.counts.split(","))), []
    for line in _lines(given, counts):
        lines.append(line)
        print(json.dumps(line), flush=True)
    for table in tables(lines, counts):
        print("\n".join(["", table.title, "", *markdown(table)]))


if __name__ == "__main__":
    main()
