"""The parts of a crawl that are made before its run is opened; nothing is written here."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from classifiers.errors import ClassifierError, GeoIPError
from classifiers.pages.method import PageMethod
from classifiers.pages.text.fasttextengine import named_file
from crawler.config import Config, FileName
from crawler.errors import SettingError
from crawler.frontier.slots import least_expected
from crawler.gaps import check_language, gaps
from crawler.politeness.blocking import BlockFile
from crawler.reading import ReadPage, page_method, page_reader, page_scorer
from crawler.run import SCHEMA_VERSION
from crawler.sources.contract import Web
from crawler.sources.opening import open_web
from crawler.sources.revisits import check_since
from crawler.strategies import Ordering, make_ordering
from crawler.visit import VisitRules


@dataclass(frozen=True, slots=True)
class Preparation:
    """The parts of a crawl that need no run folder. `web` is None for the live Web.

    `gaps` are those of `crawler.gaps`. `block_file` is None if the crawl has none.
    """

    config: Config
    ordering: Ordering
    web: Web | None
    rules: VisitRules
    gaps: tuple[str, ...] = ()
    block_file: BlockFile | None = None


def prepare(config: Config) -> Preparation:
    """Return the parts of a crawl that need no run folder; raises `CrawlError`."""
    ordering = _ordering(config)
    web = open_web(
        config.web,
        archive=_path(config.archive),
        hosts=config.sample_hosts,
    )
    method = page_method(config.identify, named_file(_path(config.fasttext)))
    check_language(config.lang, method)
    rules = replace(
        _page_rules(config, method),
        retry_rule=config.retry_rule,
        country_of=_country_lookup(_path(config.geoip)),
        stays_on_host=config.is_census,
    )
    if config.expected and ordering.doubts_up_to is not None:
        rules = replace(rules, least_seed_score=least_expected(ordering.doubts_up_to))
    if config.keeps_links and config.frontier is not None:
        raise SettingError("LANGFOCUS_LINKS: a shared crawl (LANGFOCUS_FRONTIER) keeps no links")
    if config.since is not None and config.frontier is not None:
        raise SettingError(
            "-a since: not for a shared crawl (LANGFOCUS_FRONTIER), whose workers would each need "
            "the earlier pages; crawl again in one process"
        )
    check_goals(config, doubts=ordering.doubts_up_to is not None)
    lacks = gaps(config, ordering, method)
    if config.since is not None:
        check_since(Path(config.since), config.lang, config.run_folder, schema=SCHEMA_VERSION)
    block_file = None if config.block is None else BlockFile(Path(config.block))
    config = _with_seeds(config, web)
    return Preparation(config, ordering, web, rules, lacks, block_file)


def check_goals(config: Config, *, doubts: bool) -> None:
    """Raise `SettingError` for a goal that this crawl cannot keep.

    `doubts` is True if the ordering knows URLs that it does not expect in the language.
    """
    if config.expected and not doubts:
        raise SettingError(
            f"-a expected={config.expected}: this strategy expects no language of a URL; "
            "use -a strategy=focus, svm or cctld"
        )
    for name in ("words", "expected"):
        if config.frontier is not None and getattr(config, name) is not None:
            raise SettingError(
                f"-a {name}: not for a shared crawl (LANGFOCUS_FRONTIER), whose goals are pages, "
                "relevant and hours"
            )


def page_scorer_of(config: Config) -> ReadPage:
    """Return the function that reads a page and scores its links; raises `CrawlError`."""
    method = page_method(config.identify, named_file(_path(config.fasttext)))
    rules = _page_rules(config, method)
    return page_scorer(
        rules.read, _ordering(config), config.lang, obeys_directives=config.obeys_directives
    )


def _page_rules(config: Config, method: PageMethod) -> VisitRules:
    """Return the rules that reading a page depends on."""
    read = page_reader(
        method,
        is_census=config.is_census,
        target=config.lang if config.uses_hreflang else None,
    )
    return VisitRules(config.lang, read, obeys_directives=config.obeys_directives)


def _ordering(config: Config) -> Ordering:
    make = partial(make_ordering, language=config.lang, model=_path(config.url_model))
    try:
        return make(config.strategy)
    except ClassifierError as error:
        raise SettingError(str(error)) from error


def _with_seeds(config: Config, web: Web | None) -> Config:
    """Return a configuration with the sample web's own seeds if none were given."""
    from crawler.sources.sample import SampleWeb

    if config.seeds or config.is_census or not isinstance(web, SampleWeb):
        return config
    return replace(config, seeds=tuple(web.seeds(config.lang)))


def _path(name: FileName) -> Path | None:
    return None if name is None else Path(name)


def _country_lookup(path: Path | None) -> Callable[[str | None], str | None]:
    if path is None:
        return lambda _: None
    from classifiers.geoip import country_lookup

    try:
        return country_lookup(path)
    except GeoIPError as error:
        raise SettingError(f"LANGFOCUS_GEOIP={error}") from error
