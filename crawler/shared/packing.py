"""The links of a page as one MessagePack array, which the script of the shared frontier reads.

Each URL's row is packed separately, because the server stores it packed.
"""

from collections.abc import Sequence
from math import isnan
from struct import Struct
from typing import Any, NamedTuple

from crawler.frontier.base import Link
from crawler.frontier.evidence_rows import KnownUrl, Links
from crawler.frontier.origins import LinkOrigin
from crawler.frontier.rules import FrontierRules
from crawler.strategies.filters import Unit
from crawler.strategies.focus.evidence import NO_EVIDENCE, Evidence
from crawler.url import domain_of, fingerprint, host_of

_ORDER_DIGITS = 15
_FACTS = Struct("<2d2f")
"""The facts of `Evidence`, without what is declared."""

_DEPTH, _TIER, _EVIDENCE, _DECLARED, _LINKS = 3, 6, 9, 10, 11


class Packed(NamedTuple):
    """The packed links of a page; each fingerprint is packed once.

    The script answers for the `number` packed links, in their order, and then for the repeated
    links. `again` has, for each repeated link, the position (from 1) of the packed link with the
    same fingerprint. `places` has, for each link of the page, the position (from 0) of its answer.
    """

    body: bytes
    number: int
    again: list[int]
    places: list[int]


class _Distinct(NamedTuple):
    links: dict[int, Link]
    again: list[int]
    places: list[int]


class LinkPacker:
    """Packs links by the rules of one crawl. Not for several threads at once."""

    def __init__(self, rules: FrontierRules) -> None:
        """Make a packer; needs the package msgpack."""
        from msgpack import Packer

        # The script does not distinguish bytes from text, and half a surrogate pair must not lose a
        # page.
        self._packer: Packer = Packer(use_bin_type=False, unicode_errors="surrogatepass")
        self._filter = rules.filter
        self._is_by_directory = rules.filter.unit is Unit.DIRECTORY
        self._learns = rules.prior is not None
        self._has_domains = rules.domain_cap > 0
        self._lifts = rules.lifts

    def directory_of(self, url: str) -> str:
        """Return the directory of a URL, "" if no rule needs it."""
        return self._filter.directory_of(url) if self._is_by_directory else ""

    def domain_of(self, host: str) -> str:
        """Return the registered domain of a host, "" if no rule needs it."""
        return domain_of(host) if self._has_domains else ""

    def pack(self, links: Sequence[Link], origin: LinkOrigin, parent: str = "") -> Packed:
        """Pack links host by host; `parent` is the URL of their page, "" for seeds.

        Of several links with one fingerprint the first counts, with the best score if scores are
        lifted. Raises ValueError for a score that is not a number.
        """
        distinct = self._distinct(links)
        flat: list[object] = []
        for host, fields in self._fields_by_host(distinct.links, origin, parent).items():
            flat += (host, self.domain_of(host), len(fields) // 5, *fields)
        number = len(distinct.links)
        places = [place if place >= 0 else number - 1 - place for place in distinct.places]
        return Packed(self._packer.pack(flat), number, distinct.again, places)

    def _distinct(self, links: Sequence[Link]) -> _Distinct:
        """Return one link for each fingerprint; a place below 0 counts the repeated links."""
        place_of: dict[int, int] = {}
        distinct = _Distinct({}, [], [])
        for link in links:
            if isnan(link.score):
                # A sorted set refuses it, and a script must not fail in the middle.
                raise ValueError(f"the score of {link.url} is not a number")
            key = fingerprint(link.url)
            place = place_of.get(key)
            if place is None:
                place = place_of[key] = len(place_of)
                distinct.links[key] = link
            else:
                first = distinct.links[key]
                if self._lifts and link.score > first.score:
                    distinct.links[key] = Link(first.url, link.score)
                distinct.again.append(place + 1)
                place = -len(distinct.again)
            distinct.places.append(place)
        return distinct

    def _fields_by_host(
        self, links: dict[int, Link], origin: LinkOrigin, parent: str
    ) -> dict[str, list[object]]:
        """Return five fields for each link: place, fingerprint, tier, directory and row."""
        pack = self._packer.pack
        ending = b"".join(map(pack, (*origin.inlinks, len(origin.inlinks))))
        hosts: dict[str, list[object]] = {}
        tiers: dict[float, str] = {}
        for place, (key, link) in enumerate(links.items(), 1):
            url, score = link.url, link.score
            tier = tiers.get(score)
            if tier is None:
                tier = tiers[score] = repr(0.0 - float(score))
            directory = self.directory_of(url)
            host = host_of(url)
            told = (url, directory, parent, origin.depth, origin.redirects, 0)
            row: tuple[object, ...] = (*told, tier, 0, len(encoded(self.domain_of(host))))
            if self._learns:
                row += _learned_from(link, origin.page.links(host))
            fields = hosts.setdefault(host, [])
            fields += (place, str(key), tier, directory, pack(row) + ending)
        return hosts


def _learned_from(link: Link, links: Links) -> tuple[object, ...]:
    """Return the other fields of a row: the evidence, what is declared, and the links."""
    *facts, declared = link.evidence or NO_EVIDENCE
    return _FACTS.pack(*facts), int(declared), *links


def unpacked(kept: bytes) -> list[Any]:
    """Return the row of a URL as it is kept; its texts are bytes. Raises ValueError."""
    from msgpack import Unpacker

    reader = Unpacker(raw=True, strict_map_key=False)
    reader.feed(kept[_ORDER_DIGITS:])
    row = reader.unpack()
    if not isinstance(row, list):
        raise ValueError("a row is no list")
    return row


def known_url(kept: bytes) -> KnownUrl:
    """Return what the row of a URL, as it is kept, says for an ordering that learns."""
    row = unpacked(kept)
    evidence = Evidence._make((*_FACTS.unpack(row[_EVIDENCE]), float(row[_DECLARED])))
    url = row[0].decode("utf-8", "surrogatepass")
    links = Links(*row[_LINKS:])
    return KnownUrl(url, 0.0 - float(row[_TIER]), int(row[_DEPTH]), evidence, links)


def encoded(text: str) -> bytes:
    """Return a text as bytes; half a surrogate pair is kept."""
    return text.encode("utf-8", "surrogatepass")
