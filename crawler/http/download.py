"""A server's answer: its bytes on the wire, and the fields that a crawl reads."""

from dataclasses import dataclass, field
from typing import NamedTuple

from langfocus.classifiers.pages.charset.encodings import is_binary
from langfocus.classifiers.pages.charset.encodings import is_document as has_document
from langfocus.crawler.http.head import media_type
from langfocus.crawler.url import is_document_file

_TEXT_TYPES = ("text/html", "application/xhtml", "text/plain", "application/xml", "text/xml")

_DOCUMENT_TYPES = (
    "application/pdf",
    "application/x-pdf",
    "application/epub+zip",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The bytes of a request and of its answer.

    `began_at` is in unix seconds. `head` is the status line, the headers and the empty line after
    them. `body` has no transfer encoding but keeps its content encoding. `request` is b"" if
    nothing was sent, as in a replay. `ip` is the address of the server, None if unknown. `protocol`
    is None for heads as sent; for heads rebuilt from headers, it is the protocol, "" if unknown.
    `truncated` is the reason for missing bytes of the body, in the words of WARC 1.1, 5.13; "" for
    a complete body. `rendered` is the page that scripts made of the body in a browser; b"" if none
    ran.
    """

    url: str
    began_at: float
    head: bytes = field(repr=False)
    body: bytes = field(repr=False)
    request: bytes = field(default=b"", repr=False)
    ip: str | None = None
    truncated: str = ""
    protocol: str | None = None
    rendered: bytes = field(default=b"", repr=False)


class RobotsVersion(NamedTuple):
    """The robots.txt that allowed a fetch.

    `name` is the SHA-256 of the file, or the HTTP status where the file is missing. `signals` are
    the usage statements for this bot.
    """

    name: str
    signals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Download:
    """A server's answer."""

    url: str
    status: int
    body: bytes = b""
    content_type: str | None = None
    content_language: str | None = None
    location: str | None = None
    retry_after_s: float | None = None
    ip: str | None = None  # IP address of the server
    received: int = 0  # bytes of the body on the wire; 0: those of the body
    is_cut: bool = False  # the body ended before the announced length
    statements: tuple[str, ...] = ()  # usage statements in headers (`politeness.directives`)
    reserved: tuple[str, ...] = ()  # usage statements in the host's tdmrep.json
    robots: RobotsVersion | None = None  # the robots.txt that allowed the fetch; None: not checked
    etag: str | None = None
    modified: str | None = None  # Last-Modified
    refresh: str | None = None  # the header Refresh
    sets_cookie: bool = False
    is_rendered: bool = False  # the body is the page that scripts made of the answer
    exchange: Exchange | None = field(default=None, repr=False)  # None: not archived

    @property
    def wire_bytes(self) -> int:
        """Bytes of the body on the wire."""
        return self.received or len(self.body)


def is_text(content_type: str | None, body: bytes = b"") -> bool:
    """Return True if an answer may be a page.

    Without a media type in the Content-Type the first bytes of the body decide (MIME Sniffing, 7).
    """
    kind = media_type(content_type)
    return kind.startswith(_TEXT_TYPES) if kind else not is_binary(body)


def is_document(content_type: str | None, url: str, body: bytes | None = None) -> bool:
    """Return True if an answer may be a PDF, docx, odt or EPUB.

    Without one of their media types the URL decides. The body is None before it arrives.
    """
    kind = media_type(content_type)
    is_any = not kind or kind.startswith(("application/", "binary/"))
    is_named = kind in _DOCUMENT_TYPES or (is_any and is_document_file(url))
    return is_named and (body is None or has_document(body))


def is_status(code: int) -> bool:
    """Return True for a status of HTTP, which has three digits (RFC 9110, 15)."""
    return 100 <= code <= 999
