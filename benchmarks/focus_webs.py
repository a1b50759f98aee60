"""Webs whose truth is known, for `benchmarks.focus`: generated ones, and an archive.

A generated web (`benchmarks.proxyweb`) is `plain-SEED` or `hard-SEED`. It is the program's own web,
with its redirects, faults and robots.txt files, without its proxy. `unseen-plain-SEED` and
`unseen-hard-SEED` are made of hosts that the URL model of their crawls never saw
(`benchmarks.focus_unseen`), `mirror-plain-SEED` and `mirror-hard-SEED` of the other hosts. `docs`
is the archive of documentation pages; a page of it is in the language that its text and
declarations tell. For `docs-directories` it is in the language of its directory, although some
pages there are not translated.
"""

import csv
import html
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Protocol
from urllib.parse import urlsplit

from benchmarks.focus_unseen import MIRROR, UNSEEN, unseen_model, unseen_urls
from benchmarks.proxyweb import PROGRAM, SHARED, TEXTS, URLS
from crawler.errors import ArchiveError
from crawler.politeness import directives
from crawler.reading import Download, Read, header_links, sift
from crawler.sources.archive import ArchiveWeb
from crawler.sources.contract import Answer, Unreachable
from crawler.url import fingerprint, host_of, normalise

HOSTS = 12_000
SEEDS = 3
HOST_CAP = 10
ARCHIVE = SHARED / "data" / "docs.warc.gz"
DIRECTORIES = SHARED / "data" / "docs.tsv"
PORTAL = "http://portal.invalid/"
_HREF = re.compile(r'href="(https?://[^"]*)"')
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_MOVES = 5
_BODIES = 500
"""The most bodies of a generated web that stay in memory."""


class KnownWeb(Protocol):
    """A web whose pages, links and languages can be asked for without a crawl.

    `kind` is its name without a seed. `url_model` is the file of the URL model for its crawls, None
    for the one that ships.
    """

    name: str
    kind: str
    host_cap: int
    url_model: Path | None

    def seeds(self, lang: str) -> Sequence[str]:
        """Return the URLs from which a crawl for a language starts."""

    def respond(self, url: str) -> Answer:
        """Return the answer to a GET; raises `Unreachable`."""

    def page_at(self, url: str) -> str | None:
        """Return the URL of the page that a URL leads to; None for errors and forbidden URLs.

        It is the URL itself, or the target of its redirects.
        """

    def is_forbidden(self, url: str) -> bool:
        """Return True if robots.txt forbids a URL."""

    def links(self, url: str) -> Sequence[str]:
        """Return the URLs that a crawl may follow from a page, normalised, each once."""

    def language(self, url: str) -> str | None:
        """Return the language of the page with this URL, None if no page has it."""

    def most_relevant(self, lang: str) -> int:
        """Return the most relevant pages that the host cap allows, reachable or not."""


def download_of(url: str, answer: Answer) -> Download:
    """Return an answer as the download that a crawl over HTTP would make of it."""

    def all_of(name: str) -> list[str]:
        return [value for key, value in answer.headers if key.lower() == name]

    named = ((name, value) for name in directives.HEADERS for value in all_of(name.lower()))
    return Download(
        url,
        answer.status,
        answer.body,
        answer.header("Content-Type"),
        answer.header("Content-Language"),
        answer.header("Location"),
        ip=answer.ip,
        statements=directives.of_headers(named),
        links=header_links(all_of("link")),
    )


@cache
def _program() -> ModuleType:
    spec = spec_from_file_location("proxyweb_program", PROGRAM)
    if spec is None or spec.loader is None:
        sys.exit(f"skipped: {PROGRAM} is not here")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Bodies(dict[object, object]):
    """A cache that is emptied when it is full."""

    def __setitem__(self, key: object, value: object) -> None:
        if len(self) >= _BODIES:
            self.clear()
        super().__setitem__(key, value)


