"""Finds the filter, directory depth and tolerance T that serve a language best on a recorded Web.

Builds a graph of a WARC file for each directory depth, then simulates every filter and tolerance.
Prints one JSON line for each, then the table of docs/graphs.md: the pages downloaded until 90 % of
the reachable pages in the language are crawled, the share of the downloaded pages in the language
at that point, and the final coverage of the reachable pages.

    python -m benchmarks.simulate_warc --langs fr,ja
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.proxyweb import SHARED
from crawler.simulate.build import GraphOptions, build
from crawler.simulate.engine import Simulation, simulate
from crawler.simulate.webgraph import WebGraph
from crawler.strategies.filters import FILTERS, Unit, make_filter

ARCHIVE = SHARED / "data" / "docs.warc.gz"
COVERED = 0.9


@dataclass(frozen=True, slots=True)
class Result:
    """Figures of one strategy; `pages_to_90` and `harvest_to_90` are None if it ended before."""

    lang: str
    ordering: str
    filter: str
    tolerance: int | None
    directory_depth: int | None
    pages: int
    harvest_rate: float
    coverage: float
    pages_to_90: int | None
    harvest_to_90: float | None


def strategies(depths: list[int], tolerances: list[int]) -> Iterator[tuple[str, int, int]]:
    """Yield filter, tolerance and directory depth, for each combination that differs."""
    for name in FILTERS:
        rule = make_filter(name)
        for tolerance in tolerances if rule.uses_relevance else tolerances[:1]:
            for depth in depths if rule.unit is Unit.DIRECTORY else depths[:1]:
                yield name, tolerance, depth


def run(graph: WebGraph, lang: str, ordering: str, name: str, tolerance: int, depth: int) -> Result:
    """Simulate one strategy."""
    rule = make_filter(name, tolerance=tolerance, directory_depth=depth)
    course = simulate(graph, Simulation(filter=rule, ordering=ordering, target=lang))
    is_relevant = graph.relevant(lang)
    relevant = np.cumsum(is_relevant[course.order])
    everything = simulate(
        graph, Simulation(filter=make_filter("none"), ordering="bfs", target=lang)
    )
    reachable = int(is_relevant[everything.order].sum())
    wanted = int(np.ceil(COVERED * reachable))
    place = int(np.searchsorted(relevant, wanted))
    is_covered = place < len(relevant)
    return Result(
        lang=lang,
        ordering=ordering,
        filter=name,
        tolerance=tolerance if rule.uses_relevance else None,
        directory_depth=depth if rule.unit is Unit.DIRECTORY else None,
        pages=len(course.order),
        harvest_rate=round(float(relevant[-1]) / len(course.order), 4),
        coverage=round(float(relevant[-1]) / reachable, 4),
        pages_to_90=place + 1 if is_covered else None,
        harvest_to_90=round(float(relevant[place]) / (place + 1), 4) if is_covered else None,
    )


def table(results: list[Result]) -> Iterator[str]:
    """Yield the rows of a Markdown table, best first; strategies with equal results share one."""
    yield "| lang | ordering | filters | pages to 90 % | harvest there | all pages | coverage |"
    yield "|---|---|---|--:|--:|--:|--:|"
    alike: dict[tuple[object, ...], list[Result]] = {}
    for r in results:
        key = (r.lang, r.ordering, r.pages_to_90, r.pages, r.coverage)
        alike.setdefault(key, []).append(r)
    for same in alike.values():
        r = same[0]
        at = "-" if r.pages_to_90 is None else f"{r.pages_to_90:,}"
        rate = "-" if r.harvest_to_90 is None else f"{100 * r.harvest_to_90:.1f} %"
        yield (
            f"| {r.lang} | {r.ordering} | {'; '.join(names(same))} | {at} | {rate} "
            f"| {r.pages:,} | {100 * r.coverage:.1f} % |"
        )


def names(results: list[Result]) -> Iterator[str]:
    """Yield filters with their depths and tolerances."""
    tolerances: dict[tuple[str, int | None], list[int]] = {}
    for r in results:
        listed = tolerances.setdefault((r.filter, r.directory_depth), [])
        listed += [] if r.tolerance is None else [r.tolerance]
    for (name, depth), some in tolerances.items():
        of_depth = "" if depth is None else f" {depth}"
        yield name + of_depth + (f", T {' '.join(map(str, some))}" if some else "")


def main() -> None:
    """Build, simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    parser.add_argument("--langs", default="fr,ja")
    parser.add_argument("--orderings", default="bfs,soft,svm")
    parser.add_argument("--depths", default="1,2,3")
    parser.add_argument("--tolerances", default="5,10,20")
    arguments = parser.parse_args()
    if not arguments.archive.exists():
        sys.exit(f"skipped: {arguments.archive} is not here")
    depths, tolerances = (
        [int(part) for part in text.split(",")] for text in (arguments.depths, arguments.tolerances)
    )
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as name:
        for lang in arguments.langs.split(","):
            for depth in depths:
                folder = Path(name) / f"{lang}-{depth}"
                graph = build(
                    [arguments.archive],
                    folder,
                    GraphOptions(target=lang, directory_depth=depth, orderings=["svm"]),
                )
                for ordering in arguments.orderings.split(","):
                    for filter_name, tolerance, of_depth in strategies(depths, tolerances):
                        if of_depth == depth:
                            results.append(
                                run(graph, lang, ordering, filter_name, tolerance, depth)
                            )
                            print(json.dumps(asdict(results[-1])), flush=True)
                shutil.rmtree(folder)
    results.sort(key=lambda r: (r.lang, r.pages_to_90 is None, r.pages_to_90, -r.coverage))
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
