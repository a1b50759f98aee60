"""Which character encoding a page is written in, and its text.

Order of evidence: a byte order mark, then valid UTF-8 with characters beyond ASCII, then the
charset of HTTP or else the last valid one of META, unless the bytes contradict it, then the
bytes themselves (`charsets.detect`).

A declaration of ISO-8859-1 is weak: many tools write it without being asked (Tamura 2007, 2.2).
Labels mean what the WHATWG Encoding Standard says they mean: `latin1` is windows-1252, `gb2312`
is gb18030, `shift_jis` is its Windows superset.
"""

import codecs
import re
from dataclasses import dataclass

from classifiers.pages import charsets, detection

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)

# As much of a page as is searched for META; heads with inline scripts are long.
_HEAD_BYTES = 16_384
_META = re.compile(
    rb"<[mM][eE][tT][aA]\s[^<>]*?[cC][hH][aA][rR][sS][eE][tT]\s*=\s*[\"']?\s*([\w:.-]+)"
)
_XML = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w:.-]+)")
_CONTENT_TYPE = re.compile(r"charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)

# A page in a declared encoding may hold this share of bytes that are none of it (a cut end, a
# pasted line); more means that the declaration is wrong.
_DAMAGE = 0.02

# So many multi-byte sequences do not form valid UTF-8 by chance in another encoding.
_SURE_SEQUENCES = 10

STRONG_LANGUAGES: dict[str, str] = {
    "windows-874": "th",
    "shift_jis": "ja",
    "euc-jp": "ja",
    "iso-2022-jp": "ja",
    "euc-kr": "ko",
    "iso-2022-kr": "ko",
    "gb18030": "zh",
    "big5": "zh",
    "windows-1253": "el",
    "iso-8859-7": "el",
    "windows-1255": "he",
    "iso-8859-8": "he",
    "windows-1258": "vi",
}
"""Encodings that are used for one language only (Cai 2009; Tamura 2007, 2.2)."""

WEAK_LANGUAGES: dict[str, str] = {"windows-1254": "tr", "koi8-u": "uk"}
"""Encodings that are mostly used for one language, and by mistake for others."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a page, kept in UTF-8 as parsers want it.

    `charset` is the WHATWG name of the encoding that the page was in, `source` where it came
    from: `bom`, `utf-8` (the bytes are valid), `http`, `meta`, `detected` or `ascii`.
    """

    utf8: bytes
    charset: str
    source: str

    @property
    def text(self) -> str:
        """The text as a string."""
        return self.utf8.decode("utf-8")


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """The text of a page of any bytes; damaged sequences become U+FFFD, nothing raises."""
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], charset, "bom")
    declared = _declared(body, content_type)
    if body.isascii():
        return _decode_ascii(body, declared)
    return _as_utf8(body, declared) or _as_declared(body, declared) or _as_detected(body, declared)


def charset_of(content_type: str | None) -> str | None:
    """The charset of a Content-Type header by its WHATWG name; None if missing or unknown."""
    found = _CONTENT_TYPE.search(content_type or "")
    return charsets.canonical_label(found[1]) if found else None


def _declared(body: bytes, content_type: str | None) -> list[tuple[str, str]]:
    """Declarations as (WHATWG name, source), the one to believe first."""
    head = body[:_HEAD_BYTES]
    labels = [*_XML.findall(head), *_META.findall(head)][::-1]
    known = [charsets.canonical_label(label.decode("ascii", "replace")) for label in labels]
    found = [(charset_of(content_type), "http"), *((name, "meta") for name in known)]
    # UTF-16 shows in the bytes; a page that is not in it is not made so by its header.
    return [(name, source) for name, source in found if name and not name.startswith("utf-16")]


def _decode_ascii(body: bytes, declared: list[tuple[str, str]]) -> Decoded:
    """Seven-bit bytes: ASCII, or a seven-bit or two-byte encoding in disguise."""
    if b"\x1b$" in body:
        charset = "iso-2022-kr" if b"\x1b$)C" in body else "iso-2022-jp"
        source = next((where for name, where in declared if name == charset), "detected")
        return _decoded(body, charset, source)
    wide = _wide(body)
    if wide:
        return wide
    charset, source = declared[0] if declared else ("utf-8", "ascii")
    if charset.startswith("iso-2022"):
        charset, source = "utf-8", "ascii"
    return Decoded(body, charset, source)


def _wide(body: bytes) -> Decoded | None:
    """UTF-16 without a mark, recognised by the zero bytes of its ASCII."""
    head = body[:1024]
    zeros = head[0::2].count(0), head[1::2].count(0)
    if max(zeros) < max(4, len(head) // 50) or min(zeros) > max(zeros) // 10:
        return None
    return _decoded(body, "utf-16le" if zeros[1] > zeros[0] else "utf-16be", "detected")


def _as_utf8(body: bytes, declared: list[tuple[str, str]]) -> Decoded | None:
    wide = _wide(body)
    if wide:
        return wide
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    name, source = declared[0] if declared else ("utf-8", "utf-8")
    # Each character beyond ASCII adds one byte or more to the length.
    if name in charsets.MULTIBYTE and len(body) - len(text) < _SURE_SEQUENCES:
        return None
    return Decoded(body, "utf-8", source if name == "utf-8" else "utf-8")


def _as_declared(body: bytes, declared: list[tuple[str, str]]) -> Decoded | None:
    """The first declared encoding that the bytes fit; windows-1252 is left to detection."""
    for charset, source in declared:
        if charset == "windows-1252":
            continue
        decoded = _decoded(body, charset, source)
        if _fits(decoded.text, body):
            return decoded
    return None


def _fits(text: str, body: bytes) -> bool:
    """Whether hardly any character is damaged or a control character of a wrong encoding."""
    bad = text.count("\ufffd") + charsets.count_controls(text)
    if not bad:
        return True
    beyond = len(body) - len(body.decode("ascii", "ignore"))
    return bad <= max(1, _DAMAGE * beyond)


def _as_detected(body: bytes, declared: list[tuple[str, str]]) -> Decoded:
    charset = detection.detect(body, declared[0][0] if declared else None)
    source = next((where for name, where in declared if name == charset), "detected")
    return _decoded(body, charset, source)


def _decoded(body: bytes, charset: str, source: str) -> Decoded:
    text = body.decode(charsets.codec(charset), "replace")
    return Decoded(text.encode("utf-8", "replace"), charset, source)
