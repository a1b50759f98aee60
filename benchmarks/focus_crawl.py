"""A crawl of a known web in this process, for `benchmarks.focus`.

The parts are the project's own: options, ordering, frontier, visitor, robots.txt. A loop leases a
URL, asks the web, and settles it, one URL at a time: without HTTP, without delays and without
retries (the faults of these webs stay). So the order is that of the ordering alone.
"""

import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from scrapy import Request

from benchmarks.focus_webs import GeneratedWeb
from crawler.clock import CrawlClock
from crawler.config import Config
from crawler.crawl import Crawl
from crawler.frontier.base import Lease, Sending
from crawler.opening import open_crawl
from crawler.politeness.robots import Verdict
from crawler.sources.contract import Unreachable
from crawler.spiders.messages import download_of
from crawler.spiders.web_handler import response_to

STEP_S = 0.01
"""The seconds that pass between two fetches on the clock of a crawl."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """An ordering with a filter.

    `queue` is the number of URLs of a host that may wait or were fetched, None: the default.
    """

    ordering: str
    filter: str = "none"
    queue: int | None = None

    @classmethod
    def read(cls, text: str) -> "Strategy":
        """Return the strategy of `ORDERING[:QUEUE][/FILTER]`."""
        named, _, rule = text.partition("/")
        ordering, _, queue = named.partition(":")
        return cls(ordering, rule or "none", int(queue) if queue else None)

    def __str__(self) -> str:
        """Return the text that `read` understands."""
        queue = "" if self.queue is None else f":{self.queue}"
        return f"{self.ordering}{queue}" + ("" if self.filter == "none" else f"/{self.filter}")


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
            lease = self._crawl.next()
            if lease is not None:
                self._visit(lease)
            elif self._crawl.has_more():
                self._time.now = max(self._time.now, self._crawl.ready_at() or 0.0)
            else:
                break
        most = max(map(len, self._asked.values()), default=0)
        if 0 < self._web.host_cap < most:
            raise RuntimeError(f"{most} URLs of a host were asked for")
        return self._course

    def _visit(self, lease: Lease) -> None:
        if not self._is_allowed(lease.url):
            self._crawl.visitor.refused(lease, "robots")
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
