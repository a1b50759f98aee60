"""URLs as one buffer of bytes, which the compiled code reads."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MAX_CHARACTERS = 2048
"""Characters of a URL that are encoded; the compiled code reads at most as many bytes."""

_ACE_PREFIX = b"xn--"
_ACE_LABEL = re.compile(r"xn--([a-z0-9-]{1,59})", re.IGNORECASE)


@dataclass(frozen=True)
class Batch:
    """UTF-8 bytes of n URLs, one per line; the last line has no line end."""

    buffer: npt.NDArray[np.uint8]
    n_urls: int

    def __len__(self) -> int:
        """Return the number of URLs."""
        return self.n_urls


def encode(urls: Sequence[str]) -> Batch:
    """The URLs as a batch: IDN labels are decoded, letters composed, line ends replaced by spaces.

    A URL of ASCII may be longer than MAX_CHARACTERS here.
    """
    if isinstance(urls, str):
        raise TypeError("expected a sequence of URLs, not one string")
    data = _joined(urls)
    if data.count(b"\n") >= max(len(urls), 1):
        data = _joined([url.replace("\n", " ") for url in urls])
    lower = data.lower()  # far cheaper than a search for either case
    if _ACE_PREFIX in lower:
        data = _respelled(data, lower)
    return Batch(np.frombuffer(data, np.uint8), len(urls))


def plain(url: str) -> str:
    """The first characters of a URL, its IDN labels decoded and its letters composed."""
    return _composed(_ACE_LABEL.sub(_unicode_label, url[:MAX_CHARACTERS]))


def _joined(urls: Sequence[str]) -> bytes:
    # One wide character would make the whole text wide, which costs more than the rest of the work.
    if not all(map(str.isascii, urls)):
        urls = [url if url.isascii() else _narrow(url) for url in urls]
    return "\n".join(urls).encode("latin-1")


def _narrow(url: str) -> str:
    """The UTF-8 of a URL, as characters."""
    text = _composed(url[:MAX_CHARACTERS])
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _respelled(data: bytes, lower: bytes) -> bytes:
    """The same lines, with IDN labels as their letters."""
    pieces, at = [], 0
    while (found := lower.find(_ACE_PREFIX, at)) >= 0:
        start = data.rfind(b"\n", at, found) + 1 or at
        end = data.find(b"\n", found)
        end = len(data) if end < 0 else end
        line = plain(data[start:end].decode("utf-8", "surrogatepass"))
        pieces += [data[at:start], line.replace("\n", " ").encode("utf-8", "surrogatepass")]
        at = end
    return b"".join([*pieces, data[at:]])


def _unicode_label(match: re.Match[str]) -> str:
    """The letters of an encoded label of an internationalised name, or the label itself."""
    try:
        return match[1].encode("ascii").decode("punycode")
    except UnicodeError:
        return match[0]
