"""The target of a run in SQL: one language, or several with commas between them."""

from typing import Final

_TARGET: Final = "SELECT value FROM json_each('[\"' || replace({lang}, ',', '\",\"') || '\"]')"


def in_target(lang: str = "?", language: str = "language") -> str:
    """Return the condition that a column `language` is of the target `lang`, an SQL expression."""
    return f"{language} IN ({_TARGET.format(lang=lang)})"
