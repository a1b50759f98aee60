"""The rules of robots.txt (RFC 9309); the frontier persists them, so a restart fetches none twice.

Fetch results are cached per robots.txt URL: under the origin for `/robots.txt`, under the URL for a
redirect target. A target that many origins share is fetched once.

`HostFiles` limits the robots.txt files and sitemaps fetched from one host.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum
from hashlib import sha256
from typing import Final, Generic, TypeVar

import msgspec

from langfocus.crawler.frontier.base import RobotsStore
from langfocus.crawler.http.download import RobotsVersion
from langfocus.crawler.politeness.robots_rules import Rules, rules_for
from langfocus.crawler.url import fingerprint, host_of, origin_of

_log = logging.getLogger(__name__)

MAX_ROBOTS_BYTES = 512 * 1024
"""Bytes read of a robots.txt; RFC 9309, 2.5 requires at least 500 KiB."""

MAX_MOVES = 5
"""Redirects that are followed to a robots.txt (RFC 9309, 2.3.1.2)."""

MAX_AGE_S = 24 * 3600.0
"""Seconds for which rules are used before they are fetched again (RFC 9309, 2.4)."""

UNREACHABLE_S = 3600.0
"""Seconds for which a site is forbidden if its rules could not be fetched."""

ROBOTS_UNREACHABLE = "robots_unreachable"
"""Outcome of a URL with unreachable site rules."""

ORIGINS_FULL = "origins_full"
"""Outcome after the host's rule file budget is used up."""

FILES: Final = 10
"""Most rule files fetched per host in a crawl without a host cap."""

USUAL_ORIGINS: Final = 4
"""A host's origins without a port: http and https, with `www.` and without.

Their robots.txt is always fetched, so that links to other ports and foreign redirects cannot close
a host. A redirect between these origins leads to the same page.
"""

SITEMAP_FILES: Final = 10
"""Most sitemaps, sitemap indexes and feeds fetched per host."""

CACHE_BYTES = 16 * 1024 * 1024
"""Bytes of rules cached in memory; a file of 512 KiB has at most 3 MiB of rules."""

Value = TypeVar("Value")

_ALWAYS: Final = float("-inf")
_SERVER_IS_BUSY = 429
_ENTRY_BYTES = 600


class Verdict(Enum):
    """Whether a URL may be fetched."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"


class _FetchResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of the last robots.txt fetch.

    `rules` are those for the `bot`, None after a failed fetch; `version` is `RobotsVersion.name`.
    A redirect stores the name of its `target` and no rules. `failures` counts failed requests in a
    row; while it is above 0, the fetch is retried.
    """

    bot: str
    rules: Rules | None = None
    version: str = ""
    target: str = ""
    failures: int = 0

    def good_until(self, fetched_at: float) -> float:
        return fetched_at + (UNREACHABLE_S if self.rules is None else MAX_AGE_S)


class Kept(Generic[Value]):
    """A cache of stored values by name; values used since the cache was last full are in memory.

    The cache holds `most_bytes`, counted as stored texts.
    """

    def __init__(self, store: RobotsStore, kind: type[Value], most_bytes: int = CACHE_BYTES):
        self._store, self._decoder = store, msgspec.json.Decoder(kind)
        self._known: dict[str, tuple[Value, float, int]] = {}  # the last: bytes
        self._bytes, self._most_bytes = 0, most_bytes

    def get(self, name: str) -> tuple[Value, float] | None:
        """Return a value and its storage time; None if missing or damaged."""
        if name not in self._known:
            kept = self._store.robots(name)
            if kept is None:
                return None
            try:
                value = self._decoder.decode(kept.text)
            except (msgspec.DecodeError, UnicodeEncodeError):
                return None
            self._remember(name, value, kept.fetched_at, len(kept.text))
        return self._known[name][:2]

    def set(self, name: str, value: Value, now: float) -> None:
        """Store a value."""
        text = msgspec.json.encode(value).decode()
        self._store.set_robots(name, text, now)
        self.forget(name)
        self._remember(name, value, now, len(text))

    def forget(self, name: str) -> None:
        """Evict a value, so that the next `get` reads the store."""
        self._bytes -= self._known.pop(name, (None, 0, 0))[2]

    def _remember(self, name: str, value: Value, at: float, characters: int) -> None:
        """Cache a value; a full cache is emptied first."""
        size = len(name) + characters + _ENTRY_BYTES
        if self._bytes + size > self._most_bytes:
            self._known.clear()
            self._bytes = 0
        self._bytes += size
        self._known[name] = value, at, size


