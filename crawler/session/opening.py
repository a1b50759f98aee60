"""Opens a crawl: its run folder, its frontier, and all that the spider works with."""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.frontier.base import Frontier
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.options.config import AGREED, GOALS, IDENTITY, ONLY_EXPECTED, Config
from langfocus.crawler.outputs.archived import repair
from langfocus.crawler.outputs.takedown import taken_down
from langfocus.crawler.outputs.warc import WarcArchive, WarcFile, argument_fields
from langfocus.crawler.politeness.robots import HostFiles, Robots, RobotsStore
from langfocus.crawler.politeness.turns import Occupancy, OwnOccupancy
from langfocus.crawler.run.folder import OpenRun, lock_run, open_run
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.contacts import Contacts
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.ending import Ending
from langfocus.crawler.session.preparation import Preparation, prepare
from langfocus.crawler.session.queue import Queue
from langfocus.crawler.session.visit import Visitor
from langfocus.crawler.shared.addresses import SharedOccupancy
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.redis import RedisFrontier
from langfocus.crawler.shared.sharded import ShardedFrontier
from langfocus.crawler.shared.stored import StoredCrawl
from langfocus.crawler.shared.stored import connect as connect_redis
from langfocus.crawler.shared.worker import Waiting, Worker, worker_name
from langfocus.crawler.sources.revisits import Revisits
from langfocus.crawler.sources.seeds import first_of
from langfocus.crawler.sources.sitemaps import Sitemaps
from langfocus.crawler.sources.unread_seeds import UnreadSeeds
from langfocus.crawler.strategies.filters import make_filter
from langfocus.crawler.strategies.orderings import Ordering

RUNS = Path("runs")
"""The folder in which a crawl without JOBDIR makes its own."""

_DIFFERENCE_TOLD_S = 5.0
_TENDED_EVERY_S = 15.0


_log = logging.getLogger(__name__)


def open_crawl(config: Config, clock: CrawlClock | None = None) -> Crawl:
    """Return a crawl ready to begin; raises `CrawlError` before anything is written.

    Without a `clock` it starts at the time of the machine. A worker of a shared crawl sets its
    clock to the time of the server.
    """
    clock = clock or CrawlClock()
    prepared = prepare(config)
    config, ordering = prepared.config, prepared.ordering
    resources, run, frontier, occupancy, worker, archive = _open_store(prepared, clock)
    # A census tells the failure of each URL.
    awaits_answer = prepared.web is None and not config.is_census and not frontier.counts().pages
    ending = Ending.of_run(config, run.connection, clock(), awaits_answer=awaits_answer)
    revisits = Revisits(run.connection)
    blocking = prepared.blocking
    blocking.taken_down = taken_down(run.connection)
    unread = UnreadSeeds(run.folder, frontier, worker.name if worker else "")
    robots = Robots(
        frontier,
        config.bot.robots_name,
        max_delay_s=config.max_crawl_delay_s,
        keeps_sitemaps=config.reads_sitemaps,
        host_cap=config.host_cap,
    )
    visitor = Visitor(
        frontier,
        ordering,
        config,
        prepared.read,
        clock,
        listeners=[lambda _, record: ending.count(record), lambda *_: unread.count_settled()],
        archive=archive,
        sitemaps=_sitemaps(prepared, robots, frontier, blocking.blocks),
        country_of=prepared.country_of,
        is_blocked=blocking.blocks,
        earlier=revisits.of,
    )
    queue = Queue(
        frontier,
        visitor,
        ending,
        blocking,
        revisits,
        unread,
        clock,
        is_shared=worker is not None,
    )
    contacts = Contacts(
        frontier,
        ending,
        occupancy,
        blocking,
        clock,
        is_sitemap=visitor.is_sitemap,
        is_live=prepared.web is None,
        private_addresses=config.private_addresses,
        dashboard=config.dashboard,
    )
    return Crawl(
        prepared,
        run,
        frontier,
        clock,
        ending,
        visitor,
        queue,
        contacts,
        robots,
        resources,
        worker,
    )


def _sitemaps(
    prepared: Preparation, robots: Robots, store: RobotsStore, is_blocked: Callable[[str], bool]
) -> Sitemaps | None:
    config = prepared.config
    if config.is_census or not config.reads_sitemaps:
        return None
    files = HostFiles(store, "sitemaps")
    return Sitemaps(prepared.ordering, robots, files, is_blocked, config.lang)


