"""The rules of robots.txt (RFC 9309); the frontier stores them, so a restart asks no host twice."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import sha256
from typing import Protocol

from crawler.frontier.base import KeptRobots
from crawler.politeness.directives import RobotsVersion
from crawler.politeness.robots_rules import Rules, rules_for
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

CACHE_BYTES = 16 * 1024 * 1024
"""Bytes of rules that stay in memory; a file of 512 KiB has at most 3 MiB of them."""

_UNREACHABLE = "unreachable"
_SITEMAP = "sitemap: "
_SERVER_IS_BUSY = 429
_ENTRY_BYTES = 600
_MOST_MOVED = 1024


class Verdict(Enum):
    """Whether a URL may be fetched."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"


class RobotsStore(Protocol):
    """The part of the frontier that stores rules and delays. It may forget the oldest rules."""

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the rules of an origin, None if it has none of them."""

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Store the rules of an origin."""

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The rules of an origin; None: its server is unreachable. `good_until` is in unix seconds.

    `version` names the file that they come from (`RobotsVersion.name`).
    """

    rules: Rules | None
    good_until: float
    version: str = ""


class Robots:
    """The rules of all origins; up to `cache_bytes` of them stay in memory."""

    def __init__(
        self,
        store: RobotsStore,
        user_agent: str,
        *,
        max_delay_s: float = 60.0,
        cache_bytes: int = CACHE_BYTES,
        keeps_sitemaps: bool = False,
    ) -> None:
        """Obey the rules for `user_agent`, a product token; its version, if any, does not count.

        A Crawl-delay counts up to `max_delay_s`. The lines Sitemap are kept if they are wanted.
        """
        self._keeps_sitemaps = keeps_sitemaps
        self._store = store
        self._bot = " ".join(user_agent.partition("/")[0].split())
        self._max_delay_s = max_delay_s
        self._known = _Cache(cache_bytes)
        self._moved: OrderedDict[str, tuple[str, int]] = OrderedDict()

    def verdict(self, url: str, now: float) -> Verdict:
        """Return whether `url` may be fetched, `UNKNOWN` until its robots.txt is stored.

        `UNREACHABLE` forbids the URL too, but only for a while.
        """
        known = self._known_of(origin_of(url))
        if known is None or known.good_until <= now:
            return Verdict.UNKNOWN
        if known.rules is None:
            return Verdict.UNREACHABLE
        return Verdict.ALLOWED if known.rules.allows(url) else Verdict.FORBIDDEN

    def version(self, url: str) -> RobotsVersion | None:
        """Return the version of the rules for `url`, None if there are none."""
        known = self._known_of(origin_of(url))
        if known is None or known.rules is None:
            return None
        return RobotsVersion(known.version, known.rules.signals)

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the URLs of the sitemaps that the robots.txt for `url` names."""
        known = self._known_of(origin_of(url))
        return known.rules.sitemaps if known is not None and known.rules is not None else ()

    def _known_of(self, origin: str) -> _Known | None:
        known = self._known.get(origin)
        if known is not None:
            return known
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
        if len(self._moved) > _MOST_MOVED:
            self._moved.popitem(last=False)
        return moves <= MAX_MOVES

    def keep(self, url: str, status: int | None, body: bytes, now: float) -> None:
        """Store the rules for `url` that came from `address(url)`.

        After 2xx the body holds the rules; only those for this bot are stored. After 4xx or too
        many redirects there are no rules. If the server `is_unreachable`, the whole site is
        forbidden for a while (RFC 9309, 2.3.1).
        """
        kept = KeptRobots(self._text(status, body), now)
        origin = origin_of(url)
        self._moved.pop(origin, None)
        self._store.set_robots(origin, kept.text, now)
        delay_s = self._delay_s(self._remember(origin, kept))
        if delay_s:
            self._store.set_delay(host_of(url), delay_s)

    def delay_s(self, url: str) -> float:
        """Return the Crawl-delay for `url` in seconds, at most `max_delay_s`; 0 if unknown."""
        return self._delay_s(self._known_of(origin_of(url)))

    def _delay_s(self, known: _Known | None) -> float:
        told = known.rules.delay_s if known and known.rules else 0.0
        return min(told, self._max_delay_s)

    def _text(self, status: int | None, body: bytes) -> str:
        if status is None or is_unreachable(status):
            return _UNREACHABLE
        has_rules = 200 <= status < 300
        rules = rules_for(self._bot, _whole_lines(body)) if has_rules else Rules()
        if not self._keeps_sitemaps:
            rules = replace(rules, sitemaps=())
        version = f"sha256:{sha256(body).hexdigest()}" if has_rules else str(status)
        return _stored(self._bot, rules, version)

    def _remember(self, origin: str, kept: KeptRobots) -> _Known | None:
        if kept.text == _UNREACHABLE:
            known = _Known(None, kept.fetched_at + UNREACHABLE_S)
        else:
            restored = _restored(self._bot, kept.text)
            if restored is None:
                return None
            rules, version = restored
            known = _Known(rules, kept.fetched_at + MAX_AGE_S, version)
        self._known.put(origin, known, len(origin) + len(kept.text) + _ENTRY_BYTES)
        return known


