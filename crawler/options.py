"""The arguments of a crawl, checked before anything begins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from classifiers import languages
from classifiers.errors import LanguageError
from classifiers.pages.methods import DEFAULT_METHOD
from classifiers.pages.methods import names as page_methods
from classifiers.shipped import shipped_folder
from crawler.declaration import Declared, declarations
from crawler.errors import SettingError
from crawler.frontier.rules import HOST_QUEUE, queue_slots
from crawler.frontier.slots import ADDRESS_HOSTS, DOMAIN_HOSTS
from crawler.seeds import read_seed_file, read_seeds
from crawler.sources.opening import KINDS
from crawler.strategies import (
    DEFAULT_FILTER,
    DIRECTORY_DEPTH,
    FILTERS,
    ORDERINGS,
    TOLERANCE,
)

SEED_FOLDER = shipped_folder("seeds", "seeds")

ONLY_EXPECTED = "only"
"""The value of `-a expected` for a crawl that leaves out all URLs that it doubts."""


def _language(tag: str, label: str) -> str:
    if not tag:
        raise SettingError(f"{label} is missing: give the target language ({label}=de)")
    try:
        return languages.understood(tag)
    except LanguageError as error:
        raise SettingError(f"{label}={error}") from error


def _share(text: str, label: str) -> float:
    value = _number(text)
    if not 0 < value <= 1:
        raise SettingError(f"{label}={text}: a number above 0 and up to 1 is needed")
    return value


def _hours(text: str, label: str) -> float:
    value = _number(text)
    if not 0 < value < float("inf"):
        raise SettingError(f"{label}={text}: a number above 0 is needed")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """The spider arguments of a crawl, each declared once.

    `strategy` None: `focus`. `host_queue`, `domain_cap` and `address_cap` None: they follow from
    `host_cap`, so a crawl without a host cap has no such limits either. `seeds` (): the seeds of
    the Web that is crawled. The goals that end a crawl (`pages`, `relevant`, `words`, `expected`,
    `hours`) are None if the crawl does not have them; the first that is reached ends it
    (`crawler.goals`).
    """

    lang: Annotated[
        str,
        Declared(
            "target language: a code (de), a tag (de-AT) or a name (German); required",
            read=_language,
        ),
    ]
    strategy: Annotated[
        str | None,
        Declared(
            "which queued URL is fetched next",
            default_help="focus",
            choices=ORDERINGS,
        ),
    ] = None
    filter: Annotated[str, Declared("which links enter the queue", choices=FILTERS)] = (
        DEFAULT_FILTER
    )
    tolerance: Annotated[
        int,
        Declared(
            "T, the pages in other languages after which a server or directory without a relevant "
            "page counts as irrelevant",
            least=0,
        ),
    ] = TOLERANCE
    host_cap: Annotated[
        int,
        Declared(
            "different URLs of one host that ever get a request, whatever is answered, 0 for any "
            "number; a URL of another spelling of the same page is the same URL",
            least=0,
        ),
    ] = 10
    host_queue: Annotated[
        int | None,
        Declared(
            "URLs of one host that may wait or get a request, 0 for any number: a crawl fetches "
            "the best host_cap of them; host_queue equal to host_cap fetches the first that are "
            "found",
            default_help=f"{HOST_QUEUE}, or host_cap if that is more; 0 with host_cap=0",
            least=0,
        ),
    ] = None
    domain_cap: Annotated[
        int | None,
        Declared(
            "URLs of one registered domain that may get a request, 10 more for each of its "
            "relevant pages, 0 for any number; beyond a tenth of them others go first",
            default_help=f"{DOMAIN_HOSTS} times host_cap",
            least=0,
        ),
    ] = None
    address_cap: Annotated[
        int | None,
        Declared(
            "URLs from one IP address (of IPv6: one /64) that may get a request, 10 more for each "
            "of its relevant pages, 0 for any number; beyond a tenth of them others go first; "
            "behind a proxy addresses are not known",
            default_help=f"{ADDRESS_HOSTS} times host_cap",
            least=0,
        ),
    ] = None
    directory_depth: Annotated[
        int,
        Declared(
            "path segments that make a directory, for the directory filter",
            least=1,
        ),
    ] = DIRECTORY_DEPTH
    identify: Annotated[
        str, Declared("method that identifies the language of a page", choices=page_methods())
    ] = DEFAULT_METHOD
    seeds: Annotated[
        tuple[str, ...],
        Declared(
            "where to start: a file with one URL per line, or URLs with commas between them",
            default_help="seeds/LANG.txt; the sample web has its own",
            read=read_seeds,
        ),
    ] = ()
    pages: Annotated[
        int | None,
        Declared(
            "stop after exactly this many pages",
            default_help="stop when nothing is queued",
            least=1,
        ),
    ] = None
    relevant: Annotated[
        int | None,
        Declared("stop after exactly this many pages in the language", least=1),
    ] = None
    words: Annotated[
        int | None,
        Declared(
            "stop with the page that brings the words in the language to this number, counted in "
            "the text by which a page is identified: its first 2,000 characters, with menus and "
            "copies; a text of langfocus export has fewer words, that of a long page more",
            least=1,
        ),
    ] = None
    expected: Annotated[
        str | None,
        Declared(
            "fetch only the URLs that focus, svm or cctld expects in the language, and the seeds; "
            "stop when no other is queued",
            choices=(ONLY_EXPECTED,),
        ),
    ] = None
    hours: Annotated[
        float | None,
        Declared(
            "begin no request after this many hours of crawling, all sessions together", read=_hours
        ),
    ] = None
    since: Annotated[
        Path | None,
        Declared(
            "folder of an earlier run: its pages are asked for again, those that have most likely "
            "changed first, and the report tells what changed; then new links are followed"
        ),
    ] = None
    block: Annotated[
        Path | None,
        Declared(
            "file of what is never fetched, a line each: a host (example.org), a name with all "
            "names below it (*.example.org), or either with the beginning of paths "
            "(example.org/private/, */login); it is read again when it changes"
        ),
    ] = None
    web: Annotated[
        str,
        Declared("source of the pages (sample is embedded, without a network)", choices=KINDS),
    ] = "live"
    archive: Annotated[
        Path | None,
        Declared(
            "the WARC files that web=archive replays: paths with commas between them, each a WARC "
            "file, a folder, a pattern (crawl/*.warc.gz) or a WACZ file"
        ),
    ] = None

    @classmethod
    def read(cls, arguments: Mapping[str, str]) -> "CrawlOptions":
        """Return the options that spider arguments describe; raises `SettingError`."""
        values = _parsed({"lang": "", **arguments})
        web = values.get("web", OPTIONS["web"].default)
        if (web == "archive") != ("archive" in values):
            raise SettingError("-a web=archive and -a archive=FILE.warc.gz go together")
        if "seeds" not in values:
            values["seeds"] = _default_seeds(values["lang"], web)
        options = cls(**values)
        if 0 < options.queue_slots < options.host_cap:
            raise SettingError(
                f"-a host_queue={options.host_queue}: less than host_cap, which is "
                f"{options.host_cap}"
            )
        return options

    @property
    def is_census(self) -> bool:
        """True if the portal pages of listed hosts are fetched, and no links are followed."""
        return False

    @property
    def listed(self) -> dict[str, str]:
        """The values of `meta` that tell which hosts a census has; {} for a crawl."""
        return {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the arguments that a user wants to know at the start."""
        return ()

    def seed_batches(self) -> Iterator[Sequence[str]]:
        """Yield the normalised URLs that the crawl starts from."""
        yield self.seeds

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


OPTIONS = declarations(CrawlOptions)
"""The declaration of each spider argument."""

ARGUMENTS = {name: option.manual for name, option in OPTIONS.items()}
"""The help of each spider argument."""


def _parsed(arguments: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the arguments that were given."""
    for name in arguments:
        if name not in OPTIONS:
            raise SettingError(f"-a {name}: no such argument; there are {', '.join(OPTIONS)}")
    return {
        name: option.parse(arguments[name], f"-a {name}")
        for name, option in OPTIONS.items()
        if name in arguments
    }


def _default_seeds(lang: str, web: str) -> tuple[str, ...]:
    """Return the language's own seed URLs; () if the Web has its own seeds."""
    if web == "sample":
        return ()
    if web == "archive":
        raise SettingError("-a seeds is missing: a crawl of an archive needs a URL to start from")
    path = SEED_FOLDER / f"{lang}.txt"
    if not path.exists():
        raise SettingError(
            f"{languages.name(lang)} has no seed list ({path.name}); give -a seeds=FILE or URLs"
        )
    return read_seed_file(path, str(path))
