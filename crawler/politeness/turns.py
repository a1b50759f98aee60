"""Turns at places that few may use at once: hosts, addresses, the name servers of a domain.

Nobody holds a connection while it waits: it is told when to come again.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

STEP_S: Final = 0.05
"""Seconds after which to try a place in use again."""

GRACE_S: Final = 2.0
"""Seconds for which a host is left to a guest whose turn has come."""

REMEMBERED: Final = 10_000
"""Most places of each kind that are remembered."""

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
    """Limits the requests at a place."""

    def enter(self, place: str) -> bool:
        """Count one more request and return True, or return False if the limit is reached."""

    def leave(self, place: str) -> None:
        """End a request; raises `crawler.errors.StorageError` if that cannot be recorded."""


class OwnOccupancy:
    """Counts the requests of this process; with `at_once` 0 there is no limit."""

    def __init__(self, at_once: int) -> None:
        """Allow `at_once` requests at one place."""
        self._at_once = at_once
        self._inside: Counter[str] = Counter()

    def enter(self, place: str) -> bool:
        """Let one more request in and return True, or return False."""
        if self._at_once and self._inside[place] >= self._at_once:
            return False
        self._inside[place] += 1
        return True

    def leave(self, place: str) -> None:
        """End a request."""
        self._inside[place] -= 1
        if self._inside[place] <= 0:
            del self._inside[place]


class HostTurns:
    """The turns of a host that is contacted on behalf of other hosts.

    The frontier lets one lease at a time contact a host, with a delay between them. There is one
    exception. A robots.txt may redirect to another host: then the file is fetched with the lease of
    the host that asked for its rules. This host is a *guest* of the host with the file. Guests and
    the host's own leases take turns.
    """

    def __init__(self, horizon_s: float) -> None:
        """Remember a contact for `horizon_s` seconds, the longest delay of a host."""
        self._horizon_s = horizon_s
        self._inside: set[str] = set()
        self._ended_at: OrderedDict[str, float] = OrderedDict()
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
        rest_s = self._rest_s(host, now, delay_of)
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
        if not was_contacted:
            return
        self._ended_at[host] = now
        self._ended_at.move_to_end(host)
        while next(iter(self._ended_at.values())) < now - self._horizon_s:
            self._ended_at.popitem(last=False)

    def __len__(self) -> int:
        """Return the number of contacts that are remembered."""
        return len(self._ended_at)

    def _rest_s(self, host: str, now: float, delay_of: Callable[[], float]) -> float:
        """Return the seconds until a host may be contacted."""
        if host in self._inside:
            return delay_of() + STEP_S
        ended_at = self._ended_at.get(host)
        return 0.0 if ended_at is None else ended_at + delay_of() - now
