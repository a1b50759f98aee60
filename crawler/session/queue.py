"""What a crawl fetches next: its seeds, then what the frontier leases, until a goal is reached."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from langfocus.crawler.frontier.base import Counts, Frontier, Lease
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.blocking import Blocking
from langfocus.crawler.session.ending import UNANSWERED, Ending
from langfocus.crawler.session.visit import Visitor
from langfocus.crawler.sources.revisits import Revisits
from langfocus.crawler.sources.seeds import SeedFile
from langfocus.crawler.sources.unread_seeds import MOST_WAITING, UnreadSeeds
from langfocus.crawler.strategies.links import SEED

if TYPE_CHECKING:
    from langfocus.crawler.shared.stored import StoredCrawl

_COUNTS_KEPT_S: Final = 0.5

_log = logging.getLogger(__name__)


class Queue:
    """Leases the URLs of a crawl; determines whether more URLs may follow.

    `revisits` are an earlier run's pages, `unread` the seeds not yet queued.
    """

    def __init__(
        self,
        frontier: Frontier,
        visitor: Visitor,
        ending: Ending,
        blocking: Blocking,
        revisits: Revisits,
        unread: UnreadSeeds,
        clock: Callable[[], float],
        shared: "StoredCrawl | None" = None,
    ) -> None:
        """Lease from a frontier; other processes lease from that of a `shared` crawl too."""
        self._frontier, self._visitor, self._ending = frontier, visitor, ending
        self._blocking, self._clock, self._shared = blocking, clock, shared
        self.revisits, self.unread = revisits, unread
        self._counts: Counts | None = None
        self._counted_at = float("-inf")

    def start(self, config: Config) -> None:
        """Queue the seeds; seeds of an earlier session do not change.

        URLs that an earlier session queued and that are blocked now leave the queue.
        """
        if not self._blocking.is_empty:
            self._frontier.drop_blocked(self._blocking.blocks)
        now = self._clock()
        for pages in self.revisits.links():
            wanted = [link for link in pages if not self._blocking.blocks(link.url)]
            wanted = self._visitor.within_scope(self._visitor.with_evidence(wanted))
            self._frontier.seed(wanted, now, 1)
        new = sum(map(self.add, config.seed_batches()))
        if isinstance(config.seeds, SeedFile):
            self.unread.add(config.seeds, self._clock())
        if not new and not self.unread:
            self._ending.look()

    def add(self, seeds: Sequence[str]) -> int:
        """Queue seeds and return how many of them are new."""
        found = self._frontier.seed(self._visitor.links(seeds, SEED), self._clock())
        return sum(one.is_queued for one in found)

    def next(self) -> Lease | None:
        """Return the lease of the next URL; None if none is ready or wanted."""
        now = self._clock()
        if self._blocking.follow(now):
            number = self._frontier.drop_blocked(self._blocking.blocks)
            _log.warning("%s queued URLs are dropped, as they are blocked now", f"{number:,}")
        if not self._ending.may_fetch(now):
            return None
        if self.unread:
            self.unread.read(self.add, now, is_low=self._is_low(now))
        return self._frontier.next(now)

    def ready_at(self) -> float | None:
        """Return the time at which to ask for a URL again, or at which the crawl's time is up."""
        now = self._clock()
        at = self._frontier.ready_at(now)
        if self._is_low(now):
            read_at = now + _COUNTS_KEPT_S if self._shared else now
            at = read_at if at is None else min(at, read_at)
        return at if at is None else min(at, max(now, self._ending.deadline))

    def _is_low(self, now: float) -> bool:
        """Return True if seeds are read because few URLs are queued."""
        if not self.unread or not self._ending.may_fetch(now):
            return False
        counts = self.counts()
        return counts.queued < MOST_WAITING or not counts.has_expected

    def has_more(self) -> bool:
        """Return True if there is something to fetch now or later."""
        # Fresh counts: nothing wakes a worker again that ended its wait on old counts.
        counts = self.count()
        # URLs leased by other workers may bring links, or come back if those workers die.
        is_others_turn = self._shared is not None and counts.leased > 0
        if self._reached(counts) or self._is_unanswered():
            return False
        if counts.queued > 0 or is_others_turn or self.unread:
            return True
        # A crawl that Redis has lost has no counts either; then `next` raises an error.
        return self._shared is not None and not self._shared.is_complete()

    def goal_reached(self) -> str:
        """Return the name of the reached goal, such as "pages", or "".

        `UNANSWERED` for a crawl without any answer. Call it with nothing in progress.
        """
        return UNANSWERED if self._is_unanswered() else self._reached(self.counts())

    def _reached(self, counts: Counts) -> str:
        goal = self._ending.reached(counts, self._clock())
        return "" if goal == "expected" and self.unread else goal

    def _is_unanswered(self) -> bool:
        now, ending = self._clock(), self._ending
        return ending.awaits_answer and ending.is_unanswered(now, self._frontier.ready_at(now))

    def counts(self) -> Counts:
        """Return the counts of the frontier; after the end of the session, the last ones.

        A shared frontier is queried at most twice a second.
        """
        is_old = self._shared is None or abs(self._clock() - self._counted_at) >= _COUNTS_KEPT_S
        if self._counts is None or (is_old and not self._ending.finish_reason):
            return self.count()
        return self._counts

    def count(self) -> Counts:
        """Return the counts of the frontier as they are now."""
        self._counts, self._counted_at = self._frontier.counts(), self._clock()
        return self._counts
