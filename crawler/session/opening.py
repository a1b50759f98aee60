"""Opens a crawl: its run folder, its frontier, and their parts."""

import json
import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from langfocus.classifiers.plugins import Plugin
from langfocus.crawler.frontier.base import Frontier
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.options.config import IDENTITY, Config
from langfocus.crawler.outputs.archived import repair
from langfocus.crawler.outputs.takedown import taken_down
from langfocus.crawler.outputs.warc import WarcArchive, WarcFile, argument_fields
from langfocus.crawler.politeness.robots import HostFiles, Robots
from langfocus.crawler.politeness.turns import Occupancy, OwnOccupancy
from langfocus.crawler.run.folder import SCOPE, OpenRun, lock_run, new_folder, open_run
from langfocus.crawler.run.whole_file import write_whole
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.contacts import Contacts
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.ending import Ending
from langfocus.crawler.session.joining import JoinedCrawl
from langfocus.crawler.session.preparation import Preparation, prepare
from langfocus.crawler.session.queue import Queue
from langfocus.crawler.session.visit import Visitor
from langfocus.crawler.shared.worker import Worker, worker_name
from langfocus.crawler.sources.revisits import Revisits
from langfocus.crawler.sources.sitemaps import Sitemaps
from langfocus.crawler.sources.unread_seeds import UnreadSeeds

if TYPE_CHECKING:
    from langfocus.crawler.outputs.dedup import Payloads

_log = logging.getLogger(__name__)


def open_crawl(config: Config, clock: CrawlClock | None = None) -> Crawl:
    """Return a crawl ready to start; raises `CrawlError` before any write.

    Without a `clock`, a new clock starts at the machine's time. A worker of a shared crawl sets its
    clock to the server's time. An error leaves nothing open.
    """
    prepared, clock = prepare(config), clock or CrawlClock()
    with ExitStack() as undo:
        crawl = _with_parts(prepared, _open_store(prepared, clock, undo), clock)
        undo.pop_all()
    return crawl


class _Store(NamedTuple):
    """An open run and its frontier; `worker` is None for an unshared frontier."""

    resources: ExitStack
    run: OpenRun
    archive: WarcArchive | None
    frontier: Frontier
    occupancy: Occupancy
    worker: Worker | None


def _open_store(prepared: Preparation, clock: CrawlClock, undo: ExitStack) -> _Store:
    config, resources, joined = prepared.config, undo.enter_context(ExitStack()), None
    folder = config.run_folder or new_folder(prepared.name, clock())
    if config.frontier is not None:
        joined = JoinedCrawl(config.frontier, prepared, folder, clock)
        undo.callback(joined.frontier.close)
        resources.callback(joined.waiting.end)
    resources.push(lock_run(folder))
    began_at = clock()
    run = open_run(folder, prepared.meta, began_at, identity=IDENTITY)
    resources.callback(run.connection.close)
    _note_plugins(run, config.plugins)
    shared: tuple[Frontier, Occupancy, Worker | None]
    if joined is None:
        frontier = SqliteFrontier(run.connection, prepared.rules, now=clock())
        shared = frontier, OwnOccupancy(config.per_address, clock, config.pace_s), None
    else:
        shared = joined.frontier, joined.occupancy, joined.worker(run)
    if config.scope is not None:
        write_whole(folder / SCOPE, "".join(config.scope.lines()))
        taken = "SELECT url, country FROM pages WHERE in_scope"
        for url, country in run.connection.execute(taken) if config.scope.countries else ():
            config.scope.takes_page(url, country)
    repair(run.connection, folder)
    if config.since is not None:
        Revisits(run.connection).take_over(Path(config.since))
    archive = _archive(run, prepared, began_at) if config.keeps_warc else None
    if archive is not None:
        resources.callback(archive.close)
    return _Store(resources, run, archive, *shared)


