"""Unicode letters as in the trained models, whatever Python's Unicode version.

`python -m benchmarks.facts` compares the list with the running Python.
"""

from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

LAST: Final = 0x10FFFF
"""Last code point."""


def letter_flags(size: int = LAST + 1) -> NDArray[np.bool_]:
    """Return which of the first `size` code points are letters or combining marks, (size,)."""
    flags = np.zeros(size, np.bool_)
    text = Path(__file__).with_name("letters.txt").read_text(encoding="ascii")
    for run in text.partition("\n")[2].split():
        first, _, last = run.partition("-")
        flags[int(first, 16) : int(last or first, 16) + 1] = True
    return flags


def is_letter(character: str) -> bool:
    """Return True for a letter or a combining mark."""
    return bool(_all_flags()[ord(character)])


@cache
def _all_flags() -> NDArray[np.bool_]:
    return letter_flags()
