"""What the crawler knows of a Web: an address goes in, an answer or a failure comes out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol

Reason = Literal["dns", "not_archived", "timeout", "refused"]

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent: the status line's number, the headers in their order, and the body.

    The body is free of transfer and content encodings. `ip` is the address that answered, or
    None where nobody wrote it down.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)
    ip: str | None = None

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case, or None."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)


class Unreachable(Exception):
    """No answer at all: the host has no address, is silent, refuses, or is not in the archive.

    Not an `OSError`, every one of which Scrapy's retry middleware takes for a passing failure.
    """

    def __init__(self, reason: Reason, url: str = "") -> None:
        super().__init__(f"{reason}: {url}" if url else reason)
        self.reason: Reason = reason
        self.url = url


class NotArchived(Unreachable, LookupError):
    """The archive holds no answer for this URL; asking again cannot help."""

    def __init__(self, url: str = "") -> None:
        super().__init__("not_archived", url)


class Web(Protocol):
    """Anything that answers HTTP requests for the crawler."""

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """The answer to a GET of this absolute http(s) URL; raises `Unreachable`.

        Redirects are answers, not followed. The same URL gets the same answer every time.
        """
        ...