def _note_plugins(run: OpenRun, plugins: Sequence[Plugin]) -> None:
    """Record this session's plug-ins in the run; warn of missing and changed plug-ins."""
    earlier = [Plugin(*one) for one in json.loads(run.earlier.get("plugins", "[]"))]
    now = {(one.kind, one.name): one for one in plugins}
    for (kind, name), before in {(one.kind, one.name): one for one in earlier}.items():
        after = now.get((kind, name))
        if after is None:
            _log.warning("the run used the %s of %s; it goes on without it", kind, before)
        elif after != before:
            _log.warning("the run used the %s of %s; it goes on with %s", kind, before, after)
    used = json.dumps(list(dict.fromkeys([*earlier, *plugins])))
    run.connection.execute("UPDATE meta SET value = ? WHERE key = 'plugins'", (used,))


def _with_parts(prepared: Preparation, store: _Store, clock: CrawlClock) -> Crawl:
    config, blocking = prepared.config, prepared.blocking
    resources, run, archive, frontier, occupancy, worker = store
    blocking.taken_down = taken_down(run.connection)
    # A census records the failure of each URL.
    awaits_answer = prepared.web is None and not config.is_census and not frontier.counts().pages
    ending = Ending.of_run(config, run.connection, clock(), awaits_answer=awaits_answer)
    revisits = Revisits(run.connection)
    unread = UnreadSeeds(run.folder, frontier, worker.name if worker else "")
    robots = Robots(
        frontier,
        config.bot.robots_name,
        max_delay_s=config.max_crawl_delay_s,
        keeps_sitemaps=config.reads_sitemaps,
        host_cap=config.host_cap,
    )
    sitemaps = None
    if config.reads_sitemaps and not config.is_census:
        files = HostFiles(frontier, "sitemaps")
        sitemaps = Sitemaps(
            prepared.ordering,
            robots,
            files,
            blocking.blocks,
            config.lang,
            has_one_version=config.has_one_version,
        )
    embeds = None
    if config.embeds and isinstance(frontier, SqliteFrontier):
        from langfocus.crawler.session.embeds import Embeds

        embeds = Embeds(run.connection, frontier.transaction, config)
    visitor = Visitor(
        frontier,
        prepared.ordering,
        config,
        prepared.read,
        clock,
        listeners=[lambda _, record: ending.count(record), lambda *_: unread.count_settled()],
        archive=archive,
        sitemaps=sitemaps,
        country_of=prepared.country_of,
        is_blocked=blocking.blocks,
        earlier=revisits.of,
        embeds=embeds,
    )

    shared = None if worker is None else worker.stored
    queue = Queue(frontier, visitor, ending, blocking, revisits, unread, clock, shared)
    contacts = Contacts(
        frontier,
        ending,
        occupancy,
        blocking,
        clock,
        is_sitemap=visitor.is_sitemap,
        is_live=prepared.web is None,
        private_addresses=config.private_addresses,
        own_ports=config.own_ports,
        is_refused=lambda url, address: (
            config.scope is not None and config.scope.refuses(url, prepared.country_of(address))
        ),
    )
    return Crawl(
        *(prepared, run, frontier, clock, ending, visitor, queue, contacts, robots),
        resources,
        worker,
    )


def _archive(run: OpenRun, prepared: Preparation, now: float) -> WarcArchive:
    """Return the WARC files of a run; each file has the crawl's settings."""
    config = prepared.config
    about = {
        "software": config.version,
        "isPartOf": run.folder.resolve().name,
        "http-header-user-agent": config.bot.user_agent,
        "robots": "obey" if config.obeys_robots else "ignore",
    }
    worker = worker_name(run.folder) if config.frontier else ""
    plugins = "; ".join(" ".join(one) for one in config.plugins)
    fields = about | argument_fields(prepared.meta) | {"langfocus-plugins": plugins}
    file = WarcFile(run.folder, fields, now=now, worker=worker)
    return WarcArchive(run.connection, file, _payloads(run.folder, config))


def _payloads(folder: Path, config: Config) -> "Payloads | None":
    """Return the payloads of the archives that a run deduplicates against; None without any."""
    if config.since is None and not config.dedup:
        return None
    from langfocus.crawler.outputs.dedup import Payloads

    payloads = Payloads(folder)
    with ExitStack() as undo:
        undo.callback(payloads.close)
        if config.since is not None:
            payloads.add_run(Path(config.since))
        for path in config.dedup:
            payloads.add_index(path)
        undo.pop_all()
    return payloads
