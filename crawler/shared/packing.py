"""Links as the script of the shared frontier takes them: one MessagePack array, made by hand.

Half of what a link costs a client is to write it down, and a page has sixty. Most of a row is the
same for all links of a page, and rows go to the server as they are kept there: packed already.
"""

from collections.abc import Callable, Sequence
from math import isnan
from typing import NamedTuple
from zlib import crc32

from crawler.frontier.base import Link
from crawler.url import fingerprint, host_of

_BUCKETS = 100_000
_SHORT = [bytes((0xA0 | length,)) for length in range(32)]
_ROW = b"\x97"  # an array of seven


class Source(NamedTuple):
    """What all links of a page have in common."""

    parent: str = ""
    depth: int = 0
    redirects: int = 0
    inlinks: Sequence[str] = ()


class Packed(NamedTuple):
    """Links with different fingerprints, packed; `places` tell where the others belong.

    The script answers for the `number` of them in order, then for each of `again`, which are
    places (from 1 on) among the first. `places` are of all links, from 0 on, in those answers.
    """

    body: bytes
    number: int
    again: list[int]
    places: list[int]


def bucket_of(host: str) -> str:
    """Return the number of the set that the fingerprints of a host's URLs are kept in."""
    return str(crc32(encoded(host)) % _BUCKETS)


def pack_links(
    links: Sequence[Link],
    source: Source,
    *,
    directory_of: Callable[[str], str],
    lifts: bool,
    has_buckets: bool,
) -> Packed:
    """Pack links host by host; of two with one fingerprint the first, with the better score."""
    before_tier = (
        _text(source.parent) + _number(source.depth) + _number(source.redirects) + _number(0)
    )
    after_tier = b"".join(map(_text, source.inlinks)) + _number(len(source.inlinks))
    place_of: dict[int, int] = {}
    first: list[Link] = []
    places, again = [], []
    for link in links:
        if isnan(link.score):
            # No script may fail half-way, and a sorted set does not take this.
            raise ValueError(f"the score of {link.url} is not a number")
        key = fingerprint(link.url)
        place = place_of.get(key)
        if place is None:
            place_of[key] = place = len(first)
            first.append(link)
        else:
            if lifts and link.score > first[place].score:
                first[place] = Link(first[place].url, link.score)
            again.append(place + 1)
            place = -len(again)
        places.append(place)
    hosts: dict[str, list[bytes]] = {}
    tiers: dict[float, bytes] = {}
    for (key, place), link in zip(place_of.items(), first, strict=True):
        url = link.url
        host = host_of(url)
        parts = hosts.get(host)
        if parts is None:
            parts = hosts[host] = []
        directory = _text(directory_of(url))
        tier = tiers.get(link.score)
        if tier is None:
            tier = tiers[link.score] = _text(repr(0.0 - float(link.score)))
        row = b"".join((_ROW, _text(url), directory, before_tier, tier, after_tier))
        parts += (_number(place + 1), _bytes(b"%d" % key), tier, directory, _bytes(row))
    pieces = [_array(3 * len(hosts) + 5 * len(first))]
    for host, parts in hosts.items():
        bucket = bucket_of(host) if has_buckets else ""
        pieces += (_text(host), _text(bucket), _number(len(parts) // 5), *parts)
    number = len(first)
    return Packed(
        b"".join(pieces),
        number,
        again,
        [place if place >= 0 else number - 1 - place for place in places],
    )


def encoded(text: str) -> bytes:
    """Return a text as bytes; half a surrogate pair is no reason to lose a page."""
    return text.encode("utf-8", "surrogatepass")


def _text(text: str) -> bytes:
    return _bytes(text.encode("utf-8", "surrogatepass"))


def _bytes(value: bytes) -> bytes:
    length = len(value)
    if length < 32:
        return _SHORT[length] + value
    if length < 0x10000:
        return b"\xda" + length.to_bytes(2, "big") + value
    return b"\xdb" + length.to_bytes(4, "big") + value


def _number(number: int) -> bytes:
    if number < 128:
        return number.to_bytes(1, "big")
    return b"\xce" + number.to_bytes(4, "big")


def _array(length: int) -> bytes:
    return b"\xdd" + length.to_bytes(4, "big")
