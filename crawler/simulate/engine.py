"""Simulated crawls of a Web graph: the same pages in the same order as a live crawl.

A simulation has one worker. Hosts may rest, and URLs may be in shards, as in
`crawler.shared.sharded`. The compiled `crawler.simulate.kernel` implements the rules of filters,
orderings and frontier (`crawler.strategies`, `crawler.frontier.sqlite`) a second time; tests
compare both. `random` and `cctld` draw with equal probabilities, but with other random numbers.

For `focus`, a graph with URLs has the evidence in the URL text, without page declarations
(`hreflang`, sitemaps). A graph without URLs has the top-level domains of servers at most; its units
are servers and directories.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.languages import tlds_of
from langfocus.crawler.errors import SettingError
from langfocus.crawler.shared.keyspace import shard_of
from langfocus.crawler.simulate import kernel
from langfocus.crawler.simulate.kernel import Learning, Memory, Rules, WebArrays
from langfocus.crawler.simulate.plan import ORDERINGS, Simulation
from langfocus.crawler.simulate.queues import EMPTY, FIRST, Ints, Longs
from langfocus.crawler.simulate.webgraph import PAGE, WebGraph, frozen
from langfocus.crawler.strategies.filters import Unit
from langfocus.crawler.strategies.focus.belief import Belief
from langfocus.crawler.strategies.focus.evidence import (
    N_FEATURES,
    N_LINKS,
    N_UNITS,
    Evidence,
    units_of,
)
from langfocus.crawler.strategies.makers import evidence_of, prior_of
from langfocus.crawler.url import host_of

FATES: Final = ("stored", "seen", "rejected", "host_full", "dropped_irrelevant")
"""Outcomes of links and seeds: queued, seen before, rejected by the filter, host full. The last is
the outcome of queued URLs whose server or directory turned irrelevant."""

_KINDS: Final = {
    "bfs": kernel.DEPTH,
    "perfect": kernel.DEPTH,
    "soft": kernel.SOFT,
    "random": kernel.DRAW,
    "cctld": kernel.DRAW,
    "focus": kernel.LEARNED,
}
"""Kernel method of choosing the next URL, by ordering; other orderings have scores."""

_N_FACTS: Final = len(Evidence._fields)


@dataclass(frozen=True)
class Course:
    """Pages of a crawl in download order, and link counts.

    `order` are vertices, int32 (N,); `queue` is the queue size after each page, int32 (N,),
    including URLs never fetched in the recorded Web (Tamura 2007, Fig. 7). `links` counts each name
    in `FATES`. `is_complete` is False if `limit` ended the crawl.
    """

    order: npt.NDArray[np.int32]
    queue: npt.NDArray[np.int32]
    links: Mapping[str, int]
    is_complete: bool


def simulate(graph: WebGraph, simulation: Simulation) -> Course:
    """Return the course of a simulated crawl; equal arguments return equal courses.

    Raises `SettingError` for an ordering without data in the graph, `GraphError` for a language
    without pages.
    """
    _check(graph, simulation)
    target = graph.target if simulation.target is None else simulation.target
    kind = _KINDS.get(simulation.ordering, kernel.SCORE)
    seeds, n_pages, limit = frozen(graph.seeds), graph.n_pages, simulation.limit
    # After the last page there may be redirects and failures to settle.
    last = n_pages + 1 if limit is None or limit > n_pages else limit
    web, rules, state = _web(graph, simulation, target), _rules(simulation, kind), _states(graph)
    state[graph.relevant(target)] |= np.uint8(kernel.RELEVANT)
    n_fetchable = int(np.count_nonzero(graph.page_status))
    if simulation.ordering == "perfect":
        reached = np.empty(n_fetchable, np.int32)
        parent = np.full(graph.n_vertices, -1, np.int32)
        kernel.mark_wanted(web.link_start, web.link_target, seeds, state, reached, parent)
    else:
        state |= np.uint8(kernel.WANTED)
    memory = _memory(graph, simulation, rules, state, n_fetchable, min(last, n_pages))
    known, counts = _learning(graph if kind == kernel.LEARNED else None, target), memory.counts
    has_ended = last > 0 and kernel.crawl(web, rules, memory, known, seeds, last)
    number = int(counts[kernel.N_PAGES])
    return Course(
        order=memory.order[:number],
        queue=memory.queue[:number],
        links=dict(zip(FATES, counts[kernel.STORED : kernel.DROPPED + 1].tolist(), strict=True)),
        # After the last page of the graph no URL in the queue gives another page.
        is_complete=has_ended or number == n_pages,
    )


def _check(graph: WebGraph, simulation: Simulation) -> None:
    if simulation.ordering not in ORDERINGS and simulation.ordering not in graph.scores:
        known = ", ".join([*ORDERINGS, *graph.scores])
        raise SettingError(f"the graph has no ordering {simulation.ordering!r}; it has {known}")
    if simulation.ordering == "cctld" and graph.server_domain is None:
        raise SettingError("the graph does not know the domains of its servers: no cctld")
    is_drawn = _KINDS.get(simulation.ordering) == kernel.DRAW
    if is_drawn and (simulation.shards > 1 or simulation.rest):
        raise SettingError(f"{simulation.ordering} draws from one queue: use shards=1 and rest=0")


def _rules(simulation: Simulation, kind: int) -> Rules:
    filter = simulation.filter
    return Rules(
        filter.follows_irrelevant_pages,
        filter.uses_relevance,
        filter.is_conservative,
        filter.closes_servers,
        filter.tolerance,
        simulation.half_life,
        simulation.host_cap,
        simulation.host_queue,
        kind,
        simulation.choices,
        simulation.rest,
    )


def _web(graph: WebGraph, simulation: Simulation, target: str) -> WebArrays:
    server, unit = graph.page_server, graph.page_server
    if simulation.filter.uses_relevance and simulation.filter.unit is Unit.DIRECTORY:
        directory = np.asarray(graph.page_directory)
        unit = np.where(directory >= 0, directory + np.int32(graph.n_servers), server)
    tier = np.zeros(graph.n_servers, np.uint8)
    if simulation.ordering == "cctld" and graph.server_domain is not None:
        matching = tlds_of(target)
        # The last row belongs to servers without a domain, whose index is -1.
        matches = np.array([domain in matching for domain in graph.domains] + [False], np.uint8)
        tier = matches[graph.server_domain]
    scores = graph.scores.get(simulation.ordering, np.zeros(1, np.float32))
    shard, first = _shards(graph, simulation.shards)
    return WebArrays(
        frozen(server),
        frozen(unit),
        frozen(graph.link_start),
        frozen(graph.link_target),
        frozen(scores),
        frozen(tier),
        frozen(shard),
        frozen(first),
    )


def _shards(graph: WebGraph, number: int) -> tuple[Ints, Longs]:
    """Return each server's shard (S,), and each shard's start in the queue (number + 1,).

    As in a crawl, URLs are sharded by registered domain; without URLs, by server.
    """
    if number == 1:
        shard = np.zeros(graph.n_servers, np.int32)
    elif graph.has_urls:
        last = np.full(graph.n_servers, -1)
        last[graph.page_server] = np.arange(graph.n_vertices)
        shards = [shard_of(host_of(graph.url(v)), number) if v >= 0 else 0 for v in last.tolist()]
        shard = np.array(shards, np.int32)
    else:
        names = (shard_of(f"{server}.example", number) for server in range(graph.n_servers))
        shard = np.fromiter(names, np.int32, graph.n_servers)
    of_fetchable = shard[graph.page_server[graph.page_status > 0]]
    return shard, np.append(0, np.cumsum(np.bincount(of_fetchable, minlength=number)))


def _states(graph: WebGraph) -> npt.NDArray[np.uint8]:
    states = graph.page_status.astype(np.uint8)
    has_label = (graph.page_language >= 0) & (graph.page_status == PAGE)
    states[has_label] |= np.uint8(kernel.LABELLED)
    return states


def _memory(
    graph: WebGraph,
    simulation: Simulation,
    rules: Rules,
    state: npt.NDArray[np.uint8],
    n_fetchable: int,
    limit: int,
) -> Memory:
    kind, n, n_servers = rules.kind, n_fetchable, graph.n_servers
    n_units = 2 * n_servers + graph.n_directories if rules.uses_relevance else 1
    n_scores = 1 if kind == kernel.DRAW else n
    sizes = np.zeros((simulation.shards, 2), np.int64)
    sizes[0, FIRST] = n
    chance = np.random.default_rng(simulation.random_state).integers(0, 1 << 63, 1, dtype=np.uint64)
    n_resting, n_rests = (n_servers, n) if rules.rest else (1, 1)

    def zeros(length: int) -> npt.NDArray[np.int32]:
        return np.zeros(length, np.int32)

    return Memory(
        state=state,
        number=zeros(graph.n_vertices if kind in (kernel.SOFT, kernel.LEARNED) else 1),
        found=zeros(n),
        depth=zeros(n),
        downloaded=zeros(n_units),
        relevant=zeros(n_units),
        queued=zeros(n_units),
        is_closed=np.zeros(n_units, np.uint8),
        sent=zeros(n_servers),
        waiting=zeros(n_servers),
        order=zeros(limit),
        queue=zeros(limit),
        counts=np.zeros(kernel.N_COUNTS, np.int64),
        heap=zeros(n),
        sizes=sizes,
        score=np.zeros(n_scores),
        place=np.full(n_scores, EMPTY, np.int32),
        chance=chance,
        ready=np.zeros(n_resting, np.int64),
        contacted=zeros(n_rests),
        parked=np.full(n_resting, EMPTY, np.int32),
        parked_next=zeros(n_rests),
    )


# --- The ordering `focus`


class GraphEvidence(NamedTuple):
    """Evidence about a graph's vertices for one target language.

    `facts` float32 (E, 5) are the fields of `Evidence` per vertex, or per server with `by_server`.
    `deepest` int32 (V,) is the smallest unit of a vertex, `parent` int32 (U,) the enclosing unit of
    each unit, -1 for a registered domain.
    """

    facts: npt.NDArray[np.float32]
    deepest: Ints
    parent: Ints
    by_server: bool


def evidence_in(graph: WebGraph, target: str) -> GraphEvidence:
    """Return the evidence and the units; costs some microseconds per URL."""
    if not graph.has_urls:
        return GraphEvidence(_facts_of_servers(graph, target), *_units_of_servers(graph), True)
    facts = np.empty((graph.n_vertices, _N_FACTS), np.float32)
    deepest, parent = np.empty(graph.n_vertices, np.int32), list[int]()
    number_of: dict[str, int] = {}
    for first, urls in graph.urls():
        facts[first : first + len(urls)] = _facts(urls, target)
        for vertex, url in enumerate(urls, first):
            unit = -1
            for name in units_of(url):
                above, unit = unit, number_of.setdefault(name, len(number_of))
                if unit == len(parent):
                    parent.append(above)
            deepest[vertex] = unit
    return GraphEvidence(facts, deepest, np.array(parent, np.int32), False)


def _facts(urls: Sequence[str], target: str) -> npt.NDArray[np.float32]:
    found = evidence_of(target, None)[0](urls, {})
    return np.array(found, np.float32).reshape(-1, _N_FACTS)


def _facts_of_servers(graph: WebGraph, target: str) -> npt.NDArray[np.float32]:
    facts = np.zeros((graph.n_servers, _N_FACTS), np.float32)
    if graph.server_domain is not None:
        place = Evidence._fields.index("top_level")
        marks = _facts([f"http://a.{domain}/" for domain in graph.domains], target)[:, place]
        # The last row belongs to servers without a domain, whose index is -1.
        facts[:, place] = np.append(marks, np.float32(0))[graph.server_domain]
    return facts


def _units_of_servers(graph: WebGraph) -> tuple[Ints, Ints]:
    """Return deepest units and parents; each server counts as a registered domain."""
    n, directory = graph.n_servers, graph.page_directory
    has_directory = np.flatnonzero(directory >= 0)
    server_of = np.zeros(graph.n_directories, np.int32)
    server_of[directory[has_directory]] = graph.page_server[has_directory]
    parent = np.concatenate((np.full(n, -1), np.arange(n), n + server_of)).astype(np.int32)
    deepest = np.where(directory >= 0, 2 * n + directory, n + graph.page_server)
    return deepest.astype(np.int32), parent


def _learning(graph: WebGraph | None, target: str) -> Learning:
    """Return the learning state of a compiled crawl; empty if `graph` is None.

    Costs some microseconds per URL.
    """
    nothing = np.zeros(0, np.int32)
    evidence = GraphEvidence(np.zeros((0, _N_FACTS), np.float32), nothing, nothing, True)
    n_fetchable = 1
    if graph is not None:
        evidence = evidence_in(graph, target)
        n_fetchable = int(np.count_nonzero(graph.page_status))
    prior = prior_of(target)
    belief = Belief(prior)
    return Learning(
        facts=evidence.facts,
        by_server=evidence.by_server,
        deepest=evidence.deepest,
        parent=evidence.parent,
        strength=prior.strength,
        labelled=np.zeros(len(evidence.parent), np.int32),
        relevant=np.zeros(len(evidence.parent), np.int32),
        total=np.zeros(2, np.int64),
        links=np.zeros((n_fetchable, N_LINKS), np.uint8),
        mean=belief.mean,
        covariance=belief.covariance,
        known=np.zeros(_N_FACTS + N_LINKS + 2 * N_UNITS),
        row=np.zeros(N_FEATURES),
        gain=np.zeros(N_FEATURES),
    )
