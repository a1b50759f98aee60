"""The page of simulations on a Web graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawler.report.formatting import language_name, percent, share_of
from crawler.report.graph_page import distance_figures, origin
from crawler.report.plots import Plot, PlotAxes, Series, line_plot
from crawler.report.simulation_groups import CURVES, MISSES, Curve, Group, groups_of, longest
from crawler.report.simulation_tables import (
    commands_table,
    cost_tables,
    curve_table,
    links_table,
    misses_table,
    overview,
)
from crawler.report.templates import render
from crawler.simulate.figures import GraphFigures
from crawler.simulate.plan import SimulatedCrawl, SimulationPlan

_LEAST_TOP = 0.01
_MOST_PAGES = 0.7
"""A crawl with a smaller share of the longest crawl's pages is selective; curves are cut after it.
"""
_ROOM = 1.3
_MOST_DISTANCES = 24
_WIDTH, _HEIGHT = 8.6, 3.4

_PAPER = (
    "Figures have the numbers of Tamura, Somboonviwat and Kitsuregawa, A Method for "
    "Language-Specific Web Crawling and Its Evaluation (2007). The simulations have one crawler "
    "and no delays. URLs that were never downloaded stay in the queue, because nothing is known "
    "about them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedGraph:
    """The graph of some simulations: its name, its source and its figures."""

    name: str
    provenance: Mapping[str, object]
    figures: GraphFigures


def simulation_page(
    graph: SimulatedGraph, plan: SimulationPlan, results: Sequence[SimulatedCrawl]
) -> str:
    """Simulations on a graph as the text of an HTML file."""
    groups = groups_of(plan, results)
    title = f"Strategies simulated on {graph.name}"
    return render(
        "simulation.html",
        title=title,
        heading=title,
        lead=_lead(graph, plan, len(results)),
        overview=overview(plan, groups),
        plots=[plot for plot in (_misses(groups), *_curves(groups)) if plot],
        tables=[
            *cost_tables(groups),
            links_table(groups),
            commands_table(plan, groups),
        ],
        paper=_PAPER,
        **distance_figures(graph.figures),
    )


def _lead(graph: SimulatedGraph, plan: SimulationPlan, number: int) -> str:
    figures = graph.figures
    relevant = percent(share_of(figures.relevant_pages, figures.pages))
    return (
        f"{number} simulated crawls for pages in {language_name(plan.lang)} on a Web graph of "
        f"{figures.pages:,} pages, {relevant} of them relevant, and {figures.links:,} links. "
        f"{origin(graph.provenance)}"
    )


def _misses(groups: Sequence[Group]) -> Plot | None:
    series = []
    for group in groups:
        band = group.band(MISSES)
        end = _MOST_DISTANCES
        shade = (band.low[:end], band.high[:end]) if len(group.results) > 1 else None
        series.append(Series(group.case.name, band.x[:end], band.mean[:end], True, band=shade))
    # Without this lower bound a plot without misses would have no height.
    top = max([_LEAST_TOP, *(value for one in series for value in one.y if value is not None)])
    axes = PlotAxes(
        x_label="distance",
        y_label=MISSES.label,
        is_share=True,
        top=1.05 * top,
        width=_WIDTH,
        height=_HEIGHT,
    )
    series = [one for one in series if one.x]
    if not series:
        return None
    return Plot(
        title=MISSES.title,
        svg=line_plot(MISSES.name, MISSES.title, series, axes),
        caption=MISSES.meaning,
        table=misses_table(groups),
    )


def _curves(groups: Sequence[Group]) -> list[Plot | None]:
    return [_curve(curve, groups) for curve in CURVES]


def _curve(curve: Curve, groups: Sequence[Group]) -> Plot | None:
    most = longest(groups)
    end = _drawn_until(groups, most)
    series = [one for one in (_series(curve, group, end) for group in groups) if one.x]
    if not series:
        return None
    axes = PlotAxes(y_label=curve.label, is_share=curve.is_share, width=_WIDTH, height=_HEIGHT)
    cut = f" Drawn up to {end:,} pages; the table goes to the end." if end < most else ""
    return Plot(
        title=curve.title,
        svg=line_plot(curve.name, curve.title, series, axes),
        caption=curve.meaning + cut,
        table=curve_table(curve, groups),
    )


def _series(curve: Curve, group: Group, end: int) -> Series:
    band = group.band(curve)
    shown = sum(pages <= end for pages in band.x)
    return Series(
        group.case.name,
        band.x[:shown],
        band.mean[:shown],
        marks_end=shown == len(band.x),
        band=(band.low[:shown], band.high[:shown]) if len(group.results) > 1 else None,
    )


def _drawn_until(groups: Sequence[Group], most: int) -> int:
    """The number of pages at which curves end; selective crawls end well before it."""
    ends = [longest([group]) for group in groups]
    selective = [pages for pages in ends if pages < _MOST_PAGES * most]
    if not selective:
        return most
    end = round(_ROOM * max(selective))
    return min(most, round(end, 2 - len(str(end))))
