"""The tables of simulations: an overview, Figures 4 to 8 of Tamura 2007, costs and links."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from crawler.report.formatting import NOTHING, language_name, percent, size
from crawler.report.simulation_groups import CURVES, MISSES, Curve, Group, groups_of, last, longest
from crawler.report.table import Table
from crawler.simulate.figures import MILESTONES, ROUND_NUMBERS, Cost, CourseFigures
from crawler.simulate.plan import SimulatedCrawl, SimulationPlan
from crawler.simulate.repeated import Band, Estimate

_MOST_STEPS = 8
_MOST_DISTANCES = 7


def simulation_tables(plan: SimulationPlan, results: Iterable[SimulatedCrawl]) -> list[Table]:
    """All tables of some simulations."""
    groups = groups_of(plan, results)
    return [
        overview(plan, groups),
        misses_table(groups),
        *(curve_table(curve, groups) for curve in CURVES),
        *cost_tables(groups),
        links_table(groups),
    ]


def overview(plan: SimulationPlan, groups: Sequence[Group]) -> Table:
    """The figures of each strategy at its end, with a note on the number of simulations."""
    notes = [repetition_note(plan)] if len(plan.random_states) > 1 else []
    if any(not _is_complete(group) for group in groups):
        notes.append(f"* ended after {plan.limit:,} pages" if plan.limit else "* ended early")
    return Table(
        f"Crawls for pages in {language_name(plan.lang)} ({plan.lang})",
        ("strategy", "pages", "coverage", "harvest", "servers", "largest queue", "time"),
        [_overview_row(group) for group in groups],
        notes=notes,
    )


def _overview_row(group: Group) -> tuple[str, ...]:
    seconds = sum(result.seconds for result in group.results) / len(group.results)
    return (
        group.case.name + ("" if _is_complete(group) else " *"),
        _count(group.estimate(lambda course: course.pages)),
        _share(group.estimate(lambda course: last(course.coverage))),
        _share(group.estimate(lambda course: last(course.harvest))),
        _count(group.estimate(lambda course: last(course.servers))),
        _count(group.estimate(lambda course: max(course.queue, default=0))),
        f"{seconds:.1f} s",
    )


def _is_complete(group: Group) -> bool:
    return all(course.is_complete for course in group.courses)


def repetition_note(plan: SimulationPlan) -> str:
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


def outcome(result: SimulatedCrawl, *, is_repeated: bool = False) -> str:
    """One line about a simulation that has just ended; with its random state if `is_repeated`."""
    course = result.figures
    state = f" (random state {result.random_state})" if is_repeated else ""
    coverage, harvest = percent(last(course.coverage)), percent(last(course.harvest))
    return (
        f"{result.case.name}{state}: {course.pages:,} pages, coverage {coverage}, harvest "
        f"{harvest}, {int(last(course.servers)):,} servers, {result.seconds:.1f} s"
    )


def misses_table(groups: Sequence[Group]) -> Table:
    """Figure 4 as a table, from the distance of the first miss."""
    means = {group.case.name: group.band(MISSES).mean for group in groups}
    misses = {name: ratios for name, ratios in means.items() if ratios}
    most = max(map(len, misses.values()), default=0)
    missed = [at for ratios in misses.values() for at, ratio in enumerate(ratios) if ratio]
    first = max(0, min(min(missed, default=0) - 1, most - _MOST_DISTANCES))
    distances = list(range(first, min(most, first + _MOST_DISTANCES)))
    rows = [
        (
            name,
            *(percent(ratios[min(at, len(ratios) - 1)]) for at in distances),
            percent(ratios[-1]),
        )
        for name, ratios in misses.items()
    ]
    return Table(MISSES.title, ("within", *map(str, distances), "any"), rows)


def curve_table(curve: Curve, groups: Sequence[Group]) -> Table:
    """One of Figures 5 to 8 as a table, at some numbers of pages and at the end."""
    steps = _steps(longest(groups))
    shown = percent if curve.is_share else lambda value: f"{value:,.0f}"
    rows = []
    for group in groups:
        band = group.band(curve)
        if band.mean:
            cells = ["" if value is None else shown(value) for value in _at(band, steps)]
            rows.append((group.case.name, *cells, shown(band.mean[-1])))
    return Table(curve.title, ("after", *(f"{step:,}" for step in steps), "end"), rows)


def cost_tables(groups: Sequence[Group]) -> list[Table]:
    """Pages, servers and, if sizes are known, bytes that some coverages took."""
    pages, servers = "Pages crawled to reach a coverage", "Servers accessed to reach a coverage"
    tables = [
        _cost_table(pages, groups, lambda cost: cost.pages),
        _cost_table(servers, groups, lambda cost: cost.servers),
    ]
    if all(course.bytes is not None for group in groups for course in group.courses):
        title = "Bytes downloaded to reach a coverage"
        tables.append(_cost_table(title, groups, lambda cost: cost.bytes or 0, _bytes))
    return tables


def _cost_table(
    title: str,
    groups: Sequence[Group],
    value: Callable[[Cost], int],
    shown: Callable[[float], str] = "{:,.0f}".format,
) -> Table:
    rows = [
        (group.case.name, *(_mean_cost(group, share, value, shown) for share in MILESTONES))
        for group in groups
    ]
    return Table(title, ("coverage", *map(percent, MILESTONES)), rows)


def _mean_cost(
    group: Group, coverage: float, value: Callable[[Cost], int], shown: Callable[[float], str]
) -> str:
    """The mean cost over all simulations of a case, if all of them reached the coverage."""
    reached = [
        value(course.milestones[coverage])
        for course in group.courses
        if coverage in course.milestones
    ]
    is_whole = len(reached) == len(group.courses)
    return shown(sum(reached) / len(reached)) if is_whole else NOTHING


def links_table(groups: Sequence[Group]) -> Table:
    """The numbers of links by the crawl's decision, in the first simulation of each case."""
    rows = [(group.case.name, *_links(group.courses[0])) for group in groups]
    head = ("links", "queued", "seen before", "rejected", "host full", "dropped later")
    return Table("Links by outcome", head, rows)


def _links(course: CourseFigures) -> list[str]:
    counts = (course.stored, course.seen, course.rejected, course.host_full)
    return [f"{count:,}" for count in (*counts, course.dropped_irrelevant)]


def commands_table(plan: SimulationPlan, groups: Sequence[Group]) -> Table:
    """For each case the command of the same crawl on the Web."""
    rows = [
        (group.case.name, f"langfocus crawl -a lang={plan.lang} {group.case.arguments}")
        for group in groups
        if group.case.arguments
    ]
    return Table("Commands for the same crawls", ("", ""), rows, text_columns=2)


def _at(band: Band, steps: Sequence[int]) -> list[float | None]:
    """The curve after some numbers of pages; None outside of the curve."""
    return [
        float(np.interp(step, band.x, band.mean)) if band.x[0] <= step <= band.x[-1] else None
        for step in steps
    ]


def _steps(most: int) -> list[int]:
    """Round numbers of pages, the greatest ones below `most`."""
    return [step for step in ROUND_NUMBERS if step < most][-_MOST_STEPS:]


def _count(one: Estimate) -> str:
    return f"{one.mean:,.0f}{_half(one, '{:,.0f}'.format)}"


def _share(one: Estimate) -> str:
    return f"{percent(one.mean)}{_half(one, lambda half: f'{100 * half:.1f}')}"


def _bytes(mean: float) -> str:
    return size(round(mean))


def _half(one: Estimate, shown: Callable[[float], str]) -> str:
    return "" if one.high is None or one.high == one.mean else f" ±{shown(one.high - one.mean)}"
