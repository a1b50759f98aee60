"""Legacy encoding detection for bytes without a trustworthy declaration.

Detection is deterministic and needs no package. A multi-byte encoding is recognised by byte
structure and by the share of common signs in the encoding's language. Single-byte encodings are
ranked by letter probability, given the neighbours (`letters`).
"""

import re

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers.pages.charset.charsets import codec
from langfocus.classifiers.pages.charset.letters import letter_model

Signs = NDArray[np.uint32]

_LIMIT_BYTES = 10_000_000
"""Bytes of a body searched for bytes beyond ASCII."""

# Longer bodies are sampled in stretches, spread evenly over the bytes beyond ASCII.
_WHOLE_BYTES = 65_536
_STRETCHES, _STRETCH_BYTES, _RARE_BYTES = 12, 4_096, 60
_FEWEST_VISIBLE = 8

_TAGS = re.compile(
    rb"<(?:script|style)\b.*?(?:</(?:script|style)|\Z)|<!--.*?(?:-->|\Z)|<[^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_EDGES = re.compile(rb"[\s<>]")
_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]|[\xc0\xc1][\x80-\xbf]")

# Least number of characters beyond ASCII for an East Asian encoding.
_FEWEST_SIGNS = 3
_DAMAGE, _INSIDE = 0.1, 0.25
# Most nats per byte beyond ASCII for a single-byte reading. Measured on sentences: 7 to 11 for the
# right reading, 20 to 24 for the best single-byte reading of Chinese.
_EXPLAINED = 14.0

# Least share of half-width kana in half-width text, and of voicing marks.
_HALF_WIDTH, _MARKED = 0.2, 0.03
# Likeness of half-width text, below most texts in Chinese and Korean.
_UNSURE = 0.12

# Nats in favour of a declared encoding: tools write ISO-8859-1 by default.
_DECLARED, _DECLARED_LATIN = 12.0, 2.0

# Signs on nearly every page in Chinese, simplified and traditional.
_CHINESE = (
    "的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對"
    "生能而子那得于於着下自之年过過发發后後作里裡用道行所然家种事成方多经經么麼去法学學如都同现現"
    "当當没沒动動面起看定天分还還进進好小部其些主样樣理心本前开開但因只从從想实實日新文中網网"
)
# Kanji in menus, addresses and tables, possibly without kana.
_KANJI = (
    "日本年大会人国月中一社出上学東分京市業行地新事金生時発高見部場電合方前定長理間動関入名通内"
    "公所田県用取実機体物気小設性代来現品案報情問対協経保料書"
)
_KOREAN = "이다는에의을하고가로지한은기도를사리인어자으나시그해대서라과일니스있정보수게"


def detect(text: bytes, declared: str | None = None) -> str:
    """Detect the encoding of a `sample` that is neither ASCII nor valid UTF-8; WHATWG name.

    Returns windows-1252 without evidence for another encoding. Unlike the standard, `johab` can be
    detected. `declared` is preferred if several encodings fit. Costs 1 to 5 ms, the first call 0.3
    s.
    """
    if is_mostly_utf8(text):
        return "utf-8"
    costs, n_bytes = letter_model().costs(text)
    if costs.min() > _EXPLAINED * n_bytes:
        name = _multibyte(text)
        if name:
            return name
    return _single_byte(text, costs, declared)


def sample(body: bytes) -> bytes:
    """Return at most 64 kB of visible bytes; with markup if hardly any are beyond ASCII.

    A longer body is sampled in stretches between spaces, so that no character is cut. The stretches
    are spread evenly over the bytes beyond ASCII in the first 10 MB.
    """
    if len(body) > _WHOLE_BYTES:
        body = _stretches(body)
    visible = _TAGS.sub(b" ", body)
    return visible if _count_high(visible) >= _FEWEST_VISIBLE else body


def _count_high(text: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) >= 128))


def is_mostly_utf8(text: bytes) -> bool:
    """Return True if text that is not valid UTF-8 is damaged UTF-8.

    Valid sequences hardly occur in other encodings, so a majority of valid sequences is enough.
    Surrogates (CESU-8) and overlong forms occur in damaged UTF-8 only.
    """
    units = np.frombuffer(text, dtype=np.uint8)
    is_first = (units[:-1] >= 0xC0) & (units[1:] >= 0x80) & (units[1:] < 0xC0)
    # A sequence has four bytes at most, so too few first bytes exclude UTF-8.
    if 5 * np.count_nonzero(is_first) <= _count_high(text):
        return False
    text = _SURROGATE.sub(b"", text)
    sequences = _SEQUENCE.findall(text)
    damaged = _count_high(text) - sum(map(len, sequences))
    return len(sequences) > 2 * damaged or (len(sequences) > damaged and len(sequences) >= 20)


