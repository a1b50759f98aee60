"""The HTML of the sample web's pages, with the faults of real pages."""

from collections.abc import Iterator, Sequence
from html import escape
from random import Random
from urllib.parse import unquote

from crawler.sources.sample.hosts import SampleHost, Text, dice, pick
from crawler.sources.sample.sites import Entry, SampleLink, Site

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


Document = tuple[str, bytes]
"""The Content-Type that a server sends with a page, and the bytes of the page."""


def write_page(
    site: Site, page: Entry, links: Sequence[SampleLink], texts: dict[str, Text], seed: int
) -> Document:
    """Return the page as its server sends it; it contains every link of `links` once."""
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
    """Return the page of one month of a calendar without end."""
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
    """Return the address of a link in one of the ways in which authors write it."""
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
