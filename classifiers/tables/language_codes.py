"""The codes of the project, and its differences from CLDR."""

from typing import Final

from langfocus.classifiers.tables import rows

KNOWN: Final = frozenset(" ".join(rows("codes.txt").values()).split())
"""ISO 639-1 without nb, sh and tw (see OWN), and the ISO 639-3 codes of languages that have their
own encyclopedia, news, software or identifier of text."""

OWN: Final = rows("own-codes.txt")
"""Codes of other standards for which CLDR has another answer or none; the varieties of written
Chinese and of Arabic among them."""

TAGS: Final[dict[str, str]] = {"az-arab": "azb", "zh-yue": "yue"}
"""Language and second part of a tag -> the code, where the language alone has another one."""

# Code -> CLDR's code of the same language.
CLDR: Final[dict[str, str]] = {"tl": "fil"}

ENGLISH: Final = rows("english-names.txt")
"""Names of ISO 639-3 for the codes that CLDR does not name, or names like another code (Ga)."""

NAMES: Final = rows("more-names.txt")
"""Names in use that CLDR does not list -> their codes."""

COMPOSITE: Final[dict[str, tuple[str, ...]]] = {
    "Hans": ("Hani",),
    "Hant": ("Hani",),
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
}
"""Script of CLDR that no character has (UAX 24) -> the scripts of its characters."""

NOT_COUNTED: Final[dict[str, str]] = {"az": "Arab", "hi": "Latn", "kok": "Latn", "zh": "Latn"}
"""Code -> a script of CLDR that does not count: romanised text, or a code of its own (`azb`)."""

CONSTRUCTED: Final = frozenset({"Dsrt", "Shaw"})
"""Scripts that were invented for English and are not in use."""

MORE_SCRIPTS: Final = rows("more-scripts.txt")
"""Spellings that Babel's part of CLDR leaves out: official, common, or in FLORES-200."""

ALSO_ACCEPTED: Final[dict[str, str]] = {"no": "nb", "tl": "fil"}
"""Code -> another code of the same language on servers: a site may know only `nb` and answer a
request for `no` in English."""