class Robots:
    """The rules of all origins; up to `cache_bytes` are cached in memory."""

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
        self._kept = Kept(store, _FetchResult, cache_bytes)
        self._files = HostFiles(store, "robots", max(1, (host_cap or FILES) - USUAL_ORIGINS))

    def verdict(self, url: str, now: float) -> Verdict:
        """Return whether `url` may be fetched, `UNKNOWN` until its robots.txt is stored.

        `UNREACHABLE` forbids the URL too, but only for a while.
        """
        _, result = self._way(url, now)[-1]
        if result is None:
            return Verdict.UNKNOWN
        if result.rules is None:
            return Verdict.UNREACHABLE
        return Verdict.ALLOWED if result.rules.allows(url) else Verdict.FORBIDDEN

    def version(self, url: str) -> RobotsVersion | None:
        """Return the version of the rules for `url`, or None."""
        _, result = self._way(url)[-1]
        if result is None or result.rules is None:
            return None
        return RobotsVersion(result.version, result.rules.signals)

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the URLs of the sitemaps that the robots.txt for `url` names."""
        return self._rules(url).sitemaps

    def delay_s(self, url: str) -> float:
        """Return the Crawl-delay for `url` in seconds, at most `max_delay_s`; 0 if unknown."""
        return min(self._rules(url).delay_s, self._max_delay_s)

    def _rules(self, url: str) -> Rules:
        _, result = self._way(url)[-1]
        return (result.rules if result else None) or Rules()

    def ask(self, url: str, now: float) -> str | None:
        """Return the next robots.txt URL to fetch for `url`; None if its host's budget is spent."""
        name, _ = self._way(url, now)[-1]
        is_allowed = _is_usual(name) or bool(self._files.choose([name], now))
        return _address_of(name) if is_allowed else None

    def move(self, url: str, location: str, now: float, asked: str = "") -> bool:
        """Record a redirect of a rule file to `location`; False after too many redirects.

        `asked` is the requested URL, "" for the URL returned by `ask`. A concurrent answer may have
        moved `ask` to another file; then this answer does not apply.
        """
        name, target = self._asked(url, asked, now), _name_of(location)
        names = [each for each, _ in self._way(url, now)]
        before = names[: names.index(name) + 1] if name in names else [name]
        if target in before or len(before) > MAX_MOVES:
            return False
        self._kept.set(name, _FetchResult(self._bot, Rules(), target=target), now)
        self._set_delay(url)
        return True

    def fail(self, url: str, now: float, asked: str = "") -> int:
        """Record that a file (see `move`) could not be fetched; return how often in a row."""
        name = self._asked(url, asked, now)
        self._kept.forget(name)
        result, at = self._kept.get(name) or (_FetchResult(""), 0.0)
        is_ours = result.bot == self._bot and at > now - UNREACHABLE_S
        failures = 1 + (result.failures if is_ours else 0)
        self._kept.set(name, _FetchResult(self._bot, failures=failures), now)
        return failures

    def keep(self, url: str, status: int | None, body: bytes, now: float, asked: str = "") -> None:
        """Store the rules for `url` that came from a file (see `move`).

        After 2xx the body holds the rules; only those for this bot are stored. After 4xx or too
        many redirects there are no rules. If the server `is_unreachable`, the whole site is
        forbidden for a while (RFC 9309, 2.3.1).
        """
        name = self._asked(url, asked, now)
        if status is not None and 300 <= status < 400:
            name = origin_of(url)  # the files on the way are near enough for other origins
        self._kept.set(name, self._read(status, body), now)
        for each in {url, _address_of(name)}:
            self._set_delay(each)

    def _read(self, status: int | None, body: bytes) -> _FetchResult:
        if status is None or is_unreachable(status):
            return _FetchResult(self._bot)
        if not 200 <= status < 300:
            return _FetchResult(self._bot, Rules(), str(status))
        rules = rules_for(self._bot, _whole_lines(body))
        if not self._keeps_sitemaps:
            rules = replace(rules, sitemaps=())
        return _FetchResult(self._bot, rules, f"sha256:{sha256(body).hexdigest()}")

    def _set_delay(self, url: str) -> None:
        if delay_s := self.delay_s(url):
            self._store.set_delay(host_of(url), delay_s)

    def _asked(self, url: str, asked: str, now: float) -> str:
        return _name_of(asked) if asked else self._way(url, now)[-1][0]

    def _way(self, url: str, now: float = _ALWAYS) -> list[tuple[str, _FetchResult | None]]:
        """Return the redirect chain of the robots.txt for `url`: names and cached fetch results.

        The chain has at least one entry and at most `MAX_MOVES` redirects.
        """
        name, way = origin_of(url), list[tuple[str, _FetchResult | None]]()
        while len(way) <= MAX_MOVES:
            result = self._result(name, now)
            way.append((name, result))
            if result is None or not result.target:
                break
            name = result.target
        return way

    def _result(self, name: str, now: float) -> _FetchResult | None:
        result, fetched_at = self._kept.get(name) or (_FetchResult(""), 0.0)
        if result.failures:
            self._kept.forget(name)  # another worker may have had more success
        is_ours = result.bot == self._bot and not result.failures
        return result if is_ours and result.good_until(fetched_at) > now else None


