"""Labels and codecs of legacy encodings."""

import re

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
    "utf-32le": "utf-32-le",
    "utf-32be": "utf-32-be",
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
    "johab": "cp1361 ms1361 ksc5601_1992",
    "big5": "big5-hkscs cn-big5 x-x-big5 csbig5 cp950",
}

_LABELS = {label: name for name, labels in _NAMES.items() for label in (name, *labels.split())}

MULTIBYTE = frozenset(
    {"shift_jis", "euc-jp", "iso-2022-jp", "iso-2022-kr", "euc-kr", "johab", "gb18030", "big5"}
)

_CONTROLS = re.compile("[\x80-\x84\x86-\x9f]")


def canonical_label(label: str) -> str | None:
    """The WHATWG name of an encoding label, `Latin1` -> `windows-1252`; None if unknown.

    Unlike in the standard, ibm855 has a label: such pages exist.
    """
    return _LABELS.get(label.strip().lower())


def codec(name: str) -> str:
    """The Python codec of a WHATWG name."""
    return _CODECS.get(name, name)


def count_controls(text: str) -> int:
    """The number of C1 control characters in a text; text that was decoded correctly has none."""
    return 0 if text.isascii() else len(_CONTROLS.findall(text))
