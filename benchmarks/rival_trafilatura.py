"""A rival of `benchmarks.speed`: trafilatura's focused crawler, a site in each of 64 threads.

python rival_trafilatura.py PROXY SEEDS PAGES

It follows the links within a site that its heuristics allow for German. Its settings are its
default but for the pause between two pages, which is left out, and the kind of proxy.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, Final

import urllib3
from trafilatura import downloads
from trafilatura.settings import DEFAULT_CONFIG
from trafilatura.spider import focused_crawler

_THREADS: Final = 64
_PAGES_OF_A_SITE: Final = 10


def pool(proxy: str, ssrf_protection: bool, **arguments: Any) -> urllib3.PoolManager:
    """Return connections to a proxy; trafilatura itself knows SOCKS proxies only."""
    return urllib3.ProxyManager(proxy, num_pools=50, **arguments)


def crawl(homes: Iterator[str], pages: int) -> None:
    """Crawl sites until this thread has found some pages."""
    config = deepcopy(DEFAULT_CONFIG)
    config["DEFAULT"]["SLEEP_TIME"] = "0"
    while pages > 0 and (home := next(homes, "")):
        waiting, known = focused_crawler(home, _PAGES_OF_A_SITE, lang="de", config=config)
        pages -= len(known) - len(waiting)


if __name__ == "__main__":
    downloads.create_pool = partial(pool, sys.argv[1])
    seeds = Path(sys.argv[2]).read_text().split()
    with ThreadPoolExecutor(_THREADS) as threads:
        found = [
            threads.submit(crawl, iter(seeds[at::_THREADS]), int(sys.argv[3]) // _THREADS)
            for at in range(_THREADS)
        ]
    for each in found:
        each.result()
