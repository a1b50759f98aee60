"""A rival of `benchmarks.speed`: plain Scrapy, as a user would write it.

Ends after `-a pages=NUMBER` pages. With `-a identifies=1` each page is read by BeautifulSoup and
named by langdetect in the callback.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from langdetect import LangDetectException, detect
from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor


class PlainSpider(Spider):
    """Follows every link of every page; writes nothing."""

    name = "plain"

    def __init__(self, seeds: str, pages: str, identifies: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self._seeds = Path(seeds).read_text().split()
        self._left = int(pages)
        self._links = LinkExtractor()
        self._identifies = bool(identifies)

    async def start(self) -> AsyncIterator[Request]:
        """Yield the seeds."""
        for url in self._seeds:
            yield Request(url)

    def parse(self, response: Response, **arguments: Any) -> Iterator[Request]:
        """Yield a request for each link."""
        if not self._left:
            raise CloseSpider
        self._left -= 1
        if isinstance(response, TextResponse):
            if self._identifies:
                _language(response.body)
            for link in self._links.extract_links(response):
                yield Request(link.url)


def _language(body: bytes) -> str | None:
    try:
        return str(detect(BeautifulSoup(body, "lxml").get_text(" ")))
    except LangDetectException:
        return None
