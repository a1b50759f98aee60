"""The turns of a host that is contacted on behalf of other hosts.

The frontier lets one lease at a time contact a host, with a delay between them. There is one
exception. A robots.txt may redirect to another host: then the file is fetched with the lease of the
host that asked for its rules. This host is a *guest* of the host with the file. Guests and the
host's own leases take turns.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from crawler.politeness.waiting_room import STEP_S, WaitingRoom

GRACE_S: Final = 2.0
"""Seconds for which a host's own leases leave it to a guest whose turn has come."""


class _Contact(NamedTuple):
    ended_at: float
    was_guest: bool


class HostTurns:
    """The present contact and the last contact of each host.

    len() is the number of hosts and guests that are remembered.
    """

    def __init__(self, horizon_s: float) -> None:
        """Remember a contact for `horizon_s` seconds, the longest delay of a host."""
        self._horizon_s = horizon_s
        self._inside: Counter[str] = Counter()
        self._guests_inside: Counter[str] = Counter()
        self._last: OrderedDict[str, _Contact] = OrderedDict()
        self._next: dict[str, tuple[str, float]] = {}
        self._room = WaitingRoom(on_empty=lambda host: self._next.pop(host, None))

    def enter(
        self, host: str, visitor: str, now: float, delay_of: Callable[[], float]
    ) -> float | None:
        """Let the lease of `visitor` contact `host`; return None, or the seconds to wait.

        `delay_of` returns the seconds between two contacts of `host`; it is called only if a wait
        is possible. The more guests wait, the longer each waits.
        """
        is_guest = visitor != host
        rest_s = self._rest_s(host, now, delay_of, is_guest=is_guest)
        if rest_s is None and not self._is_promised(host, visitor, now):
            self._let_in(host, visitor, is_guest=is_guest)
            return None
        if not is_guest:
            return max(rest_s or 0.0, STEP_S)
        guests_before = self._room.wait(visitor, host) - 1
        wait_s = max(rest_s or 0.0, STEP_S)
        if host not in self._next or self._next[host][1] <= now:
            self._next[host] = visitor, now + wait_s + GRACE_S
            return wait_s
        return wait_s + max(delay_of(), STEP_S) * guests_before

    def leave(self, host: str, visitor: str, now: float) -> None:
        """End a contact that `enter` allowed."""
        is_guest = visitor != host
        _decrease(self._inside, host)
        if is_guest:
            _decrease(self._guests_inside, host)
        self._last[host] = _Contact(now, is_guest)
        self._last.move_to_end(host)
        while self._last and next(iter(self._last.values())).ended_at < now - self._horizon_s:
            self._last.popitem(last=False)

    def __len__(self) -> int:
        """Return the number of remembered hosts and guests."""
        return len(self._last) + len(self._room) + len(self._next)

    def _rest_s(
        self, host: str, now: float, delay_of: Callable[[], float], *, is_guest: bool
    ) -> float | None:
        """Return the seconds until a host may be contacted, None if it may be contacted now.

        The frontier keeps the delay between the host's own leases.
        """
        if (self._inside if is_guest else self._guests_inside)[host]:
            return delay_of() + STEP_S
        last = self._last.get(host)
        if last is None or not (is_guest or last.was_guest):
            return None
        left_s = last.ended_at + delay_of() - now
        return left_s if left_s > 0 else None

    def _is_promised(self, host: str, visitor: str, now: float) -> bool:
        """Return True if it is the turn of another guest."""
        guest, until = self._next.get(host, (visitor, now))
        return guest != visitor and now < until

    def _let_in(self, host: str, visitor: str, *, is_guest: bool) -> None:
        self._inside[host] += 1
        if host in self._next:
            del self._next[host]
        if is_guest:
            self._guests_inside[host] += 1
            self._room.leave(visitor)


def _decrease(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if counts[key] <= 0:
        del counts[key]
