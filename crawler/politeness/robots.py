"""The rules of robots.txt (RFC 9309); the frontier stores them, so a restart asks no host twice."""

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from protego import Protego

from crawler.frontier.base import KeptRobots
from crawler.url import host_of, origin_of

MAX_ROBOTS_BYTES = 512 * 1024
"""Bytes of a robots.txt that are read; RFC 9309, 2.5 asks for at least 500 KiB."""

MAX_MOVES = 5
"""Redirects that are followed to a robots.txt (RFC 9309, 2.3.1.2)."""

MAX_AGE_S = 24 * 3600.0
"""Seconds for which rules are used before they are fetched again (RFC 9309, 2.4)."""

UNREACHABLE_S = 3600.0
"""Seconds for which a site is forbidden if its rules could not be fetched."""

ROBOTS_UNREACHABLE = "robots_unreachable"
"""The outcome of a URL if the rules of its site could not be fetched."""

_UNREACHABLE = "# unreachable\nUser-agent: *\nDisallow: /"
_SERVER_IS_BUSY = 429


class Verdict(Enum):
    """Whether a URL may be fetched."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"


class RobotsStore(Protocol):
    """The part of the frontier that stores robots.txt files and delays."""

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the rules of an origin, "" if it has none, None if they were not fetched."""

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Store the rules of an origin."""

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """Parsed rules; `parsed` None: everything is allowed. `good_until` is in unix seconds."""

    parsed: Protego | None
    is_reachable: bool
    good_until: float


class Robots:
    """The rules of all origins; the last `cache_size` of them stay parsed in memory."""

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
        self._rules: OrderedDict[str, _Rules] = OrderedDict()
        self._moved: OrderedDict[str, tuple[str, int]] = OrderedDict()

    def verdict(self, url: str, now: float) -> Verdict:
        """Return whether `url` may be fetched, `UNKNOWN` until its robots.txt is stored.

        `UNREACHABLE` forbids the URL too, but only for a while.
        """
        rules = self._rules_of(origin_of(url))
        if rules is None or rules.good_until <= now:
            return Verdict.UNKNOWN
        if not rules.is_reachable:
            return Verdict.UNREACHABLE
        if rules.parsed is None or rules.parsed.can_fetch(url, self._user_agent):
            return Verdict.ALLOWED
        return Verdict.FORBIDDEN

    def _rules_of(self, origin: str) -> _Rules | None:
        if origin in self._rules:
            self._rules.move_to_end(origin)
            return self._rules[origin]
        kept = self._store.robots(origin)
        return None if kept is None else self._remember(origin, kept)

    def address(self, url: str) -> str:
        """Return the URL from which the rules for `url` are fetched."""
        origin = origin_of(url)
        return self._moved[origin][0] if origin in self._moved else f"{origin}/robots.txt"

    def move(self, url: str, location: str) -> bool:
        """Record that the rules for `url` are at `location`; False after too many redirects."""
        origin = origin_of(url)
        moves = self._moved.get(origin, ("", 0))[1] + 1
        self._moved[origin] = (location, moves)
        _shorten(self._moved, self._cache_size)
        return moves <= MAX_MOVES

    def keep(self, url: str, status: int | None, body: bytes, now: float) -> None:
        """Store the rules for `url` that came from `address(url)`.

        After 2xx the body holds the rules. After 4xx or too many redirects there are no rules. If
        the server `is_unreachable`, the whole site is forbidden for a while (RFC 9309, 2.3.1).
        """
        kept = KeptRobots(_text(status, body), now)
        origin = origin_of(url)
        self._moved.pop(origin, None)
        self._store.set_robots(origin, kept.text, now)
        delay_s = self._delay_s(self._remember(origin, kept))
        if delay_s:
            self._store.set_delay(host_of(url), delay_s)

    def delay_s(self, url: str) -> float:
        """Return the Crawl-delay for `url` in seconds, at most `max_delay_s`; 0 if unknown."""
        return self._delay_s(self._rules_of(origin_of(url)))

    def _delay_s(self, rules: _Rules | None) -> float:
        told = rules.parsed.crawl_delay(self._user_agent) if rules and rules.parsed else None
        return min(float(told or 0.0), self._max_delay_s)

    def _remember(self, origin: str, kept: KeptRobots) -> _Rules:
        is_reachable = kept.text != _UNREACHABLE
        rules = _Rules(
            Protego.parse(kept.text) if kept.text else None,
            is_reachable,
            kept.fetched_at + (MAX_AGE_S if is_reachable else UNREACHABLE_S),
        )
        self._rules[origin] = rules
        _shorten(self._rules, self._cache_size)
        return rules


def is_unreachable(status: int | None) -> bool:
    """Return True if a status says nothing about the rules of a server; None is no answer.

    429 is such a status, unlike in RFC 9309, 2.3.1.3: a server that wants fewer requests does not
    allow everything.
    """
    return status is None or status >= 500 or status == _SERVER_IS_BUSY


def _text(status: int | None, body: bytes) -> str:
    if status is None or is_unreachable(status):
        return _UNREACHABLE
    if 200 <= status < 300:
        return _whole_lines(body).decode("utf-8-sig", "replace").strip()
    return ""


def _whole_lines(body: bytes) -> bytes:
    """Return the lines that are read whole; half a line may forbid more or less than the whole."""
    if len(body) < MAX_ROBOTS_BYTES:
        return body
    body = body[:MAX_ROBOTS_BYTES]
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]


def _shorten(cache: OrderedDict[str, Any], size: int) -> None:
    if len(cache) > size:
        cache.popitem(last=False)
