"""What robots.txt allows (RFC 9309), kept by the frontier, so that a restart asks no host twice."""

from collections import OrderedDict
from enum import Enum
from typing import Any, Protocol

from protego import Protego

from crawler.url import host_of, origin_of

MAX_ROBOTS_BYTES = 512 * 1024
"""What is read of a robots.txt; RFC 9309, 2.5 asks for at least 500 KiB."""

MAX_MOVES = 5
"""How many redirects are followed to a robots.txt (RFC 9309, 2.3.1.2)."""

_DISALLOW_ALL = "User-agent: *\nDisallow: /\n"


class Verdict(Enum):
    """Whether a URL may be fetched."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    UNKNOWN = "unknown"


class RobotsStore(Protocol):
    """The part of the frontier that keeps robots.txt files and delays."""

    def robots(self, origin: str) -> str | None:
        """Return what is kept for an origin, "" for no rules, None if it was not fetched."""

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Keep the rules of an origin."""

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds."""


class Robots:
    """The rules of all origins; the last `cache_size` of them stay parsed."""

    def __init__(
        self,
        store: RobotsStore,
        user_agent: str,
        *,
        max_delay_s: float = 60.0,
        cache_size: int = 4096,
    ) -> None:
        """Obey the rules for `user_agent`; a Crawl-delay counts up to `max_delay_s`."""
        self._store = store
        self._user_agent = user_agent
        self._max_delay_s = max_delay_s
        self._cache_size = cache_size
        self._rules: OrderedDict[str, Protego | None] = OrderedDict()
        self._moved: OrderedDict[str, tuple[str, int]] = OrderedDict()

    def verdict(self, url: str) -> Verdict:
        """Return whether `url` may be fetched, `UNKNOWN` until its robots.txt was kept."""
        origin = origin_of(url)
        if origin not in self._rules:
            text = self._store.robots(origin)
            if text is None:
                return Verdict.UNKNOWN
            self._remember(origin, text)
        rules = self._rules[origin]
        self._rules.move_to_end(origin)
        if rules is None or rules.can_fetch(url, self._user_agent):
            return Verdict.ALLOWED
        return Verdict.FORBIDDEN

    def address(self, url: str) -> str:
        """Return where the rules for `url` are to be fetched."""
        origin = origin_of(url)
        return self._moved[origin][0] if origin in self._moved else f"{origin}/robots.txt"

    def move(self, url: str, location: str) -> bool:
        """Note that the rules for `url` lie at `location`; False after too many such moves."""
        origin = origin_of(url)
        moves = self._moved.get(origin, ("", 0))[1] + 1
        self._moved[origin] = (location, moves)
        _shorten(self._moved, self._cache_size)
        return moves <= MAX_MOVES

    def keep(self, url: str, status: int | None, body: bytes, now: float) -> None:
        """Take in the rules for `url`, as they came from `address(url)`.

        2xx: the rules. 4xx, or moved too often: no rules. 5xx or no answer (None): the whole
        site is forbidden (RFC 9309, 2.3.1).
        """
        text = _text(status, body)
        origin = origin_of(url)
        self._moved.pop(origin, None)
        self._store.set_robots(origin, text, now)
        rules = self._remember(origin, text)
        delay_s = rules.crawl_delay(self._user_agent) if rules else None
        if delay_s:
            self._store.set_delay(host_of(url), min(float(delay_s), self._max_delay_s))

    def _remember(self, origin: str, text: str) -> Protego | None:
        rules = Protego.parse(text) if text else None
        self._rules[origin] = rules
        _shorten(self._rules, self._cache_size)
        return rules


def _text(status: int | None, body: bytes) -> str:
    if status is None or status >= 500:
        return _DISALLOW_ALL
    if 200 <= status < 300:
        return body[:MAX_ROBOTS_BYTES].decode("utf-8-sig", "replace").strip()
    return ""


def _shorten(cache: OrderedDict[str, Any], size: int) -> None:
    if len(cache) > size:
        cache.popitem(last=False)
