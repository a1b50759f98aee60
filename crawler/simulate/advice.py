"""The strategy that reaches a wanted coverage at the least cost, and how sure that is.

Every strategy is simulated from the seeds of the graph and from others, drawn among its relevant
pages. Each of these courses is measured on the graph and on resamples of its servers: as many
servers as there are, drawn with replacement, all that is on a server counting as often as it was
drawn (a bootstrap by cluster). Seeds and resamples are the same for all strategies, so that they
are compared pair by pair. A course is not simulated anew on a resample: only the
weights of the servers that it visits vary, not its order of pages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from crawler.errors import SettingError
from crawler.simulate.engine import Course
from crawler.simulate.figures import Yardstick, course_arrays
from crawler.simulate.plan import (
    Progress,
    SimulatedCrawl,
    SimulationPlan,
    StrategyCase,
    simulate_all,
)
from crawler.simulate.webgraph import WebGraph

COSTS: Final = ("pages", "bytes", "servers")
"""The costs of which a crawl can be asked to need the least."""

FEW: Final = 10
"""Of fewer relevant servers resamples are too much alike, or too little, to tell much."""

CLOSE: Final = 1.05
"""A strategy that costs at most so many times the least is as good in practice."""

Costs = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RatedStrategy:
    """The result of a strategy: its cost to reach the coverage, and how often it was best.

    `cost` is from the graph's own seeds on the graph as it is, None where the coverage was not
    reached; `low`, `middle` and `high` are the 5th, 50th and 95th percentile over all resamples,
    None where so many did not reach it. `reached`, `best` and `close` are shares of the resamples:
    where the coverage was reached, where nothing cost less, where nothing cost much less. Cases
    that cost the same are best together.
    """

    case: StrategyCase
    cost: float | None
    low: float | None
    middle: float | None
    high: float | None
    reached: float
    best: float
    close: float


@dataclass(frozen=True)
class Advice:
    """The strategies by their costs, the cheapest first.

    The coverage is of the relevant pages to which the seeds of a crawl lead: `reachable_pages` of
    `relevant_pages` from the graph's own, on `relevant_servers`. `reached_by` is the largest share
    of these that any strategy crawled. `unfetched_urls` are linked but were never fetched, so no
    figure counts them. If all of them were relevant, the wanted coverage of the known pages would
    be `least_coverage` of all pages.
    """

    lang: str
    coverage: float
    least: str
    choices: Sequence[RatedStrategy]
    seed_sets: int
    resamples: int
    reached_by: float
    reachable_pages: int
    relevant_pages: int
    relevant_servers: int
    unfetched_urls: int

    @property
    def best(self) -> RatedStrategy | None:
        """The cheapest strategy, None where none reached the coverage."""
        return self.choices[0] if self.choices and self.choices[0].cost is not None else None

    @property
    def safest(self) -> RatedStrategy | None:
        """The strategy that reached the coverage most often, the cheapest of several."""
        return max(self.choices, key=lambda choice: choice.reached, default=None)

    @property
    def least_coverage(self) -> float:
        """The wanted coverage as a share of all pages, if all unfetched URLs are relevant."""
        there_are = self.relevant_pages + self.unfetched_urls
        return self.coverage * self.reachable_pages / max(1, there_are)

    @property
    def as_cheap(self) -> Sequence[RatedStrategy]:
        """The other strategies that cost as little as the cheapest."""
        best = self.best
        return [one for one in self.choices[1:] if best is not None and one.cost == best.cost]


@dataclass(frozen=True, slots=True)
class Aim:
    """The wanted `coverage` at the `least` pages, bytes or servers.

    A coverage is a share of the relevant pages to which seeds lead. `resamples` are drawn for each
    random state of a plan.
    """

    coverage: float
    least: str = "pages"
    resamples: int = 200

    def check(self, graph: WebGraph) -> None:
        """Raise `SettingError` for a coverage not in (0, 1], and for bytes without sizes."""
        if not 0 < self.coverage <= 1:
            raise SettingError(f"a coverage of {self.coverage:g} is not more than 0 and at most 1")
        if self.least not in COSTS:
            raise SettingError(f"the least {self.least!r}: there are {', '.join(COSTS)}")
        if self.least == "bytes" and graph.page_bytes is None:
            raise SettingError("the graph does not know the sizes of its pages: no advice on bytes")


def advise(
    graph: WebGraph,
    plan: SimulationPlan,
    aim: Aim,
    *,
    jobs: int = 1,
    on_progress: Progress | None = None,
    on_result: Callable[[SimulatedCrawl], None] | None = None,
) -> Advice:
    """Return the case of a plan that reaches the aim, with its rivals.

    Cases that only a simulation can do are left out. Raises `SettingError` for an aim that cannot
    be measured on the graph.
    """
    aim.check(graph)
    cases = tuple(case for case in plan.cases if case.arguments)
    plan = replace(plan, cases=cases)
    measure = _Measure(graph, aim).measure
    results = []
    for result in simulate_all(graph, plan, jobs=jobs, on_progress=on_progress, measure=measure):
        results.append(result)
        if on_result is not None:
            on_result(result)
    own = [r.figures for r in results if r.random_state == plan.random_states[0]]
    reachable = Yardstick(graph, plan.lang).n_reached
    return Advice(
        lang=plan.lang,
        coverage=aim.coverage,
        least=aim.least,
        choices=_choices(plan, results, _row(aim.least)),
        seed_sets=len({result.seeds for result in results}),
        resamples=aim.resamples * len(plan.random_states),
        reached_by=max((c.relevant[-1] for c in own if c.pages), default=0) / max(1, reachable),
        reachable_pages=reachable,
        relevant_pages=int(np.count_nonzero(graph.relevant(plan.lang))),
        relevant_servers=len(np.unique(graph.page_server[graph.relevant(plan.lang)])),
        unfetched_urls=_unfetched(graph),
    )


class _Measure:
    """Measures the costs of courses on a graph and on resamples of it."""

    def __init__(self, graph: WebGraph, aim: Aim) -> None:
        self._graph, self._aim = graph, aim

    def measure(self, course: Course, yardstick: Yardstick, random_state: int) -> Costs:
        """Return the costs (resamples + 1, 4), the first without resampling."""
        from crawler.simulate.courses import count_by_server, weighted_costs

        n_servers = self._graph.n_servers
        arrays = course_arrays(course, yardstick)
        by_server = np.zeros(n_servers, np.int64)
        count_by_server(yardstick.kind, yardstick.distance, arrays.server, by_server)
        has_page = np.flatnonzero(_has_page(self._graph))
        is_known = np.zeros(n_servers, np.uint8)
        costs = np.empty((self._aim.resamples + 1, 4))
        for number in range(self._aim.resamples + 1):
            weights = _weights(has_page, by_server, random_state, number)
            wanted = self._aim.coverage * int((by_server * weights).sum())
            weighted_costs(arrays, weights, max(wanted - 1e-6, 1e-6), is_known, costs[number])
        return costs


def _weights(
    has_page: npt.NDArray[np.int64],
    relevant: npt.NDArray[np.int64],
    random_state: int,
    number: int,
) -> npt.NDArray[np.int16]:
    """How often each server counts in a resample (S,); number 0 is the graph as it is.

    A resample without `relevant` pages, which could tell nothing, is drawn anew.
    """
    if number == 0 or not relevant.any():
        return np.ones(len(relevant), np.int16)
    random = np.random.default_rng([random_state, number])
    weights = np.zeros(len(relevant), np.int16)
    while not relevant[weights > 0].any():
        drawn = random.integers(0, len(has_page), len(has_page))
        weights[has_page] = np.bincount(drawn, minlength=len(has_page))
    return weights


def _has_page(graph: WebGraph) -> npt.NDArray[np.bool_]:
    has_page = np.zeros(graph.n_servers, np.bool_)
    has_page[graph.page_server[graph.page_status == 1]] = True
    return has_page


def _choices(
    plan: SimulationPlan, results: Sequence[SimulatedCrawl], row: int
) -> list[RatedStrategy]:
    costs = np.stack([_of_case(case, plan, results, row) for case in plan.cases])
    resampled = costs[:, :, 1:].reshape(len(plan.cases), -1)
    least = resampled.min(axis=0)
    reached = np.isfinite(resampled)
    best = (reached & (resampled == least)).mean(axis=1)
    is_close = (reached & (resampled <= CLOSE * least)).mean(axis=1)
    choices = [
        RatedStrategy(
            case=case,
            cost=_finite(costs[at, 0, 0]),
            **_percentiles(resampled[at]),
            reached=float(reached[at].mean()),
            best=float(best[at]),
            close=float(is_close[at]),
        )
        for at, case in enumerate(plan.cases)
    ]
    # Of equally cheap ones first the one that is cheapest most often.
    return sorted(
        choices, key=lambda one: (np.inf if one.cost is None else one.cost, -one.best, -one.reached)
    )


def _of_case(
    case: StrategyCase, plan: SimulationPlan, results: Sequence[SimulatedCrawl], row: int
) -> Costs:
    """The costs of a case (random states, resamples + 1)."""
    found = {r.random_state: r.measured[:, row] for r in results if r.case == case}
    # Where a random state makes no difference the first one's course is that of all.
    first = found[plan.random_states[0]]
    return np.stack([found.get(state, first) for state in plan.random_states])


def _percentiles(costs: Costs) -> dict[str, float | None]:
    ordered = np.sort(costs)
    places = {"low": 0.05, "middle": 0.5, "high": 0.95}
    return {name: _finite(ordered[int(at * (len(ordered) - 1))]) for name, at in places.items()}


def _finite(cost: float) -> float | None:
    return float(cost) if np.isfinite(cost) else None


def _row(least: str) -> int:
    from crawler.simulate import courses

    return {"pages": courses.PAGES, "bytes": courses.BYTES, "servers": courses.SERVERS}[least]


def _unfetched(graph: WebGraph) -> int:
    return int(np.count_nonzero(graph.page_status == 0))
