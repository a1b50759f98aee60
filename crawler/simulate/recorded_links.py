"""The pages around a page in a recorded Web: those that link to it, and those that it links to.

They are evidence for the language of a short page (Hayati 2004, 5.3 and 5.4).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from classifiers.pages.method import MIN_REFERENCE_LENGTH, Neighbour, Surroundings
from crawler.errors import GraphError
from crawler.simulate.webgraph import PAGE, WebGraph
from crawler.url import fingerprint, normalise


class RecordedLinks:
    """Finds the neighbours of URLs in a graph; about 20 bytes for each URL and link.

    A neighbour is a downloaded page with a language. A graph keeps no length of text, so each
    counts as long enough to be evidence.
    """

    def __init__(self, graph: WebGraph) -> None:
        """Index a graph by its URLs; raises `GraphError` if it has none."""
        if not graph.has_urls:
            raise GraphError("the graph has no URLs, so no page is found in it")
        self._graph = graph
        keys = np.fromiter(
            (fingerprint(graph.url(vertex)) for vertex in range(graph.n_vertices)),
            np.int64,
            graph.n_vertices,
        )
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        lengths = np.diff(graph.link_start)
        self._sources = np.repeat(np.arange(graph.n_vertices, dtype=np.int32), lengths)
        self._by_target = np.argsort(graph.link_target, kind="stable")
        self._targets = graph.link_target[self._by_target]

    def around(self, url: str) -> Surroundings:
        """Return a URL with its neighbours; without any if the graph does not know it."""
        vertex = self._vertex(url)
        if vertex is None:
            return Surroundings(url)
        first, last = np.searchsorted(self._targets, [vertex, vertex + 1])
        linking = self._sources[self._by_target[first:last]]
        return Surroundings(
            url,
            self._neighbours(linking, vertex),
            self._neighbours(self._graph.links(vertex), vertex),
        )

    def agreement(self) -> tuple[float, int]:
        """Return the share of links between pages of one language, and the number of links.

        Both pages have a language. Hayati 2004, 5.3, counted 95 % of 799 links.
        """
        graph = self._graph
        known = (graph.page_status == PAGE) & (graph.page_language >= 0)
        counted = known[self._sources] & known[graph.link_target]
        counted &= self._sources != graph.link_target
        same = graph.page_language[self._sources] == graph.page_language[graph.link_target]
        number = int(counted.sum())
        return (float((same & counted).sum() / number) if number else float("nan")), number

    def _vertex(self, url: str) -> int | None:
        normal = normalise(url)
        if normal is None:
            return None
        key = fingerprint(normal)
        place = int(np.searchsorted(self._keys, key))
        is_known = place < len(self._keys) and self._keys[place] == key
        return int(self._order[place]) if is_known else None

    def _neighbours(
        self, vertices: Sequence[int] | npt.NDArray[np.int32], own: int
    ) -> tuple[Neighbour, ...]:
        graph = self._graph
        return tuple(
            Neighbour(graph.languages[graph.page_language[vertex]], MIN_REFERENCE_LENGTH)
            for vertex in vertices
            if vertex != own
            and graph.page_status[vertex] == PAGE
            and graph.page_language[vertex] >= 0
        )
