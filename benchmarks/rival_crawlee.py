"""A rival of `benchmarks.speed`: Crawlee for Python, which follows every link of every page.

python rival_crawlee.py PROXY SEEDS PAGES
"""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from crawlee import ConcurrencySettings
from crawlee.crawlers import BeautifulSoupCrawler, BeautifulSoupCrawlingContext
from crawlee.http_clients import ImpitHttpClient
from crawlee.proxy_configuration import ProxyConfiguration
from crawlee.storage_clients import MemoryStorageClient


async def crawl(proxy: str, seeds: Path, pages: int) -> None:
    """Crawl from the seeds through a proxy until so many pages were fetched."""
    crawler = BeautifulSoupCrawler(
        max_requests_per_crawl=pages,
        respect_robots_txt_file=True,
        http_client=ImpitHttpClient(),
        proxy_configuration=ProxyConfiguration(proxy_urls=[proxy]),
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=64, desired_concurrency=64, max_concurrency=64
        ),
        request_handler_timeout=timedelta(seconds=60),
        max_request_retries=1,
        configure_logging=False,
    )

    async def follow(context: BeautifulSoupCrawlingContext) -> None:
        await context.enqueue_links(strategy="all")

    crawler.router.default_handler(follow)
    await crawler.run(seeds.read_text().split())


if __name__ == "__main__":
    asyncio.run(crawl(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
