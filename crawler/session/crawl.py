"""A crawl that is open: its run, frontier and visitor, and when it ends.

The frontier keeps the goals of pages, relevant pages and expected URLs: it leases no URL that could
go beyond them. Words and hours are counted here. After the goal of words is reached, pages that
were still in progress are not settled; their URLs stay queued. All goals follow from what the run
has stored, so a crawl that is continued ends where an uninterrupted one would have ended.

Without a network all seeds would fail in vain. Any answer shows that there is one: a robots.txt or
an error too. From the first one on a crawl is patient.
"""

import asyncio
import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Final

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Admission, Counts, Frontier, Lease, Record
from langfocus.crawler.http.download import Exchange
from langfocus.crawler.options.config import Config
from langfocus.crawler.outputs.warc import WarcArchive
from langfocus.crawler.politeness.blocking import Blocking
from langfocus.crawler.politeness.network import has_bad_port, is_private_url, port_of
from langfocus.crawler.politeness.robots import Robots
from langfocus.crawler.politeness.turns import Occupancy
from langfocus.crawler.run.folder import OpenRun, sessions_of
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.visit import Visitor
from langfocus.crawler.shared.worker import Waiting, Worker
from langfocus.crawler.sources.contract import Web
from langfocus.crawler.sources.revisits import Revisits
from langfocus.crawler.sources.seeds import SeedFile
from langfocus.crawler.sources.unread_seeds import MOST_WAITING, UnreadSeeds
from langfocus.crawler.strategies.links import SEED
from langfocus.crawler.strategies.orderings import Ordering

UNANSWERED: Final = "unanswered"
"""The finish reason of a crawl that no server answered."""

_WORDS = "SELECT COALESCE(SUM(words_read), 0) FROM pages WHERE language = ? AND NOT is_copy"
_S_PER_HOUR: Final = 3600.0
_NEVER: Final = float("inf")
_COUNTS_KEPT_S = 0.5

_log = logging.getLogger(__name__)


class Ending:
    """Knows whether a crawl ends, and why. Times are unix seconds."""

    def __init__(
        self,
        config: Config,
        *,
        ends_at: float = _NEVER,
        words: int = 0,
        awaits_answer: bool = False,
    ) -> None:
        """Watch a session whose time is up at `ends_at`; earlier ones found `words` words.

        While it `awaits_answer`, a server must answer within `config.first_answer_s` seconds after
        the first request.
        """
        self._config = config
        self._ends_at = ends_at
        self._words = words
        self.awaits_answer = awaits_answer
        self._asked_at = _NEVER
        self._reasons: dict[str, str] = {}

    @classmethod
    def of_run(
        cls, config: Config, connection: sqlite3.Connection, now: float, *, awaits_answer: bool
    ) -> "Ending":
        """Return the end of a session that has just begun in a run; earlier ones took time too."""
        words = connection.execute(_WORDS, (config.lang,)).fetchone()[0]
        used_s = sum(one.ended_at - one.started_at for one in sessions_of(connection)[:-1])
        left_s = _NEVER if config.hours is None else config.hours * _S_PER_HOUR - used_s
        return cls(config, ends_at=now + left_s, words=words, awaits_answer=awaits_answer)

    @property
    def answer_deadline(self) -> float:
        """The time at which the wait for the first answer ends, infinite if there is none."""
        return self._asked_at + self._config.first_answer_s if self.awaits_answer else _NEVER

    @property
    def deadline(self) -> float:
        """The time at which the crawl ends whatever is queued, infinite if there is none."""
        return min(self._ends_at, self.answer_deadline)

    @property
    def failures(self) -> Counter[str]:
        """The reason of the last failure of each host, counted; empty after an answer."""
        return Counter(self._reasons.values() if self.awaits_answer else ())

    def ask(self, now: float) -> None:
        """Count a request that is sent."""
        self._asked_at = min(self._asked_at, now)

    def fail(self, host: str, reason: str) -> None:
        """Count the failure of a request."""
        if self.awaits_answer:
            self._reasons[host] = reason

    def come(self) -> None:
        """Count an answer."""
        self.awaits_answer = False

    def count(self, record: Record) -> None:
        """Count a settled URL, and the words by which a relevant page was identified."""
        self._words += (record.words_read or 0) if record.is_relevant else 0

    def is_over(self) -> bool:
        """Return True if no further page may be settled."""
        return self._config.words is not None and self._words >= self._config.words

    def may_fetch(self, now: float) -> bool:
        """Return False if no further request may begin."""
        return now < self.deadline and not self.is_over()

    def is_unanswered(self, now: float, ready_at: float | None) -> bool:
        """Return True if no server answered and no request in time is left; none is in progress.

        The next one can be sent at `ready_at`, None if nothing is queued.
        """
        at = _NEVER if ready_at is None else ready_at
        ends_at = self.answer_deadline
        return now >= ends_at or (bool(self.failures) and at >= ends_at)

    def goals(self, counts: Counts, now: float) -> Iterator[tuple[str, float, float]]:
        """Yield the name of each goal that is a number, how much is done, and the whole."""
        config = self._config
        if config.hosts is not None:
            yield "hosts", config.hosts.number - counts.queued - counts.leased, config.hosts.number
        if config.hours:
            whole_s = config.hours * _S_PER_HOUR
            yield "hours", whole_s - (self._ends_at - now), whole_s
        for name, done in (
            ("pages", counts.pages),
            ("relevant", counts.relevant),
            ("words", self._words),
        ):
            if (most := getattr(config, name)) is not None:
                yield name, done, most

    def reached(self, counts: Counts, now: float) -> str:
        """Return the name of the first goal that is reached, "" if none is."""
        config = self._config
        is_reached = {
            "pages": config.pages is not None and counts.pages >= config.pages,
            "relevant": config.relevant is not None and counts.relevant >= config.relevant,
            "words": self.is_over(),
            "hours": now >= self._ends_at,
            "expected": counts.queued > 0 and not counts.has_expected,
        }
        return next((name for name, is_true in is_reached.items() if is_true), "")


