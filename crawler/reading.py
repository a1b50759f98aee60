"""How a crawl reads a page: it is parsed once and identified, and its links are scored.

All of it follows from the bytes, the method of `-a identify=` and the ordering, so a process beside
the crawl can do it (`crawler.reader_process`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from langfocus.classifiers.errors import ClassifierError
from langfocus.classifiers.languages import meant
from langfocus.classifiers.pages.charset.encodings import is_binary
from langfocus.classifiers.pages.html.refresh import Refresh, read_refresh
from langfocus.classifiers.pages.html.tree import SMALL_BYTES
from langfocus.classifiers.pages.method import PageLanguage, PageMethod, Surroundings, unknown
from langfocus.classifiers.pages.methods import FASTTEXT_FILE, NEIGHBOURLY, method
from langfocus.classifiers.pages.parse import ParsedPage, parse_page
from langfocus.classifiers.pages.text.words import number_of_words
from langfocus.classifiers.urls.standard import absolute
from langfocus.crawler.copied_text import sketch_of
from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.base import Link
from langfocus.crawler.http.head import media_type
from langfocus.crawler.outputs.exchange import Exchange
from langfocus.crawler.politeness import directives
from langfocus.crawler.politeness.directives import RobotsVersion
from langfocus.crawler.politeness.network import has_bad_port
from langfocus.crawler.politeness.traps import is_trap
from langfocus.crawler.strategies.focus.ordering import Focus, first_scores
from langfocus.crawler.strategies.orderings import LinkSource, Ordering
from langfocus.crawler.url import is_unwanted_file, normalise

_AT_ONCE_S = 1
"""Seconds of a refresh up to which browsers forget the page that leads on, as after a redirect."""

CRASHED, TIMEOUT = "page_crashed", "page_timeout"
"""The outcomes of a page that ended two readers, or one by its time limit."""

_TEXT_TYPES = ("text/html", "application/xhtml", "text/plain", "application/xml", "text/xml")


@dataclass(frozen=True, slots=True)
class Download:
    """The answer of a server. `retry_after_s` is its Retry-After in seconds, `ip` its address.

    `refresh` is its header Refresh, `sets_cookie` is True if it has a Set-Cookie.
    `is_cut` is True if the body ended before the announced length. `statements` are those of its
    headers (`crawler.politeness.directives`), `reserved` those of the file tdmrep.json of its host.
    `robots` is the robots.txt that allowed the fetch, None if none was asked. `etag` and `modified`
    are its ETag and Last-Modified. `exchange` has the bytes as they were sent, None if nothing
    keeps them.
    """

    url: str
    status: int
    body: bytes = b""
    content_type: str | None = None
    content_language: str | None = None
    location: str | None = None
    retry_after_s: float | None = None
    ip: str | None = None
    is_cut: bool = False
    statements: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()
    robots: RobotsVersion | None = None
    etag: str | None = None
    modified: str | None = None
    refresh: str | None = None
    sets_cookie: bool = False
    exchange: Exchange | None = field(default=None, repr=False)


_FEW_WORDS = b"<title>a</title><p>A page of a few words. <a href=/b>Link</a>"
TRIAL: Final = Download("http://example.org/", 200, _FEW_WORDS.ljust(SMALL_BYTES + 1), "text/html")
"""A page whose reading loads all models and compiled code, which takes seconds."""


class Reading(NamedTuple):
    """A page that was read: its language, what it says of itself, and its links.

    `words` are those of the text by which it was identified, `sketch` is that of
    `crawler.copied_text`. By the `digest` of its body a later run notices a change. `canonical` is
    the absolute URL that the page gives as its own. A page that `leads_to` another URL is like a
    redirect; its links are not read.
    `statements` are those of its META elements (`crawler.politeness.directives`),
    `feeds` its RSS and Atom feeds. `links` are those that may be queued, scored; blocked links are
    still among them. `left_out` are the numbers of others: those of `sift`, and links that the page
    asks not to follow, if that is obeyed.
    """

    language: str | None = None
    confidence: float | None = None
    method: str | None = None
    charset: str | None = None
    parser: str | None = None
    words: int | None = None
    sketch: tuple[int, ...] = ()
    digest: str = ""
    canonical: str | None = None
    leads_to: str | None = None
    statements: tuple[str, ...] = ()
    feeds: Sequence[str] = ()
    links: Sequence[Link] = ()
    left_out: dict[str, int] = {}  # noqa: RUF012  # nobody changes it


UNREAD: Final = Reading()
"""The reading of an answer that is no page."""

ReadPage = Callable[[Download, int], Reading]
"""Function that reads a page, for a download and its depth."""


def is_text(content_type: str | None, body: bytes = b"") -> bool:
    """Return True if an answer may be a page.

    Without a media type in the Content-Type the first bytes of the body decide (MIME Sniffing, 7).
    """
    kind = media_type(content_type)
    return kind.startswith(_TEXT_TYPES) if kind else not is_binary(body)


def is_status(code: int) -> bool:
    """Return True for a status of HTTP, which has three digits (RFC 9110, 15)."""
    return 100 <= code <= 999


def sift(
    urls: Sequence[str], is_blocked: Callable[[str], bool] = lambda _: False
) -> tuple[list[str], dict[str, int]]:
    """Return the links of a page that may be queued, and the numbers of others by the reason.

    `urls` are absolute. The links are normalised, each is there once. Left out are URLs of files
    that are no pages, unusable ones, those with a port that no browser opens, those that look
    endless, and those that are blocked.
    """
    normal = [url for url in map(normalise, urls) if url]
    allowed = [url for url in normal if not has_bad_port(url)]
    pages = [url for url in allowed if not is_unwanted_file(url)]
    finite = [url for url in pages if not is_trap(url)]
    wanted = [url for url in finite if not is_blocked(url)]
    left_out = {
        "ignored_file": len(allowed) - len(pages),
        "ignored_url": len(urls) - len(normal),
        "ignored_port": len(normal) - len(allowed),
        "ignored_trap": len(pages) - len(finite),
        "blocked": len(finite) - len(wanted),
    }
    return list(dict.fromkeys(wanted)), left_out


def scored(ordering: Ordering, urls: Sequence[str], source: LinkSource) -> list[Link]:
    """Return URLs as links, scored in one batch; those of an ordering that learns have evidence."""
    if not urls:
        return []
    if isinstance(ordering, Focus):
        found = ordering.evidence(urls, source)
        return [Link(*link) for link in zip(urls, first_scores(found), found, strict=True)]
    scores = ordering.scores(urls, source)
    return [Link(url, score) for url, score in zip(urls, scores, strict=True)]


def page_method(name: str, fasttext: Path | None = None) -> PageMethod:
    """Return the method with this name with its models loaded; raises `SettingError`.

    A model file of fastText adds its languages to the default method.
    """
    if name in NEIGHBOURLY:
        around = "needs a graph of the pages around a page: langfocus evaluate --graph"
        raise SettingError(f"-a identify={name}: {around}")
    try:
        return method(name, fasttext)
    except ClassifierError as error:
        told = f"-a identify={name}" if fasttext is None else FASTTEXT_FILE
        raise SettingError(f"{told}: {error}") from error


def page_reader(
    by: PageMethod,
    ordering: Ordering,
    language: str,
    *,
    is_census: bool = False,
    obeys_directives: bool = True,
) -> ReadPage:
    """Return a function that parses a page once, identifies it by a method and scores its links.

    It depends on nothing but the page and these arguments. A page in the `language` is relevant. A
    census reads no links. Without `obeys_directives` links with nofollow are followed.
    """

    def read(download: Download, depth: int) -> Reading:
        page, told = identified(download, by)
        digest = blake2b(download.body, digest_size=16).hexdigest()
        if page is None:
            return Reading(digest=digest)
        has_language = told.language is not None
        reading = Reading(
            told.language,
            told.confidence,
            told.method,
            page.charset,
            page.parser,
            words=number_of_words(page.text) if has_language else None,
            sketch=sketch_of(page.text) if has_language else (),
            digest=digest,
            canonical=page.canonical,
            leads_to=leads_to(download, page, told),
            statements=directives.of_metas(page.statements),
            feeds=page.feeds,
        )
        if is_census or reading.leads_to:
            return reading
        refresh = _refresh(download, page)
        links = followed = [*page.links, *([refresh.url] if refresh else [])]
        if obeys_directives:
            followed = [url for url in links if url not in page.nofollowed]
            if directives.forbids_links({*download.statements, *reading.statements}):
                followed = []
        wanted, left_out = sift(followed)
        left_out["ignored_url"] += page.dropped_links
        left_out["ignored_nofollow"] = len(links) - len(followed)
        declared: dict[bool, list[str]] = {True: [], False: []}
        for url, tag in page.alternates:
            if normal := normalise(url):
                declared[language in meant(tag)].append(normal)
        in_target, in_others = frozenset(declared[True]), frozenset(declared[False])
        source = LinkSource(told.language == language, depth, in_target, in_others)
        return reading._replace(links=scored(ordering, wanted, source), left_out=left_out)

    return read


def leads_to(download: Download, page: ParsedPage, told: PageLanguage) -> str | None:
    """Return the URL of another page that a browser shows instead of this one; None if it stays.

    After more than `_AT_ONCE_S` a page stays if it has a language.
    """
    refresh = _refresh(download, page)
    is_gone = refresh and (refresh.delay_s <= _AT_ONCE_S or told.language is None)
    return refresh.url if refresh and is_gone else None


def _refresh(download: Download, page: ParsedPage) -> Refresh | None:
    """Return the refresh of a page to another one; the header counts first."""
    of_header = read_refresh(download.refresh)
    url = of_header and absolute(of_header.url, download.url)
    refresh = Refresh(of_header.delay_s, url) if of_header and url else page.refresh
    is_itself = refresh and normalise(refresh.url) == normalise(download.url)
    return None if is_itself else refresh


def identified(download: Download, by: PageMethod) -> tuple[ParsedPage | None, PageLanguage]:
    """Return a download as a page, and its language; None and no language for binary data."""
    if is_binary(download.body):
        return None, unknown("no page: binary data")
    page = parse_page(
        download.body,
        content_type=download.content_type,
        url=download.url,
        content_language=download.content_language,
    )
    return page, by.identify(page, Surroundings(download.url))
