"""Page reading in a crawl: a page is parsed once, identified, and its links are scored.

The result depends only on the bytes, the method of `-a identify=` and the ordering, so a separate
process can do the reading (`crawler.reading.process`).
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from langfocus.classifiers.languages import codes_of, declared_languages
from langfocus.classifiers.pages.charset.encodings import is_binary
from langfocus.classifiers.pages.html.refresh import Refresh, read_refresh
from langfocus.classifiers.pages.html.tree import SMALL_BYTES
from langfocus.classifiers.pages.method import PageLanguage, PageMethod, Surroundings, unknown
from langfocus.classifiers.pages.parse import ParsedPage, parse_page
from langfocus.classifiers.pages.text.words import number_of_words
from langfocus.classifiers.urls.standard import absolute
from langfocus.crawler.http.download import Download
from langfocus.crawler.politeness import directives
from langfocus.crawler.politeness.traps import sift
from langfocus.crawler.reading.copied_text import sketch_of
from langfocus.crawler.strategies.links import Link, LinkSource
from langfocus.crawler.strategies.orderings import Ordering
from langfocus.crawler.strategies.versions import versions_of
from langfocus.crawler.url import (
    domain_of,
    host_of,
    is_unwanted_file,
    is_unwanted_without_documents,
    normalise,
)

_AT_ONCE_S = 1
"""Seconds of a refresh up to which browsers forget the page that leads on, as after a redirect."""

_MOST_VERSIONS: Final = 200
"""Versions of a page that are read; large sites have about 150."""

CRASHED, TIMEOUT = "page_crashed", "page_timeout"
"""Outcomes of a page that killed two readers, or one reader by its time limit."""


_FEW_WORDS = b"<title>a</title><p>A page of a few words. <a href=/b>Link</a>"
TRIAL: Final = Download("http://example.org/", 200, _FEW_WORDS.ljust(SMALL_BYTES + 1), "text/html")
"""A page that loads all models and compiled code when read, in seconds."""


class Reading(NamedTuple):
    """A parsed and identified page with its scored links."""

    language: str | None = None
    confidence: float | None = None
    method: str | None = None
    charset: str | None = None
    parser: str | None = None
    needs_browser: bool = False  # its text is written by scripts
    words: int | None = None  # of the text that was identified
    sketch: tuple[int, ...] = ()  # of the text (`copied_text`)
    digest: str = ""  # of the body; a later run detects a change by it
    canonical: str | None = None  # absolute URL of `rel=canonical`
    versions: Sequence[str] = ()  # in other languages and its domain, of a page in the language
    leads_to: str | None = None  # target of a refresh that acts like a redirect; no links then
    offered: int = 0  # versions of a page in the language, linked or declared
    statements: tuple[str, ...] = ()  # usage statements in META (`politeness.directives`)
    feeds: Sequence[str] = ()  # RSS and Atom
    links: Sequence[Link] = ()  # scored; blocked links are still among them
    embeds: dict[str, bool] = {}  # noqa: RUF012  # URLs; True: frames; of a relevant page, on wish
    # Skipped links by reason: reasons of `sift`, and nofollow where directives are obeyed.
    left_out: dict[str, int] = {}  # noqa: RUF012  # nobody changes it


UNREAD: Final = Reading()
"""The reading of an answer without a page."""

ParseDocument = Callable[[bytes, str], ParsedPage | None]
"""`classifiers.pages.documents.parse_document`."""

ReadPage = Callable[[Download, int], Reading]
"""Function that reads a page, for a download and its depth."""


def page_reader(
    by: PageMethod,
    ordering: Ordering,
    target: str,
    *,
    is_census: bool = False,
    obeys_directives: bool = True,
    accepted: Callable[[Sequence[str], LinkSource], list[str]] | None = None,
    embeds_of: Callable[[Download], dict[str, bool]] | None = None,
    has_scope: bool = False,
    document_of: ParseDocument | None = None,
    has_one_version: bool = False,
) -> ReadPage:
    """Return a function that parses a page once, identifies it by a method and scores its links.

    It depends on nothing but the page and these arguments. A page in a language of the `target` is
    relevant. A census reads no links. Without `obeys_directives` links with nofollow are followed.
    `accepted` keeps the URLs that the filter of a plug-in accepts. `embeds_of` returns the URLs of
    what a relevant page embeds, of any page if the crawl `has_scope`: the reader does not know it.
    With `document_of` documents are read, and links to them are kept. With `has_one_version` links
    to other versions of a page in the language are left out.
    """
    targets = frozenset(codes_of(target))
    is_unwanted = is_unwanted_without_documents if document_of else is_unwanted_file

    def read(download: Download, depth: int) -> Reading:
        page, label = identified(download, by, document_of)
        digest = blake2b(download.body, digest_size=16).hexdigest()
        if page is None:
            return Reading(digest=digest)
        has_language = label.language is not None
        reading = Reading(
            label.language,
            label.confidence,
            label.method,
            page.charset,
            page.parser,
            page.needs_browser,
            words=number_of_words(page.text) if has_language else None,
            sketch=sketch_of(page.text) if has_language else (),
            digest=digest,
            canonical=page.canonical,
            leads_to=leads_to(download, page, label),
            statements=directives.of_metas(page.statements),
            feeds=page.feeds,
        )
        if is_census or reading.leads_to:
            return reading
        if embeds_of is not None and (has_scope or label.language in targets):
            reading = reading._replace(embeds=embeds_of(download))
        refresh = _refresh(download, page)
        links = followed = [*page.links, *([refresh.url] if refresh else [])]
        if obeys_directives:
            followed = [url for url in links if url not in page.nofollowed]
            if directives.forbids_links({*download.statements, *reading.statements}):
                followed = []
        wanted, left_out = sift(followed, is_unwanted=is_unwanted)
        left_out["ignored_url"] += page.dropped_links
        left_out["ignored_nofollow"] = len(links) - len(followed)
        if page.document:
            left_out["cut_long"] = int(page.is_cut)
            left_out[f"document_{page.document}"] = 1
        declared: dict[bool, list[str]] = {True: [], False: []}
        domain = domain_of(host_of(download.url))

        def is_near(url: str) -> bool:
            return domain_of(host_of(url)) == domain

        for url, tag in (*page.alternates, *(each for each in page.tagged if is_near(each[0]))):
            if normal := normalise(url):
                declared[not targets.isdisjoint(declared_languages(tag))].append(normal)
        in_target, in_others = frozenset(declared[True]), frozenset(declared[False])
        source = LinkSource(label.language in targets, depth, in_target, in_others)
        if source.is_relevant and ordering.prior is not None:
            tags = {tag for _, tag in page.alternates}
            reading = reading._replace(offered=versions_of(download.url, wanted, len(tags)))
        if has_one_version and (source.is_relevant or not in_target.isdisjoint(wanted)):
            versions = in_others - in_target
            kept = [url for url in wanted if url not in versions]
            left_out["ignored_version"], wanted = len(wanted) - len(kept), kept
            reading = reading._replace(versions=sorted(filter(is_near, versions))[:_MOST_VERSIONS])
        if accepted is not None:
            kept = accepted(wanted, source)
            left_out["rejected"], wanted = len(wanted) - len(kept), kept
        return reading._replace(links=ordering.links(wanted, source), left_out=left_out)

    return read


def leads_to(download: Download, page: ParsedPage, label: PageLanguage) -> str | None:
    """Return the target of a refresh that replaces this page, or None.

    A refresh after more than `_AT_ONCE_S` seconds replaces only a page without a language.
    """
    refresh = _refresh(download, page)
    is_gone = refresh and (refresh.delay_s <= _AT_ONCE_S or label.language is None)
    return refresh.url if refresh and is_gone else None


def _refresh(download: Download, page: ParsedPage) -> Refresh | None:
    """Return the refresh of a page to another one; the header counts first."""
    of_header = read_refresh(download.refresh)
    url = of_header and absolute(of_header.url, download.url)
    refresh = Refresh(of_header.delay_s, url) if of_header and url else page.refresh
    is_itself = refresh and normalise(refresh.url) == normalise(download.url)
    return None if is_itself else refresh


def identified(
    download: Download, by: PageMethod, document_of: ParseDocument | None = None
) -> tuple[ParsedPage | None, PageLanguage]:
    """Return a download as a page, and its language; None and no language for binary data."""
    if document_of and (page := document_of(download.body, download.url)):
        if page.document not in ("read", "no_text"):
            return page, unknown(f"no page: {page.document}")
        return page, by.identify(page, Surroundings(download.url))
    if is_binary(download.body):
        return None, unknown("no page: binary data")
    page = parse_page(
        download.body,
        content_type=download.content_type,
        url=download.url,
        content_language=download.content_language,
    )
    return page, by.identify(page, Surroundings(download.url))
