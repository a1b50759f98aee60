"""Watches an open crawl: counts its pages and takes the displayed snapshots."""

import json
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from scrapy.crawler import Crawler

from langfocus.crawler.errors import RunFolderError, StorageError
from langfocus.crawler.frontier.base import (
    FORWARDING,
    PAGE,
    UNCHANGED,
    HostStates,
    Lease,
    Record,
    Sending,
)
from langfocus.crawler.politeness.blocking import BLOCKED
from langfocus.crawler.politeness.scope import OUT_OF_SCOPE
from langfocus.crawler.report.harvest import PORTION, by_portion
from langfocus.crawler.report.live import (
    FETCH_BUCKETS_S,
    WRITTEN_EVERY_S,
    About,
    Goal,
    LastPage,
    Limit,
    Snapshot,
    State,
    live_json,
    together,
)
from langfocus.crawler.run.folder import reading, sessions_of
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.visit import OTHER_VERSION, UNEXPECTED
from langfocus.crawler.shared.stored import StoredCrawl
from langfocus.crawler.spiders.concurrency import in_progress, is_full
from langfocus.crawler.strategies.focus.evidence import probability_of

_SPEED_OVER_S: Final = 10.0
_LEFT_OVER_S: Final = 60.0
"""The time left follows from the speed of the last minute."""
_COUNTED_EVERY_S: Final = 3.0
_BUSY: Final = 0.9
"""A process that uses more of a processor than this is what the next page waits for."""

_LAST_PAGES: Final = 10
_MOST_PARTS: Final = 120
_MOST_REFUSED: Final = 200_000

_REFUSED: Final = frozenset({"robots", "robots_unreachable", BLOCKED, "private_address"})
_NO_ERRORS: Final = {
    *(PAGE, UNCHANGED, *FORWARDING, "media", "robots", BLOCKED, OUT_OF_SCOPE, UNEXPECTED),
    *(OTHER_VERSION, "private_address"),
    *(sending.value for sending in Sending),
}
_OUTCOMES: Final = "SELECT outcome, COUNT(*) FROM pages GROUP BY outcome"
_REFUSED_HOSTS: Final = """\
SELECT DISTINCT host FROM pages WHERE outcome IN (SELECT value FROM json_each(?)) LIMIT ?"""
_EXPECTED: Final = """\
SELECT COUNT(*) FROM urls INDEXED BY urls_queue WHERE queued = 1 AND score > ?"""
_COUNTS: Final = "SELECT name, value FROM counts ORDER BY value DESC"
_DROPS: Final = ("dropped_", "ignored_", "host_", "domain_full", "rejected", "blocked", "out_of")


