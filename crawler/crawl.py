"""A crawl, put together: options and settings in, an open run with frontier and visitor out."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO

from classifiers import languages
from classifiers.errors import ClassifierError, LanguageError
from classifiers.pages.method import NOTHING, Neighbour, PageMethod, Surroundings
from classifiers.pages.methods import method
from classifiers.pages.methods.composite import MIN_LETTERS
from classifiers.pages.methods.neighbours import MIN_REFERENCE_LENGTH
from classifiers.pages.parse import ParsedPage, parse_page
from classifiers.pages.scripts import utf16_units, vote
from crawler.errors import CrawlError, SettingError
from crawler.frontier.base import Admission, Frontier, Lease, Record
from crawler.frontier.sqlite import SqliteFrontier
from crawler.network import is_private_url
from crawler.options import CrawlOptions
from crawler.robots import Robots
from crawler.run import Run, lock_run, open_run
from crawler.strategies import SEED, Ordering, make_filter, make_ordering
from crawler.visit import Download, Read, Reading, RetryRule, Visitor
from crawler.web.base import Web
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
    url_model: Path | None = None
    geoip: Path | None = None
    sample_seed: int = 1
    sample_hosts: int = 4000
    version: str = ""


OnSettled = Callable[[Lease, Record, Sequence[Admission]], None]


@dataclass(slots=True)
class Crawl:
    """An open crawl. `web` is None where pages come from the live Web.

    `lock` keeps other processes out of the run's folder until it is closed. `fault` says what
    made it impossible to go on.
    """

    options: CrawlOptions
    settings: CrawlSettings
    ordering: Ordering
    web: Web | None
    run: Run
    frontier: Frontier
    robots: Robots
    clock: Callable[[], float]
    visitor: Visitor
    listeners: list[OnSettled]
    lock: IO[str]
    finish_reason: str = ""
    fault: str = ""

    def start(self) -> None:
        """Queue the seeds; those known from an earlier session stay as they are."""
        self.frontier.seed(self.visitor.links(self.options.seeds, SEED), self.clock())

    def may_contact(self, url: str) -> bool:
        """Tell whether the host of a URL may be contacted, as far as its spelling tells."""
        return self.web is not None or self.settings.private_addresses or not is_private_url(url)

    def is_complete(self) -> bool:
        """Tell whether the page budget is used up."""
        pages = self.options.pages
        return pages is not None and self.frontier.counts().pages >= pages

    def close(self, finish_reason: str) -> None:
        """Note why the session ended and let go of the run."""
        self.finish_reason = finish_reason
        self.frontier.close()
        # Where nothing can be written the session stays open, as after a kill.
        with suppress(sqlite3.OperationalError):
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
    if settings.contact_fault:
        raise SettingError(settings.contact_fault)
    now = clock()
    folder = _run_folder(options, settings, ordering, now)
    lock = lock_run(folder)
    try:
        run = open_run(folder, _meta(options, ordering, settings), now)
    except CrawlError:
        lock.close()
        raise
    frontier = _frontier(options, settings, ordering, run, now)
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
        options, settings, ordering, web, run, frontier, robots, clock, visitor, listeners, lock
    )


def page_method(name: str) -> PageMethod:
    """Return the method of that name with its models read; raises `SettingError`."""
    try:
        return method(name)
    except ClassifierError as error:
        raise SettingError(f"-a identify={name}: {error}") from error


def page_reader(by: PageMethod) -> Read:
    """Return what parses a page, once, and lets a method tell its language."""

    def read(download: Download, inlinks: Sequence[str]) -> Reading:
        page = parse_page(
            download.body,
            content_type=download.content_type,
            url=download.url,
            content_language=download.content_language,
        )
        told = by.identify(page, surroundings(page, download.url, inlinks))
        return Reading(
            [] if page.nofollow else page.links,
            told.language,
            told.confidence,
            told.method,
            page.charset,
            page.dropped_links,
            is_reference=len(page.text) >= MIN_REFERENCE_LENGTH,
            parser=page.parser,
        )

    return read


def surroundings(page: ParsedPage, url: str, inlinks: Sequence[str] = ()) -> Surroundings:
    """Return what may tell the language of a page beside its bytes.

    `inlinks` are languages of pages that link to it. Nothing tells where it has hardly a letter:
    it is written in no language, whatever its address says, and stays without a label.
    """
    if vote(utf16_units(page.text)).letters < MIN_LETTERS:
        return NOTHING
    # Only pages of that length or more are among the inlinks.
    return Surroundings(url, tuple(Neighbour(code, MIN_REFERENCE_LENGTH) for code in inlinks))


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
        "directory_depth": options.directory_depth,
        "identify": options.identify,
        "web": str(options.archive) if options.archive else options.web,
        "seeds": list(options.seeds),
        "budget_pages": "" if options.pages is None else options.pages,
        "delay_s": settings.delay_s,
        "version": settings.version,
    }


def _frontier(
    options: CrawlOptions, settings: CrawlSettings, ordering: Ordering, run: Run, now: float
) -> Frontier:
    rule = make_filter(
        options.filter, tolerance=options.tolerance, directory_depth=options.directory_depth
    )
    return SqliteFrontier(
        run.connection,
        now=now,
        filter=rule,
        draw=ordering.draw,
        lifts=ordering.lifts,
        doubts_up_to=ordering.doubts_up_to,
        patience_s=settings.patience_s,
        host_cap=options.host_cap,
        delay_s=settings.delay_s,
        budget_pages=options.pages,
        random_state=settings.random_state,
    )
