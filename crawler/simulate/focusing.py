"""What a simulation of the ordering `focus` needs of a graph: the evidence about URLs, their units.

A graph with URLs has the evidence that their text gives. It does not know which URLs pages declare
to be in a language (`hreflang`, sitemaps). A graph without URLs has the top-level domains of its
servers, if these are known, and no other evidence; its units are servers and directories.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crawler.simulate.kernel import Learning
from crawler.simulate.webgraph import WebGraph
from crawler.strategies.focus.belief import Belief, Prior
from crawler.strategies.focus.evidence import (
    N_FEATURES,
    N_LINKS,
    N_UNITS,
    Evidence,
    evidence_of,
    units_of,
)

_N_FACTS: Final = len(Evidence._fields)

Ints = npt.NDArray[np.int32]


class GraphEvidence(NamedTuple):
    """The evidence about the vertices of a graph for one target language.

    `facts` float32 (E, 5) are those of `Evidence`: of each vertex, or with `by_server` of each
    server. `deepest` int32 (V,) is the smallest unit of a vertex, `parent` int32 (U,) the unit
    around each unit, -1 for a registered domain.
    """

    facts: npt.NDArray[np.float32]
    deepest: Ints
    parent: Ints
    by_server: bool


def evidence_in(graph: WebGraph, target: str) -> GraphEvidence:
    """Find the evidence and the units; costs some microseconds for each URL of a graph."""
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
        # The last row is that of servers without a domain, whose index is -1.
        facts[:, place] = np.append(marks, np.float32(0))[graph.server_domain]
    return facts


def _units_of_servers(graph: WebGraph) -> tuple[Ints, Ints]:
    """Each server is a registered domain of its own: units are domains, servers, directories."""
    n, directory = graph.n_servers, graph.page_directory
    has_directory = np.flatnonzero(directory >= 0)
    server_of = np.zeros(graph.n_directories, np.int32)
    server_of[directory[has_directory]] = graph.page_server[has_directory]
    parent = np.concatenate((np.full(n, -1), np.arange(n), n + server_of)).astype(np.int32)
    deepest = np.where(directory >= 0, 2 * n + directory, n + graph.page_server)
    return deepest.astype(np.int32), parent


def learning(graph: WebGraph | None, target: str) -> Learning:
    """Return what a compiled crawl knows at first, and changes; None: of a crawl that learns not.

    Costs some microseconds for each URL of a graph.
    """
    nothing = np.zeros(0, np.int32)
    evidence = GraphEvidence(np.zeros((0, _N_FACTS), np.float32), nothing, nothing, True)
    n_fetchable = 1
    if graph is not None:
        evidence = evidence_in(graph, target)
        n_fetchable = int(np.count_nonzero(graph.page_status))
    prior = Prior.shipped()
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
