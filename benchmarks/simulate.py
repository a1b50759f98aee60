"""Cost of generating a Web of the paper's size and of crawling it by each strategy.

    python -m benchmarks.simulate [--scale 1] [--random-state 0] [--strategies NAME,NAME]

At scale 1 the Web has the size of Tamura 2007: 18,344,127 pages, 39,078,795 vertices, 123,836,342
links, 574,111 servers; 0.055 is a million pages. One process generates it and writes it to a
temporary folder (1.4 GB), another one crawls it by strategies of the paper's chapter 5, or by
`focus`. Seconds are of processor time, without compilation. Peak memory is that of each process,
including the mapped pages of the graph's files. Prints one JSON line for each.
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from crawler.simulate.engine import Simulation, simulate
from crawler.simulate.generator import generate
from crawler.simulate.measures import WebMeasures
from crawler.simulate.webgraph import WebGraph
from crawler.strategies.filters import make_filter

_FILTERS: Final = ("server", "server-conservative", "directory-conservative")
STRATEGIES: Final = {
    "bfs": ("bfs", "none", 0),
    "soft": ("soft", "none", 0),
    "hard": ("soft", "hard", 0),
    **{f"{name} {t}": ("soft", name, t) for name in _FILTERS for t in (5, 10, 20)},
    "perfect": ("perfect", "none", 0),
    "focus": ("focus", "none", 0),
}
"""Name -> ordering, filter, tolerance."""

Row = dict[str, object]


def peak_gb() -> float:
    """Return the peak memory of this process in GB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)


def made(folder: Path, scale: float, random_state: int) -> Row:
    """Generate a Web and write it."""
    generate(WebMeasures().scaled(0.001))
    measures = WebMeasures() if scale == 1 else WebMeasures().scaled(scale)
    began = time.process_time()
    graph = generate(measures, random_state=random_state)
    cpu_s = round(time.process_time() - began, 1)
    graph.write(folder)
    return {"pages": graph.n_pages, "cpu_seconds": cpu_s, "peak_gb": peak_gb()}


def crawled(folder: Path, names: Sequence[str]) -> list[Row]:
    """Crawl a Web by each strategy of these names."""
    return list(_crawled(folder, names))


def _crawled(folder: Path, names: Sequence[str]) -> Iterator[Row]:
    warm, graph = generate(WebMeasures().scaled(0.001)), WebGraph.open(folder)
    for name in names:
        ordering, rule, tolerance = STRATEGIES[name]
        crawl = Simulation(filter=make_filter(rule, tolerance=tolerance), ordering=ordering)
        simulate(warm, crawl)
        began = time.process_time()
        course = simulate(graph, crawl)
        yield {
            "strategy": name,
            "pages": len(course.order),
            "cpu_seconds": round(time.process_time() - began, 2),
            "peak_gb": peak_gb(),
        }


def main() -> None:
    """Print what both processes measured."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--random-state", type=int, default=0)
    parser.add_argument("--strategies", default="bfs,soft,hard,server 10,perfect")
    given = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2, spawn) as pool:
        web = Path(folder) / "web"
        print(json.dumps(pool.submit(made, web, given.scale, given.random_state).result()))
        for row in pool.submit(crawled, web, given.strategies.split(",")).result():
            print(json.dumps(row))


if __name__ == "__main__":
    main()
