"""A crawl that is open: its run, frontier and visitor, and how it is opened and closed."""

import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from crawler.clock import CrawlClock
from crawler.config import ONLY_EXPECTED, Config
from crawler.errors import RunFolderError, StorageError
from crawler.exchange import Exchange
from crawler.first_answer import UNANSWERED, FirstAnswer
from crawler.frontier.base import Admission, Counts, Frontier, Lease, Record
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.goals import GoalWatch, watch
from crawler.outputs.repair import repair
from crawler.outputs.takedown import taken_down
from crawler.outputs.warc import WarcArchive, argument_fields
from crawler.politeness.blocking import Blocking
from crawler.politeness.host_files import FileStore, HostFiles
from crawler.politeness.network import is_private_url
from crawler.politeness.occupancy import Occupancy, OwnOccupancy
from crawler.politeness.ports import has_bad_port
from crawler.politeness.robots import Robots
from crawler.preparation import Preparation, prepare
from crawler.revisits import Revisits
from crawler.run import IDENTITY, OpenRun, fit_log, lock_run, open_run
from crawler.shared.addresses import SharedOccupancy
from crawler.shared.membership import Membership
from crawler.shared.redis import RedisFrontier
from crawler.shared.stored import StoredCrawl
from crawler.shared.stored import connect as connect_redis
from crawler.shared.worker import Waiting, Worker, worker_name
from crawler.sitemap_links import SitemapLinks
from crawler.sources.contract import Web
from crawler.strategies import SEED, Ordering, make_filter
from crawler.strategies.focus.ordering import Focus
from crawler.visit import OnSettled, Visitor, keep_nothing

RUNS = Path("runs")
"""The folder in which a crawl without JOBDIR makes its own."""

_COUNTS_KEPT_S = 0.5
_DIFFERENCE_TOLD_S = 5.0
_LOG_FITTED_EVERY = 500  # settled URLs
_TENDED_EVERY_S = 15.0
_LONGEST_REST_S = 24 * 3600.0
_POLITENESS = ("max_crawl_delay_s", "per_address", "obeys_robots", "private_addresses")
"""Settings that are the same for all workers of a shared crawl, beside the delay."""

