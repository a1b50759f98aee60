"""The options of a crawl, declared as fields of a class.

A field with `setting` is set by `-s NAME=VALUE`, any other by `-a NAME=VALUE`. Parser, check, error
message, manual and the typed arguments of `langfocus.crawl` follow from the same line:

    tolerance: int = knob(5, "pages that a server may give", least=0, binds=True)

Scrapy's own settings that a crawl needs without declaring them are filled in by
`crawler.spiders.scrapy_settings`.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, fields
from difflib import get_close_matches
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from langfocus.classifiers import languages
from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.pages.methods import DEFAULT_METHOD, METHODS
from langfocus.classifiers.plugins import Plugin
from langfocus.classifiers.tables import shipped_folder
from langfocus.classifiers.urls.plugin_models import URL_MODELS
from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.rules import HOST_QUEUE, queue_slots
from langfocus.crawler.frontier.slots import ADDRESS_HOSTS, DOMAIN_HOSTS
from langfocus.crawler.options.knob import Knob, knob, read_size
from langfocus.crawler.politeness.contact import BotName
from langfocus.crawler.politeness.identity import Signer
from langfocus.crawler.politeness.network import dns_servers
from langfocus.crawler.politeness.turns import PACE_S
from langfocus.crawler.sources.contract import WEBS
from langfocus.crawler.sources.seeds import Seeds, first_of, provided, read_seed_file, read_seeds
from langfocus.crawler.strategies import ORDERINGS
from langfocus.crawler.strategies.filters import DEFAULT_FILTER, DIRECTORY_DEPTH, FILTERS, TOLERANCE

if TYPE_CHECKING:
    from langfocus.crawler.politeness.scope import Scope
    from langfocus.crawler.sources.hosts import HostList

_log = logging.getLogger(__name__)

SEED_FOLDER = shipped_folder("seeds")

ONLY_EXPECTED: Final = "only"
"""The value of `-a expected` that skips every URL not expected in the language."""

ONE_VERSION: Final = "one"
"""The value of `-a versions` that fetches no other version of a page in the language."""

FIRST_ANSWER_S: Final = 15.0
"""Seconds after the first request in which a server must answer, or the crawl ends."""

FileName = str | PathLike[str] | None
"""Path of a file or a folder; `Config.read` converts it to a `Path`."""

_MOST_HOLD_S: Final = 3600.0

_CENSUS_STEPS: Final = 10
"""URLs of a host that a census fetches: its portal page after redirects within the host."""

_CENSUS_BATCH: Final = 5_000
"""Hosts queued per transaction."""


def _language(tag: str, label: str) -> str:
    if not tag:
        raise SettingError(f"{label} is missing: give the target language ({label}=de)")
    tags = tag.replace("+", ",").split(",")  # `langfocus compare` splits at commas before
    try:
        codes = {languages.parse_language(each.strip()) for each in tags}
    except LanguageError as error:
        raise SettingError(f"{label}={error}") from error
    return ",".join(sorted(codes))


def _index_files(text: str, label: str) -> tuple[Path, ...]:
    """Return the files in a list with commas; raises `SettingError` for a missing file."""
    paths = tuple(Path(name.strip()) for name in text.split(",") if name.strip())
    for path in paths:
        if not path.is_file():
            raise SettingError(f"{label}={path}: no such file; a CDXJ index is needed")
    return paths


def _browser(text: str, label: str) -> str:
    address, has_port = urlsplit(text), False
    with suppress(ValueError):
        has_port = address.port is not None
    if address.scheme != "http" or not has_port or "@" in text:
        raise SettingError(f"{label}={text}: an address such as http://127.0.0.1:9222 is needed")
    return text


def _scope(text: str, label: str) -> "Scope":
    from langfocus.crawler.politeness.scope import read_scope

    return read_scope(Path(text), label)


def _hosts(text: str, label: str) -> "HostList":
    from langfocus.crawler.sources.hosts import read_hosts

    return read_hosts(Path(text), label)


@dataclass(frozen=True)
class Arguments:
    """The arguments of a crawl (`-a NAME=VALUE`), those of `langfocus.crawl`.

    The first goal reached ends the crawl; None is no goal. With `hosts` the crawl is a census: the
    portal page of each host, and no links.
    """

    lang: str = knob(
        "",
        "target language: a code (de), a tag (de-AT) or a name (German); required; a page is "
        "relevant in any of several, with commas between them (gl,pt)",
        read=_language,
        binds=True,
    )
    _: KW_ONLY
    strategy: str = knob(
        "focus",
        "which queued URL is fetched next",
        why="it learns from each page, and has the highest harvest on Webs that it did not see",
        parts=ORDERINGS,
        binds=True,
    )
    filter: str = knob(
        DEFAULT_FILTER,
        "which links enter the queue",
        why="servers and directories that give nothing cost T pages each (Tamura 2007)",
        parts=FILTERS,
        binds=True,
    )
    tolerance: int = knob(
        TOLERANCE,
        "pages in other languages (T) after which a server or directory without a relevant page "
        "counts as irrelevant",
        why="with a host cap of 10 a larger one than 9 never closes a server",
        least=0,
        binds=True,
    )
    host_cap: int = knob(
        10,
        "URLs of one host that ever get a request, whatever is answered, 0 for any number",
        why="Baykan 2013, 5.2: a crawl of many hosts, not of a few large ones",
        least=0,
        binds=True,
    )
    host_queue: int | None = knob(
        None,
        "URLs of one host that may wait or get a request, 0 for any number: the best host_cap of "
        "them are fetched; as many as host_cap: the first that are found"
        f" (default: {HOST_QUEUE}, or host_cap if that is more; 0 with host_cap=0)",
        why="the best ten of a host are fetched, and memory has a bound",
        least=0,
        binds=True,
    )
    domain_cap: int | None = knob(
        None,
        "requests to one registered domain (the files of hosts that give pages left out), 10 more "
        "for each of its relevant pages, and 20 times as many queued URLs; 0 for any number"
        f" (default: {DOMAIN_HOSTS} times host_cap)",
        why="a farm of sub-domains without end stops; a domain with pages in the language does not",
        least=0,
        binds=True,
    )
    address_cap: int | None = knob(
        None,
        "requests to one IP address (of IPv6: one /64), counted as for domain_cap, 10 more for "
        "each of its relevant pages, 0 for any number"
        f" (default: {ADDRESS_HOSTS} times host_cap)",
        why="a farm of domains on one server stops",
        least=0,
        binds=True,
    )
    directory_depth: int = knob(
        DIRECTORY_DEPTH,
        "segments of a path that make a directory, for the directory filter",
        why="Tamura 2007, 4.3",
        least=1,
        binds=True,
    )
    identify: str = knob(
        DEFAULT_METHOD,
        "method that identifies the language of a page; FILE.npz is the default with a text model "
        "of your own, of langfocus train",
        why="it is right more often than the methods of the papers, in more languages",
        parts=METHODS,
        binds=True,
        census=True,
    )
    seeds: Seeds = knob(
        (),
        "where to start: a file with one URL per line, URLs with commas between them, or a plug-in"
        " (default: seeds/LANG.txt; the sample web has its own)",
        read=read_seeds,
    )
    pages: int | None = knob(
        None,
        "pages after which the crawl stops, exactly (default: stop when nothing is queued)",
        least=1,
        goal=True,
    )
    relevant: int | None = knob(
        None,
        "pages in the language after which the crawl stops, exactly",
        least=1,
        goal=True,
    )
    words: int | None = knob(
        None,
        "words in the language after which the crawl stops with a whole page, counted in the first "
        "2,000 characters of a page, menus too; an export has the whole main text: fewer words of "
        "short pages, more of long ones",
        least=1,
        goal=True,
    )
    bytes: int | None = knob(
        None,
        "bytes of bodies as received, of all settled URLs and files together, after which the "
        "crawl stops with a whole answer; K, M, G and T are powers of 1,000 (20G)",
        read=read_size,
        goal=True,
    )
    expected: str | None = knob(
        None,
        "fetch only the URLs that focus, svm or cctld expects in the language, and the seeds; stop "
        "when no other is queued",
        choices=(ONLY_EXPECTED,),
        goal=True,
    )
    least_yield: float = knob(
        0.005,
        "share below which the crawl stops, as nothing more is to be found: the share of relevant "
        "pages among the last 1,000 downloads (the last quarter, if that is more), and the share "
        "that focus expected of them; 0: never; without effect with other strategies and -a since",
        why="one page in 200 is not worth 199 requests; the queue stays for a crawl with less",
        least=0,
        most=1,
        goal=True,
    )
    hours: float | None = knob(
        None,
        "hours of crawling, all sessions together, after which no request begins",
        least=0,
        goal=True,
    )
    since: FileName = knob(
        None,
        "folder of an earlier run: its pages are asked for again, those that have most likely "
        "changed first; then new links are followed",
        binds=True,
    )
    block: FileName = knob(
        None,
        "file of what is never fetched, a line each: a host (example.org), a name with all names "
        "below it (*.example.org), or either with the beginning of paths (example.org/private/)",
        census=True,
    )
    embeds: bool = knob(
        False,
        "True: files that relevant pages embed (style sheets, scripts, images, fonts, media, "
        "frames, also of other hosts) are fetched after them into the WARC files, for replay; they "
        "are no pages, and count for no cap, goal or rate",
        why="texts need none; a page with its files takes many requests",
    )
    documents: bool = knob(
        False,
        "True: PDF, docx, odt and EPUB files that are expected in the language are fetched, and "
        "read like pages; PDF needs pip install 'langfocus[documents]'",
        why="they are long, and 6 in 1,000 answers of the Web",
    )
    versions: str = knob(
        ONE_VERSION,
        "one: a page known in the language is not fetched in other languages, by hreflang and by "
        "language codes in URLs; all: it is",
        why="owners of sites ask for it, and the pages are not in the language",
        choices=(ONE_VERSION, "all"),
    )
    scope: Any = knob(  # `read` makes `Scope` of it
        None,
        "file of rules, one a line: +RULE takes URLs whatever their language, -RULE never fetches "
        "them, the language decides about all others; a rule is a SURT prefix (http://(is,bok,), a "
        "domain (bok.is), a top-level domain (is), a URL, or country:IS for servers there",
        read=_scope,
        binds=True,
    )
    web: str = knob(
        "live",
        "source of the pages (sample is embedded, without a network)",
        why="the others are for trials and for pages that are there already",
        parts=WEBS,
        binds=True,
        census=True,
    )
    archive: FileName = knob(
        None,
        "the WARC files that web=archive replays: paths with commas between them, each a WARC "
        "file, a folder, a pattern (crawl/*.warc.gz) or a WACZ file; or a path for a plug-in",
        census=True,
    )
    hosts: Any = knob(  # `read` makes a `HostList` of it
        None,
        "a census of the portal pages of these hosts instead of a crawl: a file with a host a "
        "line, names, IP addresses or URLs",
        read=_hosts,
        binds=True,
        census=True,
    )


@dataclass(frozen=True, kw_only=True)
class Config(Arguments):
    """The arguments and settings of a crawl. `run_folder` None: a new folder below `runs`."""

    contact: str | None = knob(
        None,
        "e-mail address or http(s) URL for the User-Agent, so that those who find the bot in their "
        "logs can ask about it; a live crawl without one here or in its USER_AGENT warns",
        "LANGFOCUS_CONTACT",
    )
    key: Path | None = knob(
        None,
        "PEM file with an Ed25519 key that signs all requests of a live crawl (Web Bot Auth), so "
        "that servers can verify the bot; the origin of LANGFOCUS_CONTACT, an https URL, publishes "
        "the key directory that langfocus key prints",
        "LANGFOCUS_KEY",
    )
    delay_s: float = knob(
        1.0,
        "seconds between two requests to a host",
        "DOWNLOAD_DELAY",
        "few servers notice one request a second",
        least=0,
    )
    obeys_directives: bool = knob(
        True,
        "False: links with nofollow are followed, pages with noarchive are kept, and no host is "
        "asked for its tdmrep.json, for archives that have the right to do so",
        "LANGFOCUS_DIRECTIVES_OBEY",
        "the author of a page decides about it",
    )
    max_crawl_delay_s: float = knob(
        60.0,
        "seconds; a longer Crawl-delay of robots.txt is cut to this",
        "LANGFOCUS_MAX_CRAWL_DELAY",
        "one host of a crawl with ten URLs of each ends within ten minutes",
        least=0,
        agreed=True,
    )
    private_addresses: bool = knob(
        False,
        "True: hosts of the crawl's own network may be crawled too (loopback, private and "
        "link-local addresses, names such as localhost or printer.local)",
        "LANGFOCUS_PRIVATE_ADDRESSES",
        "a link of a stranger must not reach a router or a cloud's metadata service",
        agreed=True,
    )
    host_bytes: int | None = knob(
        None,
        "bytes of bodies as received after which a host gets no further request; K, M, G and T are "
        "powers of 1,000 (50M)",
        "LANGFOCUS_HOST_BYTES",
        read=read_size,
    )
    per_address: int = knob(
        2,
        "hosts with the same IP address that are contacted at once, 0 for any number",
        "LANGFOCUS_PER_ADDRESS",
        "hundreds of hosts may share one server",
        least=0,
        agreed=True,
    )
    dns: tuple[str, ...] = knob(
        (),
        "DNS servers that are asked, as ADDRESS or ADDRESS:PORT with commas between them"
        " (default: those of this machine)",
        "LANGFOCUS_DNS",
        read=dns_servers,
    )
    retry_times: int = knob(
        2,
        "retries of a failed URL",
        "RETRY_TIMES",
        "a passing fault ends, a tarpit holds a connection three times at most",
        least=0,
        most=100,
    )
    retry_delay_s: float = knob(
        10.0,
        "seconds that a host rests after a failure, twice that after the second; 0 on the sample "
        "web and on archives",
        "LANGFOCUS_RETRY_DELAY",
        "a server in trouble gets a rest",
        least=0,
    )
    frontier: str | None = knob(
        None,
        "address of a Redis server (redis://host:6379/0) or cluster (redis+cluster://host:6379) "
        "where any number of processes share a frontier (default: an unshared one in run.db)",
        "LANGFOCUS_FRONTIER",
    )
    shards: int = knob(
        1,
        "number of parts of a shared frontier, fixed for the crawl; a Redis Cluster has them on all"
        " of its servers",
        "LANGFOCUS_SHARDS",
        "one queue has the exact order; one server is enough for 480 pages/s",
        least=1,
        most=256,
    )
    crawl_name: str | None = knob(
        None,
        "name of the shared crawl (default: LANG-STRATEGY, such as de-focus)",
        "LANGFOCUS_CRAWL",
    )
    lease_s: float = knob(
        60.0,
        "seconds after which other workers of a shared crawl take over the URLs of a worker that "
        "died",
        "LANGFOCUS_LEASE",
        "longer than a download and its reading take",
        least=1,
    )
    keeps_links: bool = knob(
        False,
        "True: run.db keeps the links of every page, so that other strategies can be simulated on "
        "these pages",
        "LANGFOCUS_LINKS",
        "links take most of the space of run.db",
    )
    keeps_warc: bool = knob(
        True,
        "True: the run folder keeps all requests and answers in WARC 1.1 files (pages-*.warc.gz) "
        "with an index, except pages with noarchive; langfocus export makes texts of them",
        "LANGFOCUS_WARC",
        "texts, censuses and later extractors need the bytes; they cost 5 % of the speed",
    )
    dedup: tuple[Path, ...] = knob(
        (),
        "CDXJ indexes of other archives (.gz too), with commas between them: an answer whose body "
        "they have is kept as a revisit record, without the body",
        "LANGFOCUS_DEDUP",
        read=_index_files,
    )
    embeds_of_page: int = knob(
        300,
        "number of embedded files of a page, those of its style sheets and frames included",
        "LANGFOCUS_EMBEDS_PER_PAGE",
        "nearly all pages need fewer, and a page of a thousand would hold up its host",
        least=1,
    )
    embed_bytes: int = knob(
        10_000_000,
        "bytes of an embedded file (-a embeds=true); a larger file is not kept",
        "LANGFOCUS_EMBED_BYTES",
        "images, fonts and scripts are smaller, films are not; an endless file ends here",
        least=1,
    )
    embed_bytes_of_page: int = knob(
        50_000_000,
        "bytes of the embedded files of a page, those of files that were not kept included",
        "LANGFOCUS_EMBED_BYTES_PER_PAGE",
        "a page of some megabytes is large; five endless files use it up",
        least=1,
    )
    embeds_of_domain: int = knob(
        5_000,
        "number of embedded files that a registered domain serves, in a run",
        "LANGFOCUS_EMBEDS_PER_DOMAIN",
        "pages of strangers must not direct endless requests to a host",
        least=1,
    )
    embed_bytes_of_domain: int = knob(
        1_000_000_000,
        "bytes of the embedded files that a registered domain serves, in a run",
        "LANGFOCUS_EMBED_BYTES_PER_DOMAIN",
        "the traffic is paid by the domain's owner",
        least=1,
    )
    render: str | None = knob(
        None,
        "address of a browser's debugging port (http://127.0.0.1:9222), such as chromium "
        "--headless=new --remote-debugging-port=9222: pages that are empty without scripts, and "
        "are expected in the language, are read as the browser shows them; the crawl loads what "
        "they need (default: no script runs)",
        "LANGFOCUS_RENDER",
        read=_browser,
    )
    render_tabs: int = knob(
        4,
        "pages that LANGFOCUS_RENDER shows at once",
        "LANGFOCUS_RENDER_TABS",
        "a page takes some 100 MB of the browser's memory",
        least=1,
    )
    render_s: float = knob(
        60.0,
        "seconds after which a page is read as it is then; most pages are ready sooner",
        "LANGFOCUS_RENDER_TIMEOUT",
        "a page needs some files of its host, which gets one request a second",
        least=1,
    )
    document_bytes: int = knob(
        20_000_000,
        "bytes of a document (-a documents=true); a larger one is not read",
        "LANGFOCUS_DOCUMENT_BYTES",
        "reports and books with pictures are larger than pages; a larger file has mostly pictures",
        least=1,
    )
    random_state: int = knob(
        0,
        "number with which all random draws of a crawl begin",
        "LANGFOCUS_RANDOM_STATE",
        "the same draws each time, so that crawls can be compared",
        least=0,
    )
    url_model: Path | None = knob(
        None,
        "file of the URL model, or a plug-in (default: the one that ships)",
        "LANGFOCUS_URL_MODEL",
        parts=URL_MODELS,
    )
    fasttext: Path | None = knob(
        None,
        "model file of fastText (lid.176.ftz, GlotLID): pages in languages that the text model "
        "lacks are identified by it; -a lang takes these languages"
        " (default: the file that the environment variable of that name gives, if it is set)",
        "LANGFOCUS_FASTTEXT_MODEL",
    )
    geoip: Path | None = knob(
        None,
        "MMDB file with the countries of IP addresses (default: countries are not recorded)",
        "LANGFOCUS_GEOIP",
    )
    reads_sitemaps: bool = knob(
        False,
        "True: the sitemaps and feeds of hosts with a relevant page are fetched, too",
        "LANGFOCUS_SITEMAPS",
        "with the host cap they bring little, and the papers' strategies know links only",
    )
    patience_s: float = knob(
        1.0,
        "seconds for which free connections wait for a better URL before they fetch one that "
        "focus, svm or cctld does not expect in the language",
        "LANGFOCUS_PATIENCE",
        "a better URL often comes with the next pages",
        least=0,
    )
    readers: int | None = knob(
        None,
        "processes that read pages (language, links, scores) beside the network, after the first "
        "100 pages; 0 reads all pages in the crawl's own process"
        " (default: one fewer than there are processors, at least 1)",
        "LANGFOCUS_READERS",
        "one processor is left to the network",
        least=0,
        most=1000,
    )
    sample_hosts: int = knob(
        4000,
        "hosts of the sample web, about",
        "LANGFOCUS_SAMPLE_HOSTS",
        "enough for a comparison of 1,000 pages with ten of each host",
        least=1,
    )
    dashboard: int = knob(
        0,
        "port of 127.0.0.1 at which a crawl that runs shows itself: / for people, /live.json, and "
        "/metrics for Prometheus; 0 for none",
        "LANGFOCUS_DASHBOARD",
        "its figures are for the users of this machine, who may not all know of the crawl",
        least=0,
        most=65_535,
    )
    is_quiet: bool = knob(
        False,
        "True: print no table at the end of a crawl (the files are still written)",
        "LANGFOCUS_QUIET",
        "a crawl ends with its figures",
    )

    run_folder: Path | None = None
    seed_plugin: Plugin | None = None  # that the seeds are from
    brings_seeds: bool = False  # the caller queues them, even where the Web has seeds of its own
    bot: BotName = field(default_factory=BotName)
    signer: Signer | None = None
    retry_statuses: frozenset[int] = frozenset({408, 429, 500, 502, 503, 504, 522, 524})
    obeys_robots: bool = True
    keeps_cookies: bool = False
    first_answer_s: float = FIRST_ANSWER_S
    version: str = ""
    command: str = field(default="", compare=False)  # that asks for the same in a new folder

    @classmethod
    def read(
        cls, arguments: Mapping[str, object], settings: Mapping[str, object] | None = None
    ) -> "Config":
        """Return the configuration described by arguments and settings; raises `SettingError`.

        The keys of `arguments` are `-a` names, the keys of `settings` are `-s` names; undeclared
        settings are ignored. Only seed and host lists are loaded. With `seeds` of () the caller
        queues them.
        """
        arguments, settings = renamed(arguments), renamed(settings or {})
        for name in arguments:
            if name not in ARGUMENTS:
                near = get_close_matches(name, ARGUMENTS, n=1, cutoff=0.6)
                advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(ARGUMENTS)}"
                raise SettingError(f"-a {name}: no such argument; {advice}")
        if "hosts" not in arguments:
            arguments = {"lang": "", **arguments}
        values: dict[str, Any] = {
            name: value if value == () else ARGUMENTS[name].value(value)
            for name, value in arguments.items()
        }
        values |= {
            SETTINGS[name].name: SETTINGS[name].value(value)
            for name, value in settings.items()
            if name in SETTINGS
            and value is not None
            # An empty text unsets the option.
            and not (value == "" and SETTINGS[name].kind in (str, Path))
        }
        web = values.get("web", cls.web)
        if web in WEBS and (web == "archive") != ("archive" in values):
            raise SettingError("-a web=archive and -a archive=FILE.warc.gz go together")
        if "hosts" in values:
            return _census(values)
        if isinstance(plugin := values.get("seeds"), Plugin):
            seeds = _of_each(values["lang"], lambda lang: provided(plugin, lang))
            values |= {"seeds": seeds, "seed_plugin": plugin}
        if values.get("seeds") == ():
            values["brings_seeds"] = True
        elif "seeds" not in values:
            values["seeds"] = _of_each(values["lang"], lambda lang: _default_seeds(lang, web))
        config = cls(**values)
        if 0 < config.queue_slots < config.host_cap:
            raise SettingError(
                f"-a host_queue={config.host_queue}: less than host_cap, which is {config.host_cap}"
            )
        return config

    @property
    def plugins(self) -> list[Plugin]:
        """The plug-ins that the crawl uses."""
        found = [one.plugin(getattr(self, name)) for name, one in _KNOBS.items()]
        return [plugin for plugin in (*found, self.seed_plugin) if plugin is not None]

    @property
    def parts(self) -> str:
        """The paths of the installed plug-ins that a run is bound to; "" without any."""
        bound = [one.plugin(getattr(self, name)) for name, one in _KNOBS.items() if one.binds]
        named = (one for one in bound if one is not None and one.name != one.path)
        return ", ".join(f"{one.kind} {one.name}={one.path}" for one in named)

    def title(self, between: str = "-") -> str:
        """Return language and strategy, as in folders and messages; of a dotted path its end."""
        strategy = self.strategy.rpartition(":")[2]
        lang = "+".join(self.targets)
        return "census" if self.is_census else f"{lang}{between}{strategy}"

    @property
    def targets(self) -> tuple[str, ...]:
        """The target languages; () for a census."""
        return languages.codes_of(self.lang)

    @property
    def is_census(self) -> bool:
        """True if the portal pages of listed hosts are fetched, and no links are followed."""
        return self.hosts is not None

    def rest_s(self, failures: int, hold_s: float = 0.0) -> float:
        """Return the seconds for which a host rests after so many failures in a row.

        A Retry-After of `hold_s` seconds counts up to an hour.
        """
        return max(min(hold_s, _MOST_HOLD_S), self.retry_delay_s * failures)

    @property
    def has_one_version(self) -> bool:
        """True if a page known in the language is not fetched in others."""
        return self.versions == ONE_VERSION

    @property
    def pace_s(self) -> float:
        """The seconds between two requests at an address; no more than between those to a host."""
        return min(PACE_S, self.delay_s)

    @property
    def own_ports(self) -> tuple[int | None, ...]:
        """The ports of dashboard and browser, which no URL of a private host may name."""
        return self.dashboard or None, urlsplit(self.render or "").port

    @property
    def queue_slots(self) -> int:
        """The most URLs of a host that wait or got a request; 0 is any number."""
        return queue_slots(self.host_cap) if self.host_queue is None else self.host_queue

    @property
    def domain_slots(self) -> int:
        """The cap of a registered domain; 0 is no cap."""
        return DOMAIN_HOSTS * self.host_cap if self.domain_cap is None else self.domain_cap

    @property
    def address_slots(self) -> int:
        """The cap of an IP address; 0 is no cap."""
        return ADDRESS_HOSTS * self.host_cap if self.address_cap is None else self.address_cap

    def seed_batches(self) -> Iterator[Sequence[str]]:
        """Yield the normalised URLs that the crawl starts from, few of a census at a time.

        The rest of a `SeedFile` is read later.
        """
        if self.hosts is None:
            yield first_of(self.seeds)
            return
        urls = self.hosts.urls()
        while batch := tuple(islice(urls, _CENSUS_BATCH)):
            yield batch


def _declared() -> dict[str, Knob]:
    """Return the knobs of `Config` by field."""
    found = {}
    for one in fields(Config):
        if "knob" in one.metadata:
            kinds: tuple[type, ...] = (bool, int, float, str)
            kind = next((kind for kind in kinds if one.type in (kind, kind | None)), Path)
            declared: Knob = one.metadata["knob"]
            found[one.name] = declared._replace(name=one.name, kind=kind, default=one.default)
    return found


_KNOBS: Final = _declared()

IDENTITY: Final = (*(name for name, one in _KNOBS.items() if one.binds), "shared", "parts")
"""Recorded options of a run that must not change on resumption."""

AGREED: Final = (*(name for name, one in _KNOBS.items() if one.agreed), "obeys_robots")
"""Further options with equal values for all workers of a shared crawl."""

GOALS: Final = tuple(name for name, one in _KNOBS.items() if one.goal)
"""The options that end a crawl."""

ARGUMENTS: Final = {name: one for name, one in _KNOBS.items() if not one.setting}
"""The declarations of the arguments, by name."""

SETTINGS: Final = {one.setting: one for one in _KNOBS.values() if one.setting}
"""The declarations of the settings, by name."""

RENAMED: Final[dict[str, str]] = {}
"""Former arguments and settings -> their names now; they work for one minor version more."""


def renamed(given: Mapping[str, object]) -> dict[str, object]:
    """Return options under their names now; a line of the log has each former name."""
    for name in RENAMED.keys() & given.keys():
        now = RENAMED[name]
        _log.warning("%s is now %s; the next minor version removes the former name", name, now)
    return {RENAMED.get(name, name): value for name, value in given.items()}


def _census(values: dict[str, Any]) -> Config:
    """Return the configuration of a census, a crawl of one page per host."""
    for name in values:
        if name in ARGUMENTS and not ARGUMENTS[name].census:
            known = ", ".join(name for name, one in ARGUMENTS.items() if one.census)
            raise SettingError(f"-a {name}: not with -a hosts, which takes {known}")
    return Config(
        strategy="bfs",
        filter="none",
        host_cap=_CENSUS_STEPS,
        domain_cap=0,
        address_cap=0,
        **values,
    )


def _of_each(target: str, seeds_of: Callable[[str], Seeds]) -> Seeds:
    """Return the seeds of all languages of a target, each once."""
    first, *others = map(seeds_of, languages.codes_of(target))
    if not others:
        return first
    return tuple(dict.fromkeys(chain(first_of(first), *map(first_of, others))))


def _default_seeds(lang: str, web: str) -> Seeds:
    """Return the language's own seed URLs; () if the Web has its own seeds."""
    if web == "sample" or web not in WEBS:
        return ()
    if web == "archive":
        raise SettingError("-a seeds is missing: a crawl of an archive needs a URL to start from")
    path = SEED_FOLDER / f"{lang}.txt"
    if not path.exists():
        raise SettingError(
            f"{languages.name(lang)} has no seed list ({path.name}); give -a seeds=FILE or URLs"
        )
    return read_seed_file(path, str(path))
