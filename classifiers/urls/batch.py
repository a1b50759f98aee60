"""URL batches encoded as an array of code points, for functions of `classifiers.compiled`.

Letters are decoded and lower-cased, in internationalised names and in percent-encoded UTF-8. A byte
outside any letter is the code point 0xDC00 + byte.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

MAX_CHARACTERS: Final = 2048
"""Characters read per URL, and bytes of its UTF-8; the rest has little evidence.
"""
ENCODED: Final = 0x10FF00
"""Offset of a percent-encoded sign, which separates words but not URL parts."""

_SPACE_IN_HOST: Final = re.compile(
    r"\s++\S|(?:[A-Za-z][A-Za-z0-9+.-]*+:)?+/*+[^/?#\s]*+\s++\S", re.ASCII
)
_ACE_LABEL: Final = re.compile(r"xn--([a-z0-9-]{1,59})", re.IGNORECASE)
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_DECODED: Final = [
    bytes([byte]) if byte >= 0x80 or chr(byte).isalpha() else chr(ENCODED + byte).encode()
    for byte in range(256)
]


def _lower_case() -> dict[int, int]:
    """Return the lower case of letters in alphabets frequent in URLs."""
    far = (*range(0x41, 0x5B), *range(0xC0, 0xDF), *range(0x391, 0x3AA), *range(0x410, 0x430))
    even, odd = (
        (*range(0x100, 0x138), *range(0x14A, 0x178)),
        (*range(0x139, 0x149), *range(0x179, 0x17F)),
    )
    return {
        **{point: point + 32 for point in far if point != 0xD7},
        **{point: point + 80 for point in range(0x400, 0x410)},
        **{point: point | 1 for point in even},
        **{point: point + (point & 1) for point in odd},
    }


_LOWER: Final = _lower_case()


def encode(urls: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Return the code points of URLs, a line per URL, without a final line end.

    Any text is a URL.
    """
    if isinstance(urls, str):
        raise TypeError("expected a sequence of URLs, not one string")
    data = "\n".join(map(_read, urls)).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, np.uint32)


def unaddressed(urls: Sequence[str]) -> list[int]:
    """Return the indices of texts with a space in the host: not URLs."""
    odd = ((at, url) for at, url in enumerate(urls) if " " in url or not url.isprintable())
    return [at for at, url in odd if _SPACE_IN_HOST.match(url)]


def plain(url: str) -> str:
    """Return the URL's first characters, with decoded IDN labels and composed letters."""
    text = _ACE_LABEL.sub(_unicode_label, url[:MAX_CHARACTERS])
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _read(url: str) -> str:
    """Decode a URL to letters in a single line."""
    text = url[:MAX_CHARACTERS].replace("\n", " ")
    if text.isascii():
        lower = text.lower()
        if "%" not in lower and "xn--" not in lower:  # most URLs: the rest takes ten times as long
            return lower
    data = plain(text).replace("\n", " ").encode("utf-8", "surrogatepass")[:MAX_CHARACTERS]
    data = _ESCAPE.sub(lambda escape: _DECODED[int(escape[1], 16)], data)
    return data.decode("utf-8", "surrogateescape").translate(_LOWER)


def _unicode_label(match: re.Match[str]) -> str:
    """Decode a label of an internationalised name; return an invalid label unchanged."""
    try:
        return match[1].encode("ascii").decode("punycode")
    except UnicodeError:
        return match[0]