_GOALS = ("relevant", "words", "expected", "hours")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Crawl:
    """An open crawl. `web` is None for the live Web.

    `lock` keeps other processes out of the run folder until it is closed. `fault` is the reason why
    the crawl cannot continue, "" if it can. `worker` is set if other processes share the frontier;
    `waiting` then knows when the frontier last blocked this process. `occupancy` enforces the limit
    of requests for each address. `goals` knows when the crawl must end. `gaps` tells what does not
    know the language (`crawler.gaps`). `archive` keeps the exchanges of the crawl; None: they are
    not kept. `blocking` is all that may not be fetched,
    `revisits` are the pages of an earlier run. `first_answer` ends a crawl that no server answers.
    """

    config: Config
    ordering: Ordering
    web: Web | None
    run: OpenRun
    frontier: Frontier
    robots: Robots
    clock: CrawlClock
    visitor: Visitor
    listeners: list[OnSettled]
    lock: ExitStack
    waiting: Waiting
    occupancy: Occupancy
    goals: GoalWatch
    revisits: Revisits
    worker: Worker | None = None
    gaps: tuple[str, ...] = ()
    archive: WarcArchive | None = None
    blocking: Blocking = field(default_factory=Blocking)
    first_answer: FirstAnswer = field(default_factory=lambda: FirstAnswer(is_awaited=False))
    finish_reason: str = ""
    fault: str = ""
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
        for pages in self.revisits.links(now):
            wanted = [link for link in pages if not self.blocking.blocks(link.url)]
            self.frontier.seed(self.visitor.with_evidence(wanted), now, 1)
        for seeds in self.config.seed_batches():
            self.frontier.seed(self.visitor.links(seeds, SEED), self.clock())

    def keep_aside(self, exchange: Exchange | None) -> None:
        """Archive an exchange that settles no URL; raises `StorageError`."""
        if self.archive is not None and exchange is not None:
            self.archive.add(exchange)

    def may_contact(self, url: str) -> bool:
        """Return False for a URL with a bad port or a private host, unless those are allowed."""
        if self.web is not None:
            return True
        return not has_bad_port(url) and (self.config.private_addresses or not is_private_url(url))

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
        return self.goals.reached(self.counts(), self.clock())

    def _is_unanswered(self) -> bool:
        if not self.first_answer.is_awaited:
            return False
        now = self.clock()
        return self.first_answer.is_missing(now, self.frontier.ready_at(now))

    def next(self) -> Lease | None:
        """Return the lease of the next URL, None if there is none now or no more is wanted."""
        now = self.clock()
        self._follow_block_file(now)
        if not (self.goals.may_fetch(now) and self.first_answer.may_come(now)):
            return None
        return self.frontier.next(now)

    def _follow_block_file(self, now: float) -> None:
        ignored = self.blocking.follow(now)
        if ignored is not None:
            number = self.frontier.drop_blocked(self.blocking.blocks, ignored)
            _log.warning("%s queued URLs are dropped, as they are blocked now", f"{number:,}")

    def ready_at(self) -> float | None:
        """Return the time at which to ask for a URL again, or at which the crawl's time is up."""
        now = self.clock()
        at = self.frontier.ready_at(now)
        ends_at = min(self.goals.deadline, self.first_answer.deadline)
        return at if at is None else min(at, max(now, ends_at))

    def has_more(self) -> bool:
        """Return True if there is something to fetch now or later."""
        # Fresh counts: if a worker ends its wait on old ones, nothing wakes it again.
        counts = self._count()
        # URLs leased by other workers may bring links, or come back if those workers die.
        is_others_turn = self.worker is not None and counts.leased > 0
        if self.goals.reached(counts, self.clock()) or self._is_unanswered():
            return False
        if self.worker is not None and counts.queued > 0 and not counts.leased:
            self._check_progress(counts)
        return counts.queued > 0 or is_others_turn

    def _check_progress(self, counts: Counts) -> None:
        """Raise `StorageError` if no queued URL of a shared crawl will ever be leased."""
        now = self.clock()
        at = self.frontier.ready_at(now)
        is_stuck = at is None or at > now + _LONGEST_REST_S
        if is_stuck and self._count() == counts:  # no other worker changed it meanwhile
            raise StorageError(
                f"{counts.queued:,} URLs are queued in Redis, and none of them can be fetched: "
                "another program changed the crawl; merge the folders of its workers and begin "
                "another crawl (LANGFOCUS_CRAWL)"
            )

    def tend(self) -> None:
        """Renew the leases of a worker and store its pages; an unshared crawl does nothing."""
        if self.worker is not None:
            self._follow_server(self.worker)
            self.worker.tend(self.clock())

    def _follow_server(self, worker: Worker) -> None:
        jump_s = self.clock.follow(worker.server_time)
        if jump_s and not self._has_jumped:
            self._has_jumped = True
            _log.warning(
                "the clock of the Redis server jumped by %.0f s; this worker keeps its time", jump_s
            )

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


@dataclass(frozen=True, slots=True)
class _Store:
    """The stored parts of a crawl. `worker` is None if no other process shares the frontier."""

    lock: ExitStack
    run: OpenRun
    frontier: Frontier
    occupancy: Occupancy
    worker: Worker | None = None
    archive: WarcArchive | None = None


def open_crawl(config: Config, clock: CrawlClock | None = None) -> Crawl:
    """Return a crawl ready to begin; raises `CrawlError` before anything is written.

    Without a `clock` it starts at the time of the machine. A worker of a shared crawl sets its
    clock to the time of the server.
    """
    clock = clock or CrawlClock()
    prepared = prepare(config)
    config = prepared.config
    waiting = Waiting(clock)
    store = _open_store(prepared, waiting, clock)
    goals = watch(config, store.run.connection, clock())
    revisits = Revisits(store.run.connection)
    blocking = Blocking(prepared.block_file, taken_down(store.run.connection))
    rules = replace(prepared.rules, is_blocked=blocking.blocks, earlier=revisits.of)
    robots = Robots(
        store.frontier,
        config.bot.robots_name,
        max_delay_s=config.max_crawl_delay_s,
        keeps_sitemaps=config.reads_sitemaps,
        host_cap=config.host_cap,
    )
    listeners: list[OnSettled] = [
        lambda _lease, record, _links: goals.count(record),
        _log_fitting(store.run.connection),
    ]
    return Crawl(
        config=config,
        ordering=prepared.ordering,
        web=prepared.web,
        run=store.run,
        frontier=store.frontier,
        robots=robots,
        clock=clock,
        visitor=Visitor(
            store.frontier,
            prepared.ordering,
            rules,
            clock,
            on_settled=_tell_all(listeners),
            keep=keep_nothing if store.archive is None else store.archive.keeping,
            sitemaps=_sitemaps(prepared, robots, store.frontier, blocking.blocks),
        ),
        listeners=listeners,
        lock=store.lock,
        waiting=waiting,
        occupancy=store.occupancy,
        goals=goals,
        worker=store.worker,
        gaps=prepared.gaps,
        archive=store.archive,
        blocking=blocking,
        revisits=revisits,
        first_answer=_first_answer(prepared, store.frontier),
    )


