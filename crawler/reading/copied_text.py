"""Copied texts: pages with a text on many domains do not count as relevant.

A text is recognised by its sketch, the smallest hashes of its character shingles (Broder 1997):
paragraph order does not matter, and a few words may differ.

The last domain with a text need not be the copier. So a page also counts if the domain has original
texts, or fewer counted texts than the earlier domains.
"""

from collections import Counter, OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

DOMAINS: Final = 5
"""Registered domains on which a text counts; its pages on further domains are copies."""

MOST_BY_RECORD: Final = 10
"""Registered domains on which a text counts because fewer texts count on the later ones."""

HABIT: Final = 3
"""Lead in counted texts over every earlier domain that makes a text count on a later domain."""

MOST_DOMAINS: Final = 10_000
"""Most domains with remembered text counts."""

LEAST_LETTERS: Final = 200
"""Letters below which a text has no sketch: short pages are alike by chance."""

SKETCH: Final = 16
_LEAST_COMMON: Final = 0.75
_RUN: Final = 12
_LEAST: Final = 128
_MIX: Final = 0x9E3779B97F4A7C15
_FACTORS: Final = np.array([pow(_MIX, n, 1 << 64) for n in range(1, _RUN + 1)], np.uint64)


def sketch_of(text: str) -> tuple[int, ...]:
    """Return the 16 smallest hashes of a text's 12-letter shingles, fewer for repetitive text.

    Case, spaces, digits and ASCII punctuation are ignored. Empty for a text below `LEAST_LETTERS`
    letters.
    """
    signs = np.frombuffer(text.lower().encode("utf-32-le", "surrogatepass"), np.uint32)
    letters = signs[(signs >= 0x61) & ((signs < 0x7B) | (signs >= 0xC0))].astype(np.uint64)
    if len(letters) < LEAST_LETTERS:
        return ()
    hashes = np.convolve(letters, _FACTORS, "valid")
    hashes = (hashes ^ (hashes >> np.uint64(32))) * np.uint64(_MIX)
    if len(hashes) > _LEAST:
        hashes = np.partition(hashes, _LEAST)[:_LEAST]
    return tuple(sorted(set(hashes.tolist()))[:SKETCH])


@dataclass(slots=True)
class _Record:
    """The texts of a domain: shown first, shown later, and counted."""

    own: int = 0
    later: int = 0
    counted: int = 0


class CopiedTexts:
    """The latest texts with their registered domains; 12 MB at most."""

    def __init__(self, most: int = 4096) -> None:
        """Start empty; beyond `most` texts, the least recently seen text is evicted."""
        self._most = most
        self._domains: OrderedDict[tuple[int, ...], set[str]] = OrderedDict()
        self._texts: dict[int, tuple[int, ...]] = {}
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def is_copy(self, sketch: tuple[int, ...], domain: str) -> bool:
        """Return True if a text counts on `DOMAINS` other domains; record it for this domain.

        On a further domain the text counts if most of the domain's texts appeared here first, or
        if each earlier domain has `HABIT` more counted texts. So a site survives five domains that
        publish copies first.
        """
        if not sketch:
            return False
        known = self._nearest(sketch)
        if known is None:
            known = sketch
            self._add(sketch)
        domains = self._domains[known]
        self._domains.move_to_end(known)
        if domain in domains:
            return False
        record = self._record(domain)
        is_copy = len(domains) >= DOMAINS and not self._outweighs(record, domains)
        record.own += not domains
        record.later += bool(domains)
        record.counted += not is_copy
        if not is_copy:
            domains.add(domain)
        return is_copy

    def _outweighs(self, record: _Record, others: Collection[str]) -> bool:
        """Return True if a domain's record beats the record of every domain with the text."""
        if record.own >= 2 * record.later + HABIT:
            return True
        least = min(self._record(other).counted for other in others)
        return len(others) < MOST_BY_RECORD and least >= record.counted + HABIT

    def _record(self, domain: str) -> _Record:
        record = self._records.setdefault(domain, _Record())
        self._records.move_to_end(domain)
        if len(self._records) > MOST_DOMAINS:
            self._records.popitem(last=False)
        return record

    def _nearest(self, sketch: Sequence[int]) -> tuple[int, ...] | None:
        """Return a known sketch with nearly all hashes of `sketch`, or None."""
        found, wanted = Counter(filter(None, map(self._texts.get, sketch))), {*sketch}
        least = _LEAST_COMMON * len(sketch)
        return next((text for text in found if len(wanted.intersection(text)) >= least), None)

    def _add(self, sketch: tuple[int, ...]) -> None:
        if len(self._domains) >= self._most:
            old, _ = self._domains.popitem(last=False)
            for one in old:
                if self._texts.get(one) == old:
                    del self._texts[one]
        self._domains[sketch] = set()
        for one in sketch:
            self._texts.setdefault(one, sketch)
