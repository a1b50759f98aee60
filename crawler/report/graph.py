"""The figures of a Web graph: Tables 1, 4, 5 and Figures 1, 2 of Tamura 2007.

The figures of the paper follow those of a graph that was generated with the paper's quantities.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

from classifiers.errors import LanguageError
from classifiers.languages import tlds_of
from crawler.report.formatting import language_name, percent, share_of
from crawler.report.page import Page, Section
from crawler.report.plots import Plot, PlotAxes, Series, line_plot
from crawler.report.table import Table
from crawler.simulate import tamura_figures
from crawler.simulate.figures import GraphFigures, LinkCounts

_MOST_DISTANCES = 24
"""Rows of Figures 1 and 2; greater distances are together in one more row."""
_MOST_DOMAINS = 9
_MOST_LANGUAGES = 10
_NO_TABLE = Table("", (), ())


def graph_page(figures: GraphFigures, provenance: Mapping[str, object], name: str) -> Page:
    """Return the page of a graph, which has all of its tables."""
    lang = language_name(figures.target)
    return Page(
        title=f"Web graph {name}",
        lead=f"Pages, servers and links of a Web graph. {origin(provenance)} "
        f"Target language: {lang}.",
        cards=[
            ("pages", f"{figures.pages:,}"),
            (f"pages in {lang}", _share(figures.relevant_pages, figures.pages)),
            ("servers", f"{figures.servers:,}"),
            (f"servers with pages in {lang}", _share(figures.relevant_servers, figures.servers)),
        ],
        parts=[*_counts_tables(figures, provenance), *distance_parts(figures)],
    )


def origin(provenance: Mapping[str, object]) -> str:
    """A sentence about the source of a graph."""
    source = provenance.get("source")
    if tamura_figures.is_made_to(provenance):
        return "Generated with the quantities of Tamura 2007."
    return f"Source: {source}." if isinstance(source, str) else "Source: unknown."


def distance_parts(figures: GraphFigures) -> list[Section | Plot | Table]:
    """Figures 1 and 2 of Tamura 2007, which the page of simulations has too."""
    lang, within, nearest = (
        language_name(figures.target),
        _figure_1(figures),
        _figure_2(figures),
    )
    return [
        Section(
            title=within.title,
            plots=_within_plots(figures, lang),
            notes=[
                "All pages that the seeds reach over at most d links: their share "
                f"in {lang}, and their number (Tamura 2007, Fig. 1)."
            ],
            tables=[within],
            is_folded=True,
        ),
        _nearest_plot(figures, nearest) if figures.nearest[1:] else nearest,
    ]


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


def _within_plots(figures: GraphFigures, lang: str) -> list[Plot]:
    within = _within_distances(figures)
    shares = [share_of(row.relevant, row.pages) for row in within]
    pages = [float(row.pages) for row in within]
    return [
        _within_plot("share", "Share of relevant pages", f"pages in {lang}", shares, is_share=True),
        _within_plot("pages", "Pages", "pages", pages),
    ]


def _within_plot(
    name: str, what: str, label: str, values: Sequence[float | None], *, is_share: bool = False
) -> Plot:
    title = f"{what} within a distance from the seeds"
    series = Series(name, list(range(len(values))), values, is_marked=True)
    axes = PlotAxes(x_label="distance from the seeds", y_label=label, is_share=is_share, width=5.0)
    return Plot(
        title=title,
        draw=partial(line_plot, f"figure-1-{name}", title, [series], axes),
        caption=f"{title}.",
    )


def _nearest_plot(figures: GraphFigures, table: Table) -> Plot:
    counts = [count or None for count in figures.nearest[1 : _MOST_DISTANCES + 1]]
    series = Series("pages", list(range(1, len(counts) + 1)), counts, is_marked=True)
    axes = PlotAxes(x_label="distance", y_label="relevant pages", is_logarithmic=True)
    return Plot(
        title=table.title,
        draw=partial(line_plot, "figure-2", table.title, [series], axes),
        caption="At distance 1 another relevant page links to the page. At distance d a crawl has "
        "to pass d - 1 irrelevant pages to reach it (Tamura 2007, Fig. 2).",
        table=table,
    )


def _counts_tables(figures: GraphFigures, provenance: Mapping[str, object]) -> list[Table]:
    """The tables that count pages, servers and links."""
    has_paper = tamura_figures.is_made_to(provenance)
    return [
        _totals(figures, has_paper=has_paper),
        _table_1(figures, has_paper=has_paper),
        _domains(figures, has_paper=has_paper),
        _languages(figures),
        _links(
            "Table 4: links by the languages of their two pages, downloaded pages only",
            ("to relevant pages", "to other pages"),
            figures.by_page,
            tamura_figures.TABLE_4 if has_paper else (),
        ),
        _links(
            "Table 5: links by their two servers",
            ("to relevant servers", "to other servers"),
            figures.by_server,
            tamura_figures.TABLE_5 if has_paper else (),
        ),
    ]


def _figure_1(figures: GraphFigures) -> Table:
    """Pages and relevant pages within each distance from the seeds."""
    rows = [
        (row.distance, f"{row.pages:,}", f"{row.relevant:,}", _share(row.relevant, row.pages))
        for row in _within_distances(figures)
    ]
    unreached = figures.pages - sum(pages for pages, _ in figures.by_distance)
    notes = [f"The seeds do not lead to {unreached:,} pages."] if unreached else []
    title = "Figure 1: pages within a distance from the seeds"
    return Table(title, ("distance", "pages", "relevant", "share"), rows, notes=notes)


class _WithinDistance(NamedTuple):
    """Pages that the seeds reach over at most `distance` links, and the relevant ones of them."""

    distance: str
    pages: int
    relevant: int


def _within_distances(figures: GraphFigures) -> list[_WithinDistance]:
    """The rows of Figure 1; if there are too many, the last one joins the greater distances."""
    rows = []
    pages = relevant = 0
    for distance, (more_pages, more_relevant) in enumerate(figures.by_distance):
        pages, relevant = pages + more_pages, relevant + more_relevant
        if distance < _MOST_DISTANCES:
            rows.append(_WithinDistance(str(distance), pages, relevant))
    if len(figures.by_distance) > _MOST_DISTANCES:
        rows.append(_WithinDistance("any", pages, relevant))
    return rows


def _figure_2(figures: GraphFigures) -> Table:
    """Relevant pages by their distance from the nearest other relevant page."""
    counts = list(figures.nearest[1:])
    near, far = counts[:_MOST_DISTANCES], sum(counts[_MOST_DISTANCES:])
    named = [(str(distance), count) for distance, count in enumerate(near, start=1)]
    if far:
        named.append((f"over {_MOST_DISTANCES}", far))
    if any(figures.nearest[:1]):
        named.append(("cannot be reached", figures.nearest[0]))
    rows = [(name, f"{count:,}", _share(count, figures.relevant_pages)) for name, count in named]
    title = "Figure 2: relevant pages by distance from the nearest other relevant page"
    return Table(title, ("distance", "relevant pages", "share"), rows)


def _totals(figures: GraphFigures, *, has_paper: bool) -> Table:
    pages, links, servers = figures.pages, figures.links, figures.servers
    rows = [
        ("URLs", f"{figures.vertices:,}", ""),
        ("pages", f"{pages:,}", _share(pages, figures.vertices)),
        ("links", f"{links:,}", f"{links / max(1, pages):.1f} a page"),
        ("links to URLs never downloaded", f"{figures.unfetched_links:,}", ""),
        ("URLs never downloaded", f"{figures.unfetched_urls:,}", ""),
        ("servers with pages", f"{servers:,}", ""),
        (
            "relevant servers",
            f"{figures.relevant_servers:,}",
            _share(figures.relevant_servers, servers),
        ),
    ]
    return Table(
        "The graph", ("", "number", "share"), rows, _totals_of_paper() if has_paper else ()
    )


def _totals_of_paper() -> list[tuple[str, str, str]]:
    paper = tamura_figures
    return [
        ("paper: pages", f"{paper.PAGES:,}", _share(paper.PAGES, paper.VERTICES)),
        ("paper: links", f"{paper.LINKS:,}", f"{paper.LINKS / paper.PAGES:.1f} a page"),
        ("paper: URLs never downloaded", f"{paper.UNFETCHED:,}", ""),
        (
            "paper: relevant servers",
            f"{paper.RELEVANT_SERVERS:,}",
            _share(paper.RELEVANT_SERVERS, paper.SERVERS),
        ),
    ]


def _table_1(figures: GraphFigures, *, has_paper: bool) -> Table:
    own = _own_domains(figures.target) & {domain for _, domain in figures.pages_by}
    every = {language for language, _ in figures.pages_by}
    named = list(dict.fromkeys((figures.target, "en")))
    groups = [(language_name(code), {code}) for code in named]
    groups += [("others", every - set(named)), ("total", every)]
    rows = []
    for name, languages in groups:
        inside, outside = _pages_of(figures, languages, own)
        rows.append(_row_1(name, inside, outside, figures.pages))
    head = ("language", " ".join(f".{name}" for name in sorted(own)) or "-", "elsewhere", "total")
    title = "Table 1: pages by language and top-level domain"
    return Table(title, head, rows, _table_1_of_paper() if has_paper else ())


def _own_domains(target: str) -> frozenset[str]:
    try:
        return tlds_of(target)
    except LanguageError:
        return frozenset()


def _pages_of(figures: GraphFigures, languages: Set[str], own: Set[str]) -> tuple[int, int]:
    """The pages in some languages, under the languages' own top-level domains and elsewhere."""
    counts: Counter[bool] = Counter()
    for (language, domain), pages in figures.pages_by.items():
        if language in languages:
            counts[domain in own] += pages
    return counts[True], counts[False]


