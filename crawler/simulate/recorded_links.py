"""Surroundings of a page in a recorded Web: inlinking pages and linked pages.

Surroundings are evidence for the language of a short page (Hayati 2004, 5.3 and 5.4).
"""

from collections import defaultdict
from collections.abc import Sequence

from langfocus.classifiers.pages.method import MIN_REFERENCE_LENGTH, Neighbour, Surroundings
from langfocus.crawler.simulate.webgraph import PAGE, WebGraph
from langfocus.crawler.url import fingerprint, normalise


class RecordedLinks:
    """Neighbour lookup by URL in a graph, with the links in memory.

    A neighbour is a downloaded page with a language. A graph has no text lengths, so every
    neighbour is assumed to be long enough as evidence.
    """

    def __init__(self, graph: WebGraph) -> None:
        """Index a graph by its URLs; raises `GraphError` for a graph without URLs."""
        self._graph = graph
        vertices = range(graph.n_vertices)
        self._vertex_of = {fingerprint(graph.url(vertex)): vertex for vertex in vertices}
        known = (graph.page_status == PAGE) & (graph.page_language >= 0)
        self._language = [
            graph.languages[index] if is_known else None
            for index, is_known in zip(graph.page_language, known, strict=True)
        ]
        self._linking: defaultdict[int, list[int]] = defaultdict(list)
        for vertex in vertices:
            for target in graph.links(vertex).tolist():
                self._linking[target].append(vertex)

    def around(self, url: str) -> Surroundings:
        """Return a URL with its neighbours; without neighbours if the URL is not in the graph."""
        normal = normalise(url)
        vertex = None if normal is None else self._vertex_of.get(fingerprint(normal))
        if vertex is None:
            return Surroundings(url)
        linked = self._graph.links(vertex).tolist()
        linking = self._linking.get(vertex, [])
        return Surroundings(
            url, self._neighbours(linking, vertex), self._neighbours(linked, vertex)
        )

    def agreement(self) -> tuple[float, int]:
        """Return the share of links between pages in the same language, and the number of links.

        Both pages have a language. Hayati 2004, 5.3, counted 95 % of 799 links.
        """
        language = self._language
        same = [
            language[source] == language[target]
            for target, sources in self._linking.items()
            for source in sources
            if source != target and language[source] and language[target]
        ]
        return (sum(same) / len(same) if same else float("nan")), len(same)

    def _neighbours(self, vertices: Sequence[int], own: int) -> tuple[Neighbour, ...]:
        languages = (self._language[vertex] for vertex in vertices if vertex != own)
        return tuple(Neighbour(code, MIN_REFERENCE_LENGTH) for code in languages if code)
