"""Harvest of strategies against an oracle, on webs whose truth is known.

Each crawl runs in this process on a generated web (`benchmarks.focus_webs`), with the project's own
parts: options, ordering, frontier, visitor, robots.txt. A loop leases a URL, asks the web, and
settles it, one URL at a time: without HTTP, without delays and without retries (the faults of these
webs stay). So the order is that of the ordering alone. The truth is the language that the web gives
a page, never the crawl's own answer. N pages are N pages answered with 200, each URL once, so
errors cost nothing.

The oracle knows the language of each URL and nothing of the answer: among relevant URLs the one
found first goes first, and then among irrelevant ones. It obeys the cap of a crawl: an error and a
redirect take a slot of their host like a page. An ordering that scores each link by itself can
hardly do better.

A strategy is `ORDERING[:QUEUE][/FILTER[:T]]`: `svm`, `soft/server-conservative:5`, `svm:10` with
ten URLs of a host in the queue, as in Baykan 2013. A web is `plain-SEED`, `hard-SEED`,
`unseen-plain-SEED` or `unseen-hard-SEED`. `--host-cap 0` crawls without the cap.

    python -m benchmarks.focus --cache FOLDER --langs ru,th --strategies svm,cctld \
        --webs plain-1,hard-1 --counts 1000,4000

Prints a JSON line for each crawl, then for each kind of web the relevant pages of each strategy
divided by those of the oracle, the mean over webs.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from scrapy import Request

from benchmarks.focus_webs import HOST_CAP, GeneratedWeb, open_known
from benchmarks.markdown import markdown
from benchmarks.proxyweb import require
from langfocus.crawler.frontier.base import Lease, Sending
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.robots import Verdict
from langfocus.crawler.report.table import Table
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.session.visit import OTHER_VERSION
from langfocus.crawler.sources.contract import Unreachable
from langfocus.crawler.spiders.messages import download_of
from langfocus.crawler.spiders.web_handler import response_to
from langfocus.crawler.strategies.filters import TOLERANCE
from langfocus.crawler.url import fingerprint, host_of, normalise

ORACLE = "oracle"

STEP_S = 0.01
"""The seconds that pass between two fetches on the clock of a crawl."""

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Strategy:
    """An ordering with a filter and its tolerance.

    `queue` is the number of URLs of a host that may wait or were fetched, None: the default.
    """

    ordering: str
    filter: str = "none"
    queue: int | None = None
    tolerance: int = TOLERANCE

    @classmethod
    def read(cls, text: str) -> "Strategy":
        """Return the strategy of `ORDERING[:QUEUE][/FILTER[:T]]`."""
        named, _, filtered = text.partition("/")
        ordering, _, queue = named.partition(":")
        rule, _, limit = filtered.partition(":")
        tolerance = int(limit) if limit else TOLERANCE
        return cls(ordering, rule or "none", int(queue) if queue else None, tolerance)


class _Time:
    """Seconds that pass only when the crawl says so."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True, slots=True)
class KnownCrawl:
    """Crawls of a known web in one language, each with a strategy, up to a number of pages."""

    web: GeneratedWeb
    lang: str

    def course(self, strategy: Strategy, pages: int) -> list[bool]:
        """Crawl until that many pages were answered with 200, or until nothing is left.

        Returns the truth about each page, in their order.
        """
        time = _Time()
        with tempfile.TemporaryDirectory() as folder:
            config = Config(
                lang=self.lang,
                strategy=strategy.ordering,
                filter=strategy.filter,
                tolerance=strategy.tolerance,
                host_cap=self.web.host_cap,
                host_queue=strategy.queue,
                seeds=tuple(self.web.seeds(self.lang)),
                run_folder=Path(folder) / "run",
                delay_s=0.0,
                retry_times=0,
                retry_delay_s=0.0,
                max_crawl_delay_s=0.0,
                patience_s=0.0,
                keeps_warc=False,
                url_model=self.web.url_model,
            )
            crawl = open_crawl(config, CrawlClock(time, time))
            try:
                return _Loop(self.web, self.lang, crawl, time).run(pages)
            finally:
                crawl.close("finished")


class _Loop:
    def __init__(self, web: GeneratedWeb, lang: str, crawl: Crawl, time: _Time) -> None:
        self._web, self._lang, self._crawl, self._time = web, lang, crawl, time
        self._course: list[bool] = []
        self._asked: defaultdict[str, set[int]] = defaultdict(set)

    def run(self, pages: int) -> list[bool]:
        self._crawl.start()
        while len(self._course) < pages:
            self._time.now += STEP_S
            lease = self._crawl.queue.next()
            if lease is not None:
                self._visit(lease)
            elif self._crawl.queue.has_more():
                self._time.now = max(self._time.now, self._crawl.queue.ready_at() or 0.0)
            else:
                break
        most = max(map(len, self._asked.values()), default=0)
        if 0 < self._web.host_cap < most:
            raise RuntimeError(f"{most} URLs of a host were asked for")
        return self._course

    def _visit(self, lease: Lease) -> None:
        if reason := self._crawl.visitor.refusal(lease):
            self._crawl.visitor.refused(lease, reason)
            return
        if not self._is_allowed(lease.url):
            self._crawl.visitor.refused(lease, "robots")
            return
        if self._crawl.frontier.knows_version(lease):
            self._crawl.visitor.refused(lease, OTHER_VERSION)
            return
        sending = self._crawl.frontier.send(lease, None, now=self._time.now)
        if sending is not Sending.NOW:
            if sending is not Sending.LATER:
                self._crawl.visitor.refused(lease, sending.value)
            return
        self._asked[lease.host].add(lease.fingerprint)
        try:
            answer = self._web.respond(lease.url)
        except Unreachable as error:
            self._crawl.visitor.failed(lease, error.reason, is_final=True)
            return
        response = response_to(Request(lease.url), answer)
        self._crawl.visitor.answered(lease, download_of(response, self._time.now))
        if answer.status == 200:
            self._course.append(self._web.language(lease.url) == self._lang)

    def _is_allowed(self, url: str) -> bool:
        """Return whether robots.txt allows a URL; it is fetched first if it is not known."""
        robots, now = self._crawl.robots, self._crawl.clock()
        verdict = robots.verdict(url, now)
        if verdict is Verdict.UNKNOWN:
            address = robots.ask(url, now)
            if address is None:
                return False
            try:
                answer = self._web.respond(address)
                robots.keep(url, answer.status, answer.body, now)
            except Unreachable:
                robots.keep(url, None, b"", now)
            verdict = robots.verdict(url, now)
        return verdict is Verdict.ALLOWED


