"""The settings that a spider or an add-on brings to a Scrapy project, and those it cannot have."""

from collections.abc import Mapping
from typing import Any, Final

from scrapy.settings import BaseSettings, default_settings

from langfocus.crawler import settings as own
from langfocus.crawler.errors import SettingError
from langfocus.crawler.spiders.concurrency import check_throttle

_SCHEDULER: Final = own.SCHEDULER
_BASE: Final = default_settings.DOWNLOADER_MIDDLEWARES_BASE
_KEPT: Final = (
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
    "scrapy.downloadermiddlewares.stats.DownloaderStats",
    "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware",
)
_REPLACED: Final = {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": "ROBOTSTXT_OBEY",
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": "RETRY_TIMES",
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": "the frontier",
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": "the frontier",
}
"""Scrapy middlewares replaced by the frontier, and the replacing rule."""

_POLITE: Final = (
    "USER_AGENT",
    "ROBOTSTXT_OBEY",
    "COOKIES_ENABLED",
    "CONCURRENT_REQUESTS",
    "CONCURRENT_ITEMS",
    "DOWNLOAD_TIMEOUT",
    "DOWNLOAD_MAXSIZE",
    "DOWNLOAD_WARNSIZE",
    "DOWNLOAD_FAIL_ON_DATALOSS",
    "DNS_TIMEOUT",
    "DNSCACHE_SIZE",
)
_CALLBACKS: Final = "langfocus.crawler.spiders.spider_middleware.SpiderCallbacks"
_HTTP_ERROR: Final = "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware"


def brought(*, keeps_spider_middlewares: bool = False) -> Mapping[str, Any]:
    """Return the settings of the framework by name.

    With `keeps_spider_middlewares` Scrapy's own spider middlewares stay, for ordinary spiders.
    """
    spider_middlewares = {_HTTP_ERROR: 50}
    if keeps_spider_middlewares:
        spider_middlewares = dict(default_settings.SPIDER_MIDDLEWARES_BASE)
    return {
        "SCHEDULER": _SCHEDULER,
        "DOWNLOADER_MIDDLEWARES_BASE": {
            **own.DOWNLOADER_MIDDLEWARES_BASE,
            **{name: _BASE[name] for name in _KEPT},
        },
        "SPIDER_MIDDLEWARES_BASE": {_CALLBACKS: 10, **spider_middlewares},
        "EXTENSIONS_BASE": {
            "langfocus.crawler.spiders.reporter.Reporter": 0,
            **default_settings.EXTENSIONS_BASE,
        },
    }


def bring(
    settings: BaseSettings, priority: str = "spider", *, keeps_spider_middlewares: bool = False
) -> None:
    """Apply required settings, and polite defaults below the project's own settings.

    Raises `SettingError` for a contradicting project setting.
    """
    check(settings)
    for name, value in brought(keeps_spider_middlewares=keeps_spider_middlewares).items():
        settings.set(name, value, priority=priority)
    for name in _POLITE:
        settings.set(name, getattr(own, name), priority="addon")


def check(settings: BaseSettings) -> None:
    """Raise `SettingError` for a setting that contradicts the framework."""
    scheduler = settings["SCHEDULER"]
    if scheduler not in (_SCHEDULER, default_settings.SCHEDULER):
        raise SettingError(f"SCHEDULER={scheduler}: langfocus brings its own; remove the setting")
    if not settings.getbool("TWISTED_REACTOR_ENABLED"):
        raise SettingError("TWISTED_REACTOR_ENABLED=False: a crawl needs the reactor; remove it")
    check_throttle(settings)
    for name, value in settings.getdict("DOWNLOADER_MIDDLEWARES").items():
        path = name if isinstance(name, str) else f"{name.__module__}.{name.__qualname__}"
        if path in _REPLACED and value is not None:
            raise SettingError(
                f"DOWNLOADER_MIDDLEWARES: {path.rpartition('.')[2]} would pass by the frontier, "
                f"which does its work ({_REPLACED[path]}); remove it"
            )
