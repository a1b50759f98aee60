"""Several simulations in one go: which strategies, filters and tolerances, from which seeds."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from classifiers import languages
from classifiers.errors import LanguageError
from classifiers.urls.model import UrlModel
from crawler.errors import SettingError
from crawler.frontier.rules import queue_slots
from crawler.simulate.webgraph import WebGraph
from crawler.strategies import FILTERS, PAPER_FILTERS, Filter, make_filter

if TYPE_CHECKING:
    from crawler.simulate.figures import CourseFigures

DECLINING: Final = "server-declining"
"""The filter `server-conservative` with a tolerance that declines as the crawl proceeds.

Tamura 2007, 5.2, proposes it and gives no schedule. Only a simulation has it.
"""

HALF_LIFE: Final = 100_000
"""The default number of downloads after which a declining tolerance is halved."""

ARGUMENTS: Final = {
    "lang": "language to look for (default: the one that the graph was made for)",
    "strategies": "which queued URL is fetched next, of bfs, soft, random, cctld, focus, perfect, "
    "and svm where the graph has URLs (default: soft)",
    "filters": f"which links enter the queue, of {', '.join((*FILTERS, DECLINING))} "
    "(default: none)",
    "tolerances": "T, for the filters that know irrelevant servers (default: 5,10,20)",
    "half_life": "downloads after which the tolerance of server-declining is halved, each time "
    f"(default: {HALF_LIFE})",
    "host_cap": "URLs of one host that are ever fetched, 0 for any number (default: 0)",
    "pages": "end each crawl after this many pages (default: when nothing is queued)",
    "random_state": "another number, other draws of random and cctld (default: 0)",
}
"""Arguments of a simulation (-a NAME=VALUE) and their meaning; lists have commas."""

_TOLERANCES: Final = "5,10,20"
_CHUNK = 50_000


@dataclass(frozen=True, slots=True)
class StrategyCase:
    """A strategy with its filter, as the arguments of a crawl name them.

    `tolerance` is None where the filter has none, `half_life` where the tolerance stays.
    """

    strategy: str
    filter: str = "none"
    tolerance: int | None = None
    host_cap: int = 0
    half_life: int | None = None

    @property
    def name(self) -> str:
        """A short name, such as `soft server T=10`."""
        parts = [self.strategy]
        if self.filter != "none":
            parts.append(self.filter)
        if self.tolerance is not None:
            parts.append(f"T={self.tolerance}")
        if self.half_life is not None:
            parts.append(f"half-life {self.half_life}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """Which simulations there are: every case from the graph's seeds.

    The random state changes the draws of `random` and `cctld`, and nothing else.
    """

    lang: str
    cases: tuple[StrategyCase, ...]
    random_state: int = 0
    limit: int | None = None


@dataclass(frozen=True)
class SimulatedCrawl:
    """A simulation that has ended: the figures of its course, and the seconds it took."""

    case: StrategyCase
    figures: "CourseFigures"
    seconds: float


def make_plan(given: Mapping[str, str], graph: WebGraph) -> SimulationPlan:
    """Return the simulations that arguments ask for.

    With neither strategies nor filters they are those of Tamura 2007, 5.1, and those orderings of
    `langfocus compare` for which the graph has what they need. Raises `SettingError` for arguments
    that no simulation of the graph can use and `GraphError` for a language that none of its pages
    is in.
    """
    for name in given:
        if name not in ARGUMENTS:
            raise SettingError(f"-a {name}: no such argument; there are {', '.join(ARGUMENTS)}")
    lang = language_in(graph, given.get("lang"), "-a lang")
    cases = _cases(given, _pairs(given, _orderings(graph, lang)), _number(given, "host_cap"))
    random_state = _number(given, "random_state")
    limit = _number(given, "pages") or None
    return SimulationPlan(lang, tuple(dict.fromkeys(cases)), random_state, limit)


def _orderings(graph: WebGraph, lang: str) -> list[str]:
    """The orderings for which a graph has what they need."""
    from crawler.simulate.engine import ORDERINGS  # numba takes half a second

    known = [*ORDERINGS]
    if graph.server_domain is None:
        known.remove("cctld")
    if "svm" in graph.scores or (graph.has_urls and lang in UrlModel.load(None).languages):
        known.insert(known.index("focus"), "svm")
    return known


def _pairs(given: Mapping[str, str], known: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of a strategy and a filter, in their order."""
    if "strategies" not in given and "filters" not in given:
        with_filters = [("soft", name) for name in PAPER_FILTERS]
        pairs = [(name, "none") for name in known if name != "soft"]
        return [pairs[0], *with_filters, *pairs[1:]]
    strategies = _listed(given, "strategies", "soft", known)
    filters = _listed(given, "filters", "none", (*FILTERS, DECLINING))
    # The perfect strategy knows its pages beforehand, so no filter changes them.
    return [
        (strategy, "none" if strategy == "perfect" else name)
        for strategy, name in product(strategies, filters)
    ]


