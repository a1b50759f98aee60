"""The letters of Unicode as the models learned them, whatever version a Python has.

`python -m benchmarks.facts` compares them with the Python that runs it.
"""

from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

LAST: Final = 0x10FFFF
"""The last code point."""


def letter_flags(size: int = LAST + 1) -> NDArray[np.bool_]:
    """For each of the first code points whether it is a letter or a mark of one, (size,)."""
    flags = np.zeros(size, np.bool_)
    text = Path(__file__).with_name("letters.txt").read_text(encoding="ascii")
    for run in text.partition("\n")[2].split():
        first, _, last = run.partition("-")
        flags[int(first, 16) : int(last or first, 16) + 1] = True
    return flags


def is_letter(character: str) -> bool:
    """Return True if a character is a letter or a mark of one."""
    return bool(_all_flags()[ord(character)])


@cache
def _all_flags() -> NDArray[np.bool_]:
    return letter_flags()
