"""How the pages that link to a queued URL are kept: their languages, counted, in one short text.

`2de 1en` stands for two pages in German and one in English; a number is one hexadecimal digit. A
further page in the same language leaves the length of the text as it is, so that the database can
write it in place: rows that grow would split the pages that they were packed into.
"""

from collections import Counter
from collections.abc import Sequence

from crawler.frontier.base import MAX_INLINKS


def written(languages: Sequence[str]) -> str | None:
    """Return the text for the languages of some pages, at most `MAX_INLINKS`; None for none."""
    counts = Counter(languages[:MAX_INLINKS])
    return " ".join(f"{number:x}{language}" for language, number in counts.items()) or None


def read(text: str | None) -> tuple[str, ...]:
    """Return the languages, each as often as it was counted."""
    parts = (text or "").split()
    return tuple(language for part in parts for language in [part[1:]] * int(part[0], 16))
