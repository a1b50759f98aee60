"""Cost of building a graph of many pages from plain tables: CPU time and memory.

The tables are generated in the proportions of Tamura 2007, 3.1: 6.75 links per page, 2.1 known URLs
per page, one server per 32 pages. The cost of parsing pages is not included.

    python -m benchmarks.simulate_build --pages 1000000
"""

import argparse
import gzip
import json
import resource
import tempfile
import time
from pathlib import Path
from random import Random

from crawler.simulate.build import GraphOptions, build

LINKS_A_PAGE = 6.75
URLS_A_PAGE = 2.13
PAGES_A_SERVER = 32


def write_tables(folder: Path, pages: int) -> None:
    """Write compressed tables of pages and links."""
    chance = Random(1)
    urls = int(pages * URLS_A_PAGE)
    servers = pages // PAGES_A_SERVER + 1

    def url(number: int) -> str:
        server, name = number % servers, number // servers
        return f"http://www.server-{server}.example/part{name % 7}/page-{number}.html"

    with (
        gzip.open(folder / "pages.tsv.gz", "wt", compresslevel=1) as page_file,
        gzip.open(folder / "links.tsv.gz", "wt", compresslevel=1) as link_file,
    ):
        for number in range(pages):
            page_file.write(f"{url(number)}\t{'th' if number % 11 == 0 else 'en'}\n")
            for _ in range(int(LINKS_A_PAGE + chance.random())):
                link_file.write(f"{url(number)}\t{url(chance.randrange(urls))}\n")


def peak_mb() -> float:
    """Return the peak memory of this process, in MB of 10^6 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Make tables and build a graph from them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, arguments.pages)
        # Compilation, or reading numba's cache, is not a cost of a page.
        (folder / "small").mkdir()
        write_tables(folder / "small", 100)
        build([folder / "small"], folder / "small-graph", GraphOptions(target="th"))
        before, began = peak_mb(), time.process_time()
        graph = build([folder], folder / "graph", GraphOptions(target="th"))
        seconds = time.process_time() - began
        size = sum(path.stat().st_size for path in (folder / "graph").iterdir())
        told = {
            "pages": graph.n_pages,
            "vertices": graph.n_vertices,
            "links": graph.n_links,
            "servers": graph.n_servers,
            "cpu_seconds": round(seconds, 1),
            "peak_mb": round(peak_mb()),
            "peak_mb_before": round(before),
            "bytes_a_vertex": round((peak_mb() - before) * 1e6 / graph.n_vertices),
            "graph_mb": round(size / 1e6),
        }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
