"""A crawl, put together: options and settings in, an open run with frontier and visitor out."""

import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO

from classifiers import languages
from classifiers.errors import ClassifierError, LanguageError
from crawler.errors import RunFolderError, SettingError, StorageError
from crawler.frontier.base import Admission, Counts, Frontier, Lease, Record
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.identification import page_method, page_reader
from crawler.options import CrawlOptions
from crawler.politeness.network import is_private_url
from crawler.politeness.occupancy import Occupancy, OwnOccupancy
from crawler.politeness.robots import Robots
from crawler.run import IDENTITY, OpenRun, lock_run, open_run
from crawler.shared.addresses import SharedOccupancy
from crawler.shared.membership import Membership
from crawler.shared.redis import RedisFrontier
from crawler.shared.stored import connect as connect_redis
from crawler.shared.worker import Waiting, Worker, worker_name
from crawler.strategies import SEED, Ordering, make_filter, make_ordering
from crawler.visit import RetryRule, Visitor
from crawler.web.contract import Web
from crawler.web.opening import open_web


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """The settings that a crawl needs, as plain values.

    `run_folder` None: a new folder in `runs`. `url_model` None: the model that ships.
    `geoip` None: no country is told. All delays are seconds. `user_agent` is what the bot sends,
    `robots_name` what it obeys in robots.txt. Where it `is_anonymous` nothing goes out but through
    a proxy on this machine; `contact_fault` says why even that is not enough, "": it is.
    `private_addresses` allows hosts of the crawl's own network.
    `per_address` hosts with one address are contacted at once, 0: any number.
    With `keeps_links` the run holds the links of its pages.
    `frontier` is the address of a Redis server whose frontier this process shares with others,
    None: a frontier of its own; `crawl_name` what the shared crawl is called there, None: after
    language and strategy. Of a worker that dies all leases end `lease_s` after it last renewed
    them, which it does four times in that time.
    """

    run_folder: Path | None = None
    runs: Path = Path("runs")
    delay_s: float = 1.0
    retry_rule: RetryRule = field(default_factory=RetryRule)
    user_agent: str = "langfocus"
    robots_name: str = "langfocus"
    is_anonymous: bool = False
    contact_fault: str = ""
    private_addresses: bool = False
    per_address: int = 2
    max_crawl_delay_s: float = 60.0
    patience_s: float = 1.0
    live_interval_s: float = 30.0
    random_state: int = 0
    keeps_links: bool = False
    url_model: Path | None = None
    geoip: Path | None = None
    sample_seed: int = 1
    sample_hosts: int = 4000
    version: str = ""
    frontier: str | None = None
    crawl_name: str | None = None
    lease_s: float = 60.0


_COUNTS_KEPT_S = 0.5

_log = logging.getLogger(__name__)

OnSettled = Callable[[Lease, Record, Sequence[Admission]], None]


@dataclass(slots=True)
class Crawl:
    """An open crawl. `web` is None where pages come from the live Web.

    `lock` keeps other processes out of the run's folder until it is closed. `fault` says what
    made it impossible to go on. Where other processes share the frontier this one is a `worker`,
    and `waiting` tells when it last stood still for want of the frontier. `occupancy` keeps the
    limit for each address.
    """

    options: CrawlOptions
    settings: CrawlSettings
    ordering: Ordering
    web: Web | None
    run: OpenRun
    frontier: Frontier
    robots: Robots
    clock: Callable[[], float]
    visitor: Visitor
    listeners: list[OnSettled]
    lock: IO[str]
    waiting: Waiting
    occupancy: Occupancy
    worker: Worker | None = None
    finish_reason: str = ""
    fault: str = ""
    _counts: Counts | None = None
    _counted_at: float = float("-inf")

    def start(self) -> None:
        """Queue the seeds; those known from an earlier session stay as they are."""
        self.frontier.seed(self.visitor.links(self.options.seeds, SEED), self.clock())

    def may_contact(self, url: str) -> bool:
        """Tell whether the host of a URL may be contacted, as far as its spelling tells."""
        return self.web is not None or self.settings.private_addresses or not is_private_url(url)

    def counts(self) -> Counts:
        """Return where the crawl stands; a shared frontier is asked twice a second at most.

        After `close`: where it stood then.
        """
        is_old = self.worker is None or abs(self.clock() - self._counted_at) >= _COUNTS_KEPT_S
        if self._counts is None or (is_old and not self.finish_reason):
            return self._count()
        return self._counts

    def _count(self) -> Counts:
        self._counts, self._counted_at = self.frontier.counts(), self.clock()
        return self._counts

    def is_complete(self) -> bool:
        """Tell whether the page budget is used up."""
        pages = self.options.pages
        return pages is not None and self.counts().pages >= pages

    def has_more(self) -> bool:
        """Tell whether there is, or may come, something to fetch."""
        # As it is now: nobody wakes a worker that takes the crawl for unfinished.
        counts = self._count()
        # What other workers have leased may bring links, or come back when they die.
        is_others_turn = self.worker is not None and counts.leased > 0
        return not self.is_complete() and (counts.queued > 0 or is_others_turn)

    def tend(self) -> None:
        """Do what a worker of a shared crawl has to do from time to time."""
        if self.worker is not None:
            self.worker.tend(self.clock())

    def close(self, finish_reason: str) -> None:
        """Note why the session ended and let go of the run."""
        try:
            self._count()
            if self.worker is not None:
                self.worker.write_down()
            self.frontier.close()
        except StorageError as error:
            # What was settled waits in the shared frontier for the next session.
            self.fault = self.fault or str(error)
        self.waiting.end()
        self.finish_reason = finish_reason
        # Where nothing can be written the session stays open, as after a kill.
        with suppress(sqlite3.DatabaseError):
            self.run.end_session(self.clock(), finish_reason)
        self.run.connection.close()
        self.lock.close()


