"""The rival of `benchmarks.speed`: plain Scrapy with its own scheduler and LinkExtractor."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor


class PlainSpider(Spider):
    """Follows every link of every page; identifies and writes nothing."""

    name = "plain"

    def __init__(self, seeds: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._seeds = Path(seeds).read_text().split()
        self._links = LinkExtractor()

    async def start(self) -> AsyncIterator[Request]:
        """Yield the seeds."""
        for url in self._seeds:
            yield Request(url)

    def parse(self, response: Response, **arguments: Any) -> Iterator[Request]:
        """Yield a request for each link."""
        if isinstance(response, TextResponse):
            for link in self._links.extract_links(response):
                yield Request(link.url)
