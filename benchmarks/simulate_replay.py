"""Compares a crawl through a proxy, with recorded links, with a simulation on its graph.

Each strategy is crawled twice. Once one connection fetches page by page, without delay and retries.
Once the project's 64 connections fetch with a delay, Crawl-delays and retries. The simulation then
crawls the graph of the run with the same strategy. Prints one JSON line for each run: the largest
difference of the two harvest rates after any number of pages from 50 on, and the pages in common at
half of the crawl and at its end. The last line has the cost of recording: CPU milliseconds and
bytes per settled page.

    python -m benchmarks.simulate_replay --lang de --pages 1500
"""

import argparse
import json
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import proxyweb
from crawler.frontier.base import PAGE, Link, Record
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.run import IDENTITY, open_run
from crawler.simulate.build import GraphOptions, build
from crawler.simulate.engine import Simulation, simulate
from crawler.simulate.webgraph import WebGraph
from crawler.strategies import make_filter
from crawler.url import fingerprint

STRATEGIES = (("svm", "none"), ("bfs", "server"), ("soft", "server-conservative"))
TOLERANCE = 1
"""Most hosts of this web have few pages: with the usual tolerance of 10 a filter would reject
nothing.
"""

ONE_BY_ONE: dict[str, float] = {
    "CONCURRENT_REQUESTS": 1,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 0,
    "DOWNLOAD_DELAY": 0,
    "LANGFOCUS_MAX_CRAWL_DELAY": 0,
    "RETRY_TIMES": 0,
}
"""No host ever rests, and each page is settled before the next request."""

CONNECTIONS: dict[str, dict[str, float]] = {"one": ONE_BY_ONE, "64": {"DOWNLOAD_DELAY": 0.2}}
_FIRST_PAGES = 50
"""The harvest rate of fewer pages varies too much."""


def real_order(run: Path, graph: WebGraph) -> npt.NDArray[np.int64]:
    """Return the pages of a run in crawl order, as vertices of its graph."""
    vertex_of = {fingerprint(graph.url(vertex)): vertex for vertex in range(graph.n_vertices)}
    query = (
        "SELECT fingerprint FROM pages"
        " WHERE outcome = 'page' AND status BETWEEN 200 AND 299 ORDER BY id"
    )
    with closing(sqlite3.connect(run / "run.db")) as connection:
        return np.array([vertex_of[key] for (key,) in connection.execute(query)], np.int64)


def host_cap(run: Path) -> int:
    """Return the host cap of a run."""
    with closing(sqlite3.connect(run / "run.db")) as connection:
        query = "SELECT value FROM meta WHERE key = 'host_cap'"
        return int(connection.execute(query).fetchone()[0])