def _first_answer(prepared: Preparation, frontier: Frontier) -> FirstAnswer:
    """Return the watch of a crawl of the live Web that has no page yet.

    A census and given URLs tell the failure of each URL, so they have no language and no watch.
    """
    is_awaited = prepared.web is None and prepared.config.lang != "" and not frontier.counts().pages
    return FirstAnswer(prepared.config.first_answer_s, is_awaited=is_awaited)


def _sitemaps(
    prepared: Preparation, robots: Robots, store: FileStore, is_blocked: Callable[[str], bool]
) -> SitemapLinks | None:
    config = prepared.config
    if config.is_census or not config.reads_sitemaps:
        return None
    target = config.lang if config.uses_hreflang else None
    return SitemapLinks(prepared.ordering, robots, HostFiles(store, "sitemaps"), is_blocked, target)


def _log_fitting(connection: sqlite3.Connection) -> OnSettled:
    """Return a listener that fits the log of a database to its size from time to time."""
    settled = count(1)

    def fit(*_: object) -> None:
        if next(settled) % _LOG_FITTED_EVERY == 0:
            fit_log(connection)

    return fit


def _tell_all(listeners: Sequence[OnSettled]) -> OnSettled:
    def tell(lease: Lease, record: Record, admissions: Sequence[Admission]) -> None:
        for listener in listeners:
            listener(lease, record, admissions)

    return tell


def _open_store(prepared: Preparation, waiting: Waiting, clock: CrawlClock) -> _Store:
    """Open the run folder and the frontier; after an error nothing stays open."""
    config, ordering = prepared.config, prepared.ordering
    folder = _run_folder(config, ordering, clock())
    meta = {**_meta(config, ordering), "gaps": list(prepared.gaps)}
    rules = _rules(config, ordering)
    with ExitStack() as undo:
        shared = None
        if config.frontier is not None:
            membership = _membership(config, meta, folder)
            shared = _shared_frontier(config.frontier, rules, membership, waiting, clock)
            undo.callback(shared.close)
        lock = undo.enter_context(lock_run(folder))
        now = clock()
        run = open_run(folder, meta, now)
        undo.callback(run.connection.close)
        store = _store(lock, run, rules, config, shared, clock)
        if store.worker is not None:
            store.worker.write_down()  # so that pages of a killed worker count as settled
        repair(run.connection, folder)
        if config.since is not None:
            Revisits(run.connection).take_over(Path(config.since))
        if config.keeps_warc:
            store = replace(store, archive=_archive(run, meta, config, now))
        undo.pop_all()
    return store


def _store(
    lock: ExitStack,
    run: OpenRun,
    rules: FrontierRules,
    config: Config,
    shared: RedisFrontier | None,
    clock: CrawlClock,
) -> _Store:
    if shared is None:
        frontier = SqliteFrontier(run.connection, rules, now=clock())
        return _Store(lock, run, frontier, OwnOccupancy(config.per_address))
    occupancy = SharedOccupancy(shared, config.per_address, clock, lease_s=config.lease_s)
    worker = _worker(shared, occupancy, run, config)
    return _Store(lock, run, shared, occupancy, worker)


def _archive(run: OpenRun, meta: Mapping[str, object], config: Config, now: float) -> WarcArchive:
    """Return the WARC files of a run; each tells the settings of the crawl."""
    told = {
        "software": config.version,
        "isPartOf": run.folder.resolve().name,
        "http-header-user-agent": config.bot.user_agent,
        "robots": "obey" if config.obeys_robots else "ignore",
    }
    return WarcArchive(
        run.connection,
        run.folder,
        told | argument_fields(meta),
        now=now,
        worker=worker_name(run.folder) if config.frontier else "",
    )