def _table_1_of_paper() -> list[Sequence[str]]:
    names = {"th": "paper: Thai", "en": "paper: English", "": "paper: others"}
    counts = {names[code]: pages for code, pages in tamura_figures.TABLE_1.items()}
    inside = sum(pages for pages, _ in counts.values())
    counts["paper: total"] = inside, tamura_figures.PAGES - inside
    return [_row_1(name, *pages, tamura_figures.PAGES) for name, pages in counts.items()]


def _row_1(name: str, inside: int, outside: int, total: int) -> tuple[str, ...]:
    return name, *(_with_share(pages, total) for pages in (inside, outside, inside + outside))


def _domains(figures: GraphFigures, *, has_paper: bool) -> Table:
    counts: Counter[str] = Counter()
    for (_, domain), pages in figures.pages_by.items():
        counts[f".{domain}" if domain else "none"] += pages
    if set(counts) <= {"none"}:
        return _NO_TABLE
    paper = [
        (f"paper: .{name}", "", percent(share)) for name, share in tamura_figures.DOMAINS.items()
    ]
    rows = _greatest(counts, figures.pages, _MOST_DOMAINS)
    return Table("Top-level domains", ("", "pages", "share"), rows, paper if has_paper else ())


def _languages(figures: GraphFigures) -> Table:
    counts: Counter[str] = Counter()
    for (language, _), pages in figures.pages_by.items():
        counts[f"{language_name(language)} ({language})" if language else "none"] += pages
    if len(counts) <= 3:  # Table 1 has all of them
        return _NO_TABLE
    rows = _greatest(counts, figures.pages, _MOST_LANGUAGES)
    return Table("Languages", ("", "pages", "share"), rows)


