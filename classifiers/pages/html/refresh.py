"""Page redirects by META refresh or by the Refresh header."""

from typing import Final, NamedTuple

MOST_S: Final = 30
"""Longest redirect delay in seconds; a longer refresh only reloads the page or rotates pages."""

_LONGEST: Final = 4_000
_BLANKS: Final = " \t\n\f\r"


class Refresh(NamedTuple):
    """The delay in seconds, and the target URL as written."""

    delay_s: int
    url: str


def read_refresh(content: str | None) -> Refresh | None:
    """Parse a refresh such as `5; url=b.html` (HTML, 4.2.5.3); None for other text.

    Also returns None for a refresh of the page itself, and for a delay above `MOST_S`.
    """
    text = (content or "").lstrip(_BLANKS)[:_LONGEST]
    rest = text.lstrip("0123456789")
    digits = text[: len(text) - len(rest)]
    rest = rest.lstrip("0123456789.")
    if rest == text or rest[:1] not in (*_BLANKS, ";", ","):
        return None
    rest = rest.lstrip(_BLANKS)
    rest = (rest[1:] if rest[:1] in (";", ",") else rest).lstrip(_BLANKS)
    if rest[:3].lower() == "url" and (after := rest[3:].lstrip(_BLANKS)).startswith("="):
        rest = after[1:].lstrip(_BLANKS)
    if rest[:1] in ("'", '"'):
        rest = rest[1:].partition(rest[0])[0]
    url, is_soon = rest.strip(_BLANKS), len(digits) < 9 and int(digits or 0) <= MOST_S
    return Refresh(int(digits or 0), url) if url and is_soon else None
