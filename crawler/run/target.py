"""The pages of a run that count, in SQL.

The target is one language, or several with commas between them.
"""

from typing import Final

_TARGET: Final = "SELECT value FROM json_each('[\"' || replace({lang}, ',', '\",\"') || '\"]')"

IS_RATED: Final = "(language IS NOT NULL OR in_scope)"
"""The condition that the harvest rate counts a page."""


def in_target(lang: str = "?", language: str = "language") -> str:
    """Return the condition that a column `language` is of the target `lang`, an SQL expression."""
    return f"{language} IN ({_TARGET.format(lang=lang)})"


def is_wanted(lang: str = "?") -> str:
    """Return the condition that a page is relevant, see `Record.is_wanted`."""
    return f"({in_target(lang)} AND NOT is_copy OR in_scope)"


def last_pages(pages: int) -> int:
    """Return how many of the last pages of a crawl show whether more is to be found."""
    return max(1000, pages // 4)
