"""Parts of a crawl created before its run is opened; nothing is written here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path

from langfocus.classifiers import languages
from langfocus.classifiers.errors import GeoIPError, PluginError
from langfocus.classifiers.pages.method import PageMethod
from langfocus.classifiers.pages.methods import (
    DEFAULT_METHOD,
    FASTTEXT_FILE,
    METHODS,
    fasttext_file,
)
from langfocus.classifiers.pages.methods.fasttext import WithAdded
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.options.config import GOALS, ONLY_EXPECTED, SEED_FOLDER, Config
from langfocus.crawler.politeness.blocking import Blocking
from langfocus.crawler.politeness.network import check_port
from langfocus.crawler.reading.configured import ordering_of, page_method, reader_of
from langfocus.crawler.reading.page import ReadPage
from langfocus.crawler.sources.contract import WEBS, PluginWeb, Web
from langfocus.crawler.sources.revisits import check_since
from langfocus.crawler.sources.seeds import SeedFile, first_of
from langfocus.crawler.strategies.filters import make_filter
from langfocus.crawler.strategies.orderings import Ordering
from langfocus.crawler.strategies.versions import Versions


@dataclass(frozen=True)
class Preparation:
    """The parts of a crawl that need no run folder. `web` is None for the live Web.

    `gaps` are sentences about parts without support for its language.
    """

    config: Config
    ordering: Ordering
    web: Web | None
    read: ReadPage
    country_of: Callable[[str | None], str | None]
    gaps: tuple[str, ...] = ()
    blocking: Blocking = field(default_factory=Blocking)

    @property
    def name(self) -> str:
        """The name of the crawl in folders and among the crawls of a Redis server."""
        return self.config.title()

    @cached_property
    def meta(self) -> Mapping[str, object]:
        """Settings recorded in the run; some bind the run."""
        config, ordering = self.config, self.ordering
        hosts, listed, shared = config.hosts, {}, ""
        archive = [str(config.archive)] if config.archive else []
        goals = {name: str(getattr(config, name) or "") for name in GOALS if name != "pages"}
        if hosts is not None:
            number = str(hosts.number)
            listed = {"hosts": hosts.digest, "hosts_number": number, "hosts_file": hosts.path.name}
        if config.frontier is not None:
            shared = config.crawl_name or self.name
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
            "versions": config.versions,
            **listed,
            "since": "" if config.since is None else str(Path(config.since).resolve()),
            "scope": "" if config.scope is None else str(config.scope),
            "block": "" if config.block is None else str(config.block),
            "embeds": "true" if config.embeds else "",
            "documents": "true" if config.documents else "",
            "web": " ".join((*([] if config.web == "archive" else [config.web]), *archive)),
            "seeds": first_of(config.seeds),
            "budget_pages": "" if config.pages is None else config.pages,
            **{f"goal_{name}": goal for name, goal in goals.items()},
            "host_bytes": config.host_bytes or "",
            "delay_s": config.delay_s,
            "version": config.version,
            "command": config.command,
            "shared": shared,
            "shards": config.shards,
            "gaps": list(self.gaps),
            "parts": config.parts,
            "plugins": config.plugins,
            **({"url_model": str(config.url_model)} if config.url_model else {}),
        }

    @property
    def rules(self) -> FrontierRules:
        """The rules of the frontier."""
        config, ordering = self.config, self.ordering
        return FrontierRules(
            filter=make_filter(
                config.filter, tolerance=config.tolerance, directory_depth=config.directory_depth
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
            host_bytes=config.host_bytes or 0,
            delay_s=config.delay_s,
            budget_pages=config.pages,
            budget_relevant=config.relevant,
            is_expected_only=config.expected == ONLY_EXPECTED,
            random_state=config.random_state,
            keeps_links=config.keeps_links,
            in_scope=None if config.scope is None else config.scope.takes,
            versions=Versions(config.lang) if config.has_one_version else None,
        )


def prepare(config: Config) -> Preparation:
    """Return the parts of a crawl that need no run folder; raises `CrawlError`."""
    ordering = ordering_of(config)
    config, web = _open_web(config)
    method = page_method(config.identify, fasttext_file(config.fasttext))
    for lang in config.targets:
        check_language(lang, method)
    check_goals(config, doubts=ordering.doubts_up_to is not None)
    if config.frontier is None:
        check_port(config.dashboard)  # 0 is any port; of several workers here one serves
    if config.render is not None:
        if config.is_census:
            raise SettingError("LANGFOCUS_RENDER: not with -a hosts")
        import_module("langfocus.crawler.http.browser").check_browser(config.render)
    if config.dedup and not config.keeps_warc:
        raise SettingError("LANGFOCUS_DEDUP: nothing is kept with LANGFOCUS_WARC=False")
    if config.scope is not None and config.scope.countries and config.geoip is None:
        raise SettingError(
            f"-a scope: country:{min(config.scope.countries)}: the countries of servers are not "
            "known; LANGFOCUS_GEOIP=FILE.mmdb names a database"
        )
    if config.since is not None:
        check_since(Path(config.since), config.lang, config.run_folder)
    blocking = Blocking(None if config.block is None else Path(config.block))
    prepared = Preparation(
        config,
        ordering,
        web,
        reader_of(config, method, ordering),
        _country_lookup(config.geoip),
        gaps(config, ordering, method),
        blocking,
    )
    try:
        _ = prepared.rules
    except ValueError as error:  # an ordering of a plug-in may contradict itself
        raise SettingError(f"-a strategy={config.strategy}: {error}") from error
    return prepared


def check_goals(config: Config, *, doubts: bool) -> None:
    """Raise `SettingError` for a goal or a task impossible in this crawl.

    `doubts` is True for an ordering that marks URLs as not expected in the language.
    """
    if config.expected and not doubts:
        raise SettingError(
            f"-a expected={config.expected}: this strategy expects no language of a URL; "
            "use -a strategy=focus, svm or cctld"
        )
    if config.embeds and not config.keeps_warc:
        raise SettingError(
            "-a embeds=true: the files go into WARC files, which LANGFOCUS_WARC=False forbids"
        )
    if config.documents and config.readers == 0:
        raise SettingError(
            "-a documents=true: a hostile file may end its reader, so LANGFOCUS_READERS=0 cannot be"
        )
    for label, value in {
        "-a words": config.words,
        "-a bytes": config.bytes,
        "-a expected": config.expected,
        "-a since": config.since,
        "-a embeds": config.embeds,
        "LANGFOCUS_LINKS": config.keeps_links,
    }.items():
        if config.frontier is not None and value:
            raise SettingError(f"{label}: not for a shared crawl (LANGFOCUS_FRONTIER)")


def _open_web(config: Config) -> tuple[Config, Web | None]:
    """Return the Web to crawl, None for the live Web; raises `CrawlError`.

    Without seeds, the configuration gets the Web's own seeds.
    """
    if config.web == "live":
        return config, None
    if config.web == "archive":
        return config, WEBS.load(config.web)(str(config.archive))
    try:
        if (plugin := WEBS.plugin(config.web)) is None:
            web = WEBS.load(config.web)(hosts=config.sample_hosts)
        else:
            web = PluginWeb(plugin, None if config.archive is None else Path(config.archive))
        lacks_seeds = not (config.seeds or config.is_census or config.brings_seeds)
        if lacks_seeds:
            config = replace(
                config, seeds=tuple(chain.from_iterable(map(web.seeds, config.targets)))
            )
    except PluginError as error:
        raise SettingError(str(error)) from error
    if lacks_seeds and not config.seeds:
        raise SettingError(f"-a seeds is missing: -a web={config.web} has none")
    return config, web


def _country_lookup(path: Path | None) -> Callable[[str | None], str | None]:
    if path is None:
        return lambda _: None
    from langfocus.classifiers.geoip import country_lookup

    try:
        return country_lookup(path)
    except GeoIPError as error:
        raise SettingError(f"LANGFOCUS_GEOIP={error}") from error


def gaps(config: Config, ordering: Ordering, method: PageMethod) -> tuple[str, ...]:
    """Return a sentence for each part that does not support a crawl's language.

    `ordering` is the crawl's ordering; `method` identifies the pages. A census has no language, but
    a sentence about list lines without a host.
    """
    hosts = config.hosts
    if hosts is not None and hosts.skipped:
        lines = f"{hosts.skipped:,} lines name no host and are skipped"
        return (f"{hosts.path}: {lines}, the first: {hosts.first_skipped}",)
    if not config.lang:
        return ()
    found = [_of_pages(lang, method, languages.name(lang)) for lang in config.targets]
    if not ordering.knows_urls:
        found.insert(0, _of_urls(config.targets, ordering))
    if isinstance(config.seeds, SeedFile):
        found.append(
            f"{config.seeds.path} has {config.seeds.number:,} seeds: the first "
            f"{len(config.seeds.first):,} are queued at once, the others during the crawl"
        )
    if config.scope is not None:
        found.append(_refused_seeds(config))
    for lang in config.targets if config.web == "live" else ():
        if not (SEED_FOLDER / f"{lang}.txt").exists():
            name = languages.name(lang)
            found.append(f"no seeds ship for {name}: the crawl starts from those of -a seeds")
    return tuple(filter(None, found))


def _of_urls(targets: Sequence[str], ordering: Ordering) -> str:
    if ordering.name == "cctld":
        without = [languages.name(code) for code in targets if not languages.tlds_of(code)]
        return f"no top-level domain is of {' or '.join(without)}: cctld draws from all other URLs"
    name = " or ".join(map(languages.name, targets))
    learned = ", links and what the crawl learns of servers" if ordering.prior else ""
    how = f"the frontier is ordered by domains and codes in URLs{learned}"
    return f"the URL model does not know {name}: {how}"


def _refused_seeds(config: Config) -> str:
    seeds = first_of(config.seeds)
    refused = [seed for seed in seeds if config.scope.of_url(seed) is False]
    named = f"{len(refused):,} of {len(seeds):,} seeds, such as {refused[0]}" if refused else ""
    return f"the scope refuses {named}" if refused else ""


def check_language(lang: str, method: PageMethod) -> None:
    """Raise `SettingError` for a language beyond the project codes and all page models.

    No page would count as relevant: the language has no model, and its declarations are not read.
    """
    if METHODS.is_file(method.name) and lang and lang not in method.languages:
        known = ", ".join(sorted(method.languages))
        raise SettingError(
            f"-a lang={lang}: the model {method.name} does not know it, only {known}"
        )
    if not lang or lang in PROJECT_CODES:
        return
    if lang not in (method.added if isinstance(method, WithAdded) else method.languages):
        name = languages.name(lang)
        raise SettingError(
            f"-a lang={lang}: no model here reads {name}; {FASTTEXT_FILE}=FILE names a model of "
            "fastText that does"
        )


def _of_pages(lang: str, method: PageMethod, name: str) -> str:
    added = method.added if isinstance(method, WithAdded) else frozenset()
    if lang in added:
        return f"the text model does not know {name}: a model of fastText identifies its pages"
    if method.name == DEFAULT_METHOD or added:
        from langfocus.classifiers.pages.text.textengine import known_languages

        if lang in known_languages():
            return ""
        return (
            f"the text model does not know {name}: pages that declare it count if their text is in "
            "no language that it knows"
        )
    if not method.languages or lang in method.languages:
        return ""
    return f"the method {method.name} does not know {name}: no page will count as relevant"
