"""What simulations found, as tables and as JSON: Figures 4 to 8 of Tamura 2007 and advice."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from crawler.report.formatting import NOTHING, language_name, percent, size
from crawler.report.sheets import Sheet
from crawler.simulate.advice import FEW, Advice, RatedStrategy
from crawler.simulate.figures import MILESTONES, ROUND_NUMBERS, CourseFigures
from crawler.simulate.plan import SimulatedCrawl, SimulationPlan, StrategyCase
from crawler.simulate.repeated import Band, Estimate, band, estimate

VERSION = 1
"""Of the JSON."""

_MOST_STEPS = 8
_MOST_DISTANCES = 7
_MOST_NAMES = 4

Values = Callable[[CourseFigures], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure of the paper: its title, what is drawn, what the axis says and what it means."""

    name: str
    title: str
    values: Values
    label: str
    meaning: str
    is_share: bool = False


CURVES = (
    Curve(
        "coverage",
        "Figure 5: coverage",
        lambda course: course.coverage,
        "coverage",
        "Share of all relevant pages of the graph that were crawled after so many pages. The mark "
        "is where a crawl found nothing more to fetch.",
        is_share=True,
    ),
    Curve(
        "harvest",
        "Figure 6: harvest rate",
        lambda course: course.harvest,
        "harvest rate",
        "Share of relevant pages among all pages crawled until then.",
        is_share=True,
    ),
    Curve(
        "queue",
        "Figure 7: queue size",
        lambda course: course.queue,
        "URLs in the queue",
        "URLs that wait. Those that were never fetched in the recorded Web stay for ever, so the "
        "end of a curve is not 0.",
    ),
    Curve(
        "servers",
        "Figure 8: servers accessed",
        lambda course: course.servers,
        "servers",
        "Different servers from which at least one page was crawled.",
    ),
)

MISSES = Curve(
    "misses",
    "Figure 4: relevant pages missed, by distance from the seeds",
    lambda course: course.miss_ratio,
    "miss ratio",
    "Of the relevant pages within so many links from the seeds, the share that was not crawled "
    "when the crawl had ended.",
    is_share=True,
)


@dataclass(frozen=True)
class Group:
    """The simulations of one case: one for each random state that made a difference."""

    case: StrategyCase
    results: Sequence[SimulatedCrawl]

    @property
    def courses(self) -> list[CourseFigures]:
        """The figures of all of them."""
        return [result.figures for result in self.results]

    def band(self, curve: Curve) -> Band:
        """A curve over pages, or over distances for `MISSES`."""
        return band(self.courses, curve.values, by_pages=curve is not MISSES)

    def estimate(self, value: Callable[[CourseFigures], float]) -> Estimate:
        """The mean of a value and how sure it is."""
        return estimate([value(course) for course in self.courses])


def groups(plan: SimulationPlan, results: Iterable[SimulatedCrawl]) -> list[Group]:
    """The results by case, in the order of the plan; cases without one are left out."""
    found: dict[StrategyCase, list[SimulatedCrawl]] = {}
    for result in results:
        found.setdefault(result.case, []).append(result)
    place = {state: at for at, state in enumerate(plan.random_states)}
    return [
        Group(case, sorted(found[case], key=lambda result: place[result.random_state]))
        for case in plan.cases
        if case in found
    ]


def what_varies(plan: SimulationPlan) -> str:
    """A sentence about repeated simulations; empty where each is done once."""
    if len(plan.random_states) < 2:
        return ""
    number, seeds = len(plan.random_states), plan.drawn_seeds
    if seeds:
        what = (
            f"Each strategy was simulated {number} times: from the seeds of the graph, then "
            f"{number - 1} times from {seeds} drawn relevant pages; random and cctld make "
            "other draws each time."
        )
    else:
        what = (
            f"random and cctld were simulated {number} times from the same seeds with other "
            "draws; nothing else depends on chance."
        )
    return (
        f"{what} Curves are means, shades reach from the least to the greatest; a crawl that has "
        "ended stays where it was. What follows +- is half of the mean's 95 % confidence interval "
        "(Student's t)."
    )


