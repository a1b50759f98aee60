"""The sample web: it answers requests from a seed instead of a network."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from langfocus.crawler.errors import SettingError
from langfocus.crawler.sources.contract import NO_HEADERS, Answer, Unreachable
from langfocus.crawler.sources.sample.hosts import HUBS, Population, SampleHost, dice, load_texts
from langfocus.crawler.sources.sample.sites import Entry, Sites, write_calendar, write_page

CALENDAR = re.compile(r"/calendar/(\d{4,8})/(0[1-9]|1[0-2])")
ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
FILES = {
    "pdf": ("application/pdf", b"%PDF-1.4\n%%EOF\n"),
    "jpg": ("image/jpeg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\xff\xd9"),
    "css": ("text/css", b"body { margin: 2em auto; max-width: 40em }\n"),
    "ico": ("image/x-icon", b"\x00\x00\x01\x00\x00\x00"),
}
PATHS_OF_FILES = re.compile(r"/(?:files/.+\.(pdf)|img/.+\.(jpg)|style\.(css)|favicon\.(ico))")
ERRORS = {"missing": 404, "gone": 410, "broken": 500, "busy": 503}
MOVES = {"moved": 301, "found": 302, "chain": 301, "away": 301, "loop": 302}
STEP = "-2"  # ends the path of a redirect's second step
RULES = {
    "open": "User-agent: *\nDisallow:\n",
    "parts": "User-agent: *\nDisallow: /private/\nDisallow: /*/private/\nDisallow: /search\n",
    "bom": "\ufeffUser-agent: *\nDisallow: /search\n",
    "delay": "User-agent: *\nCrawl-delay: 1\nDisallow: /search\n",
    "closed": "User-agent: *\nDisallow: /\n",
}


@lru_cache(maxsize=2)
def _population(seed: int, hosts: int, secure: float) -> Population:
    """Return a population, which never changes; crawls of one process share it."""
    return Population(load_texts(), seed, hosts, secure)


class SampleWeb:
    """A Web generated from a seed: about ten pages per host, each generated on request.

    The number of hosts differs from `hosts` by a few. `secure` is the share of hosts with https
    only; use 0 for pages through a plain HTTP proxy. The answer of a URL never changes, so a 5xx is
    permanent. Raises `SettingError` for an impossible number of hosts or share.
    """

    def __init__(self, seed: int = 1, hosts: int = 600, secure: float = 0.3) -> None:
        if hosts < 1 or not 0 <= secure <= 1:
            raise SettingError(
                f"sample web of {hosts} hosts, {secure} of them https: "
                "give at least 1 host and a share between 0 and 1"
            )
        self.seed = seed
        self._texts = load_texts()
        self._population = _population(seed, hosts, secure)
        self._sites = Sites(self._population, self._texts, seed)

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages of the pages, the most frequent first."""
        return tuple(self._texts)

    @property
    def hosts(self) -> tuple[SampleHost, ...]:
        """All answering hosts, grouped by the language of their home page."""
        return tuple(self._population.hosts)

    def seeds(self, language: str) -> list[str]:
        """Return three home pages in a language, from which all its pages can be reached.

        Raises `SettingError` for a language outside the sample web.
        """
        hosts = self._population.of_language.get(language)
        if hosts is None:
            known = ", ".join(sorted(self._texts))
            raise SettingError(
                f"the sample web has no pages in {language}: {language!r} is none of {known}"
            )
        return [f"{host.root}/" for host in hosts[:HUBS]]

    def truth(self) -> Iterator[tuple[str, str]]:
        """Yield every HTML page with status 200, with the language of its text.

        Calendar months (an endless series) and pages without text are skipped. Pages forbidden by
        robots.txt are included.
        """
        for host in self._population.hosts:
            for page in self._sites.of(host).pages:
                yield host.root + page.path, page.language

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return the answer to a GET of the URL; `headers` change nothing. Raises `Unreachable`."""
        scheme, name, path = _split(url)
        host = self._population.by_name.get(name)
        if host is None and (host := self._population.by_alias.get(name)):
            return _note(host, 301, host.root + path)
        if host is None:
            raise Unreachable(self._population.dead.get(name, "dns"), url)
        if scheme == "http" and host.secure:
            return _note(host, 301, host.root + path)
        if scheme != "http" and not host.secure:
            raise Unreachable("refused", url)
        return self._on_host(host, path)

    def _on_host(self, host: SampleHost, path: str) -> Answer:
        if path == "/robots.txt":
            rules = RULES.get(host.robots)
            return _answer(host, "text/plain", rules.encode()) if rules else _note(host, 404)
        if entry := self._sites.of(host).entries.get(path):
            return self._of_entry(host, entry)
        if found := PATHS_OF_FILES.fullmatch(path):
            return _answer(host, *FILES[found[found.lastindex or 1]])
        if host.calendar and (found := CALENDAR.fullmatch(path)):
            text = self._texts[host.languages[0]]
            year, month = int(found[1]), int(found[2])
            return _answer(host, *write_calendar(host, year, month, text, self.seed))
        return self._of_near_path(host, path)

    def _of_entry(self, host: SampleHost, entry: Entry) -> Answer:
        kind = entry.kind
        if kind in ERRORS:
            return _note(host, ERRORS[kind])
        if kind in MOVES:
            return _note(host, MOVES[kind], self._target(host, entry))
        if kind == "pdf":
            return _answer(host, *FILES["pdf"])
        if kind in ("empty", "binary"):
            chance = dice(self.seed, "bytes", host.name, entry.path)
            return _answer(host, "text/html", chance.randbytes(2000 if kind == "binary" else 0))
        site, links = self._sites.of(host), self._sites.links(host, entry)
        return _answer(host, *write_page(site, entry, links, self._texts, self.seed))

    def _of_near_path(self, host: SampleHost, path: str) -> Answer:
        """Answer a path with one slash too many or too few, or the second step of a redirect."""
        entries = self._sites.of(host).entries
        for near in (f"{path}/", path.removesuffix("/")):
            if near in entries:
                return _note(host, 301, near)
        entry = entries.get(path.removesuffix(STEP))
        if entry and entry.kind == "loop":
            return _note(host, 302, entry.path)
        if entry and entry.kind == "chain":
            return _note(host, 302, self._page_for(host, entry).path)
        return _note(host, 404)

    def _target(self, host: SampleHost, entry: Entry) -> str:
        if entry.kind in ("chain", "loop"):
            return entry.path + STEP
        if entry.kind == "away":
            hosts = self._population.of_language[entry.language]
            return f"{dice(self.seed, 'away', host.name, entry.path).choice(hosts).root}/"
        path = self._page_for(host, entry).path
        return path if entry.number % 2 else host.root + path

    def _page_for(self, host: SampleHost, entry: Entry) -> Entry:
        return dice(self.seed, "to", host.name, entry.path).choice(self._sites.of(host).pages)


def _split(url: str) -> tuple[str, str, str]:
    """Return scheme, host name, and path with query, with escapes in upper case."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", "", ""
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.scheme, parts.hostname or "", ESCAPE.sub(lambda found: found[0].upper(), path)


def _answer(
    host: SampleHost, content_type: str, body: bytes, status: int = 200, *more: tuple[str, str]
) -> Answer:
    headers = ("Server", "nginx"), ("Content-Type", content_type), *more
    return Answer(status, (*headers, ("Content-Length", str(len(body)))), body, host.ip)


def _note(host: SampleHost, status: int, location: str = "") -> Answer:
    """Return an error, or a redirect to a `location`."""
    content = str(status) if location else f"<h1>{status}</h1>"
    body = f"<html><head><title>{status}</title></head><body>{content}</body></html>\n"
    more = [("Location", location)] if location else []
    return _answer(host, "text/html", body.encode(), status, *more)
