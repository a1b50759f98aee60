"""The report of simulations on a Web graph (Tamura 2007, Figures 4 to 8)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Final, NamedTuple

import numpy as np

from langfocus.crawler.report.effort import HEAD, MEANING
from langfocus.crawler.report.formatting import Cell, language_name, percent, share_of
from langfocus.crawler.report.page import Chart, Report
from langfocus.crawler.report.table import Table
from langfocus.crawler.simulate.figures import (
    ROUND_NUMBERS,
    CourseFigures,
    GraphFigures,
    SimulatedCrawl,
)
from langfocus.crawler.simulate.graph_report import distance_parts, origin
from langfocus.crawler.simulate.plan import Simulation

_MOST_STEPS = 8
_MOST_DISTANCES = 7
_MOST_NAMED = 3
_DRAWN_DISTANCES = 24

_PAPER = (
    "Figures have the numbers of Tamura, Somboonviwat and Kitsuregawa, A Method for "
    "Language-Specific Web Crawling and Its Evaluation (2007). The simulations have one crawler "
    "and no delays. URLs that were never downloaded stay in the queue, because nothing is known "
    "about them."
)


class _Curve(NamedTuple):
    """A figure of the paper."""

    title: str
    values: Callable[[CourseFigures], Sequence[float]]
    label: str
    caption: str
    is_share: bool = False


_CURVES: Final = (
    _Curve(
        "Figure 5: coverage",
        lambda course: course.coverage,
        "coverage",
        "Share of all relevant pages of the graph that were crawled after n pages.",
        is_share=True,
    ),
    _Curve(
        "Figure 6: harvest rate",
        lambda course: course.harvest,
        "harvest rate",
        "Share of relevant pages among all pages crawled so far.",
        is_share=True,
    ),
    _Curve(
        "Figure 7: queue size",
        lambda course: course.queue,
        "URLs in the queue",
        "URLs that were not downloaded in the recorded Web stay in the queue, so a curve does not "
        "end at 0.",
    ),
    _Curve(
        "Figure 8: servers accessed",
        lambda course: course.servers,
        "servers",
        "Servers from which at least one page was crawled.",
    ),
)


def simulation_report(
    plan: Sequence[Simulation],
    results: Iterable[SimulatedCrawl],
    figures: GraphFigures,
    provenance: Mapping[str, object],
    name: str,
) -> Report:
    """Return the report of simulations on a named graph; crawls are in plan order."""
    crawls = sorted(results, key=lambda crawl: plan.index(crawl.simulation))
    relevant = percent(share_of(figures.relevant_pages, figures.pages))
    return Report(
        title=f"Strategies simulated on {name}",
        lead=f"{_best(crawls)}{len(crawls)} simulated crawls for pages in "
        f"{language_name(figures.target)} on a Web graph of {figures.pages:,} pages, {relevant} of "
        f"them relevant, and {figures.links:,} links. {origin(provenance)}",
        parts=[
            _overview(figures.target, crawls),
            _efforts(crawls),
            _misses(crawls),
            *(_curve(curve, crawls) for curve in _CURVES),
            *distance_parts(figures),
            _PAPER,
        ],
        figures={
            "graph": asdict(figures),
            "simulations": [
                {"name": crawl.simulation.name, **asdict(crawl.figures)} for crawl in crawls
            ],
        },
    )


def _best(crawls: Sequence[SimulatedCrawl]) -> str:
    """Return a sentence with the highest coverage and harvest rate."""
    ends = [(one.simulation.name, one.figures) for one in crawls if one.figures.points]
    if not ends:
        return ""
    coverage, found = _first({name: _last(course.coverage) for name, course in ends})
    harvest, rated = _first({name: _last(course.harvest) for name, course in ends})
    return (
        f"{found} found most: {coverage} of the relevant pages. {rated} had the highest "
        f"harvest rate: {harvest}. "
    )


def _first(shares: Mapping[str, float]) -> tuple[str, str]:
    """Return the largest share as text, and the names of crawls with this share."""
    largest = percent(max(shares.values()))
    names = [name for name, share in shares.items() if percent(share) == largest]
    names[_MOST_NAMED:] = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    *others, last = names
    return largest, f"{', '.join(others)} and {last}" if others else last


def progress_line(result: SimulatedCrawl) -> str:
    """Return a progress line for a finished simulation."""
    course = result.figures
    return (
        f"{result.simulation.name}: {course.pages:,} pages, coverage "
        f"{percent(_last(course.coverage))}, harvest {percent(_last(course.harvest))}, "
        f"{int(_last(course.servers)):,} servers, {result.seconds:.1f} s"
    )


def _misses(crawls: Sequence[SimulatedCrawl]) -> Chart:
    """Return Figure 4, with a table from the first distance with a miss."""
    title = "Figure 4: relevant pages missed, by distance from the seeds"
    misses = {crawl.simulation.name: list(crawl.figures.miss_ratio) for crawl in crawls}
    misses = {name: ratios for name, ratios in misses.items() if ratios}
    most = max(map(len, misses.values()), default=0)
    missed = [at for ratios in misses.values() for at, ratio in enumerate(ratios) if ratio]
    first = max(0, min(min(missed, default=0) - 1, most - _MOST_DISTANCES))
    distances = list(range(first, min(most, first + _MOST_DISTANCES)))
    rows: list[list[Cell]] = [
        [name, *(float(ratios[min(at, len(ratios) - 1)]) for at in distances), float(ratios[-1])]
        for name, ratios in misses.items()
    ]
    return Chart(
        title=title,
        lines={name: list(enumerate(each[:_DRAWN_DISTANCES])) for name, each in misses.items()},
        x_label="distance",
        y_label="miss ratio",
        is_share=True,
        caption="Share of the relevant pages within d links of the seeds that were not crawled "
        "when the crawl ended.",
        table=Table(title, ("within", *map(str, distances), "any"), rows),
    )


def _curve(curve: _Curve, crawls: Sequence[SimulatedCrawl]) -> Chart:
    """Return one of Figures 5 to 8, with a table at round page counts and at the end."""
    most = max((crawl.figures.pages for crawl in crawls), default=0)
    steps = [step for step in ROUND_NUMBERS if step < most][-_MOST_STEPS:]
    as_cell: Callable[[float], Cell] = float if curve.is_share else round
    lines, rows = {}, []
    for crawl in crawls:
        points, values = crawl.figures.points, curve.values(crawl.figures)
        if not points:
            continue
        lines[crawl.simulation.name] = list(zip(points, values, strict=True))
        cells: list[Cell] = [
            as_cell(np.interp(step, points, values)) if points[0] <= step <= points[-1] else ""
            for step in steps
        ]
        rows.append([crawl.simulation.name, *cells, as_cell(values[-1])])
    return Chart(
        title=curve.title,
        lines=lines,
        y_label=curve.label,
        is_share=curve.is_share,
        caption=curve.caption,
        table=Table(curve.title, ("after", *(f"{step:,}" for step in steps), "end"), rows),
    )


def _last(values: Sequence[float]) -> float:
    """Return the last value of a curve; 0 for an empty curve."""
    return values[-1] if values else 0.0


def _overview(lang: str, crawls: Sequence[SimulatedCrawl]) -> Table:
    """Return final figures per strategy."""
    rows = [
        (
            crawl.simulation.name + ("" if course.is_complete else " *"),
            course.pages,
            float(_last(course.coverage)),
            float(_last(course.harvest)),
            int(_last(course.servers)),
            int(max(course.queue, default=0)),
        )
        for crawl in crawls
        for course in [crawl.figures]
    ]
    limits = {
        f"* ended after {crawl.simulation.limit:,} pages"
        for crawl in crawls
        if not crawl.figures.is_complete
    }
    title = f"Crawls for pages in {language_name(lang)} ({lang})"
    head = ("strategy", "pages", "coverage", "harvest", "servers", "largest queue")
    meaning = "coverage: the share of all relevant pages of the graph that was crawled."
    return Table(title, head, rows, notes=[*sorted(limits), meaning])


def _efforts(crawls: Sequence[SimulatedCrawl]) -> Table:
    """Return the downloads for each relevant page."""
    rows = [[crawl.simulation.name, *crawl.figures.effort.cells] for crawl in crawls]
    meaning = f"{MEANING} over as many downloads as the graph has pages."
    reachable = (
        f"Reachable: {max(crawl.figures.effort.reachable for crawl in crawls):,} relevant pages, "
        "those that links from the seeds lead to, at most host_cap of a host if there is a cap."
    )
    title = "Downloads for each relevant page"
    return Table(title, ("strategy", *HEAD), rows, notes=[meaning, reachable])
