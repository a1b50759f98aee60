"""How a crawl reads a page: it is parsed once, then identified by the method of `-a identify=`."""

from collections.abc import Sequence
from pathlib import Path

from classifiers.errors import ClassifierError
from classifiers.pages.binary import binary_kind
from classifiers.pages.declared import meant
from classifiers.pages.method import (
    MIN_REFERENCE_LENGTH,
    Neighbour,
    PageLanguage,
    PageMethod,
    Surroundings,
    unknown,
)
from classifiers.pages.methods import NEIGHBOURLY, method_with
from classifiers.pages.parse import ParsedPage, parse_page
from classifiers.pages.text.fasttextengine import VARIABLE
from classifiers.pages.text.words import number_of_words
from classifiers.urls.standard import absolute
from crawler.copied_text import sketch_of
from crawler.errors import SettingError
from crawler.link_header import ALTERNATE, CANONICAL
from crawler.politeness.directives import of_metas
from crawler.visit import Download, Read, Reading


def page_method(name: str, fasttext: Path | None = None) -> PageMethod:
    """Return the method with this name with its models loaded; raises `SettingError`.

    A model file of fastText adds its languages to the default method.
    """
    try:
        return method_with(name, fasttext)
    except ClassifierError as error:
        told = f"-a identify={name}" if fasttext is None else VARIABLE
        raise SettingError(f"{told}: {error}") from error


def page_reader(
    by: PageMethod,
    *,
    is_census: bool = False,
    target: str | None = None,
) -> Read:
    """Return a function that parses a page once and identifies its language by a method.

    Only for a method that reads neighbours is a page evidence for the pages that it links to. A
    census reads no links. With a `target` language the reading has the links to pages that the page
    declares to be in that language.
    """
    is_neighbourly = by.name in NEIGHBOURLY

    def read(download: Download, inlinks: Sequence[str]) -> Reading:
        page, told = identified(download, by, inlinks)
        if page is None:
            return Reading([], None, None, None, None)
        links, canonical = _with_header(page, download)
        return Reading(
            [] if is_census else [url for url in links if url not in page.nofollowed],
            told.language,
            told.confidence,
            told.method,
            page.charset,
            0 if is_census else page.dropped_links,
            is_reference=is_neighbourly and len(page.text) >= MIN_REFERENCE_LENGTH,
            parser=page.parser,
            canonical=canonical,
            statements=of_metas(page.statements),
            words=number_of_words(page.text) if told.language is not None else None,
            forbidden=() if is_census else sorted(page.nofollowed),
            feeds=page.feeds,
            sketch=sketch_of(page.text) if told.language is not None else (),
            declared=_declared(page, download, target, is_target=True) if target else (),
            declared_other=_declared(page, download, target, is_target=False) if target else (),
        )

    return read


def _with_header(page: ParsedPage, download: Download) -> tuple[list[str], str | None]:
    """Return the links and the canonical URL of a page, and those that its header names."""
    links, canonical = page.links, page.canonical
    for link in download.links:
        if ALTERNATE in link.relations and link.hreflang:
            url = absolute(link.target, download.url)
            links = [*links, url] if url is not None and url not in links else links
        elif CANONICAL in link.relations:
            canonical = canonical or absolute(link.target, download.url)
    return links, canonical


def _declared(page: ParsedPage, download: Download, target: str, *, is_target: bool) -> list[str]:
    """Return the links that the page or its header declares to be in a language, or in another."""
    named = [url for url, tag in page.alternates if (target in meant(tag)) is is_target]
    for link in download.links:
        is_alternate = ALTERNATE in link.relations and link.hreflang
        if is_alternate and (target in meant(link.hreflang)) is is_target:
            named.append(absolute(link.target, download.url) or "")
    return named


def identified(
    download: Download, by: PageMethod, inlinks: Sequence[str] = ()
) -> tuple[ParsedPage | None, PageLanguage]:
    """Return a download as a page, and its language; None and no language for binary data.

    `inlinks` are the languages of pages that link to it.
    """
    kind = binary_kind(download.body)
    if kind is not None:
        return None, unknown(f"no page: {kind}")
    page = parse_page(
        download.body,
        content_type=download.content_type,
        url=download.url,
        content_language=download.content_language,
    )
    # Only pages of that length or more are among the inlinks.
    neighbours = tuple(Neighbour(code, MIN_REFERENCE_LENGTH) for code in inlinks)
    return page, by.identify(page, Surroundings(download.url, neighbours))
