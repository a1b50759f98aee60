"""Labels and codecs of legacy encodings."""

import re

from classifiers.tables import rows

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

_LABELS = {
    label: name
    for name, labels in rows("charset-labels.txt").items()
    for label in (name, *labels.split())
}

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
