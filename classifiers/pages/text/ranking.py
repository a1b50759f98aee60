"""What every engine answers, and what none of them reads: addresses."""

import re

SINGLE_SCRIPTS: dict[str, str] = {
    "Grek": "el",
    "Armn": "hy",
    "Hebr": "he",
    "Thaa": "dv",
    "Beng": "bn",
    "Guru": "pa",
    "Gujr": "gu",
    "Orya": "or",
    "Taml": "ta",
    "Telu": "te",
    "Knda": "kn",
    "Mlym": "ml",
    "Sinh": "si",
    "Thai": "th",
    "Laoo": "lo",
    "Tibt": "bo",
    "Mymr": "my",
    "Geor": "ka",
    "Ethi": "am",
    "Cher": "chr",
    "Khmr": "km",
    "Mong": "mn",
    "Jpan": "ja",
    "Kore": "ko",
    "Hani": "zh",
}
"""Scripts that answer at once: the language that nearly all pages in them are written in."""

_ADDRESS = re.compile(
    r"https?://[-_.?&~;+=/#0-9A-Za-z]{1,2076}|[-_.0-9A-Za-z]{1,64}@[-_.0-9A-Za-z]{1,255}"
)

Ranking = list[tuple[str, float]]
"""Languages with probabilities, best first; empty where a text says nothing."""


def without_addresses(text: str) -> str:
    """A text without its URLs and addresses of mail, which are in no language."""
    return _ADDRESS.sub(" ", text) if "@" in text or "://" in text else text
