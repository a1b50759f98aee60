"""Cost of generating a Web of the paper's size and of crawling it by each strategy.

    python -m benchmarks.simulate [--scale 1] [--folder FOLDER] [--random-state 0] \
        [--strategies NAME,NAME]

At scale 1 the Web has the size of Tamura 2007: 18,344,127 pages, 39,078,795 vertices, 123,836,342
links, 574,111 servers. One process generates it and writes it to a folder: a temporary one of 1.4
GB, or FOLDER, whose graph is used again if there is one. Another process crawls it by every
strategy of the paper's chapter 5, or by those named (`focus` only then, as it takes longer). Scale
0.055 is a million pages. Seconds include everything that `simulate` does, except
compilation, which is in numba's cache or done before. Peak memory is that of each process,
including the mapped pages of the graph's files. Prints one JSON line, and a table on stderr.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from crawler.simulate.engine import Simulation, simulate
from crawler.simulate.generator import generate
from crawler.simulate.measures import WebMeasures
from crawler.simulate.webgraph import WebGraph
from crawler.strategies.filters import make_filter

_STRATEGIES = [
    ("bfs", "none", "bfs", 0),
    ("soft", "none", "soft", 0),
    ("hard", "hard", "soft", 0),
    *((f"server {t}", "server", "soft", t) for t in (5, 10, 20)),
    *((f"server-conservative {t}", "server-conservative", "soft", t) for t in (5, 10, 20)),
    *((f"directory-conservative {t}", "directory-conservative", "soft", t) for t in (5, 10, 20)),
    ("perfect", "none", "perfect", 0),
]
_FOCUS = ("focus", "none", "focus", 0)


def peak_gb() -> float:
    """Return the peak memory of this process in GB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)


def made(folder: Path, scale: float, random_state: int) -> dict[str, float]:
    """Generate a Web and write it."""
    generate(WebMeasures().scaled(0.001))
    measures = WebMeasures() if scale == 1 else WebMeasures().scaled(scale)
    began, cpu = time.perf_counter(), time.process_time()
    graph = generate(measures, random_state=random_state)
    generated, cpu_s = time.perf_counter(), time.process_time() - cpu
    graph.write(folder)
    return {
        "seconds": round(generated - began, 1),
        "cpu_seconds": round(cpu_s, 1),
        "write_seconds": round(time.perf_counter() - generated, 1),
        "peak_gb": peak_gb(),
    }


def crawled(folder: Path, names: list[str]) -> list[dict[str, object]]:
    """Crawl a Web by each strategy of these names; none: by all of the paper."""
    strategies = [one for one in (*_STRATEGIES, _FOCUS) if one[0] in names] or _STRATEGIES
    warm = generate(WebMeasures().scaled(0.001))
    for ordering in {"soft", "perfect", *(ordering for _, _, ordering, _ in strategies)}:
        simulate(warm, Simulation(filter=make_filter("none"), ordering=ordering))
    began = time.perf_counter()
    graph = WebGraph.open(folder)
    rows: list[dict[str, object]] = [{"opened_seconds": round(time.perf_counter() - began, 1)}]
    is_relevant = graph.relevant()
    for name, filter_name, ordering, tolerance in strategies:
        rule = make_filter(filter_name, tolerance=tolerance)
        began, cpu = time.perf_counter(), time.process_time()
        course = simulate(graph, Simulation(filter=rule, ordering=ordering))
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        hits = is_relevant[course.order]
        first = hits[: round(graph.n_pages * 2 / 18.3)]
        rows.append(
            {
                "strategy": name,
                "seconds": round(seconds, 2),
                "cpu_seconds": round(cpu_s, 2),
                "pages": len(course.order),
                "coverage": round(float(hits.sum() / is_relevant.sum()), 4),
                "harvest": round(float(hits.mean()), 4),
                "harvest_first": round(float(first.mean()), 4),
                "servers": len(np.unique(graph.page_server[course.order])),
                "largest_queue": int(course.queue.max()),
            }
        )
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    rows.append({"peak_gb": peak_gb()})
    return rows


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--random-state", type=int, default=0)
    parser.add_argument("--strategies", default="", help="names of the table, and focus")
    arguments = parser.parse_args()
    names = [name for name in arguments.strategies.split(",") if name]
    known = [name for name, *_ in (*_STRATEGIES, _FOCUS)]
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no strategy {unknown[0]!r}; there are {', '.join(known)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary) / "web"
        result: dict[str, object] = {"benchmark": "simulate", "scale": arguments.scale}
        spawn = multiprocessing.get_context("spawn")
        if not (folder / "graph.json").exists():
            with ProcessPoolExecutor(1, mp_context=spawn) as pool:
                result["generator"] = pool.submit(
                    made, folder, arguments.scale, arguments.random_state
                ).result()
            print(json.dumps(result["generator"]), file=sys.stderr, flush=True)
        with ProcessPoolExecutor(1, mp_context=spawn) as pool:
            result["crawls"] = pool.submit(crawled, folder, names).result()
        print(json.dumps(result))


if __name__ == "__main__":
    main()
