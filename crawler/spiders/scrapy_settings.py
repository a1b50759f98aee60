"""Scrapy's settings: user settings are read and checked, other settings follow from the crawl."""

import json
import logging
import math
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings, default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from langfocus.classifiers import languages
from langfocus.crawler.errors import RunFolderError, SettingError, one_line
from langfocus.crawler.options.config import FIRST_ANSWER_S, RENAMED, SETTINGS, Config
from langfocus.crawler.options.json_log import is_json, log_json
from langfocus.crawler.politeness.contact import bot_name
from langfocus.crawler.politeness.identity import signer
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.settings import BOT_NAME, USER_AGENT, VERSION
from langfocus.crawler.sources.seeds import first_of, read_seeds
from langfocus.crawler.spiders.concurrency import slot_settings

_PREFIX = "LANGFOCUS_"
_DEFAULTS: Mapping[str, object] = MappingProxyType(
    {name: value for name, value in vars(default_settings).items() if name.isupper()}
)
_SECONDS = ("_TIMEOUT", "_DELAY", "_INTERVAL", "_INTERVAL_SECONDS")
_MOST_SEEDS = 10
_TEXTS = ("DOWNLOAD_HANDLERS", "USER_AGENT", "ROBOTSTXT_USER_AGENT", "RETRY_HTTP_CODES")
"""Texts among Scrapy's settings that decide a crawl and are no secrets."""

_FRONTIER = "LANGFOCUS_FRONTIER"
_HANDLERS = "DOWNLOAD_HANDLERS"
_PASSWORD = re.compile(r"(?<=//)[^/]*@|\?.*")
_WEB_HANDLER = "langfocus.crawler.spiders.web_handler.WebDownloadHandler"
_LIVE_HANDLER = "langfocus.crawler.spiders.live_handler.PinnedDownloadHandler"


def config_of(
    arguments: Mapping[str, object],
    settings: BaseSettings,
    *,
    spider: str = BOT_NAME,
    others: Collection[str] = (),
) -> Config:
    """Return the configuration of a crawl; raises `SettingError`.

    `spider` is the spider's name, `others` are the names of further langfocus settings. A Web
    without servers (the sample web, an archive) needs no politeness: only a delay given with `-s`
    counts.
    """
    _check(settings, others)
    folder = settings.get("JOBDIR")
    try:
        config = Config.read(arguments, given(settings))
    except SettingError as error:
        raise SettingError(f"{error}{_used(folder, arguments)}") from error
    has_servers = config.web == "live"
    if not has_servers:
        delay_s = config.delay_s if is_asked_for(settings, "DOWNLOAD_DELAY") else 0.0
        config = replace(config, delay_s=delay_s, max_crawl_delay_s=0.0, retry_delay_s=0.0)
    timeout_s = settings.getfloat("DOWNLOAD_TIMEOUT")
    return replace(
        config,
        run_folder=Path(folder) if folder else None,
        bot=bot_name(
            USER_AGENT,
            settings.get("USER_AGENT"),
            config.contact,
            settings.get("ROBOTSTXT_USER_AGENT"),
            has_servers=has_servers,
        ),
        signer=signer(config.key, config.contact) if config.key and has_servers else None,
        retry_statuses=_statuses(settings),
        obeys_robots=settings.getbool("ROBOTSTXT_OBEY"),
        keeps_cookies=settings.getbool("COOKIES_ENABLED"),
        first_answer_s=max(
            FIRST_ANSWER_S, timeout_s if is_asked_for(settings, "DOWNLOAD_TIMEOUT") else 0.0
        ),
        version=f"{BOT_NAME} {VERSION}",
        command=_command(arguments, settings, config, spider, others),
    )


def _used(folder: str | None, arguments: Mapping[str, object]) -> str:
    """Return the plug-ins that a run used under names of the arguments, with their versions."""
    from langfocus.crawler.report.harvest import plugins_of

    with suppress(RunFolderError):
        used = [one for one in plugins_of(Path(folder or "")) if one.name in arguments.values()]
        return "".join(f"; the run used {one}" for one in used)
    return ""


def _command(
    arguments: Mapping[str, object],
    settings: BaseSettings,
    config: Config,
    spider: str,
    others: Collection[str],
) -> str:
    """Return a command for the same crawl, fit for publication.

    The command omits the folder, the Redis password, and text values of Scrapy's settings, since
    some are secrets. It lists a few seeds, since their file may be gone. An add-on, which has
    `others`, takes the arguments as settings.
    """
    texts = {name: str(value) for name, value in arguments.items() if value != ()}
    seeds = ",".join(first_of(config.seeds)[:_MOST_SEEDS])
    are_plain = "seeds" in texts and config.seed_plugin is None
    if are_plain and seeds and read_seeds(seeds, "") == config.seeds:
        texts["seeds"] = seeds
    chosen = {name: str(settings.get(name)) for name in settings if is_asked_for(settings, name)}
    if _FRONTIER in chosen:
        chosen[_FRONTIER] = _PASSWORD.sub("", chosen[_FRONTIER])
    if _HANDLERS in chosen:
        handlers = dict(settings.get(_HANDLERS))
        chosen[_HANDLERS] = json.dumps(handlers, default=global_object_name)
    words = ["langfocus", "crawl"] if spider == BOT_NAME else ["scrapy", "crawl", spider]
    if others:
        chosen |= {f"LANGFOCUS_{name.upper()}": value for name, value in texts.items()}
    else:
        words += [part for name in texts for part in ("-a", f"{name}={texts[name]}")]
    for name, value in sorted(chosen.items()):
        if name in (*SETTINGS, *_TEXTS, *others) or isinstance(_DEFAULTS.get(name), int | float):
            words += ["-s", f"{name}={value}"]
    return shlex.join(words)