def _open_store(
    prepared: Preparation, clock: CrawlClock
) -> tuple[ExitStack, OpenRun, Frontier, Occupancy, Worker | None, WarcArchive | None]:
    """Open the run folder and the frontier; after an error nothing stays open.

    The worker is None if no other process shares the frontier.
    """
    config, ordering = prepared.config, prepared.ordering
    folder = config.run_folder or new_folder(crawl_name(config, ordering), clock())
    meta = {**_meta(config, ordering), "gaps": list(prepared.gaps)}
    rules = _rules(config, ordering)
    worker = archive = None
    waiting = Waiting(clock)
    resources = ExitStack()
    with ExitStack() as undo:
        shared = None
        if config.frontier is not None:
            politeness = {name: getattr(config, name) for name in AGREED}
            identity = {key: meta.get(key, "") for key in IDENTITY} | politeness
            membership = Membership(
                worker=worker_name(folder),
                identity=identity,
                lease_s=config.lease_s,
                shards=config.shards,
            )
            shared = _shared_frontier(config.frontier, rules, membership, waiting, clock)
            undo.callback(shared.close)
        resources.push(undo.enter_context(lock_run(folder)))
        now = clock()
        run = open_run(folder, meta, now, identity=IDENTITY)
        undo.callback(run.connection.close)
        resources.callback(run.connection.close)
        frontier: Frontier
        occupancy: Occupancy
        if shared is None:
            frontier = SqliteFrontier(run.connection, rules, now=clock())
            occupancy = OwnOccupancy(config.per_address, clock, config.pace_s)
        else:
            limit = SharedOccupancy(
                shared, config.per_address, clock, lease_s=config.lease_s, pace_s=config.pace_s
            )
            frontier, occupancy = shared, limit
            worker = _worker(shared, limit, run, config, waiting)
            resources.callback(waiting.end)
            worker.write_down()  # so that pages of a killed worker count as settled
        repair(run.connection, folder)
        if config.since is not None:
            Revisits(run.connection).take_over(Path(config.since))
        if config.keeps_warc:
            archive = _archive(run, meta, config, now)
            resources.callback(archive.close)
        undo.pop_all()
    return resources, run, frontier, occupancy, worker, archive


def _archive(run: OpenRun, meta: Mapping[str, object], config: Config, now: float) -> WarcArchive:
    """Return the WARC files of a run; each tells the settings of the crawl."""
    told = {
        "software": config.version,
        "isPartOf": run.folder.resolve().name,
        "http-header-user-agent": config.bot.user_agent,
        "robots": "obey" if config.obeys_robots else "ignore",
    }
    worker = worker_name(run.folder) if config.frontier else ""
    file = WarcFile(run.folder, told | argument_fields(meta), now=now, worker=worker)
    return WarcArchive(run.connection, file)


def new_folder(name: str, now: float) -> Path:
    """Make a folder below `runs` that no other process gets; raises `RunFolderError`."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    folder, number = RUNS / f"{name}-{stamp}", 1
    while True:
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
            folder = RUNS / f"{name}-{stamp}-{number}"
        except OSError as error:
            raise RunFolderError(f"{folder}: cannot be made: {error.strerror}") from error
        else:
            return folder


def _meta(config: Config, ordering: Ordering) -> dict[str, object]:
    hosts, listed, shared = config.hosts, {}, ""
    if hosts is not None:
        number = str(hosts.number)
        listed = {"hosts": hosts.digest, "hosts_number": number, "hosts_file": hosts.path.name}
    if config.frontier is not None:
        shared = config.crawl_name or crawl_name(config, ordering)
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
        **listed,
        "since": "" if config.since is None else str(Path(config.since).resolve()),
        "block": "" if config.block is None else str(config.block),
        "web": str(config.archive) if config.archive else config.web,
        "seeds": first_of(config.seeds),
        "budget_pages": "" if config.pages is None else config.pages,
        **{f"goal_{name}": str(getattr(config, name) or "") for name in GOALS if name != "pages"},
        "delay_s": config.delay_s,
        "version": config.version,
        "command": config.command,
        "shared": shared,
        "shards": config.shards,
    }


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
        prior=ordering.prior,
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
    kind = RedisFrontier if membership.shards == 1 else ShardedFrontier
    frontier = kind(client, name, rules, membership, now=clock(), sleep=waiting.sleep)
    if not frontier.is_durable():
        _log.warning("the Redis server keeps no append-only file: a crash of it loses the crawl")
    return frontier


def _worker(
    frontier: RedisFrontier,
    occupancy: SharedOccupancy,
    run: OpenRun,
    config: Config,
    waiting: Waiting,
) -> Worker:
    """Return the worker; raises `RunFolderError` if Redis has lost the pages of its folder."""
    has_pages = run.connection.execute("SELECT EXISTS(SELECT 1 FROM pages)").fetchone()[0]
    if has_pages and not frontier.totals().get("settled"):
        raise RunFolderError(
            f"{run.folder}: holds pages of a crawl that the Redis server does not know; "
            "use a new folder"
        )
    every_s = min(config.lease_s / 4, _TENDED_EVERY_S)
    return Worker(frontier, occupancy, run.connection, every_s=every_s, waiting=waiting)
