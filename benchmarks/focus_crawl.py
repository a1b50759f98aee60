"""A crawl of a known web in this process, for `benchmarks.focus`.

The parts are the project's own: options, ordering, frontier, visitor, robots.txt. A loop leases a
URL, asks the web, and settles it, one URL at a time: without HTTP, without delays and without
retries (the faults of these webs stay). So the order is that of the ordering alone.

The readings of pages are kept in a file for each web and each state of the code that makes them.
`VisitRules.read` also gets the languages of the pages that link to a page. The default method looks
at them only if the page leaves a doubt, so a reading with a confidence of at least `SURE` is kept
for all of them, any other one for its own. A page with `hreflang`, or with `lang` at a link, is
read again for each target language.
"""

import pickle
import re
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.focus_webs import GeneratedWeb, download_of
from benchmarks.proxyweb import ROOT
from crawler import preparation
from crawler.clock import CrawlClock
from crawler.config import Config
from crawler.crawl import Crawl
from crawler.frontier.base import Lease, Sending
from crawler.opening import open_crawl
from crawler.politeness.robots import Verdict
from crawler.reading import Download, Read, Reading, page_reader
from crawler.sources.contract import Unreachable
from crawler.strategies import TOLERANCE
from crawler.strategies.focus.belief import Prior

SURE = 0.999
"""Confidence from which the default method did not look at the links to a page."""

STEP_S = 0.01
"""The seconds that pass between two fetches on the clock of a crawl."""

_BY_TARGET = re.compile(rb"hreflang|<a\b[^>]*\slang=", re.IGNORECASE)
_TELLS_TARGET = b"by target"
_SOURCES = ("crawler/identification.py", "crawler/link_header.py", "classifiers/pages")
_KEPT_AT_ONCE = 200


_URL = ("URL, new host", "URL, known host", "SVM, new host", "SVM, known host")
KINDS = {
    "model": _URL,
    "tld": ("top-level domain",),
    "codes": ("code in the URL",),
    "urls": (*_URL, "top-level domain", "code in the URL"),
    "inlinks": tuple(f"links from {kind} pages of other hosts" for kind in ("relevant", "other")),
    "own-links": tuple(f"links from {kind} pages of the host" for kind in ("relevant", "other")),
    "declared": ("declared",),
    "records": ("registered domain", "host", "path"),
    "path": ("path",),
}
"""Kinds of evidence that an ablation switches off -> features."""


@dataclass(slots=True)
class Course:
    """The pages of a crawl that were answered with 200, in their order, without repetition.

    `relevant` is the truth and `told` the decision of the crawl about each page. `is_ended` is True
    if nothing was left to fetch.
    """

    relevant: list[bool] = field(default_factory=list)
    told: list[bool] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    errors: int = 0
    is_ended: bool = False


@dataclass(frozen=True, slots=True)
class Strategy:
    """An ordering with a filter; `without` are kinds of evidence that it must not use.

    `queue` is the number of URLs of a host that may wait or were fetched, None: the default.

    Without `declared`, orderings that do not learn take no notice of `hreflang` either.
    """

    ordering: str
    filter: str = "none"
    without: tuple[str, ...] = ()
    tolerance: int = TOLERANCE
    queue: int | None = None

    @classmethod
    def read(cls, text: str) -> "Strategy":
        """Return the strategy of `ORDERING[:QUEUE][/FILTER[:TOLERANCE]][~KIND+KIND]`."""
        named, _, without = text.partition("~")
        ordering, _, rule = named.partition("/")
        ordering, _, queue = ordering.partition(":")
        rule, _, tolerance = rule.partition(":")
        kinds = tuple(filter(None, without.split("+")))
        number = int(tolerance) if tolerance else TOLERANCE
        found = cls(ordering, rule or "none", kinds, number)
        return replace(found, queue=int(queue)) if queue else found

    def __str__(self) -> str:
        """Return the text that `read` understands."""
        rule = "" if self.filter == "none" else f"/{self.filter}"
        rule += "" if self.tolerance == TOLERANCE else f":{self.tolerance}"
        kinds = "~" + "+".join(self.without) if self.without else ""
        queue = "" if self.queue is None else f":{self.queue}"
        return f"{self.ordering}{queue}{rule}{kinds}"


