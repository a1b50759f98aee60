"""Simulations on a Web graph: their page, tables and JSON (Tamura 2007, Figures 4 to 8)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from crawler.report.formatting import Cell, language_name, percent, share_of, size
from crawler.report.graph import distance_parts, origin
from crawler.report.page import Page
from crawler.report.plots import Plot, Series
from crawler.report.progress import Display
from crawler.report.table import Table
from crawler.simulate.figures import MILESTONES, ROUND_NUMBERS, Cost, CourseFigures, GraphFigures
from crawler.simulate.plan import SimulatedCrawl, SimulationPlan, StrategyCase
from crawler.simulate.repeated import Band, Estimate, band, estimate

VERSION = 1
"""Version of the JSON."""

_MOST_SEEDS = 100
_MOST_STEPS = 8
_MOST_DISTANCES = 7
_DRAWN_DISTANCES = 24
_LEAST_TOP = 0.01
"""Without this lower bound a plot without misses would have no height."""
_MOST_PAGES = 0.7
"""A crawl with a smaller share of the longest crawl's pages is selective; curves are cut after it.
"""
_ROOM = 1.3

_PAPER = (
    "Figures have the numbers of Tamura, Somboonviwat and Kitsuregawa, A Method for "
    "Language-Specific Web Crawling and Its Evaluation (2007). The simulations have one crawler "
    "and no delays. URLs that were never downloaded stay in the queue, because nothing is known "
    "about them."
)


@dataclass(frozen=True, slots=True)
class _Curve:
    """A figure of the paper: the `label` is that of its y axis, the `meaning` is its caption."""

    name: str
    title: str
    values: Callable[[CourseFigures], Sequence[float]]
    label: str
    meaning: str
    is_share: bool = False


_CURVES: Final = (
    _Curve(
        "coverage",
        "Figure 5: coverage",
        lambda course: course.coverage,
        "coverage",
        "Share of all relevant pages of the graph that were crawled after n pages. A mark "
        "shows where a crawl had no more pages to download.",
        is_share=True,
    ),
    _Curve(
        "harvest",
        "Figure 6: harvest rate",
        lambda course: course.harvest,
        "harvest rate",
        "Share of relevant pages among all pages crawled so far.",
        is_share=True,
    ),
    _Curve(
        "queue",
        "Figure 7: queue size",
        lambda course: course.queue,
        "URLs in the queue",
        "Queued URLs. URLs that were not downloaded in the recorded Web stay in the queue, so a "
        "curve does not end at 0.",
    ),
    _Curve(
        "servers",
        "Figure 8: servers accessed",
        lambda course: course.servers,
        "servers",
        "Servers from which at least one page was crawled.",
    ),
)

_MISSES: Final = _Curve(
    "misses",
    "Figure 4: relevant pages missed, by distance from the seeds",
    lambda course: course.miss_ratio,
    "miss ratio",
    "Share of the relevant pages within d links of the seeds that were not crawled when "
    "the crawl ended.",
    is_share=True,
)


@dataclass(frozen=True)
class _Group:
    """The simulations of one case: one for each random state that makes a difference."""

    case: StrategyCase
    results: Sequence[SimulatedCrawl]

    @property
    def name(self) -> str:
        """The name of the case."""
        return self.case.name

    @property
    def courses(self) -> list[CourseFigures]:
        """The figures of all of them."""
        return [result.figures for result in self.results]

    @property
    def longest(self) -> int:
        """The pages of the longest of them."""
        return max(course.pages for course in self.courses)

    @property
    def is_complete(self) -> bool:
        """Whether none of them was ended early."""
        return all(course.is_complete for course in self.courses)

    def band(self, curve: _Curve) -> Band:
        """A curve over pages, or over distances for `_MISSES`."""
        return band(self.courses, curve.values, by_pages=curve is not _MISSES)

    def series(self, curve: _Curve, shown: int) -> Series:
        """The first points of a curve, with a shaded area if there are several simulations."""
        band = self.band(curve)
        area = (band.low[:shown], band.high[:shown]) if len(self.results) > 1 else None
        return Series(self.name, band.x[:shown], band.mean[:shown], band=area)

    def estimate(self, value: Callable[[CourseFigures], float]) -> Estimate:
        """The mean of a value and its confidence interval."""
        return estimate([value(course) for course in self.courses])


def _groups_of(plan: SimulationPlan, results: Iterable[SimulatedCrawl]) -> list[_Group]:
    """The results by case, in the order of the plan; cases without a result are left out."""
    found: dict[StrategyCase, list[SimulatedCrawl]] = {case: [] for case in plan.cases}
    place = {state: at for at, state in enumerate(plan.random_states)}
    for result in sorted(results, key=lambda result: place[result.random_state]):
        found[result.case].append(result)
    return [_Group(case, of_case) for case, of_case in found.items() if of_case]


def _last(values: Sequence[float]) -> float:
    """The value of a curve at its end; 0 if it has no point."""
    return values[-1] if values else 0.0


def simulation_page(
    plan: SimulationPlan,
    results: Iterable[SimulatedCrawl],
    figures: GraphFigures,
    provenance: Mapping[str, object],
    name: str,
) -> Page:
    """Return the page of simulations on a graph with a name, which has all of their tables."""
    groups = _groups_of(plan, results)
    number = sum(len(group.results) for group in groups)
    relevant = percent(share_of(figures.relevant_pages, figures.pages))
    plots = [_misses(groups), *(_curve(curve, groups) for curve in _CURVES)]
    return Page(
        title=f"Strategies simulated on {name}",
        lead=f"{number} simulated crawls for pages in {language_name(plan.lang)} on a Web graph of "
        f"{figures.pages:,} pages, {relevant} of them relevant, and {figures.links:,} links. "
        f"{origin(provenance)}",
        parts=[
            _overview(plan, groups),
            *(plot for plot in plots if plot.series),
            *_cost_tables(groups),
            _links_table(groups),
            *distance_parts(figures),
            _commands_table(plan, groups),
            _PAPER,
        ],
    )


def simulation_json(plan: SimulationPlan, results: Iterable[SimulatedCrawl]) -> dict[str, Any]:
    """All simulations as JSON types, in the order of the plan."""
    groups = _groups_of(plan, results)
    return {
        "version": VERSION,
        "lang": plan.lang,
        "random_states": list(plan.random_states),
        "limit": plan.limit,
        "what_varies": _repetition_note(plan),
        "simulations": [_result_json(result) for group in groups for result in group.results],
    }


def _result_json(result: SimulatedCrawl) -> dict[str, Any]:
    course = result.figures
    return {
        "name": result.case.name,
        **asdict(result.case),
        "arguments": result.case.arguments,
        "random_state": result.random_state,
        "seeds": list(result.seeds[:_MOST_SEEDS]),
        "n_seeds": len(result.seeds),
        "seconds": round(result.seconds, 3),
        "is_complete": course.is_complete,
        "pages": course.pages,
        "relevant_pages": course.relevant_there_are,
        "coverage": _last(course.coverage),
        "harvest_rate": _last(course.harvest),
        "figure_4": [
            {"distance": distance, "missed": missed, "relevant": there_are}
            for distance, (missed, there_are) in enumerate(course.missed)
        ],
        "figures_5_to_8": {
            "pages": list(course.points),
            "relevant": list(course.relevant),
            "queue": list(course.queue),
            "servers": list(course.servers),
            "bytes": None if course.bytes is None else list(course.bytes),
        },
        "costs": [
            {"coverage": coverage, **cost._asdict()} for coverage, cost in course.milestones.items()
        ],
        "links": {
            "stored": course.stored,
            "seen": course.seen,
            "rejected": course.rejected,
            "host_full": course.host_full,
            "dropped_irrelevant": course.dropped_irrelevant,
        },
    }


class Watch:
    """Shows the simulations of a plan on a display; any thread may call it."""

    def __init__(self, plan: SimulationPlan, display: Display) -> None:
        self._display = display
        self._total = len(plan)
        self._is_repeated = len(plan.random_states) > 1
        self._done = 0

    def pages(self, case: StrategyCase, random_state: int, pages: int) -> None:
        """Show the number of pages of a simulation."""
        self._display.update((case, random_state), lambda: f"{case.name}: {pages:,} pages")

    def done(self, result: SimulatedCrawl) -> None:
        """Print the figures of a simulation that ended."""
        self._done = done = self._done + 1
        self._display.remove((result.case, result.random_state))
        course = result.figures
        state = f" (random state {result.random_state})" if self._is_repeated else ""
        self._display.tell(
            f"[{done}/{self._total}] {result.case.name}{state}: {course.pages:,} pages, coverage "
            f"{percent(_last(course.coverage))}, harvest {percent(_last(course.harvest))}, "
            f"{int(_last(course.servers)):,} servers, {result.seconds:.1f} s"
        )
        if self._display.is_terminal:
            self._display.count("simulations", done, self._total)


def _plot(curve: _Curve, series: Sequence[Series], table: Table) -> Plot:
    return Plot(
        name=curve.name,
        title=curve.title,
        series=[one for one in series if one.x],
        y_label=curve.label,
        is_share=curve.is_share,
        width=8.6,
        height=3.4,
        caption=curve.meaning,
        table=table,
    )


def _misses(groups: Sequence[_Group]) -> Plot:
    series = [replace(g.series(_MISSES, _DRAWN_DISTANCES), is_marked=True) for g in groups]
    top = max([_LEAST_TOP, *(value or 0.0 for one in series for value in one.y)])
    plot = _plot(_MISSES, series, _misses_table(groups))
    return replace(plot, x_label="distance", top=1.05 * top)


def _curve(curve: _Curve, groups: Sequence[_Group]) -> Plot:
    most = max((group.longest for group in groups), default=0)
    end = _drawn_until(groups, most)
    series = []
    for group in groups:
        points = group.band(curve).x
        shown = sum(pages <= end for pages in points)
        series.append(replace(group.series(curve, shown), marks_end=shown == len(points)))
    cut = f" Drawn up to {end:,} pages; the table goes to the end." if end < most else ""
    plot = _plot(curve, series, _curve_table(curve, groups, most))
    return replace(plot, caption=curve.meaning + cut)


def _drawn_until(groups: Sequence[_Group], most: int) -> int:
    """The number of pages at which curves end; selective crawls end well before it."""
    selective = [group.longest for group in groups if group.longest < _MOST_PAGES * most]
    if not selective:
        return most
    end = round(_ROOM * max(selective))
    return min(most, round(end, 2 - len(str(end))))


def _overview(plan: SimulationPlan, groups: Sequence[_Group]) -> Table:
    """The figures of each strategy at its end, with a note on the number of simulations."""
    notes = [_repetition_note(plan)] if len(plan.random_states) > 1 else []
    if not all(group.is_complete for group in groups):
        notes.append(f"* ended after {plan.limit:,} pages" if plan.limit else "* ended early")
    return Table(
        f"Crawls for pages in {language_name(plan.lang)} ({plan.lang})",
        ("strategy", "pages", "coverage", "harvest", "servers", "largest queue", "time"),
        [
            (
                group.name + ("" if group.is_complete else " *"),
                _count(group.estimate(lambda course: course.pages)),
                _share(group.estimate(lambda course: _last(course.coverage))),
                _share(group.estimate(lambda course: _last(course.harvest))),
                _count(group.estimate(lambda course: _last(course.servers))),
                _count(group.estimate(lambda course: max(course.queue, default=0))),
                f"{sum(result.seconds for result in group.results) / len(group.results):.1f} s",
            )
            for group in groups
        ],
        notes=notes,
    )


def _repetition_note(plan: SimulationPlan) -> str:
    """A note on the number of simulations of each strategy; empty if each was simulated once."""
    if len(plan.random_states) < 2:
        return ""
    return (
        f"random and cctld were simulated {len(plan.random_states)} times from the same seeds with "
        "other random states; the other strategies do not depend on chance. Curves are means, "
        "shaded areas range from the least to the greatest value; a crawl that has ended keeps its "
        "last value. The figure after ± is half of the 95 % confidence interval of the mean "
        "(Student's t)."
    )


def _misses_table(groups: Sequence[_Group]) -> Table:
    """Figure 4 as a table, from the distance of the first miss."""
    means = {group.name: group.band(_MISSES).mean for group in groups}
    misses = {name: ratios for name, ratios in means.items() if ratios}
    most = max(map(len, misses.values()), default=0)
    missed = [at for ratios in misses.values() for at, ratio in enumerate(ratios) if ratio]
    first = max(0, min(min(missed, default=0) - 1, most - _MOST_DISTANCES))
    distances = list(range(first, min(most, first + _MOST_DISTANCES)))
    rows: list[list[Cell]] = [
        [name, *(ratios[min(at, len(ratios) - 1)] for at in distances), ratios[-1]]
        for name, ratios in misses.items()
    ]
    return Table(_MISSES.title, ("within", *map(str, distances), "any"), rows)


def _curve_table(curve: _Curve, groups: Sequence[_Group], most: int) -> Table:
    """One of Figures 5 to 8 as a table, at some round numbers of pages and at the end."""
    steps = [step for step in ROUND_NUMBERS if step < most][-_MOST_STEPS:]
    shown: Callable[[float], Cell] = float if curve.is_share else round
    rows: list[list[Cell]] = []
    for group in groups:
        band = group.band(curve)
        if band.mean:
            cells: list[Cell] = [
                shown(np.interp(step, band.x, band.mean)) if band.x[0] <= step <= band.x[-1] else ""
                for step in steps
            ]
            rows.append([group.name, *cells, shown(band.mean[-1])])
    return Table(curve.title, ("after", *(f"{step:,}" for step in steps), "end"), rows)


def _cost_tables(groups: Sequence[_Group]) -> list[Table]:
    """Pages, servers and, if sizes are known, bytes that some coverages took."""
    costs: list[tuple[str, Callable[[Cost], int], Callable[[float], Cell]]] = [
        ("Pages crawled", lambda cost: cost.pages, round),
        ("Servers accessed", lambda cost: cost.servers, round),
    ]
    if all(course.bytes is not None for group in groups for course in group.courses):
        costs.append(
            ("Bytes downloaded", lambda cost: cost.bytes or 0, lambda mean: size(round(mean)))
        )
    head = ("coverage", *map(percent, MILESTONES))
    return [
        Table(
            f"{title} to reach a coverage",
            head,
            [
                (group.name, *(_mean_cost(group, share, value, shown) for share in MILESTONES))
                for group in groups
            ],
        )
        for title, value, shown in costs
    ]


def _mean_cost(
    group: _Group, coverage: float, value: Callable[[Cost], int], shown: Callable[[float], Cell]
) -> Cell:
    """The mean cost over all simulations of a case, if all of them reached the coverage."""
    reached = [
        value(course.milestones[coverage])
        for course in group.courses
        if coverage in course.milestones
    ]
    is_whole = len(reached) == len(group.courses)
    return shown(sum(reached) / len(reached)) if is_whole else None


def _links_table(groups: Sequence[_Group]) -> Table:
    """The numbers of links by the crawl's decision, in the first simulation of each case."""
    rows = [
        (
            group.name,
            course.stored,
            course.seen,
            course.rejected,
            course.host_full,
            course.dropped_irrelevant,
        )
        for group in groups
        for course in group.courses[:1]
    ]
    head = ("links", "queued", "seen before", "rejected", "host full", "dropped later")
    return Table("Links by outcome", head, rows)


def _commands_table(plan: SimulationPlan, groups: Sequence[_Group]) -> Table:
    """For each case the command of the same crawl on the Web."""
    rows = [
        (f"langfocus crawl -a lang={plan.lang} {group.case.arguments}",)
        for group in groups
        if group.case.arguments
    ]
    return Table("Commands for the same crawls", ("",), rows)


def _count(one: Estimate) -> str:
    return f"{one.mean:,.0f}{_half(one, '{:,.0f}'.format)}"


def _share(one: Estimate) -> str:
    return f"{percent(one.mean)}{_half(one, lambda half: f'{100 * half:.1f}')}"


def _half(one: Estimate, shown: Callable[[float], str]) -> str:
    return "" if one.high is None or one.high == one.mean else f" ±{shown(one.high - one.mean)}"
