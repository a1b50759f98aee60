"""Cost of generating a Web of the paper's size and of crawling it by each strategy.

    python -m benchmarks.simulate [--scale 1] [--strategies NAME,NAME]
    python -m benchmarks.simulate --scale 0.02 --strategies soft,focus --shards 1,4,16,64,256,16x1

With `--shards` each strategy crawls `--pages` with so many shards, 16x1 with one choice instead of
two, each without rests and with `--rest`, and the harvest rate after some numbers of pages is told.

At scale 1 the Web has the size of Tamura 2007: 18,344,127 pages, 39,078,795 vertices, 123,836,342
links, 574,111 servers; 0.055 is a million pages. It is generated, written to a temporary folder
(1.4 GB), and crawled by strategies of the paper's chapter 5, or by `focus`. Seconds are of
processor time, without compilation. Peak memory is that of the process so far, including the mapped
pages of the graph's files. Prints one JSON line for each.
"""

import argparse
import json
import resource
import tempfile
import time
from dataclasses import replace
from typing import Any, Final

from langfocus.crawler.simulate.engine import simulate
from langfocus.crawler.simulate.generator import generate
from langfocus.crawler.simulate.measures import WebMeasures
from langfocus.crawler.simulate.plan import Simulation
from langfocus.crawler.simulate.webgraph import WebGraph
from langfocus.crawler.strategies.filters import make_filter

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
POINTS: Final = (1000, 4000, 20_000)


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--strategies", default="bfs,soft,hard,server 10,perfect")
    parser.add_argument("--shards", default="")
    parser.add_argument("--rest", type=int, default=500)
    parser.add_argument("--pages", type=int, default=20_000)
    given = parser.parse_args()
    warm = generate(WebMeasures(0.001))
    measures = WebMeasures(given.scale)
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        web = generate(measures)
        tell(began, generated="a Web", pages=web.n_pages)
        web.write(folder)
        del web
        graph = WebGraph.open(folder)
        for name in given.strategies.split(","):
            ordering, rule, tolerance = STRATEGIES[name]
            crawl = Simulation(filter=make_filter(rule, tolerance=tolerance), ordering=ordering)
            if given.shards:
                compare(graph, replace(crawl, limit=given.pages), given.shards, given.rest)
                continue
            simulate(warm, crawl)
            began = time.process_time()
            tell(began, strategy=name, pages=len(simulate(graph, crawl).order))


def compare(graph: WebGraph, crawl: Simulation, shards: str, rest: int) -> None:
    """Print the harvest rates of a crawl by the number of shards."""
    is_relevant = graph.relevant()
    for rests in (0, rest):
        for number, _, choices in (each.partition("x") for each in shards.split(",")):
            plan: dict[str, Any] = {
                "shards": int(number),
                "choices": int(choices or 2),
                "rest": rests,
            }
            order = simulate(graph, replace(crawl, random_state=1, **plan)).order
            harvest = {n: round(float(is_relevant[order[:n]].mean()), 3) for n in POINTS}
            print(json.dumps({"strategy": crawl.ordering, **plan, "harvest": harvest}), flush=True)


def tell(began: float, **facts: object) -> None:
    """Print facts, the processor time since `began`, and the peak memory so far."""
    cpu_s = round(time.process_time() - began, 2)
    peak_gb = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)
    print(json.dumps({**facts, "cpu_seconds": cpu_s, "peak_gb": peak_gb}), flush=True)


if __name__ == "__main__":
    main()