class _Blank(dict[object, object]):
    """A cache that has an empty page for each key, so that no page is made to learn its status."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: object) -> object:
        return 200, [], b""


class GeneratedWeb:
    """A web of `benchmarks.proxyweb` in this process; its truth is the language it was made in."""

    def __init__(
        self, name: str, urls: Path = URLS, url_model: Path | None = None, texts: Path = TEXTS
    ) -> None:
        """Make the web `[HALF-]plain-SEED` or `[HALF-]hard-SEED` of labelled URLs and texts."""
        self.name = name
        self.kind, _, seed = name.rpartition("-")
        self.host_cap = HOST_CAP
        self.url_model = url_model
        program = _program()
        is_hard = self.kind.endswith("hard")
        self._web = program.Web(str(urls), str(texts), hosts=HOSTS, seed=int(seed), hard=is_hard)
        self._server = program.Proxy(self._web, None, _Bodies(), 0)
        self._statuses = program.Proxy(self._web, None, _Blank(), 0)
        self._pages: dict[str, str | None] = {}
        self._links: dict[str, tuple[str, ...]] = {}

    def seeds(self, lang: str) -> Sequence[str]:
        """Return three home pages, those that the web itself proposes."""
        found: list[str] = self._web.home_pages(lang, SEEDS)
        return found

    def respond(self, url: str) -> Answer:
        """Return the answer of the program's proxy."""
        status, headers, body = self._server.respond(*_parts(url))
        return Answer(status, tuple(headers), body)

    def page_at(self, url: str) -> str | None:
        """Return the URL of the page that a URL leads to."""
        if url not in self._pages:
            self._pages[url] = self._page_at(url)
        return self._pages[url]

    def _page_at(self, url: str, moves: int = 0) -> str | None:
        host, path = _parts(url)
        if host not in self._web.of or self.is_forbidden(url):
            return None
        status, headers, _ = self._statuses.respond(host, path)
        if status in _REDIRECTS and moves < _MOST_MOVES:
            target = normalise(dict(headers)["Location"])
            return self._page_at(target, moves + 1) if target else None
        return url if status == 200 else None

    def is_forbidden(self, url: str) -> bool:
        """Return True if robots.txt forbids a URL."""
        host, path = _parts(url)
        return host in self._web.of and bool(self._web.forbidden(self._web.of[host], path))

    def links(self, url: str) -> Sequence[str]:
        """Return the links in the markup of a page."""
        if url not in self._links:
            _, _, body = self._web.page(*self._web.page_of[_parts(url)])
            found = _HREF.findall(body.decode("ascii", "replace"))
            self._links[url] = tuple(sift([html.unescape(link) for link in found]).wanted)
        return self._links[url]

    def language(self, url: str) -> str | None:
        """Return the language in which a page was made."""
        place = self._web.page_of.get(_parts(url))
        return None if place is None else self._web.hosts[place[0]][3][place[1]]

    def most_relevant(self, lang: str) -> int:
        """Return the most relevant pages that the host cap allows, reachable or not."""
        urls = (
            f"http://{name}{path}"
            for name, _, paths, langs in self._web.hosts
            for path, told in zip(paths, langs, strict=True)
            if told == lang
        )
        return _capped(self, urls)


class DocsWeb:
    """The archive of documentation pages, entered at its portal, without a host cap."""

    def __init__(self, name: str, read: Read) -> None:
        """Open `docs` or `docs-directories`; `read` reads its pages."""
        self.name = self.kind = name
        self.host_cap = 0
        self.url_model: Path | None = None
        self._read = read
        self._web = ArchiveWeb(ARCHIVE)
        self._directories: dict[str, str] = {}
        if name == "docs-directories":
            with DIRECTORIES.open(encoding="utf-8", newline="") as file:
                rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
                told = {normalise(row["url"]): row["directory_lang"] for row in rows}
            self._directories = {url: lang for url, lang in told.items() if url}
        self._facts: dict[str, tuple[str | None, tuple[str, ...]]] = {}

    def seeds(self, lang: str) -> Sequence[str]:
        """Return the portal, whatever the language."""
        return [PORTAL]

    def respond(self, url: str) -> Answer:
        """Return the archived answer."""
        return self._web.respond(url)

    def page_at(self, url: str) -> str | None:
        """Return the URL of the page that a URL leads to."""
        for _ in range(_MOST_MOVES):
            try:
                answer = self._web.respond(url)
            except (Unreachable, ArchiveError):
                return None
            if answer.status not in _REDIRECTS:
                return url if answer.status == 200 else None
            target = normalise(answer.header("Location") or "", url)
            if target is None:
                return None
            url = target
        return None

    def is_forbidden(self, url: str) -> bool:
        """Return False: the archive has no robots.txt."""
        return False

    def links(self, url: str) -> Sequence[str]:
        """Return the links that a crawl reads in a page."""
        return self._facts_of(url)[1]

    def language(self, url: str) -> str | None:
        """Return the language of a page: by its directory or as it is identified."""
        if self._directories:
            return self._directories.get(url)
        return self._facts_of(url)[0]

    def most_relevant(self, lang: str) -> int:
        """Return the number of relevant pages in the archive."""
        urls = filter(None, map(normalise, self._web.urls()))
        return _capped(self, (url for url in urls if self.language(url) == lang))

    def _facts_of(self, url: str) -> tuple[str | None, tuple[str, ...]]:
        if url not in self._facts:
            reading = self._read(download_of(url, self._web.respond(url)), ())
            self._facts[url] = reading.language, tuple(sift(reading.links).wanted)
        return self._facts[url]


def _capped(web: KnownWeb, urls: Iterable[str]) -> int:
    """Return the number of these relevant URLs that are pages, at most the cap of each host."""
    pages: dict[str, set[int]] = {}
    for url in urls:
        if web.page_at(url) == url:
            pages.setdefault(host_of(url), set()).add(fingerprint(url))
    return sum(min(len(found), web.host_cap or len(found)) for found in pages.values())


def _parts(url: str) -> tuple[str, str]:
    """Return host and path of a URL, as the program's proxy tells them apart."""
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), (parts.path or "/") + (
        f"?{parts.query}" if parts.query else ""
    )


def open_known(name: str, read: Callable[[str], Read], folder: Path) -> KnownWeb:
    """Return the web with this name; `read(name)` gives the reader of its pages.

    The model of unseen webs is kept in a folder. Ends the program for a name of no web.
    """
    if name in ("docs", "docs-directories"):
        return DocsWeb(name, read("docs"))
    if re.fullmatch(r"(plain|hard)-\d+", name):
        return GeneratedWeb(name)
    half, _, _ = name.partition("-")
    if re.fullmatch(rf"({UNSEEN}|{MIRROR})-(plain|hard)-\d+", name):
        return GeneratedWeb(name, unseen_urls(folder, half), unseen_model(folder, half))
    sys.exit(f"{name}: no such web; there are [unseen-]plain-1, [unseen-]hard-1, docs, ...")
