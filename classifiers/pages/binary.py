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

_SIGNATURES: Final[tuple[tuple[str, str], ...]] = (
    ("a PNG image", r"\x89PNG\r\n\x1a\n"),
    ("a JPEG image", r"\xff\xd8\xff"),
    ("a GIF image", r"GIF8[79]a"),
    ("a WebP image", r"RIFF[\s\S]{4}WEBP"),
    ("a BMP image", r"BM[\s\S]{4}\x00{4}[\s\S]{4}[\x0c\x28\x38\x40\x6c\x7c]\x00{3}"),
    ("a TIFF image", r"II\*\x00|MM\x00\*"),
    ("an icon", r"\x00\x00[\x01\x02]\x00[\x01-\xff]\x00"),
    ("a PDF file", r"%PDF-"),
    ("a PostScript file", r"%!PS-Adobe-"),
    ("a WAVE file", r"RIFF[\s\S]{4}WAVE"),
    ("an AVI film", r"RIFF[\s\S]{4}AVI "),
    ("an AIFF file", r"FORM[\s\S]{4}AIFF"),
    ("an MP3 file", r"ID3[\x02-\x04]|\xff[\xfb\xf3\xf2][\x10-\xef]"),
    ("an Ogg file", r"OggS\x00"),
    ("a FLAC file", r"fLaC\x00"),
    ("a MIDI file", r"MThd\x00\x00\x00\x06"),
    ("an MP4, AVIF or HEIC file", r"\x00\x00[\s\S]{2}ftyp"),
    ("a Matroska or WebM film", r"\x1a\x45\xdf\xa3"),
    ("a Flash file", r"[CFZ]WS[\x01-\x2f]"),
    ("a font", r"wOFF|wOF2|\x00\x01\x00\x00\x00|OTTO\x00|ttcf\x00"),
    ("gzip data", r"\x1f\x8b"),
    ("a ZIP file", r"PK(?:\x03\x04|\x05\x06|\x07\x08)"),
    ("a RAR file", r"Rar!\x1a\x07"),
    ("a 7z file", r"7z\xbc\xaf\x27\x1c"),
    ("bzip2 data", r"BZh[1-9](?:\x31\x41\x59\x26\x53\x59|\x17\x72\x45\x38\x50\x90)"),
    ("xz data", r"\xfd7zXZ\x00"),
    ("Zstandard data", r"[\x22-\x28]\xb5\x2f\xfd"),
    ("LZ4 data", r"\x04\x22\x4d\x18"),
    ("an ELF program", r"\x7fELF"),
    ("a Windows program", r"MZ[\s\S]{58,510}PE\x00\x00"),
    ("a Mach-O program", r"[\xce\xcf]\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf]"),
    ("a Java class or a Mach-O program", r"\xca\xfe\xba\xbe"),
    ("a WebAssembly program", r"\x00asm"),
    ("a Microsoft Office file", r"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ("an SQLite database", r"SQLite format 3\x00"),
    ("a NumPy array", r"\x93NUMPY"),
    ("a tar archive", r"[\s\S]{257}ustar[\x00 ]"),
)
_SIGNED: Final = re.compile(
    "|".join(f"({pattern})" for _, pattern in _SIGNATURES).encode("latin-1")
)
# The binary data bytes of the MIME Sniffing Standard, 3, without the shifts of ISO-2022-KR.
_CONTROL: Final = bytes({*range(9), 0x0B, *range(0x10, 0x1B), *range(0x1C, 0x20)})
_NO_TEXT: Final = dict.fromkeys([*_CONTROL, 0xFFFD])


def binary_kind(data: bytes) -> str | None:
    """Return a few words for data that are no text (`a PNG image`), None for text of any encoding.

    About 5 µs. UTF-16 and UTF-32 are text, with a byte order mark or without.
    """
    start = data[:SNIFFED]
    signed = None if start.startswith(b"<") else _SIGNED.match(start)
    if signed is not None:
        return _SIGNATURES[(signed.lastindex or 1) - 1][0]
    controls = len(start) - len(start.translate(None, _CONTROL))
    if controls <= MOST_CONTROL * len(start) or _is_wide_text(start):
        return None
    return "binary data"


def _is_wide_text(start: bytes) -> bool:
    """Return True for UTF-16 or UTF-32 in which hardly any character is a control character."""
    charset = next((name for mark, name in BOMS if start.startswith(mark)), wide_charset(start))
    if charset is None:
        return False
    text = start.decode(codec(charset), "replace")
    kept = text.translate(_NO_TEXT)
    return len(text) - len(kept) <= MOST_CONTROL * len(text)
