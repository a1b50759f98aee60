"""Lines that many pages of a host have: menus, notices, footers that an extractor left in.

A line is repeated if it stood on `PAGES_BEFORE` earlier pages of its host. The state of a host are
the lines seen last, at most `MOST_LINES`, in 1.5 kB of text. A line that every page has is
therefore always among them.
"""

from base64 import b85decode, b85encode
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

PAGES_BEFORE: Final = 2
MOST_LINES: Final = 200
_OF_A_PAGE: Final = 50
"""Lines of a page that are counted at its beginning, and as many at its end."""

_MOST_PAGES: Final = 255
_BYTES_A_LINE: Final = 6


def repeated(paragraphs: Sequence[str], before: str | None) -> tuple[list[bool], str]:
    """Return which paragraphs are repeated, and the state of the host after the page.

    `before` is the state before it, None for a new host. A damaged state counts as none.
    """
    lines = _read(before)
    keys = [_key(text) for text in paragraphs]
    are_repeated = [lines.get(key, 0) >= PAGES_BEFORE for key in keys]
    ends = keys if len(keys) <= 2 * _OF_A_PAGE else keys[:_OF_A_PAGE] + keys[-_OF_A_PAGE:]
    for key in dict.fromkeys(ends):
        lines[key] = min(lines.pop(key, 0) + 1, _MOST_PAGES)
    return are_repeated, _written(lines)


def _key(line: str) -> bytes:
    digest = blake2b(line.lower().encode("utf-8", "replace"), digest_size=_BYTES_A_LINE - 1)
    return digest.digest()


def _read(text: str | None) -> dict[bytes, int]:
    """Return the pages of each line, the line seen last at the end."""
    try:
        data = b85decode(text or "")
    except ValueError:
        return {}
    parts = (data[at : at + _BYTES_A_LINE] for at in range(0, len(data), _BYTES_A_LINE))
    return {part[:-1]: part[-1] for part in parts if len(part) == _BYTES_A_LINE}


def _written(lines: dict[bytes, int]) -> str:
    kept = list(lines.items())[-MOST_LINES:]
    return b85encode(b"".join(key + bytes((number,)) for key, number in kept)).decode()
