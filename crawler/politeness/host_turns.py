"""The turns of a host that is asked on behalf of others.

The frontier lets one lease at a time contact a host, with its delay in between. The one exception
is a robots.txt that redirects to another host: it is fetched with the lease of the host whose rules
it holds, a *guest* of the host where it lies. Here guests and the host's own leases take turns.
Whoever comes too early is told when to come again; nobody waits with a connection in hand.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import NamedTuple

STEP_S = 0.05
"""Seconds after which to come again to a host that is just being contacted."""

GRACE_S = 2.0
"""Seconds for which a host's own leases leave it to a guest whose turn has come."""

_MAX_WAITING = 100_000


class _Contact(NamedTuple):
    ended_at: float
    was_guest: bool


class HostTurns:
    """Who contacts which host, and who did in the last `horizon_s` seconds, its longest delay."""

    def __init__(self, horizon_s: float) -> None:
        """Let everybody in once."""
        self._horizon_s = horizon_s
        self._inside: Counter[str] = Counter()
        self._guests_inside: Counter[str] = Counter()
        self._last: OrderedDict[str, _Contact] = OrderedDict()
        self._queues: Counter[str] = Counter()
        self._waiting: OrderedDict[str, str] = OrderedDict()
        self._next: dict[str, tuple[str, float]] = {}

    def enter(
        self, host: str, visitor: str, now: float, delay_of: Callable[[], float]
    ) -> float | None:
        """Let the lease of the host `visitor` contact `host`, or return for how long it waits.

        `delay_of` tells the seconds between two contacts of `host`; it is asked only where
        there may be something to wait for. The more guests wait, the later the next one comes.
        """
        is_guest = visitor != host
        rest_s = self._rest_s(host, now, delay_of, is_guest=is_guest)
        if rest_s is None and not self._is_promised(host, visitor, now):
            self._let_in(host, visitor, is_guest=is_guest)
            return None
        if not is_guest:
            return max(rest_s or 0.0, STEP_S)
        self._wait(host, visitor)
        place = self._queues[host] - 1
        wait_s = max(rest_s or 0.0, STEP_S)
        if host not in self._next or self._next[host][1] <= now:
            self._next[host] = visitor, now + wait_s + GRACE_S
            return wait_s
        return wait_s + max(delay_of(), STEP_S) * place

    def leave(self, host: str, visitor: str, now: float) -> None:
        """End a contact that was let in."""
        is_guest = visitor != host
        _decrease(self._inside, host)
        if is_guest:
            _decrease(self._guests_inside, host)
        self._last[host] = _Contact(now, is_guest)
        self._last.move_to_end(host)
        while self._last and next(iter(self._last.values())).ended_at < now - self._horizon_s:
            self._last.popitem(last=False)

    def __len__(self) -> int:
        """Return how many hosts are remembered, and how many guests wait."""
        return len(self._last) + len(self._waiting) + len(self._next)

    def _rest_s(
        self, host: str, now: float, delay_of: Callable[[], float], *, is_guest: bool
    ) -> float | None:
        """Return how long a host still rests; None: it may be contacted.

        Of the rest after its own leases the frontier takes care.
        """
        if (self._inside if is_guest else self._guests_inside)[host]:
            return delay_of() + STEP_S
        last = self._last.get(host)
        if last is None or not (is_guest or last.was_guest):
            return None
        left_s = last.ended_at + delay_of() - now
        return left_s if left_s > 0 else None

    def _is_promised(self, host: str, visitor: str, now: float) -> bool:
        """Tell whether it is the turn of another guest."""
        guest, until = self._next.get(host, (visitor, now))
        return guest != visitor and now < until

    def _let_in(self, host: str, visitor: str, *, is_guest: bool) -> None:
        self._inside[host] += 1
        if host in self._next:
            del self._next[host]
        if is_guest:
            self._guests_inside[host] += 1
            self._end_wait(visitor)

    def _wait(self, host: str, visitor: str) -> None:
        self._end_wait(visitor)
        if len(self._waiting) >= _MAX_WAITING:
            self._end_wait(next(iter(self._waiting)))
        self._waiting[visitor] = host
        self._queues[host] += 1

    def _end_wait(self, visitor: str) -> None:
        host = self._waiting.pop(visitor, None)
        if host is None:
            return
        _decrease(self._queues, host)
        if not self._queues[host]:
            self._next.pop(host, None)


def _decrease(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if counts[key] <= 0:
        del counts[key]
