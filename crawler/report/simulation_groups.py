"""The results of simulations by case, and the curves of Tamura 2007, Figures 4 to 8."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from crawler.simulate.figures import CourseFigures
from crawler.simulate.plan import SimulatedCrawl, SimulationPlan, StrategyCase
from crawler.simulate.repeated import Band, Estimate, band, estimate

Values = Callable[[CourseFigures], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure of the paper: the `label` is that of its y axis, the `meaning` is its caption."""

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
        "Share of all relevant pages of the graph that were crawled after n pages. A mark "
        "shows where a crawl had no more pages to download.",
        is_share=True,
    ),
    Curve(
        "harvest",
        "Figure 6: harvest rate",
        lambda course: course.harvest,
        "harvest rate",
        "Share of relevant pages among all pages crawled so far.",
        is_share=True,
    ),
    Curve(
        "queue",
        "Figure 7: queue size",
        lambda course: course.queue,
        "URLs in the queue",
        "Queued URLs. URLs that were not downloaded in the recorded Web stay in the queue, so a "
        "curve does not end at 0.",
    ),
    Curve(
        "servers",
        "Figure 8: servers accessed",
        lambda course: course.servers,
        "servers",
        "Servers from which at least one page was crawled.",
    ),
)

MISSES = Curve(
    "misses",
    "Figure 4: relevant pages missed, by distance from the seeds",
    lambda course: course.miss_ratio,
    "miss ratio",
    "Share of the relevant pages within d links of the seeds that were not crawled when "
    "the crawl ended.",
    is_share=True,
)


@dataclass(frozen=True)
class Group:
    """The simulations of one case: one for each random state that makes a difference."""

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
        """The mean of a value and its confidence interval."""
        return estimate([value(course) for course in self.courses])


def groups_of(plan: SimulationPlan, results: Iterable[SimulatedCrawl]) -> list[Group]:
    """The results by case, in the order of the plan; cases without a result are left out."""
    found: dict[StrategyCase, list[SimulatedCrawl]] = {}
    for result in results:
        found.setdefault(result.case, []).append(result)
    place = {state: at for at, state in enumerate(plan.random_states)}
    return [
        Group(case, sorted(found[case], key=lambda result: place[result.random_state]))
        for case in plan.cases
        if case in found
    ]


def longest(groups: Iterable[Group]) -> int:
    """The pages of the longest crawl."""
    return max((course.pages for group in groups for course in group.courses), default=0)


def last(values: Sequence[float]) -> float:
    """The value of a curve at its end; 0 if it has no point."""
    return values[-1] if values else 0.0
