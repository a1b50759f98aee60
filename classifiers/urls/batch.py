"""URLs as one buffer of bytes, which the compiled code reads."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

MAX_CHARACTERS = 2048
"""Characters of a URL that are encoded; the compiled code reads at most as many bytes."""

_ACE_PREFIX = b"xn--"
_SPACE_IN_HOST: Final = re.compile(rb"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?/*[^/?#\s]*\s+\S")
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
    data = _with_letters(data)
    return Batch(np.frombuffer(data, np.uint8), len(urls))


def unaddressed(batch: Batch) -> list[int]:
    """The places of texts whose host would contain a space: they are no URLs."""
    data = batch.buffer.tobytes()
    if b" " not in data and b"\t" not in data:
        return []
    return [at for at, line in enumerate(data.split(b"\n")) if _SPACE_IN_HOST.match(line)]


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


def _with_letters(data: bytes) -> bytes:
    """The same lines, with IDN labels as their letters; other lines stay as they are."""
    lower = data.lower()  # far cheaper than a search for either case
    pieces, done = [], 0
    while (place := lower.find(_ACE_PREFIX, done)) >= 0:
        start = data.rfind(b"\n", done, place) + 1 or done
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        line = plain(data[start:end].decode("utf-8", "surrogatepass")).replace("\n", " ")
        pieces += [data[done:start], line.encode("utf-8", "surrogatepass")]
        done = end
    return b"".join([*pieces, data[done:]]) if pieces else data


def _unicode_label(match: re.Match[str]) -> str:
    """The letters of an encoded label of an internationalised name, or the label itself."""
    try:
        return match[1].encode("ascii").decode("punycode")
    except UnicodeError:
        return match[0]