def open_crawl(
    options: CrawlOptions, settings: CrawlSettings, clock: Callable[[], float] = time.time
) -> Crawl:
    """Return a crawl ready to begin; raises `CrawlError` before anything is written.

    A strategy that was not asked for is the best that the language allows: `svm` where the
    URL model knows it, `cctld` where a top-level domain speaks it, else `soft`.
    """
    ordering = _ordering(options, settings)
    read = page_reader(page_method(options.identify))
    web = open_web(
        options.web,
        archive=options.archive,
        seed=settings.sample_seed,
        hosts=settings.sample_hosts,
    )
    country_of = _country_lookup(settings.geoip)
    options = _with_seeds(options, web)
    if settings.keeps_links and settings.frontier is not None:
        raise SettingError("LANGFOCUS_LINKS: a shared crawl (LANGFOCUS_FRONTIER) keeps no links")
    if settings.contact_fault:
        raise SettingError(settings.contact_fault)
    now = clock()
    folder = _run_folder(options, settings, ordering, now)
    waiting = Waiting(clock)
    meta = _meta(options, ordering, settings)
    rules = _rules(options, settings, ordering)
    with ExitStack() as undo:
        shared = None
        if settings.frontier is not None:
            membership = _membership(settings, meta, folder)
            shared = _shared_frontier(settings.frontier, rules, membership, waiting, now)
        if shared is not None:
            undo.callback(shared.close)
        lock = undo.enter_context(lock_run(folder))
        run = open_run(folder, meta, now)
        undo.callback(run.connection.close)
        occupancy: Occupancy = OwnOccupancy(settings.per_address)
        worker = None
        if shared is not None:
            occupancy = SharedOccupancy(
                shared, settings.per_address, clock, lease_s=settings.lease_s
            )
            worker = _worker(shared, occupancy, run, settings)
        undo.pop_all()
    frontier = shared or SqliteFrontier(run.connection, rules, now=now)
    listeners: list[OnSettled] = []

    def tell(lease: Lease, record: Record, admissions: Sequence[Admission]) -> None:
        for listener in listeners:
            listener(lease, record, admissions)

    visitor = Visitor(
        frontier,
        ordering,
        options.lang,
        read,
        clock,
        retry_rule=settings.retry_rule,
        country_of=country_of,
        on_settled=tell,
    )
    robots = Robots(frontier, settings.robots_name, max_delay_s=settings.max_crawl_delay_s)
    return Crawl(
        options,
        settings,
        ordering,
        web,
        run,
        frontier,
        robots,
        clock,
        visitor,
        listeners,
        lock,
        waiting,
        occupancy,
        worker,
    )


def _ordering(options: CrawlOptions, settings: CrawlSettings) -> Ordering:
    make = partial(make_ordering, language=options.lang, model=settings.url_model)
    try:
        if options.strategy is not None:
            return make(options.strategy)
        try:
            return make("svm")
        except LanguageError:
            return make("cctld" if languages.tlds_of(options.lang) else "soft")
    except ClassifierError as error:
        raise SettingError(str(error)) from error


