"""Word counts and tokens, as units for text comparison.

A word is a text part between spaces with a letter. Scripts without spaces are counted by letters: a
word has as many letters as the same sentences need per English word, measured on the 800 sentences
in the SIB-200 train and dev sets (FLORES-200).
"""

import re
from typing import Final
from unicodedata import category

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA: Final = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_LETTERS_PER_WORD: Final = {
    _HAN: 1.7,
    _KANA: 3.8,
    "\u0e01-\u0e3a\u0e40-\u0e4e": 4.4,  # Thai; Lao
    "\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf": 4.4,
    "\u0f40-\u0fbc": 3.4,  # Tibetan
    "\u1000-\u103f\u1050-\u109f": 3.2,  # Burmese
    "\u1780-\u17d3": 4.0,  # Khmer
}
_UNSPACED: Final = re.compile(f"[{''.join(_LETTERS_PER_WORD)}]")
_KINDS: Final = [(re.compile(f"[{span}]"), size) for span, size in _LETTERS_PER_WORD.items()]
_WORD: Final = re.compile(r"[^\W\d_]\S*")  # from the first letter of a part to its end


def number_of_words(text: str) -> int:
    """Return the number of words, approximate in scripts without spaces."""
    number = 0.0
    if _UNSPACED.search(text):
        for letters, per_word in _KINDS:
            number += sum(map(str.isalpha, letters.findall(text))) / per_word
        text = _UNSPACED.sub(" ", text)
    return round(number) + len(_WORD.findall(text))


def units(text: str) -> list[str]:
    """Return lower-case words; letters of scripts without spaces are separate units."""
    if _UNSPACED.search(text):
        text = _UNSPACED.sub(r" \g<0> ", text)
    return text.lower().split()


def tokens(text: str) -> list[str]:
    """Return words and signs as written, for corpus tools.

    Signs before and after a word are tokens; signs inside a word stay (`isn't`, `a.de`). A letter
    of a script without spaces is a token.
    """
    result: list[str] = []
    for part in _UNSPACED.sub(r" \g<0> ", text).split():
        inside = [number for number, sign in enumerate(part) if _is_of_word(sign)]
        start, end = (inside[0], inside[-1] + 1) if inside else (len(part), len(part))
        result += [*part[:start], *([part[start:end]] if inside else []), *part[end:]]
    return result


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or category(sign).startswith("M")
