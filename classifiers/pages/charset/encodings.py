"""Page encoding and decoded text; binary data.

Order of evidence: a byte order mark; valid UTF-8 with characters beyond ASCII; the HTTP charset,
else the last valid META charset, unless the bytes contradict the declaration; the bytes alone
(`detection.detect`).

A declaration of ISO-8859-1 is weak: many tools write ISO-8859-1 by default (Tamura 2007, 2.2).
Labels follow the WHATWG Encoding Standard: `latin1` is windows-1252, `gb2312` is gb18030,
`shift_jis` is the Windows superset. Declarations of UTF-7 and x-user-defined are never believed.
Unlike the standard, ibm855, Johab and ISO-2022-KR are decoded, since pages in these encodings
exist.

META is parsed in the first 16 kB, not only in the first 1,024 bytes. META in comments, scripts and
styles does not count, as in browsers.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from langfocus.classifiers.pages.charset import charsets, detection
from langfocus.classifiers.tables import rows

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)

# Bytes searched for META; heads with inline scripts are long.
_HEAD_BYTES = 16_384
# The pattern reads each part of an attribute value once, so matching a head is linear.
_META = re.compile(
    rb"<[mM][eE][tT][aA][\s/](?![^<>]*\b[nN][aA][mM][eE]\s*=)[^<>]*?\b[cC][hH][aA][rR][sS][eE][tT]\s*+=\s*+[\"']?\s*+([\w:.-]+)"
)
_NO_MARKUP = re.compile(
    rb"<!--(?:-?>|.*?(?:-->|\Z))|<(script|style)\b.*?(?:</\1|\Z)", re.DOTALL | re.IGNORECASE
)
_XML = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w:.-]+)")
_CONTENT_TYPE = re.compile(r"charset\s*+=\s*+[\"']?\s*+([\w:.-]+)", re.IGNORECASE)

# Share of invalid bytes tolerated in a declared encoding (a cut end, a pasted line); a larger share
# means a wrong declaration.
_DAMAGE = 0.02

# Characters absent from correctly decoded text: damage and C1 control characters.
_BAD = re.compile("[\x80-\x84\x86-\x9f\ufffd]")

# In another encoding, so many multi-byte sequences are not valid UTF-8 by chance.
_SURE_SEQUENCES = 10

DECLARING = frozenset({"http", "meta"})
"""Sources of a declared encoding; a detected encoding is no declaration."""

STRONG_LANGUAGES = rows("strong-encodings.txt")
"""Encodings used for a single language (Cai 2009; Tamura 2007, 2.2)."""

WEAK_LANGUAGES: dict[str, str] = {"windows-1254": "tr", "koi8-u": "uk"}
"""Encodings mostly used for a single language, but also, by mistake, for others."""

SNIFFED: Final = 1444
"""Bytes inspected per file."""

MOST_CONTROL: Final = 0.03
"""Share of control bytes above which unsigned data are binary; random bytes have 0.1."""

# Signatures from the WHATWG MIME Sniffing Standard (6.1 to 6.3), and of formats often saved beside
# pages.
_SIGNED: Final = re.compile("|".join(rows("signatures.txt").values()).encode(), re.DOTALL)
# Binary data bytes by the MIME Sniffing Standard, 3, without the shifts of ISO-2022-KR.
_CONTROL: Final = bytes({*range(9), 0x0B, *range(0x10, 0x1B), *range(0x1C, 0x20)})
_BEFORE_PDF: Final = b"\0\xef\xbb\xbf \t\r\n"
_NO_TEXT: Final = dict.fromkeys([*_CONTROL, 0xFFFD])


@dataclass(frozen=True, slots=True)
class Decoded:
    """Decoded page text, in UTF-8 for parsers."""

    utf8: bytes
    charset: str
    """WHATWG name of the page's encoding."""
    source: str
    """Evidence for `charset`: `bom`, `utf-8` (valid bytes), `http`, `meta`, `detected`, `ascii`."""
    declared: str | None = None
    """WHATWG name in the last valid META, else in the XML declaration, whether believed or not.

    None without a declaration, and after a byte order mark.
    """

    @property
    def text(self) -> str:
        """Return the text as a string."""
        return self.utf8.decode("utf-8")


