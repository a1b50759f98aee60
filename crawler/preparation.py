"""The parts of a crawl that are made before its run is opened; nothing is written here."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from classifiers.errors import ClassifierError, GeoIPError
from crawler.configuration import CrawlSettings
from crawler.errors import SettingError
from crawler.frontier.slots import least_expected
from crawler.gaps import check_language, gaps
from crawler.goals import check_goals
from crawler.identification import page_method, page_reader
from crawler.options import CrawlOptions
from crawler.politeness.blocking import BlockFile
from crawler.revisits import check_since
from crawler.run import SCHEMA_VERSION
from crawler.sources.contract import Web
from crawler.sources.opening import open_web
from crawler.strategies import DEFAULT_ORDERING, Ordering, make_ordering
from crawler.visit import VisitRules


@dataclass(frozen=True, slots=True)
class Preparation:
    """The parts of a crawl that need no run folder. `web` is None for the live Web.

    `gaps` are those of `crawler.gaps`. `block_file` is None if the crawl has none.
    """

    options: CrawlOptions
    settings: CrawlSettings
    ordering: Ordering
    web: Web | None
    rules: VisitRules
    gaps: tuple[str, ...] = ()
    block_file: BlockFile | None = None


def prepare(options: CrawlOptions, settings: CrawlSettings) -> Preparation:
    """Return the parts of a crawl that need no run folder; raises `CrawlError`.

    Without `-a strategy` the ordering is `DEFAULT_ORDERING`.
    """
    ordering = _ordering(options, settings)
    web = open_web(
        options.web,
        archive=options.archive,
        hosts=settings.sample_hosts,
    )
    method = page_method(options.identify, settings.fasttext)
    check_language(options.lang, method)
    rules = VisitRules(
        options.lang,
        page_reader(
            method,
            is_census=options.is_census,
            target=options.lang if settings.uses_hreflang else None,
        ),
        settings.retry_rule,
        _country_lookup(settings.geoip),
        stays_on_host=options.is_census,
        obeys_directives=settings.obeys_directives,
    )
    if options.expected and ordering.doubts_up_to is not None:
        rules = replace(rules, least_seed_score=least_expected(ordering.doubts_up_to))
    _check(settings)
    if options.since is not None and settings.frontier is not None:
        raise SettingError(
            "-a since: not for a shared crawl (LANGFOCUS_FRONTIER), whose workers would each need "
            "the earlier pages; crawl again in one process"
        )
    _check_goals(options, settings, ordering)
    lacks = gaps(options, ordering, method)
    if options.since is not None:
        check_since(options.since, options.lang, settings.run_folder, schema=SCHEMA_VERSION)
    block_file = None if options.block is None else BlockFile(options.block)
    options = _with_seeds(options, web)
    return Preparation(options, settings, ordering, web, rules, lacks, block_file)


def _check_goals(options: CrawlOptions, settings: CrawlSettings, ordering: Ordering) -> None:
    doubts = ordering.doubts_up_to is not None
    check_goals(options, doubts=doubts, is_shared=settings.frontier is not None)


def _check(settings: CrawlSettings) -> None:
    if settings.keeps_links and settings.frontier is not None:
        raise SettingError("LANGFOCUS_LINKS: a shared crawl (LANGFOCUS_FRONTIER) keeps no links")


def _ordering(options: CrawlOptions, settings: CrawlSettings) -> Ordering:
    make = partial(make_ordering, language=options.lang, model=settings.url_model)
    try:
        return make(options.strategy or DEFAULT_ORDERING)
    except ClassifierError as error:
        raise SettingError(str(error)) from error


def _with_seeds(options: CrawlOptions, web: Web | None) -> CrawlOptions:
    """Return options with the sample web's own seeds if none were given."""
    from crawler.sources.sample import SampleWeb

    if options.seeds or options.is_census or not isinstance(web, SampleWeb):
        return options
    return replace(options, seeds=tuple(web.seeds(options.lang)))


def _country_lookup(path: Path | None) -> Callable[[str | None], str | None]:
    if path is None:
        return lambda _: None
    from classifiers.geoip import country_lookup

    try:
        return country_lookup(path)
    except GeoIPError as error:
        raise SettingError(f"LANGFOCUS_GEOIP={error}") from error