def given(settings: BaseSettings) -> dict[str, object]:
    """Return the declared settings with a value other than Scrapy's default."""
    names = (*RENAMED, *SETTINGS)
    return {name: settings.get(name) for name in names if _is_given(settings, name)}


def is_asked_for(settings: BaseSettings, name: str) -> bool:
    """Return True for a setting given with `-s` or with a higher priority."""
    return (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"]


def _is_given(settings: BaseSettings, name: str) -> bool:
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"]


def _check(settings: BaseSettings, others: Collection[str]) -> None:
    """Raise `SettingError` for an unknown LANGFOCUS_ name or a value of another type."""
    for name in sorted(settings.keys()):
        known = name in SETTINGS or name in RENAMED or name in others
        if name.startswith(_PREFIX) and not known:
            bare = [one.removeprefix(_PREFIX) for one in SETTINGS if one.startswith(_PREFIX)]
            near = get_close_matches(name.removeprefix(_PREFIX), bare, n=1)
            advice = (
                f"did you mean {_PREFIX}{near[0]}?" if near else "langfocus crawl --help lists them"
            )
            raise SettingError(f"{name}: no such setting; {advice}")
    if settings["TWISTED_REACTOR"] != _DEFAULTS["TWISTED_REACTOR"]:
        raise SettingError(f"TWISTED_REACTOR={settings['TWISTED_REACTOR']}: asyncio's is needed")
    _check_handlers(settings)
    for name in _DEFAULTS:
        # Reading a deprecated setting warns, so only given settings are read.
        if name not in SETTINGS and _is_given(settings, name):
            _check_type(settings, name)


def _check_handlers(settings: BaseSettings) -> None:
    """Raise `SettingError` for a download handler that cannot be imported."""
    path: Any = settings.get("DOWNLOAD_HANDLERS")
    try:
        for path in settings.getwithbase("DOWNLOAD_HANDLERS").values():
            if path is not None:
                load_object(path)
    except (ImportError, AttributeError, NameError, TypeError, ValueError) as error:
        raise SettingError(f"DOWNLOAD_HANDLERS={path}: {one_line(str(error))}") from error


def _check_type(settings: BaseSettings, name: str) -> None:
    value, default = settings.get(name), _DEFAULTS[name]
    if value is None or not isinstance(default, bool | int | float):
        return
    is_number = not isinstance(default, bool)
    try:
        if not is_number:
            settings.getbool(name)
        elif name.endswith(_SECONDS) or isinstance(default, float):
            if not math.isfinite(float(value)):
                raise ValueError
        else:
            int(value)
    except (TypeError, ValueError):
        wanted = "a number" if is_number else "True or False"
        raise SettingError(f"{name}={value}: {wanted} is needed") from None


def _statuses(settings: BaseSettings) -> frozenset[int]:
    statuses = settings.getlist("RETRY_HTTP_CODES")
    try:
        return frozenset(map(int, statuses))
    except ValueError:
        given = ",".join(map(str, statuses))
        raise SettingError(f"RETRY_HTTP_CODES={given}: numbers with commas are needed") from None


def crawler_process(settings: Settings) -> AsyncCrawlerProcess:
    """Return the object that runs Scrapy's reactor, which starts only once in a process.

    Raises `SettingError` for a module of spiders or a class that cannot be imported, and for an
    unknown LOG_LEVEL.
    """
    level = str(settings["LOG_LEVEL"])
    if not level.isdecimal() and level not in logging.getLevelNamesMapping():
        raise SettingError(f"LOG_LEVEL={level}: DEBUG, INFO, WARNING, ERROR or CRITICAL is needed")
    if is_json():
        log_json(settings)
    try:
        return AsyncCrawlerProcess(settings)
    except ImportError as error:
        raise SettingError(
            f"a module that the settings name cannot be imported: {error}"
        ) from error


def proxy_remarks(proxies: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each proxy not used as its user may expect."""
    for scheme, other in (("http", "https"), ("https", "http")):
        if proxies.get(scheme) and not proxies.get(other):
            fate = "are fetched without a proxy"
            yield f"{scheme}_proxy is set and {other}_proxy is not: {other} pages {fate}"
    if proxies.get("all") and not (proxies.get("http") and proxies.get("https")):
        yield "all_proxy has no effect: set http_proxy and https_proxy"


def adapt(settings: BaseSettings, crawl: Crawl) -> None:
    """Set the Scrapy settings derived from a crawl; settings given with `-s` are kept."""
    headers = dict(settings.getdict("DEFAULT_REQUEST_HEADERS"))
    headers.pop("Accept-Language", None)  # Scrapy's own prefers English
    headers["User-Agent"] = crawl.config.bot.user_agent
    if crawl.config.lang:
        headers["Accept-Language"] = languages.accept_language(crawl.config.lang)
    adapted: dict[str, Any] = {
        "DEFAULT_REQUEST_HEADERS": headers,
        **slot_settings(settings.getint("CONCURRENT_REQUESTS")),
        # A redirect of a robots.txt may lead anywhere; only http and https are read.
        "DOWNLOAD_HANDLERS_BASE": dict.fromkeys(("http", "https"), _LIVE_HANDLER),
        "JOBDIR": str(crawl.run.folder),
    }
    for name, value in adapted.items():
        settings.set(name, value, priority="spider")
    if crawl.prepared.web is not None:  # no other handler knows it
        handlers = dict.fromkeys(("http", "https"), _WEB_HANDLER)
        settings.set("DOWNLOAD_HANDLERS", handlers, priority="cmdline")
