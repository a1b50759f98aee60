"""The pages of a run that count, in SQL.

The target is one language, or several with commas between them.
"""

import sqlite3
from typing import Final

from langfocus.crawler.strategies.focus.evidence import probability_of

_TARGET: Final = "SELECT value FROM json_each('[\"' || replace({lang}, ',', '\",\"') || '\"]')"

IS_RATED: Final = "(language IS NOT NULL OR in_scope)"
"""The condition that the harvest rate counts a page."""


def in_target(lang: str = "?", language: str = "language") -> str:
    """Return the condition that a column `language` is of the target `lang`, an SQL expression."""
    return f"{language} IN ({_TARGET.format(lang=lang)})"


def is_wanted(lang: str = "?") -> str:
    """Return the condition that a page is relevant, see `Record.is_wanted`."""
    return f"({in_target(lang)} AND NOT is_copy OR in_scope)"


_LAST: Final = f"""\
SELECT {is_wanted()} IS TRUE, depth, reasons IS NULL, score FROM pages WHERE outcome = 'page'
ORDER BY id DESC LIMIT ?"""  # noqa: S608


def last_pages(pages: int) -> int:
    """Return how many of the last pages of a crawl tell whether more is to be found."""
    return max(1000, pages // 4)


def finds_more(run: sqlite3.Connection, lang: str, pages: int, least_yield: float) -> bool:
    """Return False if the last pages of a crawl of `pages` pages had too few relevant ones.

    Their relevant share and the mean probability before their fetch are then below `least_yield`.
    Seeds among them, and pages of an ordering without probabilities, tell nothing.
    """
    number, expected = last_pages(pages), 0.0
    relevant = read = 0
    for is_relevant, depth, is_unknown, score in run.execute(_LAST, (lang, number)):
        if depth == 0 or is_unknown:
            return True
        relevant += is_relevant
        expected += probability_of(score)
        read += 1
    return read < number or max(relevant, expected) >= least_yield * number
