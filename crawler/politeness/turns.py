"""Rate limits for hosts, IP addresses and name servers.

A request that must wait holds no connection: the caller gets the delay after which to retry.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from langfocus.crawler.url import domain_of, zone_of

STEP_S: Final = 0.05
"""Retry delay for a busy place, in seconds."""

PACE_S: Final = 0.055
"""Seconds between two requests to an IP address: fewer than 20 a second, slot writes included."""

LOOKUP_S: Final = 0.1
"""Seconds between two DNS lookups within a registered domain or a platform."""

LONGEST_REST_S: Final = 3600.0
"""Longest back-off of a domain or an IP address, in seconds."""

GRACE_S: Final = 2.0
"""Seconds for which a host is reserved for the next guest."""

REMEMBERED: Final = 10_000
"""Most recently used places kept in memory, of each kind."""

PER_DOMAIN: Final = 4
"""Concurrent DNS lookups within a registered domain."""

AT_ONCE: Final = 500
"""Concurrent DNS lookups."""

SLOW_S: Final = 2.0
"""DNS lookups without a result after this time count as unanswered, in seconds."""

UNANSWERED: Final = 4
"""Consecutive unanswered lookups after which a domain is silent."""

SILENT_S: Final = 300.0
"""Seconds without DNS lookups in a silent domain."""

WAITED_OUT: Final = 4
"""Most back-offs of a domain or an IP address during which URLs wait; later back-offs reject URLs.
"""

PAUSE_S: Final = 0.5
"""First retry delay for a host with a DNS lookup in progress, in seconds."""

_LONGEST_WAIT_S: Final = 5.0
_NONE: Final = frozenset[int]()

Value = TypeVar("Value")


class Recent(OrderedDict[str, Value]):
    """A dictionary that evicts the oldest of more than `REMEMBERED` entries."""

    def __setitem__(self, key: str, value: Value) -> None:
        """Write an entry as the newest, and evict the oldest one if there are too many."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > REMEMBERED:
            self.popitem(last=False)


class Line:
    """Retry times of requests for the same place, one step apart."""

    def __init__(self) -> None:
        """Start without waiting requests."""
        self._last: Recent[float] = Recent()

    def wait(self, place: str, now: float, step_s: float = STEP_S) -> float:
        """Return the retry delay of the next request, one step after the last."""
        self._last[place] = at = max(self._last.get(place, now), now) + step_s
        return at - now


class Occupancy(Protocol):
    """Limits concurrent requests and the request rate of a place."""

    def enter(self, place: str) -> bool:
        """Start a request and return True; return False if a limit is reached."""

    def pace(self, place: str) -> bool:
        """Start a request under the rate limit alone."""

    def leave(self, place: str) -> None:
        """End a request; raises `crawler.errors.StorageError` if that cannot be recorded."""


class OwnOccupancy:
    """Limits the concurrent requests of this process; `at_once` 0 is no limit."""

    def __init__(
        self, at_once: int, clock: Callable[[], float] = lambda: 0.0, pace_s: float = 0.0
    ) -> None:
        """Allow `at_once` concurrent requests per place, started `pace_s` seconds apart."""
        self._at_once, self._clock, self._pace_s = at_once, clock, pace_s
        self._inside: Counter[str] = Counter()
        self._next_at: Recent[float] = Recent()

    def enter(self, place: str) -> bool:
        """Start a request and return True; return False if a limit is reached."""
        if self._at_once and (self._inside[place] >= self._at_once or not self.pace(place)):
            return False
        self._inside[place] += 1
        return True

    def pace(self, place: str) -> bool:
        """Start a request and return True if the last one started `pace_s` seconds ago."""
        now = self._clock()
        if not self._at_once or not self._pace_s:
            return True
        if now < self._next_at.get(place, now):
            return False
        self._next_at[place] = now + self._pace_s
        return True

    def leave(self, place: str) -> None:
        """End a request."""
        self._inside[place] -= 1
        if self._inside[place] <= 0:
            del self._inside[place]


