"""The reader of pages that a configuration describes, the same in the crawl and in its readers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from langfocus.classifiers.errors import ClassifierError, optional
from langfocus.classifiers.pages.method import PageMethod
from langfocus.classifiers.pages.methods import FASTTEXT_FILE, NEIGHBOURLY, fasttext_file, method
from langfocus.crawler.errors import SettingError
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.reading.page import ParseDocument, ReadPage, page_reader
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.filters import link_filter
from langfocus.crawler.strategies.orderings import Ordering


def page_reader_of(config: Config) -> ReadPage:
    """Return the function that reads a page and scores its links; raises `CrawlError`."""
    method = page_method(config.identify, fasttext_file(config.fasttext))
    return reader_of(config, method, ordering_of(config))


def reader_of(config: Config, method: PageMethod, ordering: Ordering) -> ReadPage:
    """Return the function that reads a page by a loaded method and scores its links.

    Raises `SettingError` for a filter that cannot be loaded.
    """
    with _as_setting():
        accepted = link_filter(config.filter, config.lang)
    return page_reader(
        method,
        ordering,
        config.lang,
        is_census=config.is_census,
        obeys_directives=config.obeys_directives,
        accepted=accepted,
        embeds_of=_embeds_of if config.embeds else None,
        has_scope=config.scope is not None,
        document_of=_document_of() if config.documents else None,
        has_one_version=config.has_one_version,
    )


def _document_of() -> ParseDocument:
    from langfocus.classifiers.pages.documents import parse_document

    with _as_setting("-a documents=true: "):
        optional("pypdfium2")
    return parse_document


def _embeds_of(page: Download) -> dict[str, bool]:
    from langfocus.classifiers.pages.html.embedded import embedded_in_page

    return embedded_in_page(page.body, page.content_type, page.url)


def ordering_of(config: Config) -> Ordering:
    """Return the ordering of a crawl with its model loaded; raises `SettingError`."""
    with _as_setting():
        return make_ordering(config.strategy, config.lang, model=config.url_model)


def page_method(name: str, fasttext: Path | None = None) -> PageMethod:
    """Return the named method with loaded models; raises `SettingError`.

    A fastText model file adds languages to the default method.
    """
    if name in NEIGHBOURLY:
        around = "needs a graph of the pages around a page: langfocus evaluate --graph"
        raise SettingError(f"-a identify={name}: {around}")
    with _as_setting(f"-a identify={name}: " if fasttext is None else f"{FASTTEXT_FILE}: "):
        return method(name, fasttext)


@contextmanager
def _as_setting(option: str = "") -> Iterator[None]:
    """Raise `SettingError` for a part that cannot be loaded in the block."""
    try:
        yield
    except ClassifierError as error:
        raise SettingError(f"{option}{error}") from error