def _stretches(body: bytes) -> bytes:
    body = body[:_LIMIT_BYTES]
    at = np.flatnonzero(np.frombuffer(body, dtype=np.uint8) >= 128)
    if not len(at):
        return b""
    chosen = at[np.linspace(0, len(at) - 1, _STRETCHES).astype(np.int64)].tolist()
    # Nearly identical encodings differ in rare bytes.
    rare = at[np.unique(np.frombuffer(body, dtype=np.uint8)[at], return_index=True)[1]].tolist()
    lengths = dict.fromkeys(rare, _RARE_BYTES) | dict.fromkeys(chosen, _STRETCH_BYTES)
    pieces, end = [], 0
    for place in sorted(lengths):
        start = max(end, place - _RARE_BYTES)
        end = max(end, place + lengths[place])
        piece = body[start:end]  # cut between words
        edge = _EDGES.search(piece, 0, _RARE_BYTES) if start else None
        first = edge.start() if edge else 0
        last = max(piece.rfind(b" "), piece.rfind(b"<"), piece.rfind(b"\n"))
        pieces.append(piece[first : last if last > first else len(piece)])
    return b" ".join(pieces)


def _multibyte(text: bytes) -> str | None:
    """Return the encoding with most common signs in its language; Japanese by kana."""
    best, best_share = None, 0.0
    for name, likeness in _MULTIBYTE.items():
        points = _points(text.decode(codec(name), "replace"))
        signs = points[points > 127]
        damage = int((signs == 0xFFFD).sum())
        if len(signs) < _FEWEST_SIGNS or damage > min(0.25 * len(signs), 1 + _DAMAGE * len(signs)):
            continue
        # Inside a Western word a byte beyond ASCII follows a letter.
        lower = points[:-1] | 32
        inside = int(((lower >= 97) & (lower <= 122) & (points[1:] > 127)).sum())
        share = likeness(signs) if inside < _INSIDE * len(signs) else 0
        if share > best_share:
            best, best_share = name, share
    return best


def _points(text: str) -> Signs:
    return np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)


def _share(signs: Signs, first: int, last: int) -> float:
    return float(((signs >= first) & (signs <= last)).mean())


def _japanese(signs: Signs) -> float:
    kana, half = _share(signs, 0x3041, 0x30FC), _share(signs, 0xFF61, 0xFF9F)
    # Most bytes of any other encoding are valid half-width kana.
    if half >= _HALF_WIDTH:
        return _UNSURE if _are_marked(signs) else 0
    return 1 + kana if kana > 0.15 else 0.7 * _common(signs, _KANJI, 0x4E00, 0x9FFF)


def _are_marked(signs: Signs) -> bool:
    """Return True if half-width kana have voicing marks, which are separate signs.

    At least nine in ten marks must follow kana that can be voiced.
    """
    voiced = (signs[:-1] == 0xFF73) | ((signs[:-1] >= 0xFF76) & (signs[:-1] <= 0xFF84))
    voiced |= (signs[:-1] >= 0xFF8A) & (signs[:-1] <= 0xFF8E)
    is_mark = (signs[1:] == 0xFF9E) | (signs[1:] == 0xFF9F)
    n_marks = int(is_mark.sum())
    return n_marks > _MARKED * len(signs) and int((is_mark & voiced).sum()) > 0.9 * n_marks


def _common(signs: Signs, common: str, first: int, last: int) -> float:
    """Return the share of common signs.

    0 for text in other signs, and for 30 signs or more with hardly a common one.
    """
    share = float(np.isin(signs, _points(common)).mean())
    is_likely = len(signs) < 30 or share > 0.03
    return share + 1e-3 if is_likely and _share(signs, first, last) > 0.55 else 0


def _korean(signs: Signs) -> float:
    common = float(np.isin(signs, _points(_KOREAN)).mean())
    return common if _share(signs, 0xAC00, 0xD7A3) > 0.5 and common > 0.05 else 0


def _chinese(signs: Signs) -> float:
    return _common(signs, _CHINESE, 0x4E00, 0x9FFF)


_MULTIBYTE = {
    "shift_jis": _japanese,
    "euc-jp": _japanese,
    "euc-kr": _korean,
    "gb18030": _chinese,
    "big5": _chinese,
    "johab": _korean,
}


def _single_byte(text: bytes, costs: NDArray[np.float64], declared: str | None) -> str:
    model = letter_model()
    for place, (name, _) in enumerate(model.readings):
        if name == declared:
            costs[place] -= _DECLARED_LATIN if name == "windows-1252" else _DECLARED
    best = model.readings[int(costs.argmin())][0]
    # If encodings decode to the same text, the declared encoding wins, else windows-1252.
    for name in filter(None, (declared, "windows-1252")):
        if text.decode(codec(name), "replace") == text.decode(codec(best), "replace"):
            return name
    return best