def _with_seeds(options: CrawlOptions, web: Web | None) -> CrawlOptions:
    """Return options with the sample web's own seeds where none were given."""
    from crawler.web.sample import SampleWeb

    if options.seeds or not isinstance(web, SampleWeb):
        return options
    return replace(options, seeds=tuple(web.seeds(options.lang)))


def _country_lookup(path: Path | None) -> Callable[[str | None], str | None]:
    if path is None:
        return lambda _: None
    import geoip2.database
    from geoip2.errors import AddressNotFoundError
    from maxminddb import InvalidDatabaseError

    try:
        reader = geoip2.database.Reader(path)
    except (OSError, InvalidDatabaseError, ValueError) as error:
        raise SettingError(f"LANGFOCUS_GEOIP={path}: cannot be read: {error}") from error

    def country_of(ip: str | None) -> str | None:
        try:
            return reader.country(ip).country.iso_code if ip else None
        except (AddressNotFoundError, ValueError):
            return None

    return country_of


def _run_folder(
    options: CrawlOptions, settings: CrawlSettings, ordering: Ordering, now: float
) -> Path:
    if settings.run_folder is not None:
        return settings.run_folder
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    base = settings.runs / f"{options.lang}-{ordering.name}-{stamp}"
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


def _meta(options: CrawlOptions, ordering: Ordering, settings: CrawlSettings) -> dict[str, object]:
    return {
        "lang": options.lang,
        "strategy": ordering.name,
        "ordering": ordering.name,
        "filter": options.filter,
        "tolerance": options.tolerance,
        "host_cap": options.host_cap,
        "directory_cap": options.directory_cap,
        "directory_depth": options.directory_depth,
        "identify": options.identify,
        "web": str(options.archive) if options.archive else options.web,
        "seeds": list(options.seeds),
        "budget_pages": "" if options.pages is None else options.pages,
        "delay_s": settings.delay_s,
        "version": settings.version,
        "shared": _crawl_name(options, ordering, settings),
    }


def _crawl_name(options: CrawlOptions, ordering: Ordering, settings: CrawlSettings) -> str:
    """Return what the crawl is called in the frontier that it shares, "" if it shares none."""
    if settings.frontier is None:
        return ""
    return settings.crawl_name or f"{options.lang}-{ordering.name}"


def _rules(options: CrawlOptions, settings: CrawlSettings, ordering: Ordering) -> FrontierRules:
    return FrontierRules(
        filter=make_filter(
            options.filter, tolerance=options.tolerance, directory_depth=options.directory_depth
        ),
        draw=ordering.draw,
        lifts=ordering.lifts,
        doubts_up_to=ordering.doubts_up_to,
        patience_s=settings.patience_s,
        host_cap=options.host_cap,
        directory_cap=options.directory_cap,
        delay_s=settings.delay_s,
        budget_pages=options.pages,
        random_state=settings.random_state,
        keeps_links=settings.keeps_links,
    )


def _membership(settings: CrawlSettings, meta: Mapping[str, object], folder: Path) -> Membership:
    return Membership(
        worker=worker_name(folder),
        identity={key: meta[key] for key in IDENTITY},
        lease_s=settings.lease_s,
    )


def _shared_frontier(
    address: str, rules: FrontierRules, membership: Membership, waiting: Waiting, now: float
) -> RedisFrontier:
    """Join the shared crawl that the membership names, at the address of its Redis server."""
    name = str(membership.identity["shared"])
    client = connect_redis(address)
    frontier = RedisFrontier(client, name, rules, membership, now=now, sleep=waiting.sleep)
    if not frontier.is_durable():
        _log.warning("the Redis server keeps no append-only file: a crash of it loses the crawl")
    return frontier


def _worker(
    frontier: RedisFrontier, occupancy: SharedOccupancy, run: OpenRun, settings: CrawlSettings
) -> Worker:
    """Return the worker; raises `RunFolderError` if Redis has lost the pages of its folder."""
    if run.has_pages() and not frontier.totals().get("settled"):
        raise RunFolderError(
            f"{run.folder}: holds pages of a crawl that the Redis server does not know; "
            "use a new folder"
        )
    return Worker(frontier, occupancy, run.connection, every_s=settings.lease_s / 4)
