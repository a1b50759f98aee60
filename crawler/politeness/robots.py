"""The rules of robots.txt (RFC 9309); the frontier stores them, so a restart asks no host twice.

What a request for a file told is stored by the file: rules, a redirect to another file, failures.
The name of the robots.txt of an origin is the origin, that of another file its URL. So a file to
which many origins redirect is fetched once.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import sha256
from typing import Final, Protocol

import msgspec

from crawler.frontier.base import KeptRobots
from crawler.politeness.directives import RobotsVersion
from crawler.politeness.host_files import FileStore, HostFiles
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

ORIGINS_FULL = "origins_full"
"""The outcome of a URL if its host has given too many files with rules."""

FILES: Final = 10
"""Most files with rules that a host is asked for, where the crawl has no host cap."""

USUAL_ORIGINS: Final = 4
"""Origins of a host without a port: http and https, with `www.` and without.

Their robots.txt is asked for in any case, so that links to other ports, and redirects from other
hosts, cannot close a host. A redirect between them leads to the same page.
"""

CACHE_BYTES = 16 * 1024 * 1024
"""Bytes of rules that stay in memory; a file of 512 KiB has at most 3 MiB of them."""

_UNREACHABLE = "unreachable"
_FAILED = "failed "
_MOVED = "moved "
_SERVER_IS_BUSY = 429
_ENTRY_BYTES = 600


class Verdict(Enum):
    """Whether a URL may be fetched."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"


