"""The pages and other answers of sample web hosts, generated at the first request.

Their HTML has the faults of real pages.
"""

from collections.abc import Iterator, Sequence
from html import escape
from random import Random
from typing import NamedTuple
from urllib.parse import quote, unquote

from langfocus.crawler.sources.sample.hosts import Population, SampleHost, Text, dice, pick

FANOUT = 5  # number of children of a page
DIRECTORIES = {"split": "/{}/", "deep": "/docs/{}/"}  # of a language, by the layout of the host
ODDITIES = {
    "moved": 22.0,  # 301 to a page of this host
    "found": 12.0,  # 302 to a page of this host
    "chain": 5.0,  # two redirects in a row
    "away": 8.0,  # 301 to another host
    "loop": 3.0,  # two redirects to each other
    "missing": 20.0,
    "gone": 5.0,
    "broken": 5.0,
    "busy": 4.0,
    "empty": 5.0,
    "binary": 3.0,
    "pdf": 8.0,  # without an extension
}
ODD_SHARE = 0.22  # relative to a host's pages, at least for the larger hosts
PRIVATE = "private/"
NUMBERED = {
    "query": ("index.php?id=", "index.php?page=", "viewtopic.php?t=", "?p="),
    "numbered": ("node/", "a/", "p", ""),
}
SECTIONS = ("news", "blog", "products", "category", "article", "page", "tag", "about")
SAME = 0.62  # share of the links to other hosts that are in the language of the page
ENGLISH = 0.27  # share of the links to English hosts, from a page in another language
ENGLISH_SAME = 0.93  # the first share for English pages
POPULARITY = 1.7  # exponent: the larger, the more links go to the first hosts of a language
HOME = 0.6  # share of the links to another host that lead to its home page
ALIAS = 0.04  # written with the name that only redirects
ENGLISH_MENU = ("Home", "Contact", "Login", "About us", "Search", "Privacy", "Sitemap", "Menu")
# (bytes are in the language's old charset, META says, HTTP says); "" declares nothing
CHARSETS = {
    ("utf-8", "utf-8", "utf-8"): 34.0,
    ("utf-8", "utf-8", ""): 22.0,
    ("utf-8", "", "utf-8"): 12.0,
    ("utf-8", "", ""): 6.0,
    ("utf-8", "iso-8859-1", ""): 4.0,
    ("legacy", "legacy", ""): 10.0,
    ("legacy", "legacy", "legacy"): 4.0,
    ("legacy", "", "legacy"): 4.0,
    ("legacy", "", ""): 4.0,
}
LANG_ATTRIBUTES = {"right": 48.0, "region": 7.0, "missing": 33.0, "wrong": 12.0}
SHORT = 0.03  # pages that consist of a word
NOFOLLOW = 0.03  # of the pages without child pages
CLUTTER = (
    '<a href="mailto:info@{name}">E-mail</a>',
    '<a href="javascript:void(0)">+</a>',
    '<a href="ftp://ftp.{name}/pub/">FTP</a>',
    '<a href="/files/{word}.pdf">PDF</a>',
    '<a href="/img/{word}.jpg"><img src="/img/{word}-s.jpg" alt=""></a>',
    '<a href="#top">^</a>',
)


class Entry(NamedTuple):
    """The answer to a path: a page (`kind` "page") or one of `ODDITIES`.

    Pages and oddities of a host are numbered apart; its home page is 0.
    """

    path: str
    kind: str
    language: str
    number: int


class SampleLink(NamedTuple):
    """A link to `path` at `root`; `language` is the language of its anchor text."""

    root: str
    path: str
    language: str
    is_internal: bool


class Site:
    """The pages and oddities of one host, by path; every path is already percent-encoded."""

    def __init__(self, host: SampleHost, texts: dict[str, Text], seed: int) -> None:
        self.host = host
        self._texts, self._chance = texts, dice(seed, "site", host.name)
        self._directory = DIRECTORIES.get(host.layout, "/")
        self.entries: dict[str, Entry] = {}
        self.homes: dict[str, Entry] = {}  # of the languages that have a directory each
        self.pages = [self._page(index) for index in range(host.size)]
        odd = round(host.size * ODD_SHARE + self._chance.random() - 0.5)
        self.oddities = [
            self._add(pick(self._chance, ODDITIES), host.languages[0], n) for n in range(odd)
        ]

    def children(self, index: int) -> list[Entry]:
        """Return the children of page `index` in the tree of all pages, with root 0."""
        first = FANOUT * index + 1
        return self.pages[first : first + FANOUT]

    def _page(self, index: int) -> Entry:
        own, *others = languages = self.host.languages
        if not index:
            return self._add("page", own, index, "/")
        if self.host.layout in DIRECTORIES and index <= len(languages):
            language = languages[index - 1]
            path = self._directory.format(language)
            self.homes[language] = self._add("page", language, index, path)
            return self.homes[language]
        is_own = not others or self._chance.random() < 0.5
        return self._add("page", own if is_own else self._chance.choice(others), index)

    def _add(self, kind: str, language: str, index: int, path: str = "") -> Entry:
        path = path or self._path(language)
        entry = self.entries[path] = Entry(path, kind, language, index)
        return entry

    def _path(self, language: str) -> str:
        path = self._directory.format(language)
        if self.host.robots == "parts" and self._chance.random() < 0.08:
            path += PRIVATE
        path += _tail(self._chance, self.host.style, self._texts, language)
        while path in self.entries:
            path = _numbered(self._chance, path)
        return path


