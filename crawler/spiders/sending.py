"""The last step before a request: its URL takes a slot of its host, its domain and its address."""

from scrapy import Request

from crawler.crawl import Crawl
from crawler.frontier.base import Lease, Sending
from crawler.politeness.network import CapError
from crawler.spiders.request_meta import LEASE, ROBOTS_BYTES
from crawler.url import host_of


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