def simulation_sheets(plan: SimulationPlan, results: Iterable[SimulatedCrawl]) -> list[Sheet]:
    """The tables of simulations: an overview, Figures 4 to 8, costs, links."""
    found = groups(plan, results)
    note = what_varies(plan)
    return [
        overview(plan, found, [note] if note else []),
        misses_sheet(found),
        *(curve_sheet(curve, found) for curve in CURVES),
        costs_sheet("Pages crawled until a coverage was reached", found, lambda cost: cost[0]),
        costs_sheet("Servers accessed until then", found, lambda cost: cost[1]),
        *_bytes_sheets(found),
        links_sheet(found),
    ]


def overview(plan: SimulationPlan, found: Sequence[Group], notes: Sequence[str] = ()) -> Sheet:
    """What came of each strategy when it had ended."""
    rows = []
    for group in found:
        ended = all(course.is_complete for course in group.courses)
        seconds = sum(result.seconds for result in group.results) / len(group.results)
        rows.append(
            (
                group.case.name + ("" if ended else " *"),
                _count(group.estimate(lambda course: course.pages)),
                _share(group.estimate(lambda course: _last(course.coverage))),
                _share(group.estimate(lambda course: _last(course.harvest))),
                _count(group.estimate(lambda course: _last(course.servers))),
                _count(group.estimate(lambda course: max(course.queue, default=0))),
                f"{seconds:.1f} s",
            )
        )
    head = ("strategy", "pages", "coverage", "harvest", "servers", "largest queue", "took")
    if any(row[0].endswith(" *") for row in rows):
        notes = [
            *notes,
            f"* was ended after {plan.limit:,} pages" if plan.limit else "* had an end",
        ]
    title = f"Crawls for pages in {language_name(plan.lang)} ({plan.lang})"
    return Sheet(title, head, rows, notes=notes)


def outcome(result: SimulatedCrawl, *, is_repeated: bool = False) -> str:
    """One line about a simulation that was just done; its random state where there are several."""
    course = result.figures
    state = f" (random state {result.random_state})" if is_repeated else ""
    coverage, harvest = percent(_last(course.coverage)), percent(_last(course.harvest))
    return (
        f"{result.case.name}{state}: {course.pages:,} pages, coverage {coverage}, harvest "
        f"{harvest}, {int(_last(course.servers)):,} servers, {result.seconds:.1f} s"
    )


def misses_sheet(found: Sequence[Group]) -> Sheet:
    """Figure 4 as numbers."""
    bands = [(group.case.name, group.band(MISSES).mean) for group in found]
    bands = [(name, ratios) for name, ratios in bands if ratios]
    most = max((len(ratios) for _, ratios in bands), default=0)
    # Nearer than the first miss there is nothing to see.
    near = [at for _, ratios in bands for at, ratio in enumerate(ratios) if ratio]
    first = max(0, min(min(near, default=0) - 1, most - _MOST_DISTANCES))
    distances = list(range(first, min(most, first + _MOST_DISTANCES)))
    rows = [
        (
            name,
            *(percent(ratios[min(at, len(ratios) - 1)]) for at in distances),
            percent(ratios[-1]),
        )
        for name, ratios in bands
    ]
    return Sheet(MISSES.title, ("within", *map(str, distances), "any"), rows)


def curve_sheet(curve: Curve, found: Sequence[Group]) -> Sheet:
    """One of Figures 5 to 8 as numbers, at some numbers of pages and at the end."""
    most = max((course.pages for group in found for course in group.courses), default=0)
    steps = _steps(most)
    shown = percent if curve.is_share else lambda value: f"{value:,.0f}"
    rows = []
    for group in found:
        one = group.band(curve)
        if one.mean:
            cells = [shown(value) if value is not None else "" for value in _at(one, steps)]
            rows.append((group.case.name, *cells, shown(one.mean[-1])))
    return Sheet(curve.title, ("after", *(f"{step:,}" for step in steps), "end"), rows)


