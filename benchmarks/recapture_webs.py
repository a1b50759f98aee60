"""Coverage estimated from the pages that crawls share, where the coverage is known.

    python -m benchmarks.recapture_webs [--webs 5] [--scale 0.05] [--json FILE]

Webs are generated (`crawler/simulate/generate.py`), so all their relevant pages are known. Groups
of crawls are estimated as `langfocus coverage` does: by different strategies from the same seeds,
and by one strategy from different random seeds, until nothing is queued or until a number of pages.
For comparison as many pages drawn at random as the crawls found, which is what the estimator
assumes. A group is shown with its mean true and mean estimated coverage, of the first crawl and of
all together, and with the webs on which the interval held the truth. Prints a table.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crawler.report.files import json_text, write_whole
from crawler.report.printer import WIDE, Printer
from crawler.report.provenance import provenance
from crawler.report.recapture import recapture
from crawler.report.table import Table
from crawler.simulate.engine import Simulation, simulate
from crawler.simulate.generate import generate
from crawler.simulate.measures import WebMeasures
from crawler.simulate.plan import possible_seeds
from crawler.simulate.webgraph import WebGraph
from crawler.strategies.filters import make_filter

MODULES = (
    "benchmarks/recapture_webs.py",
    "crawler/report/recapture.py",
    "crawler/simulate",
    "crawler/strategies/filters.py",
)

Found = npt.NDArray[np.int64]


def crawled(
    web: WebGraph, name: str, ordering: str = "soft", seed: int = 0, limit: float = 1.0
) -> Found:
    """Return the relevant pages that a crawl finds; seed 0: the seeds of the Web."""
    seeds = None
    if seed:
        pages = possible_seeds(web, web.target)
        seeds = np.random.default_rng(seed).choice(pages, 3, replace=False).astype(np.int32)
    course = simulate(
        web,
        Simulation(
            make_filter(name),
            ordering,
            seeds=seeds,
            random_state=seed,
            limit=round(limit * web.n_pages),
        ),
    )
    return course.order[web.relevant()[course.order]].astype(np.int64)


def drawn(web: WebGraph, seed: int) -> Found:
    """Return relevant pages drawn at random, as many as a crawl to 5 % of the Web finds."""
    number = len(crawled(web, "hard", limit=0.05))
    chance = np.random.default_rng(seed)
    return chance.choice(np.flatnonzero(web.relevant()), number, replace=False).astype(np.int64)


GROUPS: dict[str, Callable[[WebGraph], Sequence[Found]]] = {
    "drawn at random, two": lambda web: [drawn(web, seed) for seed in (1, 2)],
    "soft hard and bfs, to 5 % of the Web": lambda web: [
        crawled(web, "hard", limit=0.05),
        crawled(web, "none", "bfs", limit=0.05),
    ],
    "soft hard and random, to 5 % of the Web": lambda web: [
        crawled(web, "hard", limit=0.05),
        crawled(web, "none", "random", seed=1, limit=0.05),
    ],
    "soft hard from two sets of seeds, to 5 %": lambda web: [
        crawled(web, "hard", seed=seed, limit=0.05) for seed in (1, 2)
    ],
    "soft hard from four sets of seeds, to 5 %": lambda web: [
        crawled(web, "hard", seed=seed, limit=0.05) for seed in (1, 2, 3, 4)
    ],
    "soft hard from two sets of seeds, to the end": lambda web: [
        crawled(web, "hard", seed=seed) for seed in (1, 2)
    ],
}


def row(name: str, webs: Sequence[WebGraph]) -> tuple[str, ...]:
    """Return the mean true and estimated coverage of a group of crawls over the Webs."""
    figures, held = [], 0
    for web in webs:
        samples = GROUPS[name](web)
        there_are = int(web.relevant().sum())
        found = recapture(samples)
        first, every = found.coverage(found.found[0]), found.coverage(found.together)
        assert first is not None
        assert every is not None
        assert found.low is not None
        assert found.high is not None
        figures.append((found.found[0] / there_are, first[0], found.together / there_are, every[0]))
        held += found.low <= there_are <= found.high
    means = (f"{100 * mean:.1f} %" for mean in np.mean(figures, axis=0))
    return (name, *means, f"{held} of {len(webs)}")


def main() -> int:
    """Print the table and write the file."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--webs", type=int, default=5)
    parser.add_argument("--scale", type=float, default=0.05)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    measures = WebMeasures().scaled(given.scale)
    webs = [generate(measures, random_state=state) for state in range(given.webs)]
    head = ("crawls", "first: true", "estimated", "all: true", "estimated", "interval holds")
    table = Table(
        f"Coverage, true and estimated, on {given.webs} generated Webs of {measures.pages:,} pages",
        head,
        [row(name, webs) for name in GROUPS],
    )
    Printer(width=WIDE).table(table)
    if given.json:
        command = ["python", "-m", "benchmarks.recapture_webs", *sys.argv[1:]]
        measured = provenance(command, [], date.today(), modules=MODULES)
        content = {"measured": measured, "tables": [table.as_json("recapture-webs")]}
        print(write_whole(given.json, json_text(content)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