def _tail(chance: Random, style: str, texts: dict[str, Text], language: str) -> str:
    text = texts["en" if style == "english" else language]
    names = chance.choices(text.names, k=3)
    if style in NUMBERED:
        return f"{chance.choice(NUMBERED[style])}{chance.randrange(1, 2000)}"
    if style == "native":
        words = [quote(word) for word in chance.choices(text.words, k=3)]
        return f"{words[0]}/{words[1]}-{words[2]}/"
    if style == "cased":
        return f"{names[0].title()}/{names[1].title()}_{names[2].title()}.htm"
    if style == "dated":
        return f"{chance.randrange(2008, 2025)}/{chance.randrange(1, 13):02}/{'-'.join(names[:2])}/"
    folder = chance.choice(SECTIONS) if style == "english" else chance.choice(("", names[0]))
    return f"{folder}/{'-'.join(names[chance.randrange(2) :])}.html".removeprefix("/")


def _numbered(chance: Random, path: str) -> str:
    """Return the path with a number in it, for a second page with the same words."""
    number = chance.randrange(2, 9999)
    if "?" in path:
        return f"{path}{number}"
    stem, dot, ending = path.rstrip("/").partition(".")
    return f"{stem}-{number}{dot}{ending}{'/' if path.endswith('/') else ''}"


class Sites:
    """The sites of all hosts and their pages' links, determined by seed and page."""

    def __init__(self, population: Population, texts: dict[str, Text], seed: int) -> None:
        self._population, self._texts, self._seed = population, texts, seed
        self._made: dict[str, Site] = {}
        languages = population.of_language
        self._shares = {language: float(len(hosts)) for language, hosts in languages.items()}

    def of(self, host: SampleHost) -> Site:
        """Return the site of a host."""
        if host.name not in self._made:
            self._made[host.name] = Site(host, self._texts, self._seed)
        return self._made[host.name]

    def links(self, host: SampleHost, page: Entry) -> list[SampleLink]:
        """Return a page's distinct links; links that connect the web are first."""
        chance = dice(self._seed, "links", host.name, page.path)
        links = [*self._inside(host, page, chance), *self._outside(host, page, chance)]
        return list(dict.fromkeys(links))

    def _inside(self, host: SampleHost, page: Entry, chance: Random) -> Iterator[SampleLink]:
        site = self.of(host)
        entries = [site.pages[0], *site.children(page.number), *site.homes.values()]
        entries += chance.choices(site.pages, k=min(len(site.pages), chance.randrange(2, 9)))
        if site.oddities and chance.random() < 0.6:
            entries.append(chance.choice(site.oddities))
        for entry in entries:
            yield SampleLink(host.root, entry.path, entry.language, is_internal=True)
        if host.calendar:
            yield SampleLink(host.root, "/calendar/2024/01", host.languages[0], is_internal=True)

    def _outside(self, host: SampleHost, page: Entry, chance: Random) -> Iterator[SampleLink]:
        if page.number == 0:
            for named in self._population.named_by(host):
                yield SampleLink(named.root, "/", named.languages[0], is_internal=False)
        for _ in range(chance.randrange(0, 9)):
            yield self._to_any(page.language, chance)
        if chance.random() < 0.04:
            name = chance.choice(list(self._population.dead))
            yield SampleLink(f"http://{name}", "/", page.language, is_internal=False)

    def _to_any(self, language: str, chance: Random) -> SampleLink:
        hosts = self._population.of_language[self._other_end(language, chance)]
        host = hosts[int(len(hosts) * chance.random() ** POPULARITY)]
        is_home = chance.random() < HOME
        entry = self.of(host).pages[0] if is_home else chance.choice(self.of(host).pages)
        root = f"http://{host.alias}" if chance.random() < ALIAS else host.root
        return SampleLink(root, entry.path, entry.language, is_internal=False)

    def _other_end(self, language: str, chance: Random) -> str:
        roll = chance.random()
        if roll < (ENGLISH_SAME if language == "en" else SAME):
            return language
        if roll < SAME + ENGLISH and "en" in self._shares:
            return "en"
        return pick(chance, self._shares)


Document = tuple[str, bytes]
"""The Content-Type that a server sends with a page, and the bytes of the page."""


