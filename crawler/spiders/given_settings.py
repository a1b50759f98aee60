"""The settings that a user gave: those that are misspelt, of another type, or without effect."""

import math
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from urllib.request import getproxies

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from crawler.config import SETTINGS
from crawler.errors import SettingError

_PREFIX = "LANGFOCUS_"
_DEFAULTS: Mapping[str, object] = MappingProxyType(
    {name: value for name, value in vars(default_settings).items() if name.isupper()}
)
_SECONDS = ("_TIMEOUT", "_DELAY", "_INTERVAL", "_INTERVAL_SECONDS")
_FRONTIER_S = "the frontier decides which URL is next"

_WITHOUT_EFFECT: Mapping[str, str] = MappingProxyType(
    {
        "AUTOTHROTTLE": "DOWNLOAD_DELAY and a site's Crawl-delay set the pace",
        "CONCURRENT_REQUESTS_PER": "a host has one connection; see LANGFOCUS_PER_ADDRESS",
        "DEPTH_LIMIT": "-a host_cap and -a pages limit a crawl",
        "DEPTH_PRIORITY": "-a strategy=bfs crawls breadth first",
        "DEPTH_STATS": "the report has the pages of each depth",
        "DNSCACHE_ENABLED": "DNSCACHE_SIZE=0 turns the cache of addresses off",
        "DUPEFILTER": "the frontier knows the URLs that were seen",
        "HTTPCACHE": "run.db continues a crawl; -a web=archive replays one",
        "HTTPERROR": "pages with an error status are recorded",
        "METAREFRESH": "refreshes inside pages are links",
        "RANDOMIZE_DOWNLOAD_DELAY": "DOWNLOAD_DELAY is kept exactly",
        "REDIRECT_ENABLED": "redirects are links; see REDIRECT_MAX_TIMES",
        "REDIRECT_PRIORITY": _FRONTIER_S,
        "REFERER": "requests have no Referer",
        "REFERRER": "requests have no Referer",
        "RETRY_ENABLED": "RETRY_TIMES=0 turns retries off",
        "RETRY_PRIORITY": _FRONTIER_S,
        "RETRY_EXCEPTIONS": "docs/hostile-web.md lists what is retried",
        "ROBOTSTXT_PARSER": "the project has its own parser",
        "SCHEDULER_": _FRONTIER_S,
        "URLLENGTH_LIMIT": "URLs of more than 2,048 characters are left out",
    }
)
"""Beginnings of the names of Scrapy's settings that a crawl does not read, and its own way."""


def check_given(settings: BaseSettings) -> None:
    """Raise `SettingError` for an unknown LANGFOCUS_ name or a value of another type."""
    for name in sorted(settings.keys()):
        if name.startswith(_PREFIX) and name not in SETTINGS:
            raise SettingError(f"{name}: no such setting; {_advice(name)}")
    for name in _given(settings):
        if name not in SETTINGS:
            _check_type(settings, name)


def _advice(name: str) -> str:
    ours = [known.removeprefix(_PREFIX) for known in SETTINGS if known.startswith(_PREFIX)]
    near = get_close_matches(name.removeprefix(_PREFIX), ours, n=1, cutoff=0.6)
    return f"did you mean {_PREFIX}{near[0]}?" if near else "langfocus crawl --help lists them"


def is_given(settings: BaseSettings, name: str) -> bool:
    """Return True for a setting whose value does not come from Scrapy."""
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"]


def _given(settings: BaseSettings) -> Iterator[str]:
    """Yield Scrapy's settings whose value is not Scrapy's own."""
    for name, default in _DEFAULTS.items():
        # Reading a deprecated setting warns, so only those that were given are read.
        if is_given(settings, name) and str(settings.get(name)) != str(default):
            yield name


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


def remarks(settings: BaseSettings, *, has_servers: bool) -> list[str]:
    """Return one line for each setting that the crawl does not use as its user may expect."""
    lines = [
        f"{name} has no effect: {instead}"
        for name in _given(settings)
        for beginning, instead in _WITHOUT_EFFECT.items()
        if name.startswith(beginning) and _is_of_user(settings, name)
    ]
    lines += [
        f"{name}: no such setting; did you mean {near[0]}?"
        for name in sorted(settings.keys())
        if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]
        and name not in _DEFAULTS
        and name not in SETTINGS
        and (near := get_close_matches(name.upper(), [*_DEFAULTS, *SETTINGS], n=1, cutoff=0.85))
    ]
    if has_servers and settings.getbool("HTTPPROXY_ENABLED"):
        lines += _remarks_on_proxies(getproxies())
    return lines


def _is_of_user(settings: BaseSettings, name: str) -> bool:
    from crawler import settings as ours

    return str(settings.get(name)) != str(getattr(ours, name, None))


def _remarks_on_proxies(proxies: Mapping[str, str]) -> Iterator[str]:
    for scheme, other in (("http", "https"), ("https", "http")):
        if proxies.get(scheme) and not proxies.get(other):
            fate = "are fetched without a proxy"
            yield f"{scheme}_proxy is set and {other}_proxy is not: {other} pages {fate}"
    if proxies.get("all") and not (proxies.get("http") and proxies.get("https")):
        yield "all_proxy has no effect: set http_proxy and https_proxy"
