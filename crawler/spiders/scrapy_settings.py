"""Converts Scrapy's settings into those of a crawl, and sets those that follow from a crawl."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from classifiers import languages
from crawler.config import SETTINGS, Config, of_settings
from crawler.crawl import Crawl
from crawler.errors import SettingError
from crawler.first_answer import PATIENCE_S
from crawler.politeness.contact import BotName, missing_contact, product_token, user_agent
from crawler.settings import USER_AGENT
from crawler.spiders.given_settings import check_given, is_given
from crawler.spiders.request_meta import SLOT

_COMMAND_LINE_PRIORITY = 40
_MOST_PER_DOMAIN = 1000
_WEB_HANDLER = "crawler.spiders.web_handler.WebDownloadHandler"
_LIVE_HANDLER = "crawler.spiders.connections.GuardedDownloadHandler"


_SWITCHED = (
    (
        "COOKIES_ENABLED",
        "DOWNLOADER_MIDDLEWARES_BASE",
        "downloadermiddlewares.cookies.CookiesMiddleware",
    ),
    ("TELNETCONSOLE_ENABLED", "EXTENSIONS_BASE", "extensions.telnet.TelnetConsole"),
    ("REMOTE_CONTROL_ENABLED", "EXTENSIONS_BASE", "extensions.remote_control.RemoteControl"),
)
"""Parts of Scrapy with their switches; Scrapy imports them even if they are switched off."""


def given(settings: BaseSettings) -> dict[str, object]:
    """Return the declared settings that have a value which is not Scrapy's own."""
    return {name: settings.get(name) for name in SETTINGS if is_given(settings, name)}


def config_of(arguments: Mapping[str, object] | None, settings: BaseSettings) -> Config:
    """Return the configuration of a crawl; raises `SettingError`.

    `arguments` None: that of given URLs, which has no language. A Web without servers (the sample
    web, an archive) needs no politeness: only a delay given with `-s` counts there.
    """
    check_given(settings)
    if arguments is None:
        config = Config(**of_settings(given(settings)))
    else:
        config = Config.read(arguments, given(settings))
    has_servers = config.web == "live"
    if not has_servers:
        delay_s = config.delay_s if is_asked_for(settings, "DOWNLOAD_DELAY") else 0.0
        config = replace(config, delay_s=delay_s, max_crawl_delay_s=0.0, retry_delay_s=0.0)
    folder = settings.get("JOBDIR")
    return replace(
        config,
        run_folder=Path(folder) if folder else None,
        bot=_bot_name(settings, config.contact, has_servers=has_servers),
        retry_statuses=_statuses(settings),
        obeys_robots=settings.getbool("ROBOTSTXT_OBEY"),
        first_answer_s=_first_answer_s(settings),
        version=settings.get("BOT_NAME") + " " + settings.get("VERSION", ""),
    )


def _statuses(settings: BaseSettings) -> frozenset[int]:
    statuses = settings.getlist("RETRY_HTTP_CODES")
    try:
        return frozenset(map(int, statuses))
    except ValueError:
        told = ",".join(map(str, statuses))
        raise SettingError(f"RETRY_HTTP_CODES={told}: numbers with commas are needed") from None


def is_asked_for(settings: BaseSettings, name: str) -> bool:
    """Return True for a setting that was given with `-s` or has a higher priority."""
    return (settings.getpriority(name) or 0) >= _COMMAND_LINE_PRIORITY


def _bot_name(settings: BaseSettings, contact: str | None, *, has_servers: bool) -> BotName:
    sent: str = settings.get("USER_AGENT")
    named = user_agent(USER_AGENT, sent, contact)
    return BotName(
        user_agent=named or sent,
        robots_name=settings.get("ROBOTSTXT_USER_AGENT") or product_token(named or sent),
        advice=missing_contact(USER_AGENT, sent) if has_servers and named is None else "",
    )


def _first_answer_s(settings: BaseSettings) -> float:
    """Return the patience with servers that do not answer, longer if the user wants it longer."""
    is_wanted = is_asked_for(settings, "DOWNLOAD_TIMEOUT")
    return max(PATIENCE_S, settings.getfloat("DOWNLOAD_TIMEOUT") if is_wanted else 0.0)


def adapt(settings: BaseSettings, crawl: Crawl) -> None:
    """Set the settings of Scrapy that follow from a crawl; those given with `-s` do not change."""
    # Scrapy reads 0 as no limit.
    concurrency = settings.getint("CONCURRENT_REQUESTS") or sys.maxsize
    headers = dict(settings.getdict("DEFAULT_REQUEST_HEADERS"))
    headers.pop("Accept-Language", None)  # Scrapy's own prefers English
    if crawl.config.lang:
        headers["Accept-Language"] = languages.accept_language(crawl.config.lang)
    handler = _LIVE_HANDLER if crawl.web is None else _WEB_HANDLER
    # A redirect of a robots.txt may lead anywhere; only http and https are read.
    others = dict.fromkeys(("file", "ftp", "s3", "data"))
    adapted: dict[str, Any] = {
        "DEFAULT_REQUEST_HEADERS": headers,
        "CONCURRENT_REQUESTS_PER_DOMAIN": min(concurrency, _MOST_PER_DOMAIN),
        "DOWNLOAD_SLOTS": {SLOT: {"concurrency": concurrency, "delay": 0, "jitter": 0}},
        "DOWNLOAD_HANDLERS": {"http": handler, "https": handler, **others},
        "JOBDIR": str(crawl.run.folder),
        "USER_AGENT": crawl.config.bot.user_agent,
    }
    for name, value in adapted.items():
        settings.set(name, value, priority="spider")
    for switch, parts, part in _SWITCHED:
        if not settings.getbool(switch):
            kept = settings.getdict(parts)
            kept.pop(f"scrapy.{part}", None)
            settings.set(parts, kept, priority="spider")
