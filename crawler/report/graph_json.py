"""The figures of a Web graph as JSON types."""

from collections.abc import Iterable, Mapping
from typing import Any

from crawler.simulate import tamura_figures
from crawler.simulate.figures import GraphFigures, LinkCounts


def graph_json(figures: GraphFigures, provenance: Mapping[str, object]) -> dict[str, Any]:
    """All figures of a graph as JSON types."""
    return {
        "target": figures.target,
        "provenance": dict(provenance),
        "is_made_to_tamura_2007": tamura_figures.is_made_to(provenance),
        "vertices": figures.vertices,
        "pages": figures.pages,
        "relevant_pages": figures.relevant_pages,
        "links": figures.links,
        "servers": figures.servers,
        "relevant_servers": figures.relevant_servers,
        "unfetched_links": figures.unfetched_links,
        "unfetched_urls": figures.unfetched_urls,
        "table_1": [
            {"language": language, "domain": domain, "pages": pages}
            for (language, domain), pages in sorted(figures.pages_by.items())
        ],
        "table_4": _links_json(figures.by_page),
        "table_5": _links_json(figures.by_server),
        "figure_1": [
            {"distance": distance, "pages": pages, "relevant": relevant}
            for distance, (pages, relevant) in enumerate(figures.by_distance)
        ],
        "figure_2": [
            {"distance": distance, "relevant_pages": count}
            for distance, count in enumerate(figures.nearest)
            if distance
        ],
        "relevant_pages_to_which_none_leads": (figures.nearest or [0])[0],
    }


def _links_json(rows: Iterable[LinkCounts]) -> list[dict[str, Any]]:
    return [{"source": row.source, "all": row.all, "between_servers": row.outside} for row in rows]
