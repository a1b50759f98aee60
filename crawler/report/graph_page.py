"""The page of a Web graph, and its Figures 1 and 2, which the page of simulations has too."""

from collections.abc import Mapping
from typing import Any

from crawler.report.formatting import language_name, percent, share_of
from crawler.report.graph_tables import (
    MOST_DISTANCES,
    counts_tables,
    figure_1,
    figure_2,
    within_distances,
)
from crawler.report.plots import Plot, PlotAxes, Series, line_plot
from crawler.report.templates import render
from crawler.simulate import tamura_figures
from crawler.simulate.figures import GraphFigures


def graph_page(figures: GraphFigures, provenance: Mapping[str, object], name: str) -> str:
    """The figures of a graph as the text of an HTML file."""
    lang = language_name(figures.target)
    cards = [
        ("pages", f"{figures.pages:,}"),
        (f"pages in {lang}", percent(share_of(figures.relevant_pages, figures.pages))),
        ("servers", f"{figures.servers:,}"),
        (
            f"servers with pages in {lang}",
            percent(share_of(figures.relevant_servers, figures.servers)),
        ),
    ]
    return render(
        "graph.html",
        title=f"Web graph {name}",
        heading=f"Web graph {name}",
        lead=f"Pages, servers and links of a Web graph. {origin(provenance)} "
        f"Target language: {lang}.",
        figures=cards,
        tables=counts_tables(figures, provenance),
        **distance_figures(figures),
    )


def origin(provenance: Mapping[str, object]) -> str:
    """A sentence about the source of a graph."""
    source = provenance.get("source")
    if tamura_figures.is_made_to(provenance):
        return "Generated with the quantities of Tamura 2007."
    return f"Source: {source}." if isinstance(source, str) else "Source: unknown."


def distance_figures(figures: GraphFigures) -> dict[str, Any]:
    """Figures 1 and 2 of Tamura 2007 as `within` and `nearest`, for `graph_figures.html`."""
    within = figure_1(figures)
    lang = language_name(figures.target)
    return {
        "within": {
            "title": within.title,
            "plots": _within_plots(figures, lang),
            "caption": "All pages that the seeds reach over at most d links: their share "
            f"in {lang}, and their number (Tamura 2007, Fig. 1).",
            "table": within,
        },
        "nearest": _nearest_plot(figures) if figures.nearest[1:] else None,
    }


def _within_plots(figures: GraphFigures, lang: str) -> list[Plot]:
    within = within_distances(figures)
    distances = list(range(len(within)))
    shares = [share_of(row.relevant, row.pages) for row in within]
    pages = [float(row.pages) for row in within]
    x_label, width = "distance from the seeds", 5.0
    share_title = "Share of relevant pages within a distance from the seeds"
    pages_title = "Pages within a distance from the seeds"
    return [
        Plot(
            title=share_title,
            svg=line_plot(
                "figure-1-share",
                share_title,
                [Series("share", distances, shares, is_marked=True)],
                PlotAxes(x_label=x_label, y_label=f"pages in {lang}", is_share=True, width=width),
            ),
            caption=f"{share_title}.",
        ),
        Plot(
            title=pages_title,
            svg=line_plot(
                "figure-1-pages",
                pages_title,
                [Series("pages", distances, pages, is_marked=True)],
                PlotAxes(x_label=x_label, y_label="pages", width=width),
            ),
            caption=f"{pages_title}.",
        ),
    ]


def _nearest_plot(figures: GraphFigures) -> Plot:
    table = figure_2(figures)
    counts = [count or None for count in figures.nearest[1 : MOST_DISTANCES + 1]]
    series = Series("pages", list(range(1, len(counts) + 1)), counts, is_marked=True)
    axes = PlotAxes(x_label="distance", y_label="relevant pages", is_logarithmic=True)
    return Plot(
        title=table.title,
        svg=line_plot("figure-2", table.title, [series], axes),
        caption="At distance 1 another relevant page links to the page. At distance d a crawl has "
        "to pass d - 1 irrelevant pages to reach it (Tamura 2007, Fig. 2).",
        table=table,
    )