def costs_sheet(
    title: str,
    found: Sequence[Group],
    cost: Callable[[tuple[int, int, int | None]], float | None],
    shown: Callable[[float], str] = lambda value: f"{value:,.0f}",
) -> Sheet:
    """What it took to reach some coverages, on average; nothing where not all crawls did."""
    rows = []
    for group in found:
        cells = []
        for coverage in MILESTONES:
            reached = [c.milestones[coverage] for c in group.courses if coverage in c.milestones]
            values = [value for one in reached if (value := cost(one)) is not None]
            is_whole = len(values) == len(group.courses)
            cells.append(shown(sum(values) / len(values)) if is_whole else NOTHING)
        rows.append((group.case.name, *cells))
    return Sheet(title, ("coverage", *map(percent, MILESTONES)), rows)


def _bytes_sheets(found: Sequence[Group]) -> list[Sheet]:
    if any(course.bytes is None for group in found for course in group.courses):
        return []
    title = "Bytes downloaded until then"
    return [costs_sheet(title, found, lambda cost: cost[2], lambda value: size(round(value)))]


def links_sheet(found: Sequence[Group]) -> Sheet:
    """What became of links, in the first simulation of each case."""
    rows = [
        (
            group.case.name,
            *(
                f"{number:,}"
                for number in (
                    group.courses[0].stored,
                    group.courses[0].seen,
                    group.courses[0].rejected,
                    group.courses[0].host_full,
                    group.courses[0].dropped_irrelevant,
                )
            ),
        )
        for group in found
    ]
    head = ("links", "queued", "seen before", "rejected", "host full", "dropped later")
    return Sheet("What became of links", head, rows)


def arguments(plan: SimulationPlan, results: Iterable[SimulatedCrawl]) -> list[tuple[str, str]]:
    """The name of each case and the command that crawls as it was simulated."""
    return [
        (group.case.name, f"scrapy crawl langfocus -a lang={plan.lang} {group.case.arguments}")
        for group in groups(plan, results)
        if group.case.arguments
    ]


def _at(one: Band, steps: Sequence[int]) -> list[float | None]:
    """The curve after some numbers of pages; None where it has ended or not begun."""
    from numpy import interp

    return [
        float(interp(step, one.x, one.mean)) if one.x[0] <= step <= one.x[-1] else None
        for step in steps
    ]


def _steps(most: int) -> list[int]:
    """Round numbers of pages, the greatest below `most`."""
    return [step for step in ROUND_NUMBERS if step < most][-_MOST_STEPS:]


def _last(values: Sequence[float]) -> float:
    return values[-1] if values else 0.0


def _count(one: Estimate) -> str:
    return f"{one.mean:,.0f}{_half(one, lambda half: f'{half:,.0f}')}"


def _share(one: Estimate) -> str:
    return f"{percent(one.mean)}{_half(one, lambda half: f'{100 * half:.1f}')}"


def _half(one: Estimate, shown: Callable[[float], str]) -> str:
    return "" if one.high is None or one.high == one.mean else f" +-{shown(one.high - one.mean)}"


# Advice


def advice_lines(advice: Advice) -> list[str]:
    """What is advised, in sentences, with how sure it is and what nobody knows."""
    lang, wanted = language_name(advice.lang), percent(advice.coverage)
    there_are = f"the {advice.reachable_pages:,} pages in {lang} to which the graph's seeds lead"
    if advice.reachable_pages < advice.relevant_pages:
        there_are += f" (of {advice.relevant_pages:,} in the graph)"
    best = advice.best
    if best is None:
        most = percent(advice.reached_by)
        lines = [f"No strategy reached {wanted} of {there_are}; the most was {most}."]
    else:
        lines = [
            f"{best.case.name} reaches {wanted} of {there_are} with the fewest {advice.least}: "
            f"{cost_text(advice, best.cost)}.",
            f"To crawl so: -a lang={advice.lang} {best.case.arguments}",
            f"Nothing was cheaper in {percent(best.best)} of {advice.resamples:,} resamples; it "
            f"was at most 5 % dearer than the cheapest in {percent(best.close)}, and reached the "
            f"coverage in {percent(best.reached)} of them.",
        ]
        if advice.as_cheap:
            names = [choice.case.name for choice in advice.as_cheap]
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            names_text = ", ".join(names[:_MOST_NAMES])
            lines.append(f"As cheap from the graph's seeds: {names_text}{more}.")
        safest = advice.safest
        if safest is not None and safest.reached > best.reached:
            lines.append(
                f"Safer: {safest.case.name} reached it in {percent(safest.reached)}, for "
                f"{cost_text(advice, safest.middle)} (median)."
            )
    return [*lines, method_text(advice), unknown_text(advice)]