def _cases(
    given: Mapping[str, str], pairs: Sequence[tuple[str, str]], host_cap: int
) -> Iterator[StrategyCase]:
    """The pairs with every tolerance and half-life that makes a difference to them."""
    tolerances = _numbers(given, "tolerances", _TOLERANCES)
    half_lives = _numbers(given, "half_life", str(HALF_LIFE))
    if 0 in half_lives:
        raise SettingError("-a half_life=0: a whole number of at least 1 is needed")
    for strategy, name in pairs:
        for tolerance in tolerances if _filter(name).uses_relevance else [None]:
            for half_life in half_lives if name == DECLINING else [None]:
                yield StrategyCase(strategy, name, tolerance, host_cap, half_life)


def _filter(name: str, tolerance: int = 0) -> Filter:
    name = "server-conservative" if name == DECLINING else name
    return make_filter(name, tolerance=tolerance)


def simulate_all(
    graph: WebGraph, plan: SimulationPlan, *, jobs: int = 1
) -> Iterator[SimulatedCrawl]:
    """Yield each simulation as soon as it is done, at most `jobs` at once, in threads.

    Results do not depend on `jobs`, only their order does. Each simulation that goes on takes
    some 30 bytes for each page. Raises `SettingError` and `GraphError` as `simulate` does.
    """
    from crawler.simulate.engine import Simulation, simulate
    from crawler.simulate.figures import Yardstick, course_figures

    graph = prepared(graph, plan)
    yardstick = Yardstick(graph, plan.lang)
    _ = yardstick.by_distance  # distances are measured now, not by two threads at once

    def run(case: StrategyCase) -> SimulatedCrawl:
        begun = perf_counter()
        simulation = Simulation(
            filter=_filter(case.filter, case.tolerance or 0),
            half_life=case.half_life or 0,
            ordering=case.strategy,
            target=plan.lang,
            host_cap=case.host_cap,
            host_queue=queue_slots(case.host_cap),
            random_state=plan.random_state,
            limit=plan.limit,
        )
        figures = course_figures(simulate(graph, simulation), yardstick)
        return SimulatedCrawl(case, figures, perf_counter() - begun)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in as_completed([pool.submit(run, case) for case in plan.cases]):
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def prepared(graph: WebGraph, plan: SimulationPlan) -> WebGraph:
    """Return the graph with the scores of the URL model, if a plan needs them."""
    if "svm" in graph.scores or not any(case.strategy == "svm" for case in plan.cases):
        return graph
    model, scores = UrlModel.load(None), np.empty(graph.n_vertices, np.float32)
    for first in range(0, graph.n_vertices, _CHUNK):
        last = min(first + _CHUNK, graph.n_vertices)
        urls = [graph.url(vertex) for vertex in range(first, last)]
        scores[first:last] = model.score(urls, plan.lang)
    return replace(graph, scores={"svm": scores})


def language_in(graph: WebGraph, tag: str | None, option: str) -> str:
    """Return the code of a language of a graph, None: its target; `option` is named in errors.

    Raises `SettingError` where it is no language, `GraphError` for one that no page is in.
    """
    if tag is None or tag in graph.languages:
        return graph.target if tag is None else tag
    try:
        code = languages.understood(tag)
    except LanguageError as error:
        raise SettingError(f"{option} {error}") from error
    graph.language_index(code)
    return code


def _listed(given: Mapping[str, str], name: str, default: str, known: Sequence[str]) -> list[str]:
    parts = [part.strip() for part in given.get(name, default).split(",") if part.strip()]
    for part in parts:
        if part not in known:
            raise SettingError(f"-a {name}={part}: not there; there are {', '.join(known)}")
    if not parts:
        raise SettingError(f"-a {name} is empty; name some of {', '.join(known)}")
    return list(dict.fromkeys(parts))


def _number(given: Mapping[str, str], name: str) -> int:
    numbers = _numbers(given, name, "0")
    if len(numbers) != 1:
        raise SettingError(f"-a {name}: one number for all simulations")
    return numbers[0]


def _numbers(given: Mapping[str, str], name: str, default: str) -> list[int]:
    parts = given.get(name, default).split(",")
    if not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        raise SettingError(f"-a {name}={given.get(name)}: whole numbers of 0 or more are needed")
    return list(dict.fromkeys(int(part) for part in parts))
