"""The slots of registered domains and of IP addresses: their number, and the score of each.

A host cap does not stop a farm of hosts: one domain with any number of sub-domains, or any number
of domains on one address. So domains and addresses have slots too. A URL takes them when its
request is sent. A fixed number would also stop a university with 300 sub-domains, or a platform for
blogs. So relevant pages earn more slots, and URLs get penalties long before the slots end.

Every other request takes a slot too: for robots.txt and other files, for a retry, and a lookup of a
name that does not exist. A page of a host releases the slots of its files at its domain.
"""

from ipaddress import IPv6Address, IPv6Network
from math import floor, frexp, isinf, ldexp, remainder
from typing import Final

DOMAIN_HOSTS: Final = 100
"""A registered domain has by default the slots of so many hosts, before it earned any."""

ADDRESS_HOSTS: Final = 200
"""An IP address has by default the slots of so many hosts, before it earned any."""

EARNED_SLOTS: Final = 10
"""Slots that a relevant page earns its domain and its address.

A domain of which a tenth of the pages is relevant never runs out of slots.
"""

QUEUED_BYTES: Final = 2560
"""Bytes of URLs that a domain may ever queue for each slot: twenty, as a host may."""

LEAST_BYTES: Final = 128
"""A queued URL counts as so many bytes at least: its row, and its host in memory."""

FREE_SHARE: Final = 10
"""The first of this many equal parts of a cap is taken without a penalty."""

# Powers of two, because Python and Lua must compute the same numbers.
GRAIN_BITS: Final = 20
PENALTY: Final = 1 << GRAIN_BITS
"""The number that one penalty takes from a score that is not promising."""

SHRINKING: Final = 40
"""One penalty halves a promising score so many times."""

_LEAST_PROMISE: Final = ldexp(1.0, -30)


def are_full(cap: int, taken: int, relevant: int) -> bool:
    """Return True if a domain or an address has no slot left; a `cap` of 0 is no cap.

    `taken` is the number of its URLs that hold a slot, `relevant` that of its relevant pages.
    """
    return cap > 0 and taken >= cap + EARNED_SLOTS * relevant


def has_room(cap: int, relevant: int, found: int, url: str) -> bool:
    """Return True if a domain that ever queued `found` bytes of URLs may queue another URL."""
    return found + bytes_of(url) <= QUEUED_BYTES * (cap + EARNED_SLOTS * relevant)


def bytes_of(url: str) -> int:
    """Return the bytes as which a queued URL counts."""
    return max(LEAST_BYTES, len(url))


def penalties_for(cap: int, taken: int, relevant: int) -> int:
    """Return the number of penalties of the next URL of a domain or an address.

    It is 0 for the first tenth of the cap, then 1. It grows by 1 when the slots double that count:
    those `taken` less half as many as the holder has relevant pages. So a portal of many hosts in
    the language gets penalties later, and a farm in the language still gets them.
    """
    counted = max(0, taken - relevant // 2)
    return (counted // max(1, cap // FREE_SHARE)).bit_length() if cap else 0


def holder_of(address: str) -> str:
    """Return the name under which an IP address has slots; no host has such a name.

    The addresses of a /64 of IPv6 are one, since a single machine may have them all.
    """
    if ":" not in address:
        return f"ip {address}"
    ip = IPv6Address(address)
    return f"ip {ip.ipv4_mapped or IPv6Network((int(ip) >> 64 << 64, 64))}"


def penalized(score: float, level: int, doubts_up_to: float | None) -> float:
    """Return a score after `level` penalties.

    Such a URL is worse than every URL of its kind that has fewer penalties. The kinds stay apart: a
    promising URL (`FrontierRules.doubts_up_to`) is always better than a doubtful one.
    """
    if not level:
        return score
    if doubts_up_to is None or score <= doubts_up_to:
        return score - level * PENALTY
    return doubts_up_to + ldexp(score - doubts_up_to, -SHRINKING * level)


def with_penalties(score: float, penalties: int, doubts_up_to: float | None) -> float:
    """Return a score after at least so many penalties."""
    more = penalties - penalties_of(score, doubts_up_to) if penalties else 0
    return penalized(score, more, doubts_up_to) if more > 0 else score


def penalties_of(score: float, doubts_up_to: float | None) -> int:
    """Return how many penalties a score has.

    This holds for scores that were between -2**19 and 2**19, and 2**-20 or more above
    `doubts_up_to` if they were promising.
    """
    above = score - (doubts_up_to or 0.0)
    if isinf(above):
        return 0
    if doubts_up_to is not None and above > 0:
        return max(0, -((frexp(above)[1] + GRAIN_BITS - 1) // SHRINKING))
    return max(0, floor(0.5 - above / PENALTY))


def without_penalties(score: float, doubts_up_to: float) -> float:
    """Return a score before its penalties.

    This holds for scores between -2**19 and 2**19 that are multiples of 2**-20 away from
    `doubts_up_to`.
    """
    above = score - doubts_up_to
    if above <= 0:
        return doubts_up_to + remainder(above, PENALTY)
    while above < 1 / PENALTY:
        above = ldexp(above, SHRINKING)
    return doubts_up_to + above


def least_expected(doubts_up_to: float) -> float:
    """Return a low score of a URL that has no penalty and is expected in the language."""
    return doubts_up_to + 1 / PENALTY


def highest_penalized(doubts_up_to: float | None) -> float:
    """Return a score that every URL with a penalty is below, and no other has."""
    return -PENALTY / 2 if doubts_up_to is None else doubts_up_to + _LEAST_PROMISE
