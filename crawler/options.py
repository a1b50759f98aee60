"""The arguments of a crawl, checked before anything begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from classifiers import languages
from classifiers.pages.methods import DEFAULT_METHOD
from classifiers.pages.methods import names as page_methods
from crawler.errors import SettingError
from crawler.strategies import FILTERS, ORDERINGS
from crawler.url import normalise
from crawler.web.opening import KINDS

SEED_FOLDER = Path(__file__).resolve().parent.parent / "seeds"

ARGUMENTS = {
    "lang": "language to look for: a code (de), a tag (de-AT) or a name (German); required",
    "strategy": f"which of the queue is fetched next: {', '.join(ORDERINGS)} (default svm; cctld "
    "or soft for a language that the URL model does not know)",
    "filter": f"which links enter the queue: {', '.join(FILTERS)} (default none)",
    "tolerance": "T, the pages in other languages that a server or directory may give before it "
    "counts as irrelevant (default 10)",
    "host_cap": "URLs of one host that may enter the queue and be crawled, 0 for any number "
    "(default 10)",
    "directory_cap": "URLs of one directory that may enter the queue, 0 for any number (default 0)",
    "directory_depth": "how many directories of a path make a directory, for its cap and for the "
    "directory filter (default 1)",
    "identify": f"what tells the language of a page: {', '.join(page_methods())} "
    f"(default {DEFAULT_METHOD})",
    "seeds": "where to start: a file with one URL a line, or URLs with commas between them "
    "(default seeds/LANG.txt, on the sample web its own)",
    "pages": "stop after exactly this many pages (default: when nothing is queued)",
    "web": "where pages come from: live, sample (embedded, no network) or archive (default live)",
    "archive": "the WARC file that web=archive replays",
}
"""Spider arguments and what they mean."""


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """What a person asked for. `strategy` None: the best that there is for the language."""

    lang: str
    strategy: str | None = None
    filter: str = "none"
    tolerance: int = 10
    host_cap: int = 10
    directory_cap: int = 0
    directory_depth: int = 1
    identify: str = DEFAULT_METHOD
    seeds: tuple[str, ...] = ()
    pages: int | None = None
    web: str = "live"
    archive: Path | None = None

    @classmethod
    def read(cls, arguments: Mapping[str, str]) -> "CrawlOptions":
        """Return the options that spider arguments describe; raises `SettingError`."""
        for name in arguments:
            if name not in ARGUMENTS:
                raise SettingError(f"-a {name}: no such argument; there are {', '.join(ARGUMENTS)}")
        web = _choice(arguments, "web", KINDS, "live")
        archive = arguments.get("archive")
        if (web == "archive") != (archive is not None):
            raise SettingError("-a web=archive and -a archive=FILE.warc.gz go together")
        lang = _language(arguments.get("lang"))
        return cls(
            lang=lang,
            strategy=_choice(arguments, "strategy", ORDERINGS, None),
            filter=_choice(arguments, "filter", FILTERS, "none") or "none",
            tolerance=_number(arguments, "tolerance", 10, least=0),
            host_cap=_number(arguments, "host_cap", 10, least=0),
            directory_cap=_number(arguments, "directory_cap", 0, least=0),
            directory_depth=_number(arguments, "directory_depth", 1, least=1),
            identify=_choice(arguments, "identify", page_methods(), None) or DEFAULT_METHOD,
            seeds=_seeds(arguments.get("seeds"), lang, web or "live"),
            pages=_number(arguments, "pages", 0, least=1) if "pages" in arguments else None,
            web=web or "live",
            archive=Path(archive) if archive else None,
        )


def _language(tag: str | None) -> str:
    if not tag:
        raise SettingError("-a lang is missing: which language is looked for? (-a lang=de)")
    code = languages.canonical(tag)
    if code is None:
        raise SettingError(f"-a lang={tag}: no such language; give a code (de) or a name (German)")
    return code


def _choice(
    arguments: Mapping[str, str], name: str, choices: tuple[str, ...], default: str | None
) -> str | None:
    value = arguments.get(name, default)
    if value is not None and value not in choices:
        raise SettingError(f"-a {name}={value}: no such {name}; there are {', '.join(choices)}")
    return value


def _number(arguments: Mapping[str, str], name: str, default: int, *, least: int) -> int:
    value = arguments.get(name, str(default))
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if name in arguments and number < least:
        raise SettingError(f"-a {name}={value}: a whole number of at least {least} is needed")
    return number


def _seeds(value: str | None, lang: str, web: str) -> tuple[str, ...]:
    """Return the seed URLs; empty only where the web has seeds of its own."""
    if value is None and web == "sample":
        return ()
    if value is None and web == "archive":
        raise SettingError("-a seeds is missing: a crawl of an archive needs a URL to start from")
    if value is not None and value.lower().startswith(("http://", "https://")):
        return _urls(value.split(","), "-a seeds")
    path = Path(value) if value is not None else SEED_FOLDER / f"{lang}.txt"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        if value is None:
            raise SettingError(
                f"{languages.name(lang)} has no seed list ({path.name}); give -a seeds=FILE or URLs"
            ) from error
        raise SettingError(f"-a seeds={value}: cannot be read: {error}") from error
    return _urls([line for line in lines if not line.lstrip().startswith("#")], str(path))


def _urls(texts: list[str], origin: str) -> tuple[str, ...]:
    urls = []
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            continue
        url = normalise(text.strip())
        if url is None:
            raise SettingError(f"{origin}: URL {number} is not an http(s) URL: {text.strip()[:80]}")
        urls.append(url)
    if not urls:
        raise SettingError(f"{origin}: no URL to start from")
    return tuple(dict.fromkeys(urls))
