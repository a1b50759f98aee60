"""Languages of URLs and pages, by the shipped models."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from langfocus.classifiers.pages.method import PageLanguage
from langfocus.classifiers.pages.methods import DEFAULT_METHOD, fasttext_file, method
from langfocus.classifiers.urls.model import UrlLanguage, UrlModel

if TYPE_CHECKING:
    from langfocus.classifiers.pages.method import PageMethod

_BATCH = 1000
"""URLs that are scored together."""


def identify_url(url: str) -> UrlLanguage:
    """Return the language of the page behind a URL. Nothing is fetched.

    The first call loads the model that ships. The very first one after an installation also
    compiles its kernel, which takes some seconds.
    `UrlModel.load(path).identify(url)` does the same with another model. Raises `ModelError` if
    the model cannot be read.
    """
    return next(identify_urls([url]))


def identify_urls(urls: Iterable[str]) -> Iterator[UrlLanguage]:
    """Yield the language of each URL, in order.

    URLs are read a thousand at a time, so their number is unlimited. Raises `TypeError` for a
    single string and `ModelError` for an unreadable model.
    """
    if isinstance(urls, str):
        raise TypeError("expected several URLs, not one string: use identify_url")
    return _identify_each(iter(urls))


def _identify_each(urls: Iterator[str]) -> Iterator[UrlLanguage]:
    while batch := list(islice(urls, _BATCH)):
        yield from _url_model().identify_many(batch)


@cache
def _url_model() -> UrlModel:
    return UrlModel.load()


def identify_page(
    html: bytes | str,
    url: str | None = None,
    *,
    content_type: str | None = None,
    content_language: str | None = None,
    by: "PageMethod | str" = DEFAULT_METHOD,
) -> PageLanguage:
    """Return the language of a page from its content and, if known, its URL.

    `html` is received bytes or decoded text. `content_type` and `content_language` are HTTP header
    values. `by` is a method or its name, as in `langfocus identify pages --method`. Any bytes have
    an answer; `language` is None without evidence, and for binary data such as an image. Raises
    `LanguageError` for an unknown method and `MissingPackageError` for a method without its
    package.
    """
    from langfocus.crawler.http.download import Download
    from langfocus.crawler.reading.page import identified

    if not isinstance(html, bytes | str):
        raise TypeError(f"expected the HTML of a page as bytes or str, not {type(html).__name__}")
    if isinstance(html, str):
        html, content_type = html.encode("utf-8", "replace"), "text/html; charset=utf-8"
    download = Download(url or "", 200, html, content_type, content_language)
    return identified(download, method(by, fasttext_file()) if isinstance(by, str) else by)[1]
