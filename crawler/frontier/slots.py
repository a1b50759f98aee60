"""Request slots of registered domains and IP addresses, and score penalties per used slot.

A host cap does not stop a farm of hosts: one domain with any number of sub-domains, or any number
of domains on one address. So each URL also takes a slot of its domain and its address when its
request is sent. A fixed slot number would also stop a university with 300 sub-domains, or a blog
platform. So relevant pages earn slots, and URLs get penalties long before the slots run out.

Every other request takes a slot too: a robots.txt fetch, a retry, a failed DNS lookup. A page
of a host releases the domain slots of the host's files.
"""

from ipaddress import IPv6Address, IPv6Network
from math import floor, frexp, isinf, ldexp, remainder
from typing import Final

DOMAIN_HOSTS: Final = 100
"""Default slots of a registered domain without relevant pages, in host caps."""

ADDRESS_HOSTS: Final = 200
"""Default slots of an IP address without relevant pages, in host caps."""

EARNED_SLOTS: Final = 10
"""Slots earned by a relevant page for its domain and its address.

A domain with a tenth of relevant pages never runs out of slots.
"""

QUEUED_BYTES: Final = 2560
"""URL bytes that a domain may ever queue per slot: twenty URLs, as for a host."""

LEAST_BYTES: Final = 128
"""Least bytes per queued URL: its row, and its host in memory."""

FREE_SHARE: Final = 10
"""Slots without a penalty: the cap divided by this number."""

# Powers of two, because Python and Lua must compute the same numbers.
GRAIN_BITS: Final = 20
PENALTY: Final = 1 << GRAIN_BITS
"""Score deduction per penalty, for a doubtful URL."""

SHRINKING: Final = 40
"""Halvings per penalty, for a promising score."""

_LEAST_PROMISE: Final = ldexp(1.0, -30)


def are_full(cap: int, taken: int, relevant: int) -> bool:
    """Return True if a domain or an address has no free slot; a `cap` of 0 is no cap.

    `taken` is the number of used slots, `relevant` the number of relevant pages.
    """
    return cap > 0 and taken >= cap + EARNED_SLOTS * relevant


def has_room(cap: int, relevant: int, found: int, url: str) -> bool:
    """Return True if a domain with `found` bytes of ever queued URLs may queue another URL."""
    return found + bytes_of(url) <= QUEUED_BYTES * (cap + EARNED_SLOTS * relevant)


def bytes_of(url: str) -> int:
    """Return the byte count of a queued URL."""
    return max(LEAST_BYTES, len(url))


def penalties_for(cap: int, taken: int, relevant: int) -> int:
    """Return the penalties of the next URL of a domain or an address.

    The first tenth of the cap has no penalty; then each doubling of the counted slots adds one. The
    counted slots are `taken` less half of the relevant pages. So a portal with many hosts in the
    language gets penalties later than a farm, and a farm in the language still gets penalties.
    """
    counted = max(0, taken - relevant // 2)
    return (counted // max(1, cap // FREE_SHARE)).bit_length() if cap else 0


def holder_of(address: str) -> str:
    """Return the slot holder's name for an IP address; never a host name.

    IPv6 addresses share the slots of their /64 network, which may be a single machine's.
    """
    if ":" not in address:
        return f"ip {address}"
    ip = IPv6Address(address)
    return f"ip {ip.ipv4_mapped or IPv6Network((int(ip) >> 64 << 64, 64))}"


def penalized(score: float, level: int, doubts_up_to: float | None) -> float:
    """Return a score after `level` penalties.

    The score is below every score of the same kind with fewer penalties. A promising URL (above
    `FrontierRules.doubts_up_to`) stays better than every doubtful URL.
    """
    if not level:
        return score
    if doubts_up_to is None or score <= doubts_up_to:
        return score - level * PENALTY
    return doubts_up_to + ldexp(score - doubts_up_to, -SHRINKING * level)


def with_penalties(score: float, penalties: int, doubts_up_to: float | None) -> float:
    """Return a score with at least `penalties` penalties."""
    more = penalties - penalties_of(score, doubts_up_to) if penalties else 0
    return penalized(score, more, doubts_up_to) if more > 0 else score


def penalties_of(score: float, doubts_up_to: float | None) -> int:
    """Return the number of penalties in a score.

    Valid for original scores between -2**19 and 2**19, for promising scores 2**-20 or more above
    `doubts_up_to`.
    """
    above = score - (doubts_up_to or 0.0)
    if isinf(above):
        return 0
    if doubts_up_to is not None and above > 0:
        return max(0, -((frexp(above)[1] + GRAIN_BITS - 1) // SHRINKING))
    return max(0, floor(0.5 - above / PENALTY))


def without_penalties(score: float, doubts_up_to: float) -> float:
    """Return a score without its penalties.

    Valid for original scores between -2**19 and 2**19 at a multiple of 2**-20 from `doubts_up_to`.
    """
    above = score - doubts_up_to
    if above <= 0:
        return doubts_up_to + remainder(above, PENALTY)
    while above < 1 / PENALTY:
        above = ldexp(above, SHRINKING)
    return doubts_up_to + above


def least_expected(doubts_up_to: float) -> float:
    """Return a low score of an expected URL without a penalty."""
    return doubts_up_to + 1 / PENALTY


def highest_penalized(doubts_up_to: float | None) -> float:
    """Return a score above every score with a penalty; no URL has this score."""
    return -PENALTY / 2 if doubts_up_to is None else doubts_up_to + _LEAST_PROMISE