class KeptReadings:
    """Readings of pages in a file, by URL."""

    def __init__(self, folder: Path, web: str) -> None:
        """Keep the readings of a web in a folder; those of other code are not used."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"readings-{web}-{_state_of_code()}.db"
        self._file = sqlite3.connect(path, isolation_level=None, timeout=120)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS readings(key TEXT PRIMARY KEY, value BLOB)")
        self._new: dict[str, bytes] = {}

    def keeping(self, read: Read, target: str | None) -> Read:
        """Return `read`, which reads for a target language, with the help of the kept readings."""

        def kept(download: Download, inlinks: Sequence[str]) -> Reading:
            key = download.url
            found = self._get(key)
            if found == _TELLS_TARGET:
                key = f"{key} {target}"
                found = self._get(key)
            if found is None:
                if _BY_TARGET.search(download.body):
                    self._put(download.url, _TELLS_TARGET)
                    key = f"{download.url} {target}"
                reading = read(download, ())
                self._put(key, pickle.dumps(reading, 5))
            else:
                reading = pickle.loads(found)
            if not inlinks or (reading.confidence or 0.0) >= SURE:
                return reading
            return self._doubtful(key, read, download, inlinks)

        return kept

    def _doubtful(
        self, key: str, read: Read, download: Download, inlinks: Sequence[str]
    ) -> Reading:
        key = f"{key} {' '.join(inlinks)}"
        found = self._get(key)
        if found is not None:
            known: Reading = pickle.loads(found)
            return known
        reading = read(download, inlinks)
        self._put(key, pickle.dumps(reading, 5))
        return reading

    def _get(self, key: str) -> bytes | None:
        if key in self._new:
            return self._new[key]
        row = self._file.execute("SELECT value FROM readings WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def _put(self, key: str, value: bytes) -> None:
        self._new[key] = value
        if len(self._new) >= _KEPT_AT_ONCE:
            self.save()

    def save(self) -> None:
        """Write all new readings."""
        with self._file:
            self._file.execute("BEGIN IMMEDIATE")
            rows = self._new.items()
            self._file.executemany("INSERT OR REPLACE INTO readings VALUES (?, ?)", rows)
            self._file.execute("COMMIT")
        self._new.clear()


def _state_of_code() -> str:
    """Return a hash of the code that makes readings."""
    digest = blake2b(" ".join(Reading._fields).encode(), digest_size=6)
    for name in _SOURCES:
        path = ROOT / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()


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
    readings: KeptReadings
    url_model: Path | None = None

    def course(self, strategy: Strategy, pages: int) -> Course:
        """Crawl until that many pages were answered with 200, or until nothing is left."""
        time = _Time()
        with ExitStack() as open_parts:
            folder = open_parts.enter_context(tempfile.TemporaryDirectory())
            for patch in self._patches(strategy):
                open_parts.enter_context(patch)
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
                url_model=self.url_model,
                uses_hreflang="declared" not in strategy.without,
            )
            crawl = open_crawl(config, CrawlClock(time, time))
            try:
                return _Loop(self.web, self.lang, crawl, time).run(pages)
            finally:
                crawl.close("finished")
                self.readings.save()

    def _patches(self, strategy: Strategy) -> list[AbstractContextManager[Any]]:
        def reader(*args: Any, target: str | None = None, **named: Any) -> Read:
            return self.readings.keeping(page_reader(*args, target=target, **named), target)

        patches: list[AbstractContextManager[Any]] = [
            mock.patch.object(preparation, "page_reader", reader)
        ]
        if strategy.without:
            features = [name for kind in strategy.without for name in KINDS[kind]]
            prior = Prior.shipped().without(features)
            patches.append(mock.patch.object(Prior, "shipped", return_value=prior))
        return patches


class _Loop:
    def __init__(self, web: GeneratedWeb, lang: str, crawl: Crawl, time: _Time) -> None:
        self._web, self._lang, self._crawl, self._time = web, lang, crawl, time
        self._course = Course()
        self._asked: defaultdict[str, set[int]] = defaultdict(set)

    def run(self, pages: int) -> Course:
        self._crawl.start()
        while len(self._course.relevant) < pages:
            self._time.now += STEP_S
            lease = self._crawl.next()
            if lease is not None:
                self._visit(lease)
            elif self._crawl.has_more():
                self._time.now = max(self._time.now, self._crawl.ready_at() or 0.0)
            else:
                self._course.is_ended = True
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
        record = self._crawl.visitor.answered(lease, download_of(lease.url, answer))
        if answer.status != 200:
            self._course.errors += answer.status >= 400
            return
        self._course.relevant.append(self._web.language(lease.url) == self._lang)
        self._course.told.append(record is not None and record.is_relevant)
        self._course.hosts.add(lease.host)

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