class OracleCrawl:
    """A crawl in memory that is told the language of each URL and pays each request."""

    def __init__(self, web: GeneratedWeb, lang: str) -> None:
        """Queue the seeds of a web for a language."""
        self._web, self._lang = web, lang
        self._cap = web.host_cap
        self._known: set[int] = set()
        self._sent: Counter[str] = Counter()
        self._relevant: deque[str] = deque()
        self._others: deque[str] = deque()
        self._learn(filter(None, map(normalise, web.seeds(lang))))

    def course(self, pages: int) -> list[bool]:
        """Return for each of the first pages, in their order, whether it is relevant."""
        course: list[bool] = []
        while len(course) < pages and (self._relevant or self._others):
            is_relevant = bool(self._relevant)
            url = (self._relevant or self._others).popleft()
            host = host_of(url)
            if 0 < self._cap <= self._sent[host] or self._web.is_forbidden(url):
                continue
            self._sent[host] += 1
            page = self._web.page_at(url)
            if page is not None and fingerprint(page) != fingerprint(url):
                self._learn([page])
            elif page is not None:
                course.append(is_relevant)
                self._learn(self._web.links(page))
        return course

    def _learn(self, urls: Iterable[str]) -> None:
        for url in urls:
            key = fingerprint(url)
            if key not in self._known:
                self._known.add(key)
                is_relevant = self._web.language(url) == self._lang
                (self._relevant if is_relevant else self._others).append(url)


def _crawled(crawl: KnownCrawl, strategy: str, counts: Sequence[int]) -> Line:
    """Return the line of a crawl with a strategy."""
    start = time.process_time()
    course = crawl.course(Strategy.read(strategy), counts[-1])
    line = _line(crawl.web, crawl.lang, strategy, course, counts)
    return {**line, "cpu_s": round(time.process_time() - start, 1)}


def _line(
    web: GeneratedWeb, lang: str, strategy: str, relevant: Sequence[bool], counts: Sequence[int]
) -> Line:
    """Return a line with the relevant pages after some numbers of pages."""
    return {
        "web": web.name,
        "kind": web.kind,
        "lang": lang,
        "strategy": strategy,
        "pages": len(relevant),
        "relevant": {str(count): sum(relevant[:count]) for count in counts},
    }


def ratio_table(lines: Sequence[Line], kind: str, count: int) -> Table:
    """Return a table of the ratios to the oracle after a number of pages."""
    found = {
        (line["lang"], line["web"], line["strategy"]): line["relevant"][str(count)]
        for line in lines
        if line["kind"] == kind
    }
    langs, webs, names = (list(dict.fromkeys(part)) for part in zip(*found, strict=True))
    names.remove(ORACLE)
    rows = []
    for lang in langs:
        best = [found[lang, web, ORACLE] for web in webs]
        ratios = [
            statistics.fmean(
                found[lang, web, name] / max(1, found[lang, web, ORACLE]) for web in webs
            )
            for name in names
        ]
        rows.append([lang, f"{statistics.fmean(best):.0f}", *(f"{ratio:.3f}" for ratio in ratios)])
    title = f"{kind}, {count:,} pages, {len(webs)} webs: relevant pages of the oracle, ratios to it"
    return Table(title, ["language", ORACLE, *names], rows)


def _lines(arguments: argparse.Namespace, counts: Sequence[int]) -> Iterator[Line]:
    for name, lang in product(arguments.webs.split(","), arguments.langs.split(",")):
        web = open_known(name, arguments.cache)
        web.host_cap = arguments.host_cap
        crawl = KnownCrawl(web, lang)
        yield _line(web, lang, ORACLE, OracleCrawl(web, lang).course(counts[-1]), counts)
        for strategy in arguments.strategies.split(","):
            yield _crawled(crawl, strategy, counts)


def main() -> None:
    """Crawl all webs in all languages with all strategies."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder of the unseen webs")
    parser.add_argument("--langs", default="de,fr,es,it,ru,ja")
    parser.add_argument("--strategies", default="svm,cctld,soft/server-conservative")
    parser.add_argument("--webs", default="plain-1,plain-2,plain-3")
    parser.add_argument("--counts", default="500,1000,2000,4000", help="numbers of pages")
    parser.add_argument("--host-cap", type=int, default=HOST_CAP, help="0: no cap")
    arguments = parser.parse_args()
    require()
    counts, lines = sorted(map(int, arguments.counts.split(","))), []
    for line in _lines(arguments, counts):
        lines.append(line)
        print(json.dumps(line), flush=True)
    for kind, count in product(dict.fromkeys(line["kind"] for line in lines), counts):
        table = ratio_table(lines, kind, count)
        print("\n".join(["", table.title, "", *markdown(table)]))


if __name__ == "__main__":
    main()