def _greatest(counts: Mapping[str, int], total: int, most: int) -> list[tuple[str, str, str]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown, rest = ordered[:most], ordered[most:]
    if len(rest) > 1:
        shown.append((f"{len(rest)} others", sum(count for _, count in rest)))
    else:
        shown += rest
    return [(name, f"{count:,}", _share(count, total)) for name, count in shown]


def _links(
    title: str,
    ends: tuple[str, str],
    table: Sequence[LinkCounts],
    paper: Sequence[tuple[tuple[int, int], tuple[int, int]]],
) -> Table:
    rows = [line for row in table for line in _link_rows(row.source, row.all, row.outside)]
    of_paper = [
        line
        for row, (every, outside) in zip(table, paper, strict=False)
        for line in _link_rows(f"paper: {row.source}", every, outside)
    ]
    return Table(title, ("links of", *ends), rows, of_paper)


def _link_rows(
    source: str, every: tuple[int, int], outside: tuple[int, int]
) -> list[tuple[str, ...]]:
    return [
        (name, *(_with_share(count, sum(counts)) for count in counts))
        for name, counts in ((source, every), ("of these, to other servers", outside))
    ]


def _share(part: int, whole: int) -> str:
    return percent(share_of(part, whole))


def _with_share(count: int, total: int) -> str:
    return f"{count:,} ({_share(count, total)})"
