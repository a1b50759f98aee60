"""Recognises data that are no page: images, sound, archives, programs, and other binary files.

The signatures are those of the WHATWG's MIME Sniffing Standard (6.1 to 6.3) and of the formats that
are often saved beside pages. Without a signature, the share of bytes decides that no text has.
"""

import re
from typing import Final

from classifiers.pages.charset.charsets import codec
from classifiers.pages.charset.encodings import BOMS, wide_charset

SNIFFED: Final = 1444
"""Bytes of a file that are looked at."""

MOST_CONTROL: Final = 0.03
"""Share of control bytes from which data without a signature are binary; random bytes have 0.1."""

_SIGNED: Final = re.compile(
    rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|BM.{4}\x00{4}|II\*\x00|MM\x00\*"  # images
    rb"|\x00\x00[\x01\x02]\x00[\x01-\xff]\x00"  # icons
    rb"|RIFF.{4}(?:WEBP|WAVE|AVI )|FORM.{4}AIFF|ID3[\x02-\x04]|\xff[\xfb\xf3\xf2][\x10-\xef]"
    rb"|OggS\x00|fLaC\x00|MThd\x00|\x00\x00..ftyp|\x1a\x45\xdf\xa3|[CFZ]WS[\x01-\x2f]"  # sound
    rb"|%PDF-|%!PS-Adobe-|\xd0\xcf\x11\xe0|SQLite format 3\x00|\x93NUMPY"  # documents, data
    rb"|wOFF|wOF2|\x00\x01\x00\x00\x00|OTTO\x00|ttcf\x00"  # fonts
    rb"|\x1f\x8b|PK(?:\x03\x04|\x05\x06|\x07\x08)|Rar!\x1a\x07|7z\xbc\xaf|BZh[1-9][1\x17]"
    rb"|\xfd7zXZ\x00|[\x22-\x28]\xb5\x2f\xfd|\x04\x22\x4d\x18|.{257}ustar[\x00 ]"  # archives
    rb"|\x7fELF|MZ.{58,510}PE\x00\x00|[\xce\xcf]\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf]"
    rb"|\xca\xfe\xba\xbe|\x00asm",  # programs
    re.DOTALL,
)
# The binary data bytes of the MIME Sniffing Standard, 3, without the shifts of ISO-2022-KR.
_CONTROL: Final = bytes({*range(9), 0x0B, *range(0x10, 0x1B), *range(0x1C, 0x20)})
_NO_TEXT: Final = dict.fromkeys([*_CONTROL, 0xFFFD])


def is_binary(data: bytes) -> bool:
    """Return True for data that are no text of any encoding.

    About 5 µs. UTF-16 is text, with a byte order mark or without.
    """
    start = data[:SNIFFED]
    if not start.startswith(b"<") and _SIGNED.match(start):
        return True
    controls = len(start) - len(start.translate(None, _CONTROL))
    return controls > MOST_CONTROL * len(start) and not _is_wide_text(start)


def _is_wide_text(start: bytes) -> bool:
    """Return True for UTF-16 in which hardly any character is a control character."""
    charset = next((name for mark, name in BOMS if start.startswith(mark)), wide_charset(start))
    if charset is None:
        return False
    text = start.decode(codec(charset), "replace")
    kept = text.translate(_NO_TEXT)
    return len(text) - len(kept) <= MOST_CONTROL * len(text)
