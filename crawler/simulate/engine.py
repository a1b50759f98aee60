"""Crawls of a Web graph: the same pages in the same order as a crawl of that Web would fetch.

One worker, and no host ever rests. Filters, orderings and the frontier decide as they do live
(`crawler.strategies`, `crawler.frontier.sqlite`); their rules are written a second time in
`crawler.simulate.kernel` and `crawler.simulate.focuskernel`, which are compiled, and tests compare
the two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
import numpy.typing as npt

from crawler.errors import SettingError
from crawler.simulate import focusing
from crawler.simulate.webgraph import WebGraph
from crawler.strategies.filters import Filter, Unit
from crawler.strategies.focus.belief import Belief, Prior

if TYPE_CHECKING:
    from crawler.simulate import kernel
    from crawler.simulate.drawing import Drawing
    from crawler.simulate.focuskernel import Focused

Scalar = TypeVar("Scalar", bound=np.generic)

ORDERINGS: Final = ("bfs", "soft", "random", "cctld", "focus", "perfect")
"""Orderings that every graph has (`cctld`: every graph that knows its servers' domains); beside
them stand the names in `WebGraph.scores`."""

_PAGES_A_CALL = 250_000
"""Pages between two looks at the clock, for a progress bar or an interruption."""
_WORDS_A_CALL = 1 << 18


@dataclass(frozen=True)
class Course:
    """The pages of a crawl in the order downloaded, and the counts of its links.

    `order` are vertices, int32 (N,); `queue` is how many URLs waited after each of them, int32
    (N,), those that were never fetched in the recorded Web included (Tamura 2007, Fig. 7). Links
    were `stored`, `seen` before, `rejected` by the filter or found their host full
    (`host_full`); seeds are among them. `dropped_irrelevant` URLs left the queue with their
    server or directory. `is_complete` is False where `limit` ended the crawl.
    """

    order: npt.NDArray[np.int32]
    queue: npt.NDArray[np.int32]
    stored: int
    seen: int
    rejected: int
    host_full: int
    dropped_irrelevant: int
    is_complete: bool


@dataclass(frozen=True, eq=False)
class Simulation:
    """The arguments of a simulated crawl.

    `ordering` is one of `ORDERINGS` or a name in `WebGraph.scores`. With `perfect`, links are
    followed only on a shortest path from the seeds to a page in the target language, for every
    filter (Tamura 2007, 5.1); of several shortest paths, on one through relevant pages if there is
    one. `target` None is the graph's own. Directories are those of the graph, for every
    `filter.directory_depth`. `host_cap` 0: any number of URLs of a host; `host_queue` is that
    of a crawl. `seeds` are vertices,
    None: the graph's. `random_state` counts for `random` and `cctld` only. The crawl ends after
    `limit` pages, None: when nothing is left that can be downloaded. The tolerance of the filter is
    halved after each `half_life` downloads; 0: it stays.

    `evidence` and `prior` are those of `focus`, None: found anew, and the one that ships.
    """

    filter: Filter
    ordering: str
    target: str | None = None
    host_cap: int = 0
    host_queue: int = 0
    seeds: Sequence[int] | npt.NDArray[np.int32] | None = None
    random_state: int = 0
    limit: int | None = None
    half_life: int = 0
    evidence: focusing.GraphEvidence | None = None
    prior: Prior | None = None

    def check(self, graph: WebGraph) -> None:
        """Raise `SettingError` for an ordering or a number that cannot be simulated."""
        if self.ordering not in ORDERINGS and self.ordering not in graph.scores:
            known = ", ".join([*ORDERINGS, *graph.scores])
            raise SettingError(f"the graph has no ordering {self.ordering!r}; it has {known}")
        if min(self.filter.tolerance, self.host_cap, self.host_queue) < 0:
            raise SettingError("a tolerance, a host cap and a host queue are 0 or more")

    def seeds_on(self, graph: WebGraph) -> npt.NDArray[np.int32]:
        """Return the vertices where the crawl begins; `SettingError` for none or unknown ones."""
        vertices = np.array(graph.seeds if self.seeds is None else self.seeds, np.int64)
        if vertices.ndim != 1 or not len(vertices):
            raise SettingError("a crawl begins with one seed or more")
        if vertices.min() < 0 or vertices.max() >= graph.n_vertices:
            raise SettingError(f"seeds are vertices from 0 to {graph.n_vertices - 1}")
        return vertices.astype(np.int32)


def simulate(
    graph: WebGraph, simulation: Simulation, on_progress: Callable[[int], None] | None = None
) -> Course:
    """Return the course of a crawl of a graph; the same arguments give the same course.

    `on_progress` is called now and then with the number of pages. Raises `SettingError` for an
    ordering or seed that the graph does not have and `GraphError` for a language that none of its
    pages is in.
    """
    simulation.check(graph)
    crawl = _Crawl(graph, simulation)
    crawl.begin()
    while crawl.go_on():
        if on_progress is not None:
            on_progress(crawl.n_pages)
    return crawl.course()


class _Crawl:
    """One simulation: the arguments of the compiled code, and the progress."""

    def __init__(self, graph: WebGraph, simulation: Simulation) -> None:
        from crawler.simulate import kernel

        self._kernel = kernel
        self._graph, self._simulation = graph, simulation
        filter, ordering = simulation.filter, simulation.ordering
        target = graph.target if simulation.target is None else simulation.target
        kind = _kind(graph, ordering)
        self._rules = kernel.Rules(
            filter.follows_irrelevant_pages,
            filter.uses_relevance,
            filter.is_conservative,
            filter.unit is Unit.DIRECTORY,
            filter.closes_servers,
            filter.tolerance,
            simulation.host_cap,
            simulation.host_queue,
            kind,
            simulation.half_life,
        )
        self._web = kernel.WebArrays(
            _frozen(graph.page_server),
            _frozen(graph.page_directory),
            _frozen(graph.link_start),
            _frozen(graph.link_target),
            _frozen(_keys(graph.scores[ordering]) if kind == kernel.SCORE else _nothing(np.uint32)),
            _frozen(_tiers(graph, ordering, target)),
        )
        self._state = _states(graph, target)
        self._target = target
        self._focused: Focused | None = None

    def begin(self) -> None:
        """Queue the seeds."""
        kernel, limit = self._kernel, self._simulation.limit
        seeds = self._simulation.seeds_on(self._graph)
        self._random = Random(self._simulation.random_state)
        n_pages = self._graph.n_pages
        # After the last page there may be redirects and failures to settle.
        self._until = n_pages + 1 if limit is None or limit > n_pages else limit
        if self._simulation.ordering == "perfect":
            self._mark_wanted(_frozen(seeds))
        else:
            self._state |= np.uint8(kernel.WANTED)
        self._memory = _memory(self._graph, self._rules, self._state, min(self._until, n_pages))
        if self._rules.kind == kernel.LEARNED:
            self._focused = self._focus()
        self._is_complete = False
        self._waiting = _frozen(seeds)

    def _mark_wanted(self, seeds: npt.NDArray[np.int32]) -> None:
        from crawler.simulate.perfect import mark_wanted

        reached = np.empty(_n_fetchable(self._graph), np.int32)
        parent = np.empty(self._graph.n_vertices, np.int32)
        web = self._web
        mark_wanted(web.link_start, web.link_target, seeds, self._state, reached, parent)

    def _focus(self) -> "Focused":
        simulation, graph = self._simulation, self._graph
        focusing.mark_labelled(graph, self._state)
        evidence = simulation.evidence or focusing.GraphEvidence.of(graph, self._target)
        belief = Belief(simulation.prior or Prior.shipped())
        return focusing.focused(graph, evidence, belief, self._web, self._rules, self._memory)

    def _crawl(self, seeds: npt.NDArray[np.int32], until: int) -> int:
        if self._focused is None:
            return self._kernel.crawl(self._web, self._rules, self._memory, seeds, until)
        from crawler.simulate import focuskernel

        return focuskernel.crawl(self._focused, seeds, until)

    @property
    def n_pages(self) -> int:
        """Pages until now."""
        return int(self._memory.counts[self._kernel.N_PAGES])

    def go_on(self) -> bool:
        """Crawl some pages more; False once the crawl has ended."""
        kernel, memory = self._kernel, self._memory
        if self._rules.kind == kernel.DRAW:
            _refill(memory.drawing, self._random)
        until = min(self._until, self.n_pages + _PAGES_A_CALL)
        seeds, self._waiting = self._waiting, _frozen(np.empty(0, np.int32))
        ended = self._crawl(seeds, until) == kernel.ENDED
        # After the last page of the graph no URL in the queue gives another page.
        self._is_complete = ended or self.n_pages == self._graph.n_pages
        return not ended and self.n_pages < self._until

    def course(self) -> Course:
        """Return how the crawl went until now."""
        kernel, memory = self._kernel, self._memory
        counts = [int(count) for count in memory.counts]
        return Course(
            order=memory.order[: self.n_pages],
            queue=memory.queue[: self.n_pages],
            stored=counts[kernel.STORED],
            seen=counts[kernel.SEEN],
            rejected=counts[kernel.REJECTED],
            host_full=counts[kernel.HOST_FULL],
            dropped_irrelevant=counts[kernel.DROPPED],
            is_complete=self._is_complete,
        )


def _kind(graph: WebGraph, ordering: str) -> int:
    from crawler.simulate import kernel

    if ordering in ("random", "cctld"):
        return kernel.DRAW
    if ordering == "soft":
        return kernel.SOFT
    if ordering == "focus":
        return kernel.LEARNED
    if ordering in ("bfs", "perfect"):
        return kernel.DEPTH
    return kernel.SCORE


def _frozen(column: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The column as the one type of array for which the kernel is compiled."""
    view = np.asarray(column).view(np.ndarray)
    view.flags.writeable = False
    return view


def _nothing(kind: type[Scalar]) -> npt.NDArray[Scalar]:
    return np.zeros(1, kind)


def _keys(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.uint32]:
    """Whole numbers in the order of scores, the least for the highest score, (V,)."""
    keys = (-scores + np.float32(0.0)).view(np.uint32)
    is_negative = keys >= np.uint32(1 << 31)
    keys ^= np.where(is_negative, np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    return keys


def _tiers(graph: WebGraph, ordering: str, target: str) -> npt.NDArray[np.uint8]:
    """For each server 1 if it is drawn first, (S,)."""
    tiers = np.zeros(graph.n_servers, np.uint8)
    if ordering == "cctld":
        if graph.server_domain is None:
            raise SettingError("the graph does not know the domains of its servers: no cctld")
        from classifiers.languages import tlds_of

        matching = tlds_of(target)
        # The last row is that of servers without a domain, whose index is -1.
        matches = np.array([domain in matching for domain in graph.domains] + [False], np.uint8)
        tiers[:] = matches[graph.server_domain]
    return tiers


def _states(graph: WebGraph, target: str) -> npt.NDArray[np.uint8]:
    from crawler.simulate import kernel

    states = graph.page_status.astype(np.uint8)
    states[graph.relevant(target)] |= np.uint8(kernel.RELEVANT)
    return states


def _n_fetchable(graph: WebGraph) -> int:
    return int(np.count_nonzero(graph.page_status))


def _memory(
    graph: WebGraph, rules: "kernel.Rules", state: npt.NDArray[np.uint8], limit: int
) -> "kernel.Memory":
    from crawler.simulate import kernel

    kind = rules.kind
    n_fetchable = _n_fetchable(graph)
    n_units = graph.n_servers + (graph.n_directories if rules.by_directory else 0)
    n_units += graph.n_servers if rules.closes_servers else 0
    n_units = n_units if rules.uses_relevance else 1
    n_entries = {kernel.SOFT: 2 * n_fetchable, kernel.DEPTH: n_fetchable, kernel.SCORE: n_fetchable}
    is_numbered = kind in (kernel.SOFT, kernel.LEARNED)
    return kernel.Memory(
        state=state,
        number=np.empty(graph.n_vertices if is_numbered else 1, np.int32),
        found=np.empty(n_fetchable, np.int32),
        depth=np.empty(n_fetchable, np.int32),
        downloaded=np.zeros(n_units, np.int32),
        relevant=np.zeros(n_units, np.int32),
        unit_queued=np.zeros(n_units, np.int32),
        is_dropped=np.zeros(n_units, np.uint8),
        sent=np.zeros(graph.n_servers, np.int32),
        waiting=np.zeros(graph.n_servers, np.int32),
        order=np.empty(limit, np.int32),
        queue=np.empty(limit, np.int32),
        counts=np.zeros(kernel.N_COUNTS, np.int64),
        heap=np.empty(n_entries.get(kind, 1), np.uint64),
        drawing=_drawing(graph, is_drawn=kind == kernel.DRAW),
    )


def _drawing(graph: WebGraph, *, is_drawn: bool) -> "Drawing":
    from crawler.simulate.drawing import Drawing

    n_servers = graph.n_servers if is_drawn else 1
    first = np.zeros(n_servers + 1, np.int32)
    if is_drawn:
        fetchable = graph.page_server[graph.page_status != 0]
        np.cumsum(np.bincount(fetchable, minlength=n_servers), out=first[1:])
    n_words = _WORDS_A_CALL if is_drawn else 1
    return Drawing(
        first=first,
        admitted=np.zeros(n_servers, np.int32),
        inner=np.zeros(first[-1], np.int32),
        outer=np.zeros(2 * n_servers, np.int32),
        place=np.zeros(n_servers, np.int32),
        at_place=np.zeros((2, n_servers), np.int32),
        free=np.zeros((2, n_servers), np.int32),
        weight=np.zeros(n_servers, np.int32),
        tiers=np.zeros((2, 4), np.int64),
        words=np.empty(n_words, np.uint32),
        word=np.full(1, n_words, np.int64),
    )


def _refill(drawing: "Drawing", random: Random) -> None:
    """Give out the next words of 32 bits that a generator makes its draws of."""
    left = drawing.words[drawing.word[0] :]
    number = len(drawing.words) - len(left)
    # The words that are left come first: the stream is that of one generator.
    drawing.words[: len(left)] = left
    if number:
        fresh = random.getrandbits(32 * number).to_bytes(4 * number, "little")
        drawing.words[len(left) :] = np.frombuffer(fresh, "<u4")
    drawing.word[0] = 0
