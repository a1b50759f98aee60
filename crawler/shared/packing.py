"""A page's links as one MessagePack array for the script of the shared frontier.

Each URL's row is packed separately, because the server stores packed rows.
"""

from collections import Counter
from collections.abc import Sequence
from math import isnan
from random import Random
from struct import Struct
from typing import Any, Final, NamedTuple

from msgpack import Packer, unpackb

from langfocus.crawler.frontier.base import Admission
from langfocus.crawler.frontier.links import LinkOrigin, Links, QueuedUrl, answers_to_all, distinct
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.strategies.focus.evidence import NO_EVIDENCE, Evidence
from langfocus.crawler.strategies.links import Draw, Link
from langfocus.crawler.url import fingerprint, host_of

_ORDER_DIGITS: Final = 15
_MEAN_TICKS: Final = 1e9
"""The mean time until a URL is drawn (`crawler.frontier.selection.UniformDraw`)."""

_FACTS: Final = Struct("<2d2f")
"""The facts of `Evidence`, except declarations."""

_DEPTH, _TIER, _EVIDENCE, _DECLARED, _LINKS = 3, 6, 9, 10, 11


class Packed(NamedTuple):
    """A page's packed links, each URL once, and the fingerprints of all its links."""

    body: bytes
    keys: list[int]

    def admissions(self, names: str) -> list[Admission]:
        """Return the admission of each link from the script's answer for the packed links."""
        answers = zip(dict.fromkeys(self.keys), map(Admission, names.split()), strict=True)
        return answers_to_all(self.keys, dict(answers))


class PageLinks(NamedTuple):
    """Links of one page to a shard; `parent` is the URL of the page."""

    parent: str
    origin: LinkOrigin
    links: Sequence[Link]


class LinkPacker:
    """Packs links by the rules of one crawl. Not for several threads at once."""

    def __init__(self, rules: FrontierRules, random: Random) -> None:
        """Create a packer that draws with `random`."""
        # The script does not distinguish bytes from text, and half a surrogate pair must not lose a
        # page.
        self._packer: Packer = Packer(use_bin_type=False, unicode_errors="surrogatepass")
        self._rules, self._random = rules, random

    def pack(self, links: Sequence[Link], origin: LinkOrigin, parent: str = "") -> Packed:
        """Pack links host by host; `parent` is the URL of their page, "" for seeds.

        Raises ValueError for a score that is not a number.
        """
        keys = [fingerprint(link.url) for link in links]
        times, hosts = Counter(keys), dict[str, list[object]]()
        for place, (key, link) in enumerate(
            distinct(links, keys, lifts=self._rules.lifts).items(), 1
        ):
            if isnan(link.score):
                # A sorted set refuses NaN, and a script must not fail in the middle.
                raise ValueError(f"the score of {link.url} is not a number")
            host, tier = host_of(link.url), repr(0.0 - float(link.score))
            directory = self._rules.unit_of(link.url) or ""
            row = self._packer.pack(self._row(link, host, tier, directory, origin, parent))
            packed = [place, str(key), tier, directory, row, times[key]]
            if self._rules.draw is Draw.UNIFORM:
                packed.append(int(self._random.expovariate(1.0) * _MEAN_TICKS))
            hosts.setdefault(host, []).append(packed)
        groups = [(host, self._rules.domain_of(host), of_host) for host, of_host in hosts.items()]
        return Packed(self._packer.pack(groups), keys)

    def list_of(self, packed: Sequence[bytes]) -> bytes:
        """Return a list of packed values."""
        header: bytes = self._packer.pack_array_header(len(packed))
        return header + b"".join(packed)

    def _row(
        self, link: Link, host: str, tier: str, directory: str, origin: LinkOrigin, parent: str
    ) -> tuple[object, ...]:
        """Return the row of a new URL; `lua/keys.lua` names its fields."""
        domain = encoded(self._rules.domain_of(host))
        place = (link.url, directory, parent, origin.depth, origin.redirects)
        row = (*place, 0, tier, 0, len(domain))
        if self._rules.prior is None:
            return row
        *facts, declared = link.evidence or NO_EVIDENCE
        return (*row, _FACTS.pack(*facts), int(declared), *origin.links(host))


def unpacked(kept: bytes) -> list[Any]:
    """Return the row of a URL as it is kept; its texts are bytes. Raises ValueError."""
    row = unpackb(kept[_ORDER_DIGITS:], raw=True)
    if not isinstance(row, list):
        raise ValueError("a row is no list")
    return row


def queued_url(kept: bytes) -> QueuedUrl:
    """Unpack a stored URL row, for a learning ordering."""
    row = unpacked(kept)
    evidence = Evidence._make((*_FACTS.unpack(row[_EVIDENCE]), float(row[_DECLARED])))
    url, score = row[0].decode("utf-8", "surrogatepass"), 0.0 - float(row[_TIER])
    links, order = Links(*row[_LINKS:]), int(kept[:_ORDER_DIGITS])
    return QueuedUrl(url, score, int(row[_DEPTH]), evidence, links, order)


def encoded(text: str) -> bytes:
    """Return a text as bytes; half a surrogate pair is kept."""
    return text.encode("utf-8", "surrogatepass")
