"""Rankings of languages, the result of every reader of texts."""

import re

import numpy as np
from numpy.typing import NDArray

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
"""Scripts that have one language: nearly all pages in the script are written in it."""

_ADDRESS = re.compile(
    r"https?://[-_.?&~;+=/#0-9A-Za-z]{1,2076}|[-_.0-9A-Za-z]{1,64}@[-_.0-9A-Za-z]{1,255}"
)

Ranking = list[tuple[str, float]]
"""Languages with probabilities, best first; empty if a text has no evidence."""


def without_addresses(text: str) -> str:
    """A text without its URLs and e-mail addresses, which are in no language."""
    return _ADDRESS.sub(" ", text) if "@" in text or "://" in text else text


def softmax(
    languages: tuple[str, ...], evidence: NDArray[np.float64], temperature: float = 1.0
) -> Ranking:
    """The languages by probability; `evidence` is in nats, (n_languages,)."""
    weights = np.exp((evidence - evidence.max()) / temperature)
    weights /= weights.sum()
    order = np.argsort(-evidence, kind="stable")
    return [(languages[at], float(weights[at])) for at in order]
