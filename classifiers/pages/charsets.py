"""Legacy encodings: their labels, their codecs, and which of them some bytes are written in.

Detection is deterministic and needs no package: East Asian encodings are told by the share of
signs that are common in their language, single-byte encodings by how well the text under each
reading matches the n-gram profiles of the languages written in it.
"""

import re

from classifiers.pages import profiles

_CODECS: dict[str, str] = {
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "windows-874": "cp874",
    "big5": "big5hkscs",
    "ibm866": "cp866",
    "ibm855": "cp855",
    "x-mac-cyrillic": "mac_cyrillic",
    "macintosh": "mac_roman",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "iso-8859-8-i": "iso-8859-8",
}

_NAMES: dict[str, str] = {
    "utf-8": "utf8 unicode-1-1-utf-8 x-unicode20utf8 unicode11utf8",
    "utf-16le": "utf-16 utf16 ucs-2 unicode iso-10646-ucs-2 unicodefffe csunicode",
    "utf-16be": "unicodefeff",
    "windows-1252": (
        "latin1 l1 iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 ascii"
        " us-ascii ansi_x3.4-1968 cp1252 x-cp1252 cp819 ibm819 csisolatin1"
    ),
    "windows-1250": "cp1250 x-cp1250",
    "windows-1251": "cp1251 x-cp1251 win-1251 win1251",
    "windows-1253": "cp1253 x-cp1253",
    "windows-1254": (
        "cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 latin5 l5 csisolatin5"
    ),
    "windows-1255": "cp1255 x-cp1255",
    "windows-1256": "cp1256 x-cp1256",
    "windows-1257": "cp1257 x-cp1257",
    "windows-1258": "cp1258 x-cp1258",
    "windows-874": "tis-620 tis620 dos-874 iso-8859-11 iso8859-11 iso885911 cp874 x-windows-874",
    "iso-8859-2": "iso8859-2 iso88592 iso_8859-2 latin2 l2 csisolatin2",
    "iso-8859-3": "iso8859-3 iso88593 iso_8859-3 latin3 l3",
    "iso-8859-4": "iso8859-4 iso88594 iso_8859-4 latin4 l4",
    "iso-8859-5": "iso8859-5 iso88595 iso_8859-5 cyrillic csisolatincyrillic",
    "iso-8859-6": "iso8859-6 iso88596 iso_8859-6 arabic csisolatinarabic ecma-114 asmo-708",
    "iso-8859-7": "iso8859-7 iso88597 iso_8859-7 greek greek8 ecma-118 elot_928 csisolatingreek",
    "iso-8859-8": (
        "iso8859-8 iso88598 iso_8859-8 hebrew visual csisolatinhebrew iso-8859-8-i"
        " iso-8859-8-e logical"
    ),
    "iso-8859-10": "iso8859-10 latin6 l6",
    "iso-8859-13": "iso8859-13",
    "iso-8859-14": "iso8859-14",
    "iso-8859-15": "iso8859-15 iso885915 iso_8859-15 latin9 l9 latin-9",
    "iso-8859-16": "iso8859-16",
    "koi8-r": "koi8 koi koi8_r cskoi8r",
    "koi8-u": "koi8-ru",
    "ibm866": "cp866 866 csibm866",
    "ibm855": "cp855 855",
    "x-mac-cyrillic": "x-mac-ukrainian mac-cyrillic maccyrillic",
    "macintosh": "mac x-mac-roman macroman",
    "shift_jis": (
        "shift-jis sjis x-sjis ms_kanji csshiftjis windows-31j ms932 cp932 ms_kanji shiftjis"
    ),
    "euc-jp": "x-euc-jp eucjp x-euc cseucpkdfmtjapanese",
    "iso-2022-jp": "csiso2022jp jis",
    "iso-2022-kr": "csiso2022kr",
    "euc-kr": (
        "euckr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 cp949 uhc"
        " cseuckr ks_c_5601 iso-ir-149"
    ),
    "gb18030": (
        "gbk gb2312 gb_2312 gb_2312-80 x-gbk chinese cp936 ms936 windows-936 csgb2312 euc-cn"
        " iso-ir-58"
    ),
    "big5": "big5-hkscs cn-big5 x-x-big5 csbig5 cp950",
}

_LABELS = {label: name for name, labels in _NAMES.items() for label in (name, *labels.split())}

MULTIBYTE = frozenset(
    {"shift_jis", "euc-jp", "iso-2022-jp", "iso-2022-kr", "euc-kr", "gb18030", "big5"}
)

_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_PURE = re.compile(rb"[\x80-\xff]+")
_WORDS = re.compile(rb"[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff]*")
_TAGS = re.compile(
    rb"<(?:script|style)\b.*?(?:</(?:script|style)|\Z)|<[^>]*(?:>|\Z)", re.DOTALL | re.IGNORECASE
)
_CONTROLS = re.compile("[\x80-\x84\x86-\x9f]")

