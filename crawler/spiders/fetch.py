"""The state of a fetch: the single langfocus object in `Request.meta`.

Scrapy and middlewares copy `meta` into retries and redirects, and the copy would share the object.
So each request gets a separate object when sent. Requests without a fetch take no slot, settle no
URL, and are not archived.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy import Request
from scrapy.http import Response

from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.http.download import Download, Exchange, RobotsVersion

if TYPE_CHECKING:
    from langfocus.crawler.reading.readers import Answer

Send = Callable[[Request], Awaitable[Response]]
"""Sends a request, and returns the answer or raises an error."""

KEY: Final = "langfocus_fetch"
"""The key in `Request.meta`."""


class Heads(NamedTuple):
    """The bytes before the body of a request and of its answer, with the empty line."""

    request: bytes
    answer: bytes
    protocol: str | None = None  # of heads rebuilt from headers, "": unknown; None: as sent


@dataclass(slots=True)
class Fetch:
    """The fetch of a leased URL, or of a host's file under a lease."""

    lease: Lease
    began_at: float  # of the lease, unix seconds
    is_file: bool = False
    most_bytes: int = 0  # of a file that a page embeds; 0: it is none
    robots: RobotsVersion | None = None  # the robots.txt that allowed it
    reserved: tuple[str, ...] = ()  # the statements of tdmrep.json about the page
    asked: Request | None = field(default=None, repr=False)  # the spider's own request for it
    # The answer, as far as it has arrived:
    status: int = 200
    body_bytes: int = 0  # as received; 0 if its handler sends no signal
    heads: Heads | None = field(default=None, repr=False)  # None: not known
    exchange: Exchange | None = field(default=None, repr=False)  # None: nothing keeps it
    # The download and its page. The page is None if the crawl itself reads the download.
    page: "tuple[Download, Answer | None] | None" = field(default=None, repr=False)
    requests: list[Request] = field(default_factory=list, repr=False)  # that the spider yielded
    is_settled: bool = False  # the lease has ended

    @property
    def is_leased(self) -> bool:
        """True for the request of a leased URL itself."""
        return not (self.is_file or self.most_bytes)

    @property
    def has_page(self) -> bool:
        """True if the status says that the body is a page or a file."""
        return 200 <= self.status < 300


def fetch_of(request: Request | None) -> Fetch | None:
    """Return the fetch of a request; None for a request by user code."""
    found = None if request is None else request.meta.get(KEY)
    return found if isinstance(found, Fetch) else None


def own_fetch(request: Request) -> Fetch:
    """Return the fetch of the crawl's request; raises KeyError for any other request."""
    found: Fetch = request.meta[KEY]
    return found


def lease_of(url: str) -> Lease:
    """Return a stand-in for a lease, which the frontier does not know."""
    return Lease(0, url, "", 0.0, 1, 0, 0)


def is_file(request: Request) -> bool:
    """Return True for the request for a file of a host."""
    fetch = fetch_of(request)
    return fetch is not None and fetch.is_file


def begin_fetch(request: Request) -> Fetch | None:
    """Return the unshared fetch of a request about to be sent."""
    fetch = fetch_of(request)
    if fetch is None:
        return None
    request.meta[KEY] = own = replace(
        fetch,
        status=200,
        body_bytes=0,
        heads=None,
        exchange=None,
        page=None,
        requests=[],
        is_settled=False,
    )
    return own
