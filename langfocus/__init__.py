"""langfocus crawls the part of the Web that is written in one language.

>>> import langfocus
>>> langfocus.identify_url("https://www.spiegel.de/politik/").language
'de'
>>> run = langfocus.crawl("de", web="sample", pages=200)
>>> run.summary.harvest_rate > 0.9
True
>>> pages = pandas.DataFrame(run.pages())

The import is quick: each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

if TYPE_CHECKING:
    from langfocus.classifiers.errors import LangfocusError as LangfocusError
    from langfocus.classifiers.pages.method import PageLanguage as PageLanguage
    from langfocus.classifiers.pages.parse import parse_page as parse_page
    from langfocus.classifiers.urls.model import UrlLanguage as UrlLanguage
    from langfocus.classifiers.urls.model import UrlModel as UrlModel
    from langfocus.crawler.report.past_run import Run as Run
    from langfocus.crawler.run.page_row import PageRow as PageRow
    from langfocus.crawler.spiders.addon import Addon as Addon
    from langfocus.crawler.spiders.callbacks import FailedPage as FailedPage
    from langfocus.crawler.spiders.callbacks import Page as Page
    from langfocus.crawler.spiders.langfocus import Spider as Spider
    from langfocus.crawler.strategies.links import Link as Link
    from langfocus.crawling import crawl as crawl
    from langfocus.identifying import identify_page as identify_page
    from langfocus.identifying import identify_url as identify_url
    from langfocus.identifying import identify_urls as identify_urls

__version__ = "0.1.0"

_MODULES = {
    "Addon": "langfocus.crawler.spiders.addon",
    "FailedPage": "langfocus.crawler.spiders.callbacks",
    "LangfocusError": "langfocus.classifiers.errors",
    "Link": "langfocus.crawler.strategies.links",
    "Page": "langfocus.crawler.spiders.callbacks",
    "PageLanguage": "langfocus.classifiers.pages.method",
    "PageRow": "langfocus.crawler.run.page_row",
    "Run": "langfocus.crawler.report.past_run",
    "Spider": "langfocus.crawler.spiders.langfocus",
    "UrlLanguage": "langfocus.classifiers.urls.model",
    "UrlModel": "langfocus.classifiers.urls.model",
    "crawl": "langfocus.crawling",
    "identify_page": "langfocus.identifying",
    "identify_url": "langfocus.identifying",
    "identify_urls": "langfocus.identifying",
    "parse_page": "langfocus.classifiers.pages.parse",
}

__all__ = ["__version__", *_MODULES]  # noqa: PLE0604  names of strings

_RENAMED: dict[str, tuple[str, str]] = {}
"""Old name -> new name, and the minor version without the old name, such as 0.3."""


def __getattr__(name: str) -> Any:
    """Return a public name from its defining module; a renamed name warns."""
    if name in _RENAMED:
        new, removal = _RENAMED[name]
        told = f"langfocus.{name} is now langfocus.{new}; version {removal} removes the old name"
        warn(told, DeprecationWarning, stacklevel=2)
        return globals().get(new) or __getattr__(new)
    if name not in _MODULES:
        raise AttributeError(f"module 'langfocus' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *__all__})