def write_page(
    site: Site, page: Entry, links: Sequence[SampleLink], texts: dict[str, Text], seed: int
) -> Document:
    """Return the page as sent by its server, with every link of `links` once."""
    chance = dice(seed, "page", site.host.name, page.path)
    text = texts[page.language]
    encoding, meta, http = (
        text.charset if name == "legacy" else name for name in pick(chance, CHARSETS)
    )
    based = chance.random() < 0.05
    raw = encoding == "utf-8" in (meta, http)  # only then is a bare letter in a link safe
    hrefs = [_href(chance, link, page, based, raw) for link in links]
    parts = [
        "<!DOCTYPE html>\n",
        f"<html{_lang_attribute(chance, page.language)}>\n<head>\n",
        *_declared(chance, meta),
        *_head(chance, site, page, text, based),
        "</head>\n<body>\n",
        *_body(chance, site.host, page, text),
        "<ul>\n",
        *(_item(chance, link, href, texts) for link, href in zip(links, hrefs, strict=True)),
        "</ul>\n",
        *_clutter(chance, site.host, text),
        "</body>\n</html>\n",
    ]
    content_type = f"text/html; charset={http}" if http else "text/html"
    return content_type, "".join(parts).encode(encoding, "xmlcharrefreplace")


def write_calendar(host: SampleHost, year: int, month: int, text: Text, seed: int) -> Document:
    """Return one month's page of an endless calendar."""
    chance = dice(seed, "calendar", host.name, year, month)
    year_after, month_after = (year + 1, 1) if month == 12 else (year, month + 1)
    body = (
        f"<!DOCTYPE html>\n<html><head><title>{month}/{year}</title></head>\n<body>\n"
        f'<p><a href="/">{escape(text.words[0])}</a> {month}/{year} '
        f'<a href="/calendar/{year_after}/{month_after:02}">{month_after}/{year_after}</a></p>\n'
        f"{_paragraphs(chance, text, chance.randrange(1, 4))}</body></html>\n"
    )
    return "text/html; charset=utf-8", body.encode()


def _lang_attribute(chance: Random, language: str) -> str:
    kind = pick(chance, LANG_ATTRIBUTES)
    if kind == "missing" or (kind == "wrong" and language == "en"):
        return ""
    if kind == "region":
        return f' lang="{language}-{language.upper()}"'
    return f' lang="{language if kind == "right" else "en"}"'


def _declared(chance: Random, meta: str) -> Iterator[str]:
    if meta and chance.random() < 0.5:
        yield f'<meta charset="{meta}">\n'
    elif meta:
        yield f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">\n'


def _head(chance: Random, site: Site, page: Entry, text: Text, based: bool) -> Iterator[str]:
    if chance.random() < 0.95:
        yield f"<title>{escape(chance.choice(text.sentences)[:60])}</title>\n"
    if based:
        yield f'<base href="{site.host.root}/">\n'
    yield '<link rel="stylesheet" href="/style.css">\n'
    for language, home in site.homes.items():
        href = escape(site.host.root + home.path)
        yield f'<link rel="alternate" hreflang="{language}" href="{href}">\n'
    if not site.children(page.number) and page.number and chance.random() < NOFOLLOW:
        yield '<meta name="robots" content="noindex, nofollow">\n'


def _body(chance: Random, host: SampleHost, page: Entry, text: Text) -> Iterator[str]:
    if page.number and chance.random() < SHORT:
        yield f"<p>{escape(chance.choice(text.words))}</p>\n"
        return
    menu = ENGLISH_MENU if chance.random() < 0.3 else text.words
    yield f"<div>{' | '.join(chance.sample(menu, 5))}</div>\n"
    yield _paragraphs(chance, text, chance.randrange(4, 26))


def _paragraphs(chance: Random, text: Text, sentences: int) -> str:
    drawn = chance.choices(text.sentences, k=sentences)
    paragraphs = (drawn[first : first + 4] for first in range(0, sentences, 4))
    return "".join(f"<p>{escape(' '.join(part), quote=False)}</p>\n" for part in paragraphs)


def _item(chance: Random, link: SampleLink, href: str, texts: dict[str, Text]) -> str:
    text = texts[link.language]
    words = chance.sample(text.words, chance.randrange(1, 4))
    if chance.random() < 0.1:
        words = [chance.choice(ENGLISH_MENU)]
    return f'<li><a href="{escape(href)}">{escape(" ".join(words))}</a></li>\n'


def _href(chance: Random, link: SampleLink, page: Entry, based: bool, raw: bool) -> str:
    """Return a link's address in one of the spellings used by authors."""
    roll = chance.random()
    path = unquote(link.path) if raw and roll < 0.3 else link.path
    if not link.is_internal or roll > 0.75:
        return link.root + path
    folder = "/" if based else page.path.partition("?")[0].rpartition("/")[0] + "/"
    if 0.15 < roll < 0.4 and path.startswith(folder) and path != folder:
        return path[len(folder) :]
    return path


def _clutter(chance: Random, host: SampleHost, text: Text) -> Iterator[str]:
    for pattern in chance.sample(CLUTTER, chance.randrange(len(CLUTTER))):
        name = host.name.removeprefix("www.")
        yield pattern.format(name=name, word=chance.choice(text.names)) + "\n"