@dataclass(slots=True)
class Crawl:
    """An open crawl."""

    config: Config
    ordering: Ordering
    web: Web | None  # None: the live Web
    run: OpenRun
    frontier: Frontier
    robots: Robots
    clock: CrawlClock
    visitor: Visitor
    lock: ExitStack  # keeps other processes out of the run folder until it is closed
    waiting: Waiting  # knows when a shared frontier last blocked this process
    occupancy: Occupancy  # enforces the limit of requests for each address
    ending: Ending
    revisits: Revisits  # the pages of an earlier run
    unread: UnreadSeeds
    worker: Worker | None = None  # if other processes share the frontier
    gaps: tuple[str, ...] = ()  # what does not know the language
    archive: WarcArchive | None = None  # keeps the exchanges; None: they are not kept
    blocking: Blocking = field(default_factory=Blocking)
    written: asyncio.Event | None = (
        None  # the latest changes are on the disk; None: they always are
    )
    finish_reason: str = ""
    fault: str = ""  # why the crawl cannot continue
    fetched: Callable[[float], object] = lambda _: None  # gets the seconds from lease to answer
    reading: int = 0  # answers that wait for a reader or are read now
    _counts: Counts | None = None
    _counted_at: float = float("-inf")
    _has_jumped: bool = False

    def start(self) -> None:
        """Queue the seeds; seeds of an earlier session do not change.

        URLs that an earlier session queued and that are blocked now leave the queue.
        """
        if not self.blocking.is_empty:
            self.frontier.drop_blocked(self.blocking.blocks)
        now = self.clock()
        for pages in self.revisits.links():
            wanted = [link for link in pages if not self.blocking.blocks(link.url)]
            self.frontier.seed(self.visitor.with_evidence(wanted), now, 1)
        for seeds in self.config.seed_batches():
            self._queue(seeds)
        if isinstance(self.config.seeds, SeedFile):
            self.unread.add(self.config.seeds, self.clock())

    def _queue(self, seeds: Sequence[str]) -> int:
        """Queue seeds and return how many of them are new."""
        found = self.frontier.seed(self.visitor.links(seeds, SEED), self.clock())
        return sum(one in (Admission.STORED, Admission.SENT) for one in found)

    def _is_low(self, now: float) -> bool:
        """Return True if seeds are read because few URLs are queued."""
        if not self.unread or not self.ending.may_fetch(now):
            return False
        counts = self.counts()
        return counts.queued < MOST_WAITING or not counts.has_expected

    def keep_aside(self, exchange: Exchange | None) -> None:
        """Archive an exchange that settles no URL; raises `StorageError`."""
        if self.archive is not None and exchange is not None:
            self.archive.add(exchange)

    async def until_written(self) -> None:
        """Return when the slots that were taken are on the disk; raises `StorageError`."""
        if self.written is not None:
            await self.written.wait()
        if self.fault:
            raise StorageError(self.fault)

    def may_contact(self, url: str) -> bool:
        """Return False for a URL with a bad port or a private host, unless those are allowed."""
        if self.web is not None:
            return True
        return not has_bad_port(url) and (self.allows_private(url) or not is_private_url(url))

    def allows_private(self, url: str) -> bool:
        """Return True if the host of a URL may be private; never at the port of the dashboard."""
        config = self.config
        is_open = not config.dashboard or port_of(url) != config.dashboard
        return config.private_addresses and is_open

    def counts(self) -> Counts:
        """Return the counts of the frontier; after `close`, the last ones.

        A shared frontier is queried at most twice a second.
        """
        is_old = self.worker is None or abs(self.clock() - self._counted_at) >= _COUNTS_KEPT_S
        if self._counts is None or (is_old and not self.finish_reason):
            return self._count()
        return self._counts

    def _count(self) -> Counts:
        self._counts, self._counted_at = self.frontier.counts(), self.clock()
        return self._counts

    def goal_reached(self) -> str:
        """Return the name of the goal that is reached, such as "pages"; "" if none is.

        It is `UNANSWERED` for a crawl that no server answered. Nothing is in progress.
        """
        if self._is_unanswered():
            return UNANSWERED
        return self._reached(self.counts())

    def _reached(self, counts: Counts) -> str:
        goal = self.ending.reached(counts, self.clock())
        return "" if goal == "expected" and self.unread else goal

    def _is_unanswered(self) -> bool:
        now, ending = self.clock(), self.ending
        return ending.awaits_answer and ending.is_unanswered(now, self.frontier.ready_at(now))

    def next(self) -> Lease | None:
        """Return the lease of the next URL, None if there is none now or no more is wanted."""
        now = self.clock()
        if self.blocking.follow(now):
            number = self.frontier.drop_blocked(self.blocking.blocks)
            _log.warning("%s queued URLs are dropped, as they are blocked now", f"{number:,}")
        if not self.ending.may_fetch(now):
            return None
        if self.unread:
            self.unread.read(self._queue, now, is_low=self._is_low(now))
        return self.frontier.next(now)

    def ready_at(self) -> float | None:
        """Return the time at which to ask for a URL again, or at which the crawl's time is up."""
        now = self.clock()
        at = self.frontier.ready_at(now)
        if self._is_low(now):
            read_at = now if self.worker is None else now + _COUNTS_KEPT_S
            at = read_at if at is None else min(at, read_at)
        return at if at is None else min(at, max(now, self.ending.deadline))

    def has_more(self) -> bool:
        """Return True if there is something to fetch now or later."""
        # Fresh counts: if a worker ends its wait on old ones, nothing wakes it again.
        counts = self._count()
        # URLs leased by other workers may bring links, or come back if those workers die.
        is_others_turn = self.worker is not None and counts.leased > 0
        if self._reached(counts) or self._is_unanswered():
            return False
        if counts.queued > 0 or is_others_turn or self.unread:
            return True
        # Nothing is counted of a crawl that Redis has lost either; then `next` raises an error.
        return self.worker is not None and self.frontier.ready_at(self.clock()) is not None

    def tend(self) -> None:
        """Renew the leases of a worker and store its pages; an unshared crawl does nothing."""
        if self.worker is None:
            return
        jump_s = self.clock.follow(self.worker.frontier.time)
        if jump_s and not self._has_jumped:
            self._has_jumped = True
            _log.warning(
                "the clock of the Redis server jumped by %.0f s; this worker keeps its time", jump_s
            )
        self.worker.tend(self.clock())

    def close(self, finish_reason: str) -> None:
        """Store the reason for the end of the session and close the run."""
        try:
            self._count()
            if self.worker is not None:
                self.worker.write_down()
            self.frontier.close()
        except (StorageError, sqlite3.Error) as error:
            # Settled pages stay in the shared frontier until the next session.
            self.fault = self.fault or str(error)
        if self.archive is not None:
            self.archive.close()
        self.waiting.end()
        self.finish_reason = finish_reason
        # If the disk is full, the session stays open, as after a kill.
        with suppress(sqlite3.DatabaseError):
            self.run.end_session(self.clock(), finish_reason)
        self.run.connection.close()
        self.lock.close()
