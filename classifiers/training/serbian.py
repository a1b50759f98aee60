"""Serbian is written in two alphabets, letter for letter."""

from __future__ import annotations

from typing import Final

_CYRILLIC: Final = "абвгдђежзијклмнопрстћуфхцчшљњџ"
_LATIN: Final = (*"abvgdđežzijklmnoprstćufhcčš", "lj", "nj", "dž")
_LETTERS: Final = dict(zip(_CYRILLIC, _LATIN, strict=True))
_TABLE: Final = str.maketrans(
    _LETTERS | {letter.upper(): latin.capitalize() for letter, latin in _LETTERS.items()}
)


def in_latin_letters(text: str) -> str:
    """A Serbian text in Cyrillic letters in the Latin ones."""
    return text.translate(_TABLE)