class HostFiles:
    """The file budget of each host, persisted over restarts.

    A file counts for the host that serves the file, whichever host linked to it. If a full store
    evicts a host, the frontier still recognises its sitemap URLs.
    """

    def __init__(self, store: RobotsStore, kind: str, most: int = SITEMAP_FILES) -> None:
        """Count the files of a kind in a store, `most` per host."""
        self._store = store
        self._kind = kind
        self._most = most

    def has(self, url: str) -> bool:
        """Return True if a file was chosen."""
        kept = self._store.robots(self._name(host_of(url)))
        return kept is not None and _key(url) in kept.text.split()

    def choose(self, urls: Sequence[str], now: float) -> list[str]:
        """Return the files within the host budget, in the given order.

        A file chosen earlier is returned again: the frontier skips fetched URLs. The budget is
        persisted before the files are enqueued, so a kill neither loses nor repeats one.
        """
        of_host: dict[str, dict[str, str]] = {}
        for url in urls:
            of_host.setdefault(host_of(url), {})[_key(url)] = url
        allowed = {key for host, keys in of_host.items() for key in self._chosen(host, keys, now)}
        return [url for url in dict.fromkeys(urls) if _key(url) in allowed]

    def _chosen(self, host: str, keys: Iterable[str], now: float) -> list[str]:
        """Return the keys of the files chosen for a host, new ones up to its budget included."""
        name, refused = self._name(host), ""
        while True:
            kept = self._store.robots(name)
            known = kept.text.split() if kept is not None else []
            new = [key for key in keys if key not in known][: max(0, self._most - len(known))]
            text = "\n".join([*known, *new])
            if not new or self._store.set_robots(name, text, now, kept):
                return [*known, *new]
            if text == refused:
                return known
            refused = text

    def _name(self, host: str) -> str:
        """Return a storage key with the host's URL prefix, distinct from every file URL."""
        return f"http://{host}/ {self._kind}"


def _key(url: str) -> str:
    return f"{fingerprint(url):x}"


def is_unreachable(status: int | None) -> bool:
    """Return True for a status without information about a server's rules; None is no answer.

    Unlike in RFC 9309, 2.3.1.3, 429 is such a status: a server that wants fewer requests does not
    allow everything.
    """
    return status is None or status >= 500 or status == _SERVER_IS_BUSY


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


def _whole_lines(body: bytes) -> bytes:
    """Return the lines that are read whole; half a line may forbid more or less than the whole."""
    if len(body) < MAX_ROBOTS_BYTES:
        return body
    _log.info("a robots.txt of %s bytes: those beyond %s are not read", len(body), MAX_ROBOTS_BYTES)
    body = body[:MAX_ROBOTS_BYTES]
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
