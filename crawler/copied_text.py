"""Texts that stand on many domains: their pages are copies, which count for nothing.

A text is known by its sketch: the least hashes of its runs of letters (Broder 1997). It does not
matter in which order its paragraphs stand, and a few words may differ.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

DOMAINS: Final = 5
"""Registered domains on which a text may stand; its pages on further ones are copies."""

LEAST_LETTERS: Final = 200
"""Letters below which a text has no sketch: short pages are alike by chance."""

SKETCH: Final = 16
_LEAST_COMMON: Final = 0.75
_RUN: Final = 12
_LEAST: Final = 128
_MIX: Final = 0x9E3779B97F4A7C15
_FACTORS: Final = np.array([pow(_MIX, n, 1 << 64) for n in range(1, _RUN + 1)], np.uint64)


def sketch_of(text: str) -> tuple[int, ...]:
    """Return the 16 least hashes of the runs of 12 letters of a text, fewer if it repeats itself.

    Case, spaces, digits and the punctuation of ASCII do not count. A text of less than
    `LEAST_LETTERS` letters has none.
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


class CopiedTexts:
    """Knows the latest texts and the registered domains on which they stood; 10 MB at most."""

    def __init__(self, most: int = 4096) -> None:
        """Know no text; of more than `most` the one that was not met for longest is forgotten."""
        self._most = most
        self._domains: OrderedDict[tuple[int, ...], set[str]] = OrderedDict()
        self._texts: dict[int, tuple[int, ...]] = {}

    def is_copy(self, sketch: tuple[int, ...], domain: str) -> bool:
        """Return True if a text stood on `DOMAINS` others; note that it stands on this domain."""
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
        if len(domains) < DOMAINS:
            domains.add(domain)
            return False
        return True

    def _nearest(self, sketch: Sequence[int]) -> tuple[int, ...] | None:
        """Return the sketch of the known text that has nearly all hashes of this one, or None."""
        found = Counter(filter(None, map(self._texts.get, sketch)))
        return next(
            (text for text in found if len({*sketch} & {*text}) >= _LEAST_COMMON * len(sketch)),
            None,
        )

    def _add(self, sketch: tuple[int, ...]) -> None:
        if len(self._domains) >= self._most:
            old, _ = self._domains.popitem(last=False)
            for one in old:
                if self._texts.get(one) == old:
                    del self._texts[one]
        self._domains[sketch] = set()
        for one in sketch:
            self._texts.setdefault(one, sketch)