def harvest(is_relevant: npt.NDArray[np.bool_], order: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the harvest rate after each page."""
    rates: npt.NDArray[np.float64] = np.cumsum(is_relevant[order]) / np.arange(1, len(order) + 1)
    return rates


def compared(run: Path, folder: Path, lang: str, strategy: str, filter_name: str) -> dict[str, Any]:
    """Simulate a run on its own graph and compare both crawls."""
    began = time.perf_counter()
    graph = build(
        [run], folder, GraphOptions(target=lang, orderings=["svm"] if strategy == "svm" else [])
    )
    built_s = time.perf_counter() - began
    real = real_order(run, graph)
    rule = make_filter(filter_name, tolerance=TOLERANCE)
    course = simulate(
        graph, Simulation(filter=rule, ordering=strategy, host_cap=host_cap(run), limit=len(real))
    )
    is_relevant = graph.relevant()
    number = min(len(real), len(course.order))
    told, seen = (harvest(is_relevant, order[:number]) for order in (course.order, real))
    half = number // 2
    differences = np.abs(told - seen)[_FIRST_PAGES:]
    is_same = course.order[:number] == real[:number]
    return {
        "pages": len(real),
        "simulated_pages": len(course.order),
        "same_order_for": int(np.argmin(is_same)) if not is_same.all() else number,
        "largest_difference": round(float(differences.max()), 4),
        "at_page": int(np.argmax(differences)) + _FIRST_PAGES + 1,
        "harvest_rate": round(float(seen[-1]), 4),
        "simulated_harvest_rate": round(float(told[-1]), 4),
        "in_common_at_half": round(len(np.intersect1d(course.order[:half], real[:half])) / half, 4),
        "in_common": round(len(np.intersect1d(course.order, real)) / number, 4),
        "vertices": graph.n_vertices,
        "links": graph.n_links,
        "build_seconds": round(built_s, 2),
        "left_out": graph.provenance["left_out"],
    }


def settled(folder: Path, *, pages: int, keeps_links: bool) -> tuple[float, int]:
    """Settle pages of 60 links each; return CPU milliseconds and bytes of the database per page."""
    meta: dict[str, object] = dict.fromkeys(IDENTITY, "") | {"lang": "de", "seeds": []}
    run = open_run(folder, meta, 0.0)
    frontier = SqliteFrontier(run.connection, FrontierRules(keeps_links=keeps_links), now=0.0)
    chance = Random(1)

    def link() -> Link:
        host, path = chance.randrange(pages), chance.randrange(10**9)
        return Link(f"http://www.example-{host}.de/articles/2026/{path}-a-title.html", 0.0)

    batches = [[link() for _ in range(60)] for _ in range(pages)]
    frontier.seed(batches[0], 0.0)
    began = time.process_time()
    for links in batches:
        lease = frontier.next(0.0)
        if lease is None:
            raise SystemExit("nothing was left to settle")
        frontier.admit(lease, Record(PAGE, 0.0, 200, True, True, "de"), links, now=0.0)
    seconds = time.process_time() - began
    run.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    run.connection.close()
    return 1000 * seconds / pages, (folder / "run.db").stat().st_size // pages


def cost(pages: int, rounds: int = 5) -> dict[str, Any]:
    """Return the medians of settling with and without links, measured in turns."""
    figures: dict[bool, list[tuple[float, int]]] = {False: [], True: []}
    for _ in range(rounds):
        for keeps_links, measured in figures.items():
            with tempfile.TemporaryDirectory() as name:
                measured.append(settled(Path(name), pages=pages, keeps_links=keeps_links))
    without, with_links = (
        [statistics.median(column) for column in zip(*some, strict=True)]
        for some in figures.values()
    )
    return {
        "links_a_page": 60,
        "settle_cpu_ms": round(without[0], 3),
        "settle_cpu_ms_with_links": round(with_links[0], 3),
        "bytes_a_page": without[1],
        "bytes_a_page_with_links": with_links[1],
    }


def main() -> None:
    """Crawl, simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lang", default="de")
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--web", type=int, default=1, help="seed of the web")
    arguments = parser.parse_args()
    proxyweb.require()
    for strategy, filter_name in STRATEGIES:
        for connections, settings in CONNECTIONS.items():
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                with proxyweb.serve(folder / "web", seed=arguments.web) as web:
                    told = proxyweb.crawl(
                        web,
                        folder / "run",
                        f"lang={arguments.lang}",
                        f"strategy={strategy}",
                        f"filter={filter_name}",
                        f"tolerance={TOLERANCE}",
                        f"pages={arguments.pages}",
                        f"seeds={','.join(web.seeds[arguments.lang][:3])}",
                        LANGFOCUS_LINKS=True,
                        LANGFOCUS_RETRY_DELAY=0,
                        **settings,
                    )
                result = compared(
                    folder / "run", folder / "graph", arguments.lang, strategy, filter_name
                )
                result["crawl_seconds"] = round(told["seconds"], 1)
            print(
                json.dumps(
                    {
                        "lang": arguments.lang,
                        "strategy": strategy,
                        "filter": filter_name,
                        "connections": connections,
                        **result,
                    }
                ),
                flush=True,
            )
    print(json.dumps(cost(2000)))


if __name__ == "__main__":
    main()
