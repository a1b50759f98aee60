"""Turns of the hosts whose addresses are looked up.

A name server that never answers takes a lookup many seconds. A domain can have any number of names
on such a server. So few names of one domain are looked up at once, and none for a while after
several lookups in a row got no answer. Names of other domains do not wait for them.
"""

from typing import Final

from crawler.politeness.turns import Line, OwnOccupancy, Recent
from crawler.url import domain_of

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

PAUSE_S: Final = 0.5
"""Seconds after which a host with a lookup in progress comes again, for the first time."""

_LONGEST_WAIT_S: Final = 5.0


class LookupTurns:
    """The lookups in progress, and the domains that are silent.

    Times are in seconds, of any clock that does not go back.
    """

    def __init__(self) -> None:
        """Start without lookups."""
        self._began_at: dict[str, float] = {}
        self._domains = OwnOccupancy(PER_DOMAIN)
        self._unanswered: Recent[tuple[int, float]] = Recent()
        self._answered: Recent[None] = Recent()
        self._line = Line()

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
        domain = domain_of(host)
        if not self._domains.enter(domain):
            return self._line.wait(domain, now)
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

    def __len__(self) -> int:
        """Return the number of lookups in progress."""
        return len(self._began_at)