# Bytes that are read for detection, and words that are held against the profiles.
_SAMPLE_BYTES = 65_536
_SAMPLE_WORDS = 400
# Characters beyond ASCII below which nothing is said of East Asian encodings.
_FEWEST_SIGNS = 4

# How much better than the best so far a later reading must match. Measured on six sentences:
# 1.02 to 1.3 for the right one of two Latin readings, 4.8 and more for another script.
_MARGIN = 1.001
_SCRIPT_MARGIN = 1.5

# Signs that stand on nearly every page in Chinese; most differ from their Japanese use in
# frequency alone, so kana is looked for first.
_CHINESE = frozenset(
    "的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對"
)

# Readings in the order in which ties fall: bytes that mean the same in several encodings are
# those of the most common one.
_LATIN = "windows-1252 windows-1250 iso-8859-2 windows-1254 windows-1257 windows-1258 iso-8859-15"
_LATIN_READINGS = tuple((name, "Latn") for name in _LATIN.split())
_OTHER_READINGS: tuple[tuple[str, str], ...] = (
    ("windows-1251", "Cyrl"),
    ("koi8-u", "Cyrl"),
    ("iso-8859-5", "Cyrl"),
    ("ibm866", "Cyrl"),
    ("x-mac-cyrillic", "Cyrl"),
    ("ibm855", "Cyrl"),
    ("windows-1253", "Grek"),
    ("iso-8859-7", "Grek"),
    ("windows-1255", "Hebr"),
    ("windows-1256", "Arab"),
    ("iso-8859-6", "Arab"),
    ("windows-874", "Thai"),
)


def canonical_label(label: str) -> str | None:
    """The WHATWG name of an encoding label, `Latin1` -> `windows-1252`; None if unknown.

    Unlike the standard, ibm855 (which has pages, but no label there) is known too.
    """
    return _LABELS.get(label.strip().lower())


def codec(name: str) -> str:
    """The Python codec of a WHATWG name."""
    return _CODECS.get(name, name)


def count_controls(text: str) -> int:
    """How many C1 control characters a text holds; real text holds none."""
    return 0 if text.isascii() else len(_CONTROLS.findall(text))


def detect(body: bytes) -> str:
    """The WHATWG name of the encoding of bytes that are neither ASCII nor valid UTF-8.

    windows-1252 where nothing speaks for another one. About 2 ms, whatever the size.
    """
    sample = _TAGS.sub(b" ", body[:_SAMPLE_BYTES])
    if sample.isascii():
        beyond = _BEYOND_ASCII.search(body)
        start = beyond.start() if beyond else 0
        sample = body[max(0, start - 100) : start + _SAMPLE_BYTES]
    return _detect_multibyte(sample) or _detect_single_byte(sample)


def _detect_multibyte(sample: bytes) -> str | None:
    for name in ("utf-8", "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5"):
        # The larger cp949 reads Polish words as rare syllables.
        text = sample.decode("euc_kr" if name == "euc-kr" else codec(name), "replace")
        signs = [character for character in text if character > "\x7f"]
        if (
            len(signs) >= _FEWEST_SIGNS
            and text.count("\ufffd") * 50 <= len(signs)
            and _is_plausible(name, signs)
        ):
            return name
    return None


def _is_plausible(name: str, signs: list[str]) -> bool:
    """Whether the characters beyond ASCII are those that a page in the encoding has."""
    n = len(signs)
    if name == "utf-8":
        return n >= 20
    if name in {"shift_jis", "euc-jp"}:
        kana = sum(1 for c in signs if "\u3041" <= c <= "\u30fc")
        half = sum(1 for c in signs if "\uff61" <= c <= "\uff9f")
        return kana > 0.15 * n and half < 0.2 * n
    if name == "euc-kr":
        return sum(1 for c in signs if "\uac00" <= c <= "\ud7a3") > 0.8 * n
    han = sum(1 for c in signs if "\u4e00" <= c <= "\u9fff")
    common = sum(1 for c in signs if c in _CHINESE)
    return han > 0.6 * n and common > 0.04 * n


def _detect_single_byte(sample: bytes) -> str:
    """The reading whose words match the profiles of its languages best."""
    words = _WORDS.findall(sample)[:_SAMPLE_WORDS]
    whole = b" ".join(words)
    # No word mixes Latin letters with others, so "perch\xe9" speaks for Latin readings only.
    pure = b" ".join(word for word in words if len(word) > 1 and _PURE.fullmatch(word))
    latin = _best_reading(whole, _LATIN_READINGS)
    other = _best_reading(pure, _OTHER_READINGS)
    return other[0] if other[1] > latin[1] * _SCRIPT_MARGIN else latin[0]


def _best_reading(words: bytes, readings: tuple[tuple[str, str], ...]) -> tuple[str, float]:
    best, best_gain = readings[0][0], 0.0
    for name, script in readings:
        gain = _gain(words, name, script)
        if gain > best_gain * _MARGIN:
            best, best_gain = name, gain
    return best, best_gain


def _gain(words: bytes, name: str, script: str) -> float:
    gains, _ = profiles.group(script).gains(words.decode(codec(name), "replace"))
    return float(gains.max())
