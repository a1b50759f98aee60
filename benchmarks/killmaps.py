"""Hosts with sitemaps and feeds for the web of killed crawls: their files, and who names them.

A mapped host has one page that others link to. The robots.txt names a sitemap, in some cases one
that moved; it is an index of two others, one of them packed. The page names a feed. All other pages
of the host are named by these files alone, and they lead to a host that nothing else links to. A
crowded mapped host has more pages than the host cap, all of them in its sitemap.
"""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

PAGE: Final = "page"
_NAMESPACES: Final = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)


@dataclass(frozen=True, slots=True)
class Resource:
    """The content of a URL: a flaky one fails once with 503, a gone one always.

    `files` are the sitemaps and feeds to which a page leads if it is relevant, `feed` that which it
    names itself. `language` is that of its text, "" for one that follows from the URL. `body` is
    the content of a sitemap or a feed.
    """

    kind: str
    links: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    feed: str = ""
    language: str = ""
    body: bytes = b""


def mapped_host(number: int) -> dict[str, Resource]:
    """Return the resources of a mapped host; its first page is the first of them."""
    base, beyond = (f"http://{name}{number}.example.de/dir/" for name in ("mapped", "beyond"))
    top, first, second, feed = (base + n for n in ("maps.xml", "1.xml.gz", "2.xml", "new.rss"))
    named = old = f"{base}old.xml" if number % 3 == 0 else top
    pages = {
        base + name: Resource(PAGE, (f"{beyond}{name}",), language=language)
        for name, language in (("a", "de"), ("b", "en"), ("c", "de"), ("d", "fr"), ("e", ""))
    }
    a, b, c, d, e = pages
    files = {
        top: Resource("sitemap", (first, second), body=_index([first, second])),
        first: Resource("sitemap", (a, b), body=_packed(_urls([(a, "en", b)]))),
        second: Resource("sitemap", (a, c, d), body=_urls([(a, "", ""), (c, "fr", d)])),
        feed: Resource("sitemap", (a, e), body=_feed([a, e])),
    }
    if number % 2:
        files[first] = _flaky(files[first])
    if old != top:
        files[old] = Resource("redirect", (top,))
    door = Resource(PAGE, files=(named, feed), feed=feed, language="de")
    ends = {f"{beyond}{name}": Resource(PAGE) for name in "abcde"}
    return {f"{base}door": door, **pages, **files, **ends}


def crowded_host(number: int, size: int) -> dict[str, Resource]:
    """Return the resources of a host with `size` pages, all of them in its sitemap."""
    base = f"http://crowdmap{number}.example.de/"
    urls, top = [f"{base}{k}" for k in range(size)], f"{base}maps.xml"
    pages = {url: Resource(PAGE, files=(top,), language="de") for url in urls}
    body = _urls([(url, "", "") for url in urls])
    return {**pages, top: Resource("sitemap", tuple(urls), body=body)}


def robots_lines(resources: dict[str, Resource], origin: str) -> bytes:
    """Return the lines Sitemap of an origin's robots.txt."""
    named = (f"{origin}/dir/old.xml", f"{origin}/dir/maps.xml", f"{origin}/maps.xml")
    top = next((url for url in named if url in resources), None)
    return b"" if top is None else f"Sitemap: {top}\n".encode()


def content_type(url: str) -> str:
    """Return the Content-Type of a sitemap or a feed."""
    if url.endswith(".gz"):
        return "application/gzip"
    return "application/rss+xml" if url.endswith(".rss") else "application/xml"


def _flaky(file: Resource) -> Resource:
    return Resource("flaky", file.links, body=file.body)


def _packed(xml: bytes) -> bytes:
    return gzip.compress(xml, mtime=0)


def _index(files: Sequence[str]) -> bytes:
    entries = "".join(
        f"<sitemap><loc>{url}</loc><lastmod>{day}</lastmod></sitemap>"
        for url, day in zip(files, _days(), strict=False)
    )
    return f"<sitemapindex {_NAMESPACES}>{entries}</sitemapindex>".encode()


def _urls(pages: Sequence[tuple[str, str, str]]) -> bytes:
    """Return a sitemap of German pages, each with another language and its page, "" for none."""
    entries = "".join(
        f"<url><loc>{url}</loc><lastmod>{day}</lastmod>"
        + _alternate("de", url)
        + (_alternate(language, other) if other else "")
        + "</url>"
        for (url, language, other), day in zip(pages, _days(), strict=False)
    )
    return f"<urlset {_NAMESPACES}>{entries}</urlset>".encode()


def _alternate(language: str, url: str) -> str:
    return f'<xhtml:link rel="alternate" hreflang="{language}" href="{url}"/>'


def _feed(pages: Sequence[str]) -> bytes:
    items = "".join(f"<item><title>{url}</title><link>{url}</link></item>" for url in pages)
    return (f'<rss version="2.0"><channel><language>de</language>{items}</channel></rss>').encode()


def _days() -> Iterator[str]:
    yield from (f"2026-{1 + day // 28:02}-{1 + day % 28:02}" for day in range(12 * 28))