class _Cache:
    """The rules that were used last, up to a number of bytes, and at least one origin's."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes
        self._known: OrderedDict[str, tuple[_Known, int]] = OrderedDict()

    def get(self, origin: str) -> _Known | None:
        found = self._known.get(origin)
        if found is None:
            return None
        self._known.move_to_end(origin)
        return found[0]

    def put(self, origin: str, known: _Known, size: int) -> None:
        self._left += self._known.pop(origin, (None, 0))[1]
        self._known[origin] = known, size
        self._left -= size
        while self._left < 0 and len(self._known) > 1:
            self._left += self._known.popitem(last=False)[1][1]


def _stored(bot: str, rules: Rules, version: str) -> str:
    """Return rules as a text: bot, facts, and the rules; an empty line before the plain ones.

    The facts have tabs between them: delay, version, signals and sitemaps.
    """
    plain = "" if rules.plain == rules.spelled else f"\n\n{rules.plain}"
    sitemaps = (f"{_SITEMAP}{url}" for url in rules.sitemaps)
    facts = "\t".join([repr(rules.delay_s), version, *rules.signals, *sitemaps])
    return f"{bot}\n{facts}\n{rules.spelled}{plain}"


def _restored(bot: str, text: str) -> tuple[Rules, str] | None:
    """Return the rules of a stored text and their version.

    None if the text is damaged or has the rules for another bot.
    """
    name, _, rest = text.partition("\n")
    facts, _, lines = rest.partition("\n")
    spelled, gap, plain = lines.partition("\n\n")
    delay, *others = facts.split("\t")
    try:
        delay_s = float(delay)
    except ValueError:
        return None
    if name != bot or not others:
        return None
    version, *told = others
    sitemaps = tuple(fact.removeprefix(_SITEMAP) for fact in told if fact.startswith(_SITEMAP))
    signals = tuple(fact for fact in told if not fact.startswith(_SITEMAP))
    return Rules(spelled, plain if gap else spelled, delay_s, signals, sitemaps), version


def is_unreachable(status: int | None) -> bool:
    """Return True if a status says nothing about the rules of a server; None is no answer.

    429 is such a status, unlike in RFC 9309, 2.3.1.3: a server that wants fewer requests does not
    allow everything.
    """
    return status is None or status >= 500 or status == _SERVER_IS_BUSY


def _whole_lines(body: bytes) -> bytes:
    """Return the lines that are read whole; half a line may forbid more or less than the whole."""
    if len(body) < MAX_ROBOTS_BYTES:
        return body
    body = body[:MAX_ROBOTS_BYTES]
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