def _run_folder(config: Config, ordering: Ordering, now: float) -> Path:
    if config.run_folder is not None:
        return config.run_folder
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    base = RUNS / f"{crawl_name(config, ordering)}-{stamp}"
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


def _meta(config: Config, ordering: Ordering) -> dict[str, object]:
    return {
        "lang": config.lang,
        "strategy": ordering.name,
        "ordering": ordering.name,
        "filter": config.filter,
        "tolerance": config.tolerance,
        "host_cap": config.host_cap,
        "domain_cap": config.domain_slots,
        "address_cap": config.address_slots,
        "host_queue": config.queue_slots,
        "directory_depth": config.directory_depth,
        "identify": config.identify,
        **config.listed,
        "since": "" if config.since is None else str(Path(config.since).resolve()),
        "block": "" if config.block is None else str(config.block),
        "web": str(config.archive) if config.archive else config.web,
        "seeds": list(config.seeds),
        "budget_pages": "" if config.pages is None else config.pages,
        **{f"goal_{name}": _told(getattr(config, name)) for name in _GOALS},
        "delay_s": config.delay_s,
        "version": config.version,
        "shared": _shared_name(config, ordering),
    }


def _told(goal: object) -> str:
    return "" if goal is None else str(goal)


def _shared_name(config: Config, ordering: Ordering) -> str:
    """Return the name of the crawl in a shared frontier, "" if the frontier is not shared."""
    if config.frontier is None:
        return ""
    return config.crawl_name or crawl_name(config, ordering)


def crawl_name(config: Config, ordering: Ordering, between: str = "-") -> str:
    """Return what a crawl is called in folders and messages: its language and its ordering."""
    return "census" if config.is_census else f"{config.lang}{between}{ordering.name}"


def _rules(config: Config, ordering: Ordering) -> FrontierRules:
    return FrontierRules(
        filter=make_filter(
            config.filter,
            tolerance=config.tolerance,
            directory_depth=config.directory_depth,
        ),
        draw=ordering.draw,
        lifts=ordering.lifts,
        doubts_up_to=ordering.doubts_up_to,
        prior=ordering.prior if isinstance(ordering, Focus) else None,
        patience_s=config.patience_s,
        host_cap=config.host_cap,
        domain_cap=config.domain_slots,
        address_cap=config.address_slots,
        host_queue=config.queue_slots,
        delay_s=config.delay_s,
        budget_pages=config.pages,
        budget_relevant=config.relevant,
        is_expected_only=config.expected == ONLY_EXPECTED,
        random_state=config.random_state,
        keeps_links=config.keeps_links,
    )


def _membership(config: Config, meta: Mapping[str, object], folder: Path) -> Membership:
    return Membership(
        worker=worker_name(folder),
        identity={key: meta.get(key, "") for key in IDENTITY}
        | {name: getattr(config, name) for name in _POLITENESS},
        lease_s=config.lease_s,
    )


def _shared_frontier(
    address: str,
    rules: FrontierRules,
    membership: Membership,
    waiting: Waiting,
    clock: CrawlClock,
) -> RedisFrontier:
    """Join the shared crawl that the membership names, at the address of its Redis server."""
    name = str(membership.identity["shared"])
    client = connect_redis(address)
    ahead_s = clock.set_to(StoredCrawl(client, name, sleep=waiting.sleep).crawl_time)
    if abs(ahead_s) >= _DIFFERENCE_TOLD_S:
        _log.warning(
            "the clock of this machine is %.0f s ahead of the Redis server's; the crawl and its "
            "records use the server's",
            ahead_s,
        )
    frontier = RedisFrontier(client, name, rules, membership, now=clock(), sleep=waiting.sleep)
    if not frontier.is_durable():
        _log.warning("the Redis server keeps no append-only file: a crash of it loses the crawl")
    return frontier


def _worker(
    frontier: RedisFrontier, occupancy: SharedOccupancy, run: OpenRun, config: Config
) -> Worker:
    """Return the worker; raises `RunFolderError` if Redis has lost the pages of its folder."""
    if run.has_pages() and not frontier.totals().get("settled"):
        raise RunFolderError(
            f"{run.folder}: holds pages of a crawl that the Redis server does not know; "
            "use a new folder"
        )
    every_s = min(config.lease_s / 4, _TENDED_EVERY_S)
    return Worker(frontier, occupancy, run.connection, every_s=every_s)
