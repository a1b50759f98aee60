"""The languages of the pages that link to a queued URL, as one short text.

`2de 1en` stands for two pages in German and one in English; a number is one hexadecimal digit. One
more page in the same language does not make the text longer, so SQLite changes the row in place.
If rows grew, SQLite would have to split the disk pages that they are packed into.
"""

from collections import Counter
from collections.abc import Sequence

from crawler.frontier.base import MAX_INLINKS


def written(languages: Sequence[str]) -> str | None:
    """Return the text for the first `MAX_INLINKS` languages; None for no languages."""
    counts = Counter(languages[:MAX_INLINKS])
    return " ".join(f"{number:x}{language}" for language, number in counts.items()) or None


def read(text: str | None) -> tuple[str, ...]:
    """Return the languages, each as often as it was counted."""
    parts = (text or "").split()
    return tuple(language for part in parts for language in [part[1:]] * int(part[0], 16))