class Watch:
    """Counts the pages of an open crawl and takes its snapshots. All times are unix seconds."""

    def __init__(self, crawl: Crawl, crawler: Crawler) -> None:
        """Start with the counts of earlier sessions; costs O(pages of the run)."""
        self._crawl, self._crawler = crawl, crawler
        config, ordering, run = crawl.config, crawl.prepared.ordering, crawl.run.connection
        self._about = About(
            config.title(" "),
            config.lang,
            ordering.name,
            config.filter,
            config.web,
            config.is_census,
            ordering.prior is not None,
        )
        *earlier, session = sessions = sessions_of(run)
        self._started_at = sessions[0].started_at
        now, counts = crawl.clock(), crawl.queue.counts()
        self._timed_from = session.started_at - sum(
            one.ended_at - one.started_at for one in earlier
        )
        self._outcomes = Counter(dict(run.execute(_OUTCOMES)))
        hosts = run.execute(_REFUSED_HOSTS, (json.dumps(list(_REFUSED)), _MOST_REFUSED))
        self._refused = {host for (host,) in hosts}
        pages = self._outcomes[PAGE]
        self._a_part = max(1, -(-2 * pages // _MOST_PARTS))
        self._in_part = pages % self._a_part
        parts = by_portion(run, config.lang, self._a_part) if pages else ()
        self._course = [(part.relevant, part.labelled) for part in parts]
        self._labels: deque[bool | None] = deque(maxlen=PORTION)
        self._last: deque[tuple[Lease, Record]] = deque(maxlen=_LAST_PAGES)
        self._fetch_s, self._fetches = 0.0, [0] * (len(FETCH_BUCKETS_S) + 1)
        self._samples = deque([(now, counts.pages, counts.relevant)])
        self._limits: deque[Limit] = deque(maxlen=10)
        self._used_s, self._looked_s = time.process_time(), time.monotonic()
        self._expected: int | None = None
        self._count: Future[tuple[int | None, float]] | None = None
        self._due_s = float("-inf")
        self._threads = ThreadPoolExecutor(1)
        self._shared_s = float("-inf")
        self._others: Mapping[str, str] = {}
        crawl.visitor.listeners.append(self.settle)
        crawl.traffic.listeners.append(self.fetched)
        self.latest = self.look()

    def settle(self, lease: Lease, record: Record) -> None:
        """Count a settled URL; cheap, since it is called for each."""
        self._outcomes[record.outcome] += 1
        if record.outcome in _REFUSED and len(self._refused) < _MOST_REFUSED:
            self._refused.add(lease.host)
        if record.outcome != PAGE:
            return
        self._labels.append(record.is_wanted if record.is_rated else None)
        self._last.append((lease, record))
        if self._in_part == 0:
            if len(self._course) == _MOST_PARTS:
                pairs = zip(self._course[::2], self._course[1::2], strict=True)
                self._course = [(a + c, b + d) for (a, b), (c, d) in pairs]
                self._a_part *= 2
            self._course.append((0, 0))
        relevant, labelled = self._course[-1]
        self._course[-1] = relevant + record.is_wanted, labelled + record.is_rated
        self._in_part = (self._in_part + 1) % self._a_part

    def fetched(self, seconds: float) -> None:
        """Count the seconds of a fetch."""
        self._fetch_s += seconds
        self._fetches[bisect_left(FETCH_BUCKETS_S, seconds)] += 1

    def look(self) -> Snapshot:
        """Return the state of the crawl now, also after its end."""
        crawl, now = self._crawl, self._crawl.clock()
        counts, labels, samples = crawl.queue.counts(), self._labels, self._samples
        embeds = crawl.visitor.embeds
        if crawl.worker is None or not crawl.ending.finish_reason:
            self._hosts = crawl.frontier.host_states()
        with suppress(RunFolderError):
            self._drops = self._count_drops()
        if not crawl.ending.finish_reason:
            self._limits.append(self._limit(self._hosts))
        while len(samples) > 1 and now - samples[1][0] >= _LEFT_OVER_S:
            samples.popleft()
        short = next(s for s in reversed(samples) if now - s[0] >= _SPEED_OVER_S or s is samples[0])
        a_minute = _rate(samples[0][:2], now, counts.pages)
        speeds = {
            **{"pages": a_minute, "hosts": a_minute, "hours": 1.0},
            "relevant": _rate(samples[0][::2], now, counts.relevant),
        }
        samples.append((now, counts.pages, counts.relevant))
        going: State = "running" if self._crawler.crawling else "ending"
        own = Snapshot(
            about=self._about,
            state="finished" if crawl.ending.finish_reason else going,
            reason=crawl.ending.fault or crawl.ending.finish_reason,
            at=now,
            started_at=self._started_at,
            elapsed_s=now - self._timed_from,
            goals=tuple(
                Goal(name, done, of, max(0.0, of - done) / speed if speed > 0 else None)
                for name, done, of in crawl.ending.goals(counts, now)
                for speed in [speeds.get(name, 0.0)]
            ),
            pages=counts.pages,
            labelled=counts.labelled,
            relevant=counts.relevant,
            hosts_with_page=counts.hosts,
            queued=counts.queued,
            expected=self._expected_of(counts.queued),
            in_flight=counts.leased,
            pages_per_s=_rate(short[:2], now, counts.pages),
            last_relevant=labels.count(True),
            last_labelled=len(labels) - labels.count(None),
            course=tuple(self._course),
            outcomes=dict(self._outcomes.most_common()),
            drops=self._drops,
            errors=sum(n for name, n in self._outcomes.items() if name not in _NO_ERRORS),
            hosts={**self._hosts._asdict(), "blocked": len(self._refused)},
            limit=Counter(self._limits).most_common(1)[0][0],
            fetch_s=self._fetch_s,
            fetches=tuple(self._fetches),
            last=tuple(self._last_page(*one) for one in reversed(self._last)),
            embeds=dict(+embeds.numbers) if embeds else {},
            embed_bytes=embeds.bytes if embeds else 0,
        )
        self.latest = self._with_others(own)
        return self.latest

    def _last_page(self, lease: Lease, record: Record) -> LastPage:
        score = probability_of(lease.score) if self._about.is_learned else lease.score
        return LastPage(lease.url, score, record.language, record.is_wanted)

    def _with_others(self, own: Snapshot) -> Snapshot:
        """Return the snapshot of all workers; publish the own one from time to time."""
        worker, now_s = self._crawl.worker, time.monotonic()
        if worker is None:
            return own
        if not self._crawl.ending.finish_reason and now_s - self._shared_s >= WRITTEN_EVERY_S:
            self._shared_s = now_s
            self._others = worker.share(live_json(own))
        return together(own, worker.name, self._others)

    def _limit(self, hosts: HostStates) -> Limit:
        """Return what the next page waits for at this moment."""
        used_s, now_s = time.process_time(), time.monotonic()
        share = (used_s - self._used_s) / max(now_s - self._looked_s, 1e-9)
        self._used_s, self._looked_s = used_s, now_s
        if share > _BUSY:
            return "frontier"
        engine = self._crawler.engine
        if engine is not None and is_full(engine):
            is_read = self._crawl.traffic.reading > in_progress(engine) // 2
            return "reading" if is_read else "network"
        if hosts.ready:
            return "frontier"
        return "politeness" if hosts.resting else "queue"

    def _expected_of(self, queued: int) -> int | None:
        """Return how many of the queued URLs are expected; run.db has those in progress, too."""
        expected = self._count_expected()
        return None if expected is None else min(expected, queued)

    def _count_drops(self) -> dict[str, int]:
        """Return the links and URLs left out by reason; after the end from the closed run."""
        run, has_ended = self._crawl.run, self._crawl.ending.finish_reason
        with reading(run.folder if has_ended else run.connection) as connection:
            found = connection.execute(_COUNTS)
            return {name: number for name, number in found if name.startswith(_DROPS)}

    def _count_expected(self) -> int | None:
        """Return the last count, and begin another in a thread after 99 times its duration.

        Each worker of a shared crawl counts, the less often the more they are.
        """
        crawl, now_s = self._crawl, time.monotonic()
        doubts_up_to = crawl.prepared.ordering.doubts_up_to
        if doubts_up_to is None:
            return None
        worker, folder = crawl.worker, crawl.run.folder
        if crawl.ending.finish_reason and worker is None:
            return count_expected(folder, doubts_up_to)[0]
        if self._count is not None and self._count.done():
            (self._expected, used_s), self._count = self._count.result(), None
            workers = 1 + len(self._others)
            self._due_s = now_s + max(_COUNTED_EVERY_S, 99 * used_s * workers)
        if self._count is None and now_s >= self._due_s and not crawl.ending.finish_reason:
            place = folder if worker is None else worker.stored.apart()
            self._count = self._threads.submit(count_expected, place, doubts_up_to)
        return self._expected


def _rate(sample: tuple[float, int], now: float, number: int) -> float:
    then, before = sample
    return (number - before) / (now - then) if now > then else 0.0


def count_expected(place: Path | StoredCrawl, doubts_up_to: float) -> tuple[int | None, float]:
    """Return the queued URLs of a run that are expected in the language, and the seconds used.

    Costs O(queued URLs) inside SQLite, without Python's lock, or a short call for each host in
    Redis: call it in a thread, now and then. None if the run cannot be read now.
    """
    began_s, number = time.thread_time(), None
    with suppress(RunFolderError, StorageError, OSError):
        if isinstance(place, StoredCrawl):
            number = place.expected(doubts_up_to)
        else:
            with reading(place) as run:
                number = int(run.execute(_EXPECTED, (doubts_up_to,)).fetchone()[0])
    return number, time.thread_time() - began_s
