"""Turns at places that few may use at once: hosts, addresses, the name servers of a domain.

Nobody holds a connection while it waits: it is told when to come again.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from langfocus.crawler.url import domain_of, zone_of

STEP_S: Final = 0.05
"""Seconds after which to try a place in use again."""

PACE_S: Final = 0.055
"""Seconds between two requests at an address: under 20 a second, as writing a slot takes some."""

LOOKUP_S: Final = 0.1
"""Seconds between two lookups of names of one registered domain, or of one platform."""

LONGEST_REST_S: Final = 3600.0
"""Seconds for which a domain or an address rests at most."""

GRACE_S: Final = 2.0
"""Seconds for which a host is left to a guest whose turn has come."""

REMEMBERED: Final = 10_000
"""Most places of each kind that are remembered."""

PER_DOMAIN: Final = 4
"""Names of one registered domain that are looked up at once."""

AT_ONCE: Final = 500
"""Names that are looked up at once."""

SLOW_S: Final = 2.0
"""Seconds after which a lookup without a result counts as unanswered."""

UNANSWERED: Final = 4
"""Unanswered lookups in a row after which a domain is silent."""

SILENT_S: Final = 300.0
"""Seconds for which nothing is looked up in a silent domain."""

WAITED_OUT: Final = 4
"""Rests of a domain or an address that its URLs wait for; in later ones they are given up."""

PAUSE_S: Final = 0.5
"""Seconds after which a host with a lookup in progress comes again, for the first time."""

_LONGEST_WAIT_S: Final = 5.0

Value = TypeVar("Value")


class Recent(OrderedDict[str, Value]):
    """A dictionary of the `REMEMBERED` entries that were written last."""

    def __setitem__(self, key: str, value: Value) -> None:
        """Write an entry; with one too many, the one that was written first is forgotten."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > REMEMBERED:
            self.popitem(last=False)


class Line:
    """The times at which those who wait for a place come again: one after the other."""

    def __init__(self) -> None:
        """Start with places for which nobody waits."""
        self._last: Recent[float] = Recent()

    def wait(self, place: str, now: float, step_s: float = STEP_S) -> float:
        """Return the seconds after which one more visitor comes, a step after the one before it."""
        self._last[place] = at = max(self._last.get(place, now), now) + step_s
        return at - now


class Occupancy(Protocol):
    """Limits the requests at a place, those at once and those of a second."""

    def enter(self, place: str) -> bool:
        """Count one more request and return True, or return False if a limit is reached."""

    def pace(self, place: str) -> bool:
        """Do so at a place where any number of requests may be at once."""

    def leave(self, place: str) -> None:
        """End a request; raises `crawler.errors.StorageError` if that cannot be recorded."""


class OwnOccupancy:
    """Counts the requests of this process; with `at_once` 0 there is no limit."""

    def __init__(
        self, at_once: int, clock: Callable[[], float] = lambda: 0.0, pace_s: float = 0.0
    ) -> None:
        """Allow `at_once` requests at one place, each `pace_s` after the one before."""
        self._at_once, self._clock, self._pace_s = at_once, clock, pace_s
        self._inside: Counter[str] = Counter()
        self._next_at: Recent[float] = Recent()

    def enter(self, place: str) -> bool:
        """Let one more request in and return True, or return False."""
        if self._at_once and (self._inside[place] >= self._at_once or not self.pace(place)):
            return False
        self._inside[place] += 1
        return True

    def pace(self, place: str) -> bool:
        """Return True if no request was let in for `pace_s` seconds, and let one in."""
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
    """The rests of domains and addresses whose servers answer with errors alone.

    After `UNANSWERED` errors in a row a place rests, each time twice as long. Then one request is
    tried; any other answer ends it all.
    """

    def __init__(self, first_s: float) -> None:
        """Let the first rest take `first_s` seconds."""
        self._first_s = first_s
        self._errors: Recent[tuple[int, float]] = Recent()  # in a row, the end of the rest

    def wait_s(self, place: str, now: float) -> float:
        """Return the seconds for which a place rests still, 0 if it may be contacted."""
        return max(0.0, self._errors.get(place, (0, now))[1] - now)

    def is_given_up(self, place: str, now: float) -> bool:
        """Return True if a place rests, and did so too often for its URLs to wait."""
        errors, until = self._errors.get(place, (0, now))
        return errors >= UNANSWERED + WAITED_OUT and now < until

    def contact(self, place: str, now: float) -> None:
        """Note a request at a place; after a rest no other is sent until its answer has come."""
        errors, _ = self._errors.get(place, (0, now))
        if errors >= UNANSWERED:
            self._errors[place] = errors, now + self._rest_s(errors)

    def answer(self, place: str, now: float, *, is_error: bool, hold_s: float = 0.0) -> None:
        """Note an answer; `hold_s` are the seconds without requests that a server asks for."""
        if not is_error:
            self._errors.pop(place, None)
            return
        errors = self._errors.get(place, (0, now))[0] + 1
        rest_s = max(self._rest_s(errors), min(hold_s, LONGEST_REST_S))
        self._errors[place] = errors, now + (rest_s if errors >= UNANSWERED else 0.0)

    def _rest_s(self, errors: int) -> float:
        return min(self._first_s * 2.0 ** min(errors - UNANSWERED, 20), LONGEST_REST_S)


class HostTurns:
    """The turns of a host that is contacted on behalf of other hosts.

    The frontier lets one lease at a time contact a host, with a delay between them. There is one
    exception. A robots.txt may redirect to another host: then the file is fetched with the lease of
    the host that asked for its rules. This host is a *guest* of the host with the file. Guests and
    the host's own leases take turns.
    """

    def __init__(self) -> None:
        """Start with hosts that may be contacted."""
        self._inside: set[str] = set()
        self._ended_at: Recent[float] = Recent()
        self._promised: Recent[tuple[str, float]] = Recent()
        self._guests = Line()

    def enter(
        self, host: str, visitor: str, now: float, delay_of: Callable[[], float]
    ) -> float | None:
        """Let the lease of `visitor` contact `host`; return None, or the seconds to wait.

        `delay_of` returns the seconds between two contacts of `host`; it is called only if a wait
        is possible. The more guests wait, the longer each waits.
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
    """The lookups in progress, and the domains that are silent.

    A name server that never answers takes a lookup many seconds, and a domain can have any number
    of names on such a server. So few names of one domain are looked up at once, and none for a
    while after several lookups in a row got no answer. Names of other domains do not wait for them.
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
        """Return True if the name servers of a host's domain have not answered for some time.

        A host that had an address before is not affected: the resolver may still know it.
        """
        if host in self._answered:
            return False
        number, last_at = self._unanswered.get(domain_of(host), (0, now))
        return number >= UNANSWERED and now < last_at + SILENT_S

    def enter(self, host: str, now: float) -> float | None:
        """Begin a lookup and return None, or return the seconds after which to try again.

        The more hosts of a domain wait, the longer each waits.
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
        """End a lookup that `enter` began."""
        began_at, domain = self._began_at.pop(host), domain_of(host)
        self._domains.leave(domain)
        if has_addresses:
            self._answered[host] = None
        if has_addresses or now - began_at < SLOW_S:
            self._unanswered.pop(domain, None)
            return
        number, _ = self._unanswered.pop(domain, (0, now))
        self._unanswered[domain] = number + 1, now
