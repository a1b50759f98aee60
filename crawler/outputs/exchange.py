"""A request and its answer as they went over the wire."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Exchange:
    """The bytes of a request and of its answer.

    `began_at` is in unix seconds. `head` is the status line and the headers with the empty line
    after them, `body` has no transfer encoding but keeps its content encoding. `request` is b"" if
    nothing was sent, as in a replay. `ip` is the address that answered, None if it is not known.
    `truncated` is the reason why bytes of the body are missing, in the words of WARC 1.1, 5.13; ""
    if none are.
    """

    url: str
    began_at: float
    head: bytes = field(repr=False)
    body: bytes = field(repr=False)
    request: bytes = field(default=b"", repr=False)
    ip: str | None = None
    truncated: str = ""