class RobotsStore(FileStore, Protocol):
    """The part of the frontier that stores rules and delays. It may forget the oldest rules."""

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Store what is known of a file."""

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The rules of a file; None: its server is unreachable. `good_until` is in unix seconds.

    `version` names the file that they come from (`RobotsVersion.name`). `target` is the name of the
    file to which this one redirects, "" if it does not.
    """

    rules: Rules | None
    good_until: float
    version: str = ""
    target: str = ""


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
        host_cap: int = FILES,
    ) -> None:
        """Obey the rules for `user_agent`, a product token; its version, if any, does not count.

        A Crawl-delay counts up to `max_delay_s`. The lines Sitemap are kept if they are wanted. Of
        a host at most `host_cap` files are asked for (0: `FILES`), the usual origins included.
        """
        self._keeps_sitemaps = keeps_sitemaps
        self._store = store
        self._bot = " ".join(user_agent.partition("/")[0].split())
        self._max_delay_s = max_delay_s
        self._known = _Cache(cache_bytes)
        others = max(1, (host_cap or FILES) - USUAL_ORIGINS)
        self._files = HostFiles(store, "robots", others)
        self._in_flight: set[str] = set()

    def verdict(self, url: str, now: float) -> Verdict:
        """Return whether `url` may be fetched, `UNKNOWN` until its robots.txt is stored.

        `UNREACHABLE` forbids the URL too, but only for a while.
        """
        *_, (_, known) = self._chain(url, now)
        if known is None:
            return Verdict.UNKNOWN
        if known.rules is None:
            return Verdict.UNREACHABLE
        return Verdict.ALLOWED if known.rules.allows(url) else Verdict.FORBIDDEN

    def version(self, url: str) -> RobotsVersion | None:
        """Return the version of the rules for `url`, None if there are none."""
        *_, (_, known) = self._chain(url)
        if known is None or known.rules is None:
            return None
        return RobotsVersion(known.version, known.rules.signals)

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the URLs of the sitemaps that the robots.txt for `url` names."""
        *_, (_, known) = self._chain(url)
        return known.rules.sitemaps if known is not None and known.rules is not None else ()

    def _chain(self, url: str, now: float = float("-inf")) -> Iterator[tuple[str, _Known | None]]:
        """Yield the names of the files with the rules for `url` and what is known of them at `now`.

        All but the last redirect to the next. There is at least one, and no more than redirects are
        followed.
        """
        name = origin_of(url)
        for _ in range(MAX_MOVES + 1):
            known = self._known_of(name)
            if known is not None and known.good_until <= now:
                known = None
            yield name, known
            if known is None or not known.target:
                return
            name = known.target

    def _known_of(self, name: str) -> _Known | None:
        known = self._known.get(name)
        if known is not None:
            return known
        kept = self._store.robots(name)
        return None if kept is None else self._remember(name, kept)

    def ask(self, url: str, now: float) -> str | None:
        """Return the URL from which the rules for `url` are fetched next.

        None if the host of this file may not be asked for another one.
        """
        *_, (name, _) = self._chain(url, now)
        is_allowed = _is_usual(name) or bool(self._files.choose([name], now))
        return _address_of(name) if is_allowed else None

    def begin(self, file: str) -> bool:
        """Note that the URL of a file is asked for; False if an answer is awaited already."""
        is_new = file not in self._in_flight
        self._in_flight.add(file)
        return is_new

    def end(self, file: str) -> None:
        """Note that the request for a file has ended; what it told is stored next."""
        self._in_flight.discard(file)

    def move(self, url: str, location: str, now: float, asked: str = "") -> bool:
        """Record that a file redirects to `location`; False after too many redirects.

        `asked` is the URL of the file, "" for that of `ask`. Meanwhile another answer may have led
        `ask` to another file, about which this answer tells nothing.
        """
        name, target = self._name(url, asked, now), _name_of(location)
        names = [each for each, _ in self._chain(url, now)]
        before = names[: names.index(name) + 1] if name in names else [name]
        if target in before or len(before) > MAX_MOVES:
            return False
        self._keep(name, f"{_MOVED}{target}", now)
        self._tell_delay(url)
        return True

    def fail(self, url: str, now: float, asked: str = "") -> int:
        """Record that a file (see `move`) could not be fetched; return how often in a row."""
        name = self._name(url, asked, now)
        kept = self._store.robots(name)
        is_recent = kept is not None and kept.fetched_at > now - UNREACHABLE_S
        before = kept.text if kept is not None and is_recent else ""
        number = before.removeprefix(_FAILED) if before.startswith(_FAILED) else "0"
        failures = 1 + (int(number) if number.isdecimal() else 0)
        self._keep(name, f"{_FAILED}{failures}", now)
        return failures

    def keep(self, url: str, status: int | None, body: bytes, now: float, asked: str = "") -> None:
        """Store the rules for `url` that came from a file (see `move`).

        After 2xx the body holds the rules; only those for this bot are stored. After 4xx or too
        many redirects there are no rules. If the server `is_unreachable`, the whole site is
        forbidden for a while (RFC 9309, 2.3.1).
        """
        name = self._name(url, asked, now)
        if status is not None and 300 <= status < 400:
            name = origin_of(url)  # the files on the way are near enough for other origins
        self._keep(name, self._text(status, body), now)
        for each in {url, _address_of(name)}:
            self._tell_delay(each)

    def _name(self, url: str, asked: str, now: float) -> str:
        *_, (name, _) = self._chain(url, now)
        return _name_of(asked) if asked else name

    def _keep(self, name: str, text: str, now: float) -> None:
        self._store.set_robots(name, text, now)
        self._remember(name, KeptRobots(text, now))

    def _tell_delay(self, url: str) -> None:
        delay_s = self.delay_s(url)
        if delay_s:
            self._store.set_delay(host_of(url), delay_s)

    def delay_s(self, url: str) -> float:
        """Return the Crawl-delay for `url` in seconds, at most `max_delay_s`; 0 if unknown."""
        *_, (_, known) = self._chain(url)
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
        return msgspec.json.encode((self._bot, version, rules)).decode()

    def _remember(self, name: str, kept: KeptRobots) -> _Known | None:
        known = self._restore(kept)
        if known is None:
            self._known.forget(name)
        else:
            self._known.put(name, known, len(name) + len(kept.text) + _ENTRY_BYTES)
        return known

    def _restore(self, kept: KeptRobots) -> _Known | None:
        good_until = kept.fetched_at + MAX_AGE_S
        if kept.text == _UNREACHABLE:
            return _Known(None, kept.fetched_at + UNREACHABLE_S)
        if kept.text.startswith(_MOVED):
            return _Known(Rules(), good_until, target=kept.text.removeprefix(_MOVED))
        restored = _restored(self._bot, kept.text)
        return None if restored is None else _Known(restored[0], good_until, restored[1])


def _name_of(location: str) -> str:
    """Return the name of a file: the origin for its robots.txt, else the URL."""
    origin = origin_of(location)
    return origin if location == f"{origin}/robots.txt" else location


def _address_of(name: str) -> str:
    return f"{name}/robots.txt" if name == origin_of(name) else name


def _is_usual(name: str) -> bool:
    """Return True for the robots.txt of an origin without a port."""
    port = name.partition("://")[2].rpartition("]")[2]
    return name == origin_of(name) and ":" not in port


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

    def forget(self, origin: str) -> None:
        self._left += self._known.pop(origin, (None, 0))[1]

    def put(self, origin: str, known: _Known, size: int) -> None:
        self.forget(origin)
        self._known[origin] = known, size
        self._left -= size
        while self._left < 0 and len(self._known) > 1:
            self._left += self._known.popitem(last=False)[1][1]


_STORED = msgspec.json.Decoder(tuple[str, str, Rules])


def _restored(bot: str, text: str) -> tuple[Rules, str] | None:
    """Return the rules of a stored text and their version.

    None if the text is damaged or has the rules for another bot.
    """
    try:
        name, version, rules = _STORED.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    return (rules, version) if name == bot else None


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
