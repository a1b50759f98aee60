"""URLs as one array of code points, which functions of `classifiers.compiled` read.

Letters are decoded and in lower case: those of internationalised names, and those of
percent-encoded UTF-8. A byte that is no part of a letter is the code point 0xDC00 + byte.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

MAX_CHARACTERS: Final = 2048
"""Characters of a URL, and bytes of its UTF-8, that are read; the rest says little."""
ENCODED: Final = 0x10FF00
"""Added to a percent-encoded sign: it parts words, but no parts of a URL."""

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
    """The lower case of the letters that the alphabets of many URLs have."""
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
    """The code points of URLs, one per line; the last line has no line end. Any text is a URL."""
    if isinstance(urls, str):
        raise TypeError("expected a sequence of URLs, not one string")
    data = "\n".join(map(_read, urls)).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, np.uint32)


def unaddressed(urls: Sequence[str]) -> list[int]:
    """The places of texts whose host would contain a space: they are no URLs."""
    odd = ((at, url) for at, url in enumerate(urls) if " " in url or not url.isprintable())
    return [at for at, url in odd if _SPACE_IN_HOST.match(url)]


def plain(url: str) -> str:
    """The first characters of a URL, its IDN labels decoded and its letters composed."""
    text = _ACE_LABEL.sub(_unicode_label, url[:MAX_CHARACTERS])
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _read(url: str) -> str:
    """The letters of a URL, in one line."""
    text = url[:MAX_CHARACTERS].replace("\n", " ")
    if text.isascii():
        lower = text.lower()
        if "%" not in lower and "xn--" not in lower:  # most URLs: the rest takes ten times as long
            return lower
    data = plain(text).replace("\n", " ").encode("utf-8", "surrogatepass")[:MAX_CHARACTERS]
    data = _ESCAPE.sub(lambda found: _DECODED[int(found[1], 16)], data)
    return data.decode("utf-8", "surrogateescape").translate(_LOWER)


def _unicode_label(match: re.Match[str]) -> str:
    """The letters of an encoded label of an internationalised name, or the label itself."""
    try:
        return match[1].encode("ascii").decode("punycode")
    except UnicodeError:
        return match[0]
