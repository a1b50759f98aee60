"""URLs as one buffer of bytes: what the compiled code walks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MAX_CHARACTERS = 2048
"""Characters of a URL that are encoded; the compiled code looks at as many bytes at most."""

_ACE_LABEL = re.compile(r"xn--([a-z0-9-]{1,59})", re.IGNORECASE)


@dataclass(frozen=True)
class Batch:
    """UTF-8 bytes of n URLs, one after the other; URL i is buffer[offsets[i]:offsets[i + 1]]."""

    buffer: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Return how many URLs there are."""
        return len(self.offsets) - 1


def encode(urls: Sequence[str]) -> Batch:
    """The URLs as a batch; each is cut after MAX_CHARACTERS, and IDN labels are decoded."""
    if isinstance(urls, str):
        raise TypeError("expected a sequence of URLs, not one string")
    text = "".join(urls)
    if text.isascii() and "xn--" not in text and "XN--" not in text:
        pieces: Sequence[str] | Sequence[bytes] = urls
        joined = text.encode("ascii")
    else:
        pieces = [_bytes(url) for url in urls]
        joined = b"".join(pieces)
    offsets = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=offsets[1:])
    return Batch(np.frombuffer(joined, np.uint8), offsets)


def _bytes(url: str) -> bytes:
    url = url[:MAX_CHARACTERS]
    if "xn--" in url or "XN--" in url:
        url = _ACE_LABEL.sub(_unicode_label, url)
    return url.encode("utf-8", "surrogatepass")


def _unicode_label(match: re.Match[str]) -> str:
    """The letters that a label of an internationalised name stands for, or the label itself."""
    try:
        return match[1].encode("ascii").decode("punycode")
    except UnicodeError:
        return match[0]
