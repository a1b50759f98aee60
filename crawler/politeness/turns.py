"""Rate limits for hosts, IP addresses and name servers.

A request that must wait holds no connection: the caller gets the delay after which to retry.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, TypeVar

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

PATIENCE: Final = 90
"""First back-offs for which a place that answered before may fail without a rejected URL."""

PAUSE_S: Final = 0.5
"""First retry delay for a host with a DNS lookup in progress, in seconds."""

_LONGEST_WAIT_S: Final = 5.0

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


class _Errors(NamedTuple):
    """The errors of a place since its last answer without an error."""

    urls: frozenset[int] = frozenset()  # hashes of the URLs that count
    since: float = 0.0
    noted_at: float = 0.0  # the last one
    rests_until: float = 0.0
    is_last: bool = False  # URLs do not wait for the end of this back-off


_NO_ERRORS: Final = _Errors()


class Rests:
    """Exponential back-off of domains and IP addresses that return only errors.

    The back-off starts after errors for `UNANSWERED` URLs in a row and doubles with each further
    URL. After each back-off a single request probes the place; an answer without an error resets
    the back-off. A URL counts once: retries of one that always fails say nothing about others.

    A place that answered a page before may be back soon: its URLs wait for `PATIENCE` first
    back-offs, and it is probed at least every `2 ** WAITED_OUT`. Requests in progress at the start
    of its back-off are one event, so their errors do not prolong the back-off.
    """

    def __init__(self, first_s: float) -> None:
        """Start with a first back-off of `first_s` seconds."""
        self._first_s = first_s
        self._errors: Recent[_Errors] = Recent()
        self._answered: Recent[None] = Recent()

    def wait_s(self, place: str, now: float) -> float:
        """Return the remaining back-off of a place in seconds, 0 without one."""
        return max(0.0, self._errors.get(place, _NO_ERRORS).rests_until - now)

    def is_given_up(self, place: str, now: float) -> bool:
        """Return True during a back-off for whose end no URL waits."""
        errors = self._errors.get(place, _NO_ERRORS)
        return errors.is_last and now < errors.rests_until

    def has_answered(self, place: str) -> bool:
        """Return True if a place answered a page before."""
        return place in self._answered

    def contact(self, place: str, now: float) -> None:
        """Record a request; after a back-off, it is the only request until its answer arrives."""
        if place in self._errors:
            self._rest(place, self._errors[place], now)

    def succeed(self, place: str, *, is_page: bool) -> None:
        """Note an answer without an error, for a page or a site file."""
        self._errors.pop(place, None)
        if is_page:
            self._answered[place] = None

    def fail(
        self, place: str, url: str, now: float, *, began_at: float, hold_s: float = 0.0
    ) -> None:
        """Note an error; `hold_s` is the Retry-After of the server in seconds."""
        errors = self._errors.get(place, _Errors(since=now))
        urls, has_answered = errors.urls, place in self._answered
        if began_at >= errors.noted_at or not has_answered or len(urls) < UNANSWERED:
            urls |= {hash(url)}
        is_last = len(urls) >= UNANSWERED + WAITED_OUT
        if has_answered:
            is_last = now >= errors.since + PATIENCE * self._first_s
        errors = errors._replace(urls=urls, noted_at=now, is_last=is_last)
        self._rest(place, errors, now, min(hold_s, LONGEST_REST_S))

    def _rest(self, place: str, errors: _Errors, now: float, hold_s: float = 0.0) -> None:
        doublings = len(errors.urls) - UNANSWERED
        if doublings >= 0:
            most = WAITED_OUT if place in self._answered and not errors.is_last else 20
            rest_s = min(self._first_s * 2.0 ** min(doublings, most), LONGEST_REST_S)
            errors = errors._replace(rests_until=now + max(rest_s, hold_s))
        self._errors[place] = errors


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
