"""Makes the object that runs Scrapy's reactor, which starts only once in a process."""

import logging
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from crawler.errors import SettingError


def crawler_process(settings: Settings) -> Any:
    """Return the object that runs the reactor.

    Raises `SettingError` for a module of spiders or a class that cannot be imported, and for an
    unknown LOG_LEVEL.
    """
    level = str(settings["LOG_LEVEL"])
    if not level.isdecimal() and level not in logging.getLevelNamesMapping():
        raise SettingError(f"LOG_LEVEL={level}: DEBUG, INFO, WARNING, ERROR or CRITICAL is needed")
    try:
        return AsyncCrawlerProcess(settings)
    except ImportError as error:
        raise SettingError(
            f"a module that the settings name cannot be imported: {error}"
        ) from error
