"""A request of a crawl: the values in its `meta`, and the last step before it is sent."""

from typing import NamedTuple

from scrapy import Request

from crawler.crawl import Crawl
from crawler.frontier.base import Lease, Sending
from crawler.politeness.network import CapError
from crawler.url import host_of

LEASE = "langfocus_lease"
"""The key of the request's lease."""

LEASED_AT = "langfocus_leased_at"
"""The key of the time when the lease began, in unix seconds."""

SLOT = "langfocus"
"""The downloader slot that all requests share, since the frontier keeps the delays."""

HEADS = "langfocus_heads"
"""The key of the bytes before the bodies of a request and its answer, from the live Web."""

ROBOTS = "langfocus_robots"
"""The key of the version of robots.txt that allowed the request."""

ROBOTS_BYTES = "langfocus_robots_bytes"
"""The key of the bytes of a robots.txt until now; only a request for one has it."""

EXCHANGE = "langfocus_exchange"
"""The key of a request and its answer as they were sent; missing if nothing keeps them."""

ROBOTS_FILE = "langfocus_robots_file"
"""The key of the URL of the file with rules that the request asks for."""

READ_PAGE = "langfocus_page"
"""The key of a download and its page, which is None if the crawl reads it itself."""


class Heads(NamedTuple):
    """The bytes before the body of a request and of its answer, with the empty line."""

    request: bytes
    answer: bytes


def take_slot(crawl: Crawl, request: Request, address: str | None) -> None:
    """Note that the request for a leased URL is sent; raise `CapError` if it may not be.

    `address` is the IP address of the server, None if it is not known. A robots.txt takes no slot.
    """
    lease: Lease | None = request.meta.get(LEASE)
    is_page = ROBOTS_BYTES not in request.meta
    if lease is None or not (is_page or host_of(request.url) == lease.host):
        return
    is_page = is_page and not crawl.visitor.is_sitemap(lease)
    answer = crawl.frontier.send(lease, address, now=crawl.clock(), is_page=is_page)
    if answer is not Sending.NOW:
        outcome = "" if answer is Sending.LATER else answer.value
        raise CapError(f"{lease.url}: {answer.value}", outcome)