_Claim = tuple[str, str]
"""A declared encoding, by WHATWG name, and the source of the declaration."""


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Decode a page from any bytes; damaged sequences become U+FFFD. Never raises.

    UTF-8 costs 0.5 ms per MB. Other encodings cost 2 to 75 ms per MB, plus 1 ms for detection. The
    caller cuts long pages (`parse.MAX_BYTES`).
    """
    for mark, charset in BOMS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], charset, "bom")
    inside = _claims_inside(body)
    header = _CONTENT_TYPE.search(content_type or "")
    outside = charsets.canonical_label(header[1]) if header else None
    claims = [*([(outside, "http")] if outside else []), *inside]
    # The bytes reveal UTF-16; a header alone is no evidence.
    decoded = _decode(body, [claim for claim in claims if not claim[0].startswith("utf-16")])
    return replace(decoded, declared=inside[0][0]) if inside else decoded


def _claims_inside(body: bytes) -> list[_Claim]:
    """Return the encodings that the page declares, the last first."""
    head = body[:_HEAD_BYTES]
    end = max((meta.end() for meta in _metas(head)), default=0)
    labels = [meta[1] for meta in _metas(_NO_MARKUP.sub(b" ", head[:end]))]
    written = [label.decode("ascii", "replace") for label in (*_XML.findall(head), *labels)]
    names = map(charsets.canonical_label, reversed(written))
    return [(name, "meta") for name in names if name]


def _metas(head: bytes) -> Iterator[re.Match[bytes]]:
    """Yield each META element with a charset, in time linear in the head."""
    lower = head.lower()
    end = 0
    place = lower.find(b"charset")
    while place >= 0:
        start = lower.rfind(b"<meta", end, place)
        end = place + 1
        meta = _META.match(head, start) if start >= 0 else None
        if meta:
            end = meta.end()
            yield meta
        place = lower.find(b"charset", end)


def _decode(body: bytes, claims: list[_Claim]) -> Decoded:
    if body.isascii():
        return _decode_ascii(body, claims)
    unicode = _wide(body) or _as_utf8(body, claims)
    if unicode:
        return unicode
    sample = detection.sample(body)
    for charset, source in claims:  # windows-1252 is left to detection
        if charset != "windows-1252" and _fits(sample, charset):
            return _decoded(body, charset, source)
    charset = detection.detect(sample, claims[0][0] if claims else None)
    return _decoded(body, charset, dict(reversed(claims)).get(charset, "detected"))


def _decode_ascii(body: bytes, claims: list[_Claim]) -> Decoded:
    """Decode seven-bit bytes: ASCII, or an encoding whose bytes happen to be seven-bit."""
    if b"\x1b$" in body:
        charset = "iso-2022-kr" if b"\x1b$)C" in body else "iso-2022-jp"
        source = dict(reversed(claims)).get(charset, "detected")
        return _decoded(body, charset, source)
    wide = _wide(body)
    if wide:
        return wide
    if claims and not claims[0][0].startswith("iso-2022"):
        return Decoded(body, *claims[0])
    return Decoded(body, "utf-8", "ascii")


def _wide(body: bytes) -> Decoded | None:
    charset = wide_charset(body)
    return _decoded(body, charset, "detected") if charset else None


def wide_charset(body: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark, by the zero bytes of ASCII; None for other bytes."""
    head = body[:1024]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) < max(4, len(head) // 50) or min(even, odd) > max(even, odd) // 10:
        return None
    return "utf-16le" if odd > even else "utf-16be"


def _as_utf8(body: bytes, claims: list[_Claim]) -> Decoded | None:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    name, source = claims[0] if claims else ("utf-8", "utf-8")
    # Each character beyond ASCII adds one byte or more to the length.
    if name in charsets.MULTIBYTE and len(body) - len(text) < _SURE_SEQUENCES:
        return None
    return Decoded(body, "utf-8", source if name == "utf-8" else "utf-8")


def _fits(sample: bytes, charset: str) -> bool:
    """Return True if hardly any character is damaged or a C1 control character."""
    text = sample.decode(charsets.codec(charset), "replace")
    bad = 0 if text.isascii() else len(_BAD.findall(text))
    if not bad:
        return True
    beyond = len(sample) - len(sample.decode("ascii", "ignore"))
    return bad <= max(1, _DAMAGE * beyond) or (
        charset == "utf-8" and detection.is_mostly_utf8(sample)
    )


def _decoded(body: bytes, charset: str, source: str) -> Decoded:
    text = body.decode(charsets.codec(charset), "replace")
    return Decoded(text.encode("utf-8", "replace"), charset, source)


def is_binary(data: bytes) -> bool:
    """Return True for data that are not text in any encoding.

    About 5 µs. UTF-16 is text, with a byte order mark or without.
    """
    start = data[:SNIFFED]
    if not start.startswith(b"<") and _SIGNED.match(start):
        return True
    controls = len(start) - len(start.translate(None, _CONTROL))
    return controls > MOST_CONTROL * len(start) and not _is_wide_text(start)


def is_document(data: bytes) -> bool:
    """Return True if the first bytes are those of a PDF or a zip file, such as docx."""
    return data.startswith(b"PK\x03\x04") or data[:1_024].lstrip(_BEFORE_PDF).startswith(b"%PDF-")


def _is_wide_text(start: bytes) -> bool:
    """Return True for UTF-16 with hardly any control character."""
    charset = next((name for mark, name in BOMS if start.startswith(mark)), wide_charset(start))
    if charset is None:
        return False
    text = start.decode(charsets.codec(charset), "replace")
    kept = text.translate(_NO_TEXT)
    return len(text) - len(kept) <= MOST_CONTROL * len(text)
