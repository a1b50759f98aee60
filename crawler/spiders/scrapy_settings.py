"""Converts Scrapy's settings into those of a crawl, and sets those that follow from a crawl."""

import sys
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from classifiers import languages
from classifiers.pages.text.fasttextengine import named_file
from crawler.configuration import SETTINGS, CrawlSettings
from crawler.crawl import Crawl
from crawler.errors import SettingError
from crawler.first_answer import PATIENCE_S
from crawler.politeness.contact import BotName, missing_contact, product_token, user_agent
from crawler.settings import USER_AGENT
from crawler.spiders.given_settings import check_given
from crawler.spiders.request_meta import SLOT
from crawler.visit import RetryRule

_DIRECT = {
    "obeys_directives": "LANGFOCUS_DIRECTIVES_OBEY",
    "reads_sitemaps": "LANGFOCUS_SITEMAPS",
    "uses_hreflang": "LANGFOCUS_HREFLANG",
    "per_address": "LANGFOCUS_PER_ADDRESS",
    "private_addresses": "LANGFOCUS_PRIVATE_ADDRESSES",
    "patience_s": "LANGFOCUS_PATIENCE",
    "random_state": "LANGFOCUS_RANDOM_STATE",
    "keeps_links": "LANGFOCUS_LINKS",
    "keeps_warc": "LANGFOCUS_WARC",
    "sample_hosts": "LANGFOCUS_SAMPLE_HOSTS",
    "frontier": "LANGFOCUS_FRONTIER",
    "crawl_name": "LANGFOCUS_CRAWL",
    "lease_s": "LANGFOCUS_LEASE",
}
"""Fields of `CrawlSettings` that take the value of a setting unchanged."""

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


def setting(settings: BaseSettings, name: str) -> Any:
    """Return a declared setting, checked, None if it is not set; raises `SettingError`."""
    declaration, value = SETTINGS[name], settings.get(name)
    is_unset = value is None or (value == "" and declaration.default is None)
    return None if is_unset else declaration.parse(value, name)


def crawl_settings(settings: BaseSettings, *, has_servers: bool) -> CrawlSettings:
    """Return the settings of a crawl; raises `SettingError`.

    A Web without servers (the sample web, an archive) needs no politeness: only a delay given with
    `-s` counts there.
    """
    check_given(settings)
    given = {name: setting(settings, name) for name in SETTINGS}
    is_delayed = has_servers or is_asked_for(settings, "DOWNLOAD_DELAY")
    return CrawlSettings(
        run_folder=_path(settings.get("JOBDIR")),
        delay_s=given["DOWNLOAD_DELAY"] if is_delayed else 0.0,
        max_crawl_delay_s=given["LANGFOCUS_MAX_CRAWL_DELAY"] if has_servers else 0.0,
        retry_rule=RetryRule(
            given["RETRY_TIMES"],
            given["LANGFOCUS_RETRY_DELAY"] if has_servers else 0.0,
            _statuses(settings),
            max_redirects=given["REDIRECT_MAX_TIMES"],
        ),
        bot=_bot_name(settings, given["LANGFOCUS_CONTACT"], has_servers=has_servers),
        obeys_robots=settings.getbool("ROBOTSTXT_OBEY"),
        url_model=_path(given["LANGFOCUS_URL_MODEL"]),
        fasttext=named_file(_path(given["LANGFOCUS_FASTTEXT_MODEL"])),
        geoip=_path(given["LANGFOCUS_GEOIP"]),
        version=settings.get("BOT_NAME") + " " + settings.get("VERSION", ""),
        first_answer_s=_first_answer_s(settings),
        **{field: given[name] for field, name in _DIRECT.items()},
    )


def _statuses(settings: BaseSettings) -> frozenset[int]:
    given = settings.getlist("RETRY_HTTP_CODES")
    try:
        return frozenset(map(int, given))
    except ValueError:
        told = ",".join(map(str, given))
        raise SettingError(f"RETRY_HTTP_CODES={told}: numbers with commas are needed") from None


def is_asked_for(settings: BaseSettings, name: str) -> bool:
    """Return True for a setting that was given with `-s` or has a higher priority."""
    return (settings.getpriority(name) or 0) >= _COMMAND_LINE_PRIORITY


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _bot_name(settings: BaseSettings, contact: str | None, *, has_servers: bool) -> BotName:
    given: str = settings.get("USER_AGENT")
    named = user_agent(USER_AGENT, given, contact)
    sent = named or given
    return BotName(
        user_agent=sent,
        robots_name=settings.get("ROBOTSTXT_USER_AGENT") or product_token(sent),
        advice=missing_contact(USER_AGENT, given) if has_servers and named is None else "",
    )


def _first_answer_s(settings: BaseSettings) -> float:
    """Return the patience with servers that do not answer, longer if the user wants it longer."""
    is_given = is_asked_for(settings, "DOWNLOAD_TIMEOUT")
    return max(PATIENCE_S, settings.getfloat("DOWNLOAD_TIMEOUT") if is_given else 0.0)


def adapt(settings: BaseSettings, crawl: Crawl) -> None:
    """Set the settings of Scrapy that follow from a crawl; those given with `-s` do not change."""
    # Scrapy reads 0 as no limit.
    concurrency = settings.getint("CONCURRENT_REQUESTS") or sys.maxsize
    headers = dict(settings.getdict("DEFAULT_REQUEST_HEADERS"))
    headers.pop("Accept-Language", None)  # Scrapy's own prefers English
    if crawl.options.lang:
        headers["Accept-Language"] = languages.accept_language(crawl.options.lang)
    handler = _LIVE_HANDLER if crawl.web is None else _WEB_HANDLER
    # A redirect of a robots.txt may lead anywhere; only http and https are read.
    others = dict.fromkeys(("file", "ftp", "s3", "data"))
    adapted: dict[str, Any] = {
        "DEFAULT_REQUEST_HEADERS": headers,
        "CONCURRENT_REQUESTS_PER_DOMAIN": min(concurrency, _MOST_PER_DOMAIN),
        "DOWNLOAD_SLOTS": {SLOT: {"concurrency": concurrency, "delay": 0, "jitter": 0}},
        "DOWNLOAD_HANDLERS": {"http": handler, "https": handler, **others},
        "JOBDIR": str(crawl.run.folder),
        "USER_AGENT": crawl.settings.bot.user_agent,
    }
    for name, value in adapted.items():
        settings.set(name, value, priority="spider")
    for switch, parts, part in _SWITCHED:
        if not settings.getbool(switch):
            kept = settings.getdict(parts)
            kept.pop(f"scrapy.{part}", None)
            settings.set(parts, kept, priority="spider")
