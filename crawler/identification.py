"""How a crawl reads a page: it is parsed once, then identified by the method of `-a identify=`."""

import json
from collections.abc import Callable, Sequence

from classifiers.errors import ClassifierError
from classifiers.pages.binary import binary_kind
from classifiers.pages.method import (
    MIN_REFERENCE_LENGTH,
    Neighbour,
    PageLanguage,
    PageMethod,
    Surroundings,
    unknown,
)
from classifiers.pages.methods import method
from classifiers.pages.methods.alone import answers_of
from classifiers.pages.parse import ParsedPage, parse_page
from crawler.errors import SettingError
from crawler.visit import Download, Read, Reading


def page_method(name: str) -> PageMethod:
    """Return the method with this name with its models loaded; raises `SettingError`."""
    try:
        return method(name)
    except ClassifierError as error:
        raise SettingError(f"-a identify={name}: {error}") from error


Around = Callable[[str], Surroundings]
"""Gives the recorded neighbours of a URL."""


def page_reader(
    by: PageMethod,
    *,
    is_census: bool = False,
    keeps_answers: bool = False,
    around: Around = Surroundings,
) -> Read:
    """Return a function that parses a page once and identifies its language by a method.

    `around` gives the pages that an earlier crawl found around a URL. A census reads no links. With
    `keeps_answers` the reading has the answer of each kind of evidence alone.
    """

    def read(download: Download, inlinks: Sequence[str]) -> Reading:
        page, told = identified(download, by, inlinks, around)
        if page is None:
            return Reading([], None, None, None, None)
        return Reading(
            [] if page.nofollow or is_census else page.links,
            told.language,
            told.confidence,
            told.method,
            page.charset,
            0 if is_census else page.dropped_links,
            is_reference=len(page.text) >= MIN_REFERENCE_LENGTH,
            parser=page.parser,
            canonical=page.canonical,
            answers=_answers(by, page, download.url) if keeps_answers else None,
            is_noarchive=page.noarchive,
            title=page.title,
        )

    return read


def _answers(by: PageMethod, page: ParsedPage, url: str) -> str:
    return json.dumps(answers_of(by, page, Surroundings(url)))


def identified(
    download: Download,
    by: PageMethod,
    inlinks: Sequence[str] = (),
    around: Around = Surroundings,
) -> tuple[ParsedPage | None, PageLanguage]:
    """Return a download as a page, and its language; None and no language for binary data.

    `inlinks` are the languages of pages that link to it; without any, those of `around` count, as
    its outlinks always do.
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
    recorded = around(download.url)
    evidence = Surroundings(download.url, neighbours or recorded.inlinks, recorded.outlinks)
    return page, by.identify(page, evidence)
