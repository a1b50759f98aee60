"""Project codes, and differences from CLDR."""

from typing import Final

from langfocus.classifiers.tables import rows

PROJECT_CODES: Final = frozenset(" ".join(rows("codes.txt").values()).split())
"""ISO 639-1 codes without nb, sh and tw (see OWN), and ISO 639-3 codes of languages with an own
encyclopedia, news, software or text identifier."""

OWN: Final = rows("own-codes.txt")
"""Codes from other standards that CLDR resolves differently or not at all, varieties of written
Chinese and Arabic included."""

TAGS: Final[dict[str, str]] = {"az-arab": "azb", "zh-yue": "yue"}
"""Language subtag and second subtag -> code, where the language subtag alone has another code."""

# Code -> CLDR code for the same language.
CLDR: Final[dict[str, str]] = {"tl": "fil"}

ENGLISH: Final = rows("english-names.txt")
"""ISO 639-3 names for codes without a CLDR name, or whose CLDR name equals another code (Ga)."""

NAMES: Final = rows("more-names.txt")
"""Names in use beyond CLDR -> codes."""

COMPOSITE: Final[dict[str, tuple[str, ...]]] = {
    "Hans": ("Hani",),
    "Hant": ("Hani",),
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
}
"""CLDR script without characters (UAX 24) -> character scripts."""

NOT_COUNTED: Final[dict[str, str]] = {"az": "Arab", "hi": "Latn", "kok": "Latn", "zh": "Latn"}
"""Code -> an excluded CLDR script: romanised text, or a script with an own code (`azb`)."""

CONSTRUCTED: Final = frozenset({"Dsrt", "Shaw"})
"""Scripts invented for English and not in use."""

MORE_SCRIPTS: Final = rows("more-scripts.txt")
"""Scripts missing from Babel's part of CLDR: official, common, or in FLORES-200."""

ALSO_ACCEPTED: Final[dict[str, str]] = {"no": "nb", "tl": "fil"}
"""Code -> a second code for the language on servers: a site that supports only `nb` may answer a
request for `no` in English."""