class Rests:
    """Exponential back-off of domains and IP addresses that return only errors.

    The back-off starts after errors for `UNANSWERED` URLs in a row and doubles with each further
    URL. After each back-off a single request probes the place; an answer without an error resets
    the back-off. A URL counts once: retries of one that always fails say nothing about others.
    """

    def __init__(self, first_s: float) -> None:
        """Start with a first back-off of `first_s` seconds."""
        self._first_s = first_s
        # The URLs that failed in a row, and the end of the rest.
        self._failed: Recent[tuple[frozenset[int], float]] = Recent()

    def wait_s(self, place: str, now: float) -> float:
        """Return the remaining back-off of a place in seconds, 0 without one."""
        return max(0.0, self._failed.get(place, (_NONE, now))[1] - now)

    def is_given_up(self, place: str, now: float) -> bool:
        """Return True during a back-off after the first `WAITED_OUT` ones."""
        failed, until = self._failed.get(place, (_NONE, now))
        return len(failed) >= UNANSWERED + WAITED_OUT and now < until

    def contact(self, place: str, now: float) -> None:
        """Record a request; after a back-off, it is the only request until its answer arrives."""
        failed, _ = self._failed.get(place, (_NONE, now))
        if len(failed) >= UNANSWERED:
            self._failed[place] = failed, now + self._rest_s(len(failed))

    def answer(
        self, place: str, url: str, now: float, *, is_error: bool, hold_s: float = 0.0
    ) -> None:
        """Note an answer; `hold_s` is the Retry-After of the server in seconds."""
        if not is_error:
            self._failed.pop(place, None)
            return
        failed = self._failed.get(place, (_NONE, now))[0] | {hash(url)}
        rest_s = max(self._rest_s(len(failed)), min(hold_s, LONGEST_REST_S))
        self._failed[place] = failed, now + (rest_s if len(failed) >= UNANSWERED else 0.0)

    def _rest_s(self, errors: int) -> float:
        return min(self._first_s * 2.0 ** min(errors - UNANSWERED, 20), LONGEST_REST_S)


class HostTurns:
    """Turns of a host and its guests.

    The frontier grants one lease per host at a time, with the crawl delay between two. A robots.txt
    that redirects to another host is fetched under the lease of the redirecting host, the *guest*.
    Guests and own leases of the host with the file alternate.
    """

    def __init__(self) -> None:
        """Start without requests."""
        self._inside: set[str] = set()
        self._ended_at: Recent[float] = Recent()
        self._promised: Recent[tuple[str, float]] = Recent()
        self._guests = Line()

    def enter(
        self, host: str, visitor: str, now: float, delay_of: Callable[[], float]
    ) -> float | None:
        """Let the lease of `visitor` contact `host`; return None, or the seconds to wait.

        `delay_of` returns the crawl delay of `host`, and is called only if a wait is possible. Each
        waiting guest adds to the delay of the next guest.
        """
        guest, until = self._promised.get(host, (visitor, now))
        is_promised = guest != visitor and now < until
        rest_s = 0.0
        if host in self._inside:
            rest_s = delay_of() + STEP_S
        elif host in self._ended_at:
            rest_s = self._ended_at[host] + delay_of() - now
        if rest_s <= 0 and not is_promised:
            self._inside.add(host)
            self._promised.pop(host, None)
            return None
        wait_s = max(rest_s, STEP_S)
        if visitor == host:
            return wait_s
        if is_promised:
            return wait_s + self._guests.wait(host, now, max(delay_of(), STEP_S))
        self._promised[host] = visitor, now + wait_s + GRACE_S
        return wait_s

    def leave(self, host: str, now: float, *, was_contacted: bool = True) -> None:
        """End a turn that `enter` allowed; the host rests if it was contacted."""
        self._inside.remove(host)
        if was_contacted:
            self._ended_at[host] = now


class LookupTurns:
    """Concurrent DNS lookups, and silent domains.

    A lookup at a silent name server takes many seconds, and a domain may have any number of names
    there. Lookups per domain are limited, and stop for `SILENT_S` seconds after `UNANSWERED`
    consecutive unanswered lookups. Other domains are not delayed.
    """

    def __init__(self) -> None:
        """Start without lookups."""
        self._began_at: dict[str, float] = {}
        self._domains = OwnOccupancy(PER_DOMAIN)
        self._unanswered: Recent[tuple[int, float]] = Recent()
        self._answered: Recent[None] = Recent()
        self._line = Line()
        self._next_at: Recent[float] = Recent()

    def is_silent(self, host: str, now: float) -> bool:
        """Return True if the host's domain is silent.

        A host with an earlier address is exempt: the resolver may have it cached.
        """
        if host in self._answered:
            return False
        number, last_at = self._unanswered.get(domain_of(host), (0, now))
        return number >= UNANSWERED and now < last_at + SILENT_S

    def enter(self, host: str, now: float) -> float | None:
        """Start a DNS lookup and return None, or return the retry delay in seconds.

        Each waiting host of a domain adds to the delay of the next.
        """
        began_at = self._began_at.get(host)
        if began_at is not None:
            return min(max(PAUSE_S, now - began_at), _LONGEST_WAIT_S)
        if len(self._began_at) >= AT_ONCE:
            return _LONGEST_WAIT_S
        zone = zone_of(host)
        if now < self._next_at.get(zone, now) or not self._domains.enter(domain_of(host)):
            return self._line.wait(zone, now, LOOKUP_S)
        self._next_at[zone] = now + LOOKUP_S
        self._began_at[host] = now
        return None

    def leave(self, host: str, now: float, *, has_addresses: bool) -> None:
        """End a lookup that `enter` started."""
        began_at, domain = self._began_at.pop(host), domain_of(host)
        self._domains.leave(domain)
        if has_addresses:
            self._answered[host] = None
        if has_addresses or now - began_at < SLOW_S:
            self._unanswered.pop(domain, None)
            return
        number, _ = self._unanswered.pop(domain, (0, now))
        self._unanswered[domain] = number + 1, now