def method_text(advice: Advice) -> str:
    """How the shares came about."""
    text = (
        f"Resamples: {advice.seed_sets} sets of seeds (the graph's own, the others relevant pages "
        "drawn at random), each measured on servers drawn with replacement; all strategies on the "
        "same ones."
    )
    if advice.relevant_servers < FEW:
        text += (
            f" The graph has {advice.relevant_servers} relevant servers only, too few to say from "
            "them what other servers would do: trust the shares little."
        )
    return text


def unknown_text(advice: Advice) -> str:
    """What the graph cannot tell."""
    if not advice.unfetched_urls:
        return "Every URL of the graph was fetched; what it does not link to, it cannot know."
    return (
        f"Unknown: {advice.unfetched_urls:,} URLs are linked but were never fetched. Were all of "
        f"them relevant, {percent(advice.coverage)} of what is known and can be reached would be "
        f"{percent(advice.least_coverage)} of what there is."
    )


def advice_sheet(advice: Advice) -> Sheet:
    """All strategies that were compared, the cheapest first."""
    rows = [_choice_row(advice, choice) for choice in advice.choices]
    head = ("strategy", advice.least, "5 %", "median", "95 %", "reached", "cheapest", "within 5 %")
    return Sheet(f"To reach a coverage of {percent(advice.coverage)}", head, rows)


def _choice_row(advice: Advice, choice: RatedStrategy) -> tuple[str, ...]:
    costs = (choice.cost, choice.low, choice.middle, choice.high)
    shares = (choice.reached, choice.best, choice.close)
    return (
        choice.case.name,
        *(cost_text(advice, cost) for cost in costs),
        *(percent(share) for share in shares),
    )


def cost_text(advice: Advice, cost: float | None) -> str:
    """A cost as it is written."""
    if cost is None:
        return "never"
    return size(round(cost)) if advice.least == "bytes" else f"{cost:,.0f}"


# JSON


def simulation_json(plan: SimulationPlan, results: Iterable[SimulatedCrawl]) -> dict[str, Any]:
    """All simulations as plain values, in the order of the plan."""
    return {
        "version": VERSION,
        "lang": plan.lang,
        "random_states": list(plan.random_states),
        "drawn_seeds": plan.drawn_seeds,
        "limit": plan.limit,
        "what_varies": what_varies(plan),
        "simulations": [
            _result_json(result) for group in groups(plan, results) for result in group.results
        ],
    }


def _result_json(result: SimulatedCrawl) -> dict[str, Any]:
    course = result.figures
    return {
        "name": result.case.name,
        **asdict(result.case),
        "arguments": result.case.arguments,
        "random_state": result.random_state,
        "seeds": list(result.seeds[:100]),
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
            {"coverage": coverage, "pages": pages, "servers": servers, "bytes": n_bytes}
            for coverage, (pages, servers, n_bytes) in course.milestones.items()
        ],
        "links": {
            "stored": course.stored,
            "seen": course.seen,
            "rejected": course.rejected,
            "host_full": course.host_full,
            "dropped_irrelevant": course.dropped_irrelevant,
        },
    }


def advice_json(advice: Advice) -> dict[str, Any]:
    """Advice as plain values."""
    content = asdict(advice)
    for choice, row in zip(advice.choices, content["choices"], strict=True):
        row["name"], row["arguments"] = choice.case.name, choice.case.arguments
    content["best"] = None if advice.best is None else advice.best.case.name
    content["least_coverage"] = advice.least_coverage
    content["says"] = advice_lines(advice)
    return content
