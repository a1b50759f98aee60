"""The head of an answer: status line and headers, parsed as in browsers.

A line ends with a line feed. Blank lines before the status line, and lines that are no headers, are
skipped.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

MAX_HEAD_BYTES: Final = 256 * 1024
"""Most bytes before a body, answers of status 1xx included; browsers have the same limit."""

LONGEST_VALUE: Final = 4096
"""Most letters stored per header value of a page."""

_BLANKS: Final = b" \t\r\n"
_TOKEN: Final = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NO_TYPES: Final = frozenset({"*/*", "unknown/unknown", "application/unknown"})


class StatusLine(NamedTuple):
    """The parts of a status line, such as `HTTP/1.1`, 404 and `Not Found`."""

    version: bytes
    status: int
    reason: bytes


class Head(NamedTuple):
    """The status of an answer and its headers, in order and as bytes."""

    status: int
    fields: list[tuple[bytes, bytes]]

    def all(self, name: bytes) -> list[bytes]:
        """Return the values of all headers with a name in lower case."""
        return [value for key, value in self.fields if key.lower() == name]


def status_line(line: bytes) -> StatusLine | None:
    """Return the parts of a status line with a three-digit status; None for any other line."""
    words = [*line.strip(_BLANKS).split(None, 2), b"", b""]
    version, status = words[0].upper(), words[1]
    is_one = version.startswith(b"HTTP/") and len(status) == 3 and status.isdigit()
    return StatusLine(version, int(status), words[2]) if is_one and status >= b"100" else None


def fields(lines: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """Return the names and values of header lines; folded lines are joined."""
    unfolded: list[list[bytes]] = []
    for line in lines:
        if line[:1] in (b" ", b"\t") and unfolded:
            unfolded[-1].append(line.strip(_BLANKS))
        else:
            unfolded.append([line])
    pairs = (b" ".join(parts).partition(b":") for parts in unfolded)
    found = ((name.rstrip(_BLANKS), value.strip(_BLANKS)) for name, colon, value in pairs if colon)
    return [(name, value) for name, value in found if is_token(name)]


def is_token(text: bytes) -> bool:
    """Return True for a token (RFC 9110, 5.6.2), such as the name of a header."""
    return bool(text) and not text.translate(None, _TOKEN)


def split(block: bytes) -> tuple[bytes, bytes]:
    """Return the head of an answer with the empty line, and the rest.

    A head without an end, or of more than `MAX_HEAD_BYTES`, is the whole block.
    """
    start = len(block) - len(block.lstrip(_BLANKS))
    most = start + MAX_HEAD_BYTES
    ends = (block.find(end, start, most) + len(end) for end in (b"\n\r\n", b"\n\n"))
    end = min((at for at in ends if at > 2), default=len(block))
    return block[:end], block[end:]


def read_head(head: bytes) -> Head | None:
    """Return status and headers of a head; None without a status line."""
    first, *lines = head.lstrip(_BLANKS).split(b"\n")
    found = status_line(first)
    return None if found is None else Head(found.status, fields(lines))


def text_of(value: bytes) -> str:
    """Return the text of a header."""
    return value.decode("utf-8", "replace").strip()


@lru_cache(64)
def media_type(content_type: str | None) -> str | None:
    """Return the media type of a Content-Type in lower case, None for a missing or unknown type.

    `*/*` and `unknown/unknown` are unknown types (MIME Sniffing, 7).
    """
    kind = (content_type or "").partition(";")[0].strip().lower()
    words = kind.split("/")
    is_type = len(words) == 2 and all(is_token(word.encode()) for word in words)
    return kind if is_type and kind not in _NO_TYPES else None


def content_type_of(values: Sequence[str]) -> str | None:
    """Return the Content-Type of several: the last with a media type, else the last."""
    typed = [value for value in values if media_type(value) is not None] or values
    return typed[-1][:LONGEST_VALUE] if typed else None
