"""The figures of a Web graph: Tables 1, 4, 5 and Figures 1, 2 of Tamura 2007.

The figures of the paper follow those of a graph that was generated with the paper's quantities.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final

from classifiers.errors import LanguageError
from classifiers.languages import tlds_of
from crawler.report.formatting import Cell, language_name, percent, share_of
from crawler.report.page import Page, Section
from crawler.report.plots import Plot, Series
from crawler.report.table import Table
from crawler.simulate import tamura_figures as paper
from crawler.simulate.figures import GraphFigures, LinkCounts

_MOST_DISTANCES: Final = 24
"""Rows of Figures 1 and 2; greater distances are together in one more row."""
_MOST_DOMAINS: Final = 9
_MOST_LANGUAGES: Final = 10
_COUNTS: Final = (
    *("target", "vertices", "pages", "relevant_pages", "links", "servers", "relevant_servers"),
    *("unfetched_links", "unfetched_urls"),
)
"""Figures that the JSON has under their own names."""

_Pairs = tuple[tuple[int, int], tuple[int, int]]


def graph_page(figures: GraphFigures, provenance: Mapping[str, object], name: str) -> Page:
    """Return the page of a graph, which has all of its tables."""
    lang = language_name(figures.target)
    return Page(
        title=f"Web graph {name}",
        lead=f"Pages, servers and links of a Web graph. {origin(provenance)} "
        f"Target language: {lang}.",
        cards=[
            ("pages", figures.pages),
            (f"pages in {lang}", share_of(figures.relevant_pages, figures.pages)),
            ("servers", figures.servers),
            (
                f"servers with pages in {lang}",
                share_of(figures.relevant_servers, figures.servers),
            ),
        ],
        parts=[*_tables(figures, provenance), *distance_parts(figures)],
    )


def origin(provenance: Mapping[str, object]) -> str:
    """A sentence about the source of a graph."""
    source = provenance.get("source")
    if paper.is_made_to(provenance):
        return "Generated with the quantities of Tamura 2007."
    return f"Source: {source}." if isinstance(source, str) else "Source: unknown."


def graph_json(figures: GraphFigures, provenance: Mapping[str, object]) -> dict[str, Any]:
    """All figures of a graph as JSON types."""
    return {
        "provenance": dict(provenance),
        "is_made_to_tamura_2007": paper.is_made_to(provenance),
        **{name: getattr(figures, name) for name in _COUNTS},
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


def _tables(figures: GraphFigures, provenance: Mapping[str, object]) -> list[Table]:
    """The tables that count pages, servers and links."""
    has_paper = paper.is_made_to(provenance)
    return [
        _totals(figures, has_paper=has_paper),
        _table_1(figures, has_paper=has_paper),
        *_pages_tables(figures, has_paper=has_paper),
        _links(
            "Table 4: links by the languages of their two pages, downloaded pages only",
            "pages",
            figures.by_page,
            paper.TABLE_4 if has_paper else (),
        ),
        _links(
            "Table 5: links by their two servers",
            "servers",
            figures.by_server,
            paper.TABLE_5 if has_paper else (),
        ),
    ]


def _totals(figures: GraphFigures, *, has_paper: bool) -> Table:
    pages, links, servers = figures.pages, figures.links, figures.servers
    rows: list[tuple[str, Cell, Cell]] = [
        ("URLs", figures.vertices, ""),
        ("pages", pages, share_of(pages, figures.vertices)),
        ("links", links, f"{links / max(1, pages):.1f} a page"),
        ("links to URLs never downloaded", figures.unfetched_links, ""),
        ("URLs never downloaded", figures.unfetched_urls, ""),
        ("servers with pages", servers, ""),
        ("relevant servers", figures.relevant_servers, share_of(figures.relevant_servers, servers)),
    ]
    of_paper: list[tuple[str, Cell, Cell]] = [
        ("paper: pages", paper.PAGES, share_of(paper.PAGES, paper.VERTICES)),
        ("paper: links", paper.LINKS, f"{paper.LINKS / paper.PAGES:.1f} a page"),
        ("paper: URLs never downloaded", paper.UNFETCHED, ""),
        (
            "paper: relevant servers",
            paper.RELEVANT_SERVERS,
            share_of(paper.RELEVANT_SERVERS, paper.SERVERS),
        ),
    ]
    return Table("The graph", ("", "number", "share"), rows, of_paper if has_paper else ())


def _table_1(figures: GraphFigures, *, has_paper: bool) -> Table:
    own = _own_domains(figures.target) & {domain for _, domain in figures.pages_by}
    every = {language for language, _ in figures.pages_by}
    named = list(dict.fromkeys((figures.target, "en")))
    groups: list[tuple[str, Set[str]]] = [(language_name(code), {code}) for code in named]
    groups += [("others", every - set(named)), ("total", every)]
    rows = []
    for name, languages in groups:
        counts: Counter[bool] = Counter()
        for (language, domain), pages in figures.pages_by.items():
            counts[domain in own] += pages if language in languages else 0
        rows.append(_row_1(name, counts[True], counts[False], figures.pages))
    head = ("language", " ".join(f".{name}" for name in sorted(own)) or "-", "elsewhere", "total")
    title = "Table 1: pages by language and top-level domain"
    return Table(title, head, rows, list(_table_1_of_paper()) if has_paper else ())


def _own_domains(target: str) -> frozenset[str]:
    try:
        return tlds_of(target)
    except LanguageError:
        return frozenset()


def _table_1_of_paper() -> Iterator[Sequence[str]]:
    names = {"th": "Thai", "en": "English", "": "others"}
    for code, (inside, outside) in paper.TABLE_1.items():
        yield _row_1(f"paper: {names[code]}", inside, outside, paper.PAGES)
    inside = sum(inside for inside, _ in paper.TABLE_1.values())
    yield _row_1("paper: total", inside, paper.PAGES - inside, paper.PAGES)


def _row_1(name: str, inside: int, outside: int, total: int) -> tuple[str, ...]:
    return name, *(_with_share(pages, total) for pages in (inside, outside, inside + outside))


def _pages_tables(figures: GraphFigures, *, has_paper: bool) -> Iterator[Table]:
    """The pages by top-level domain, if any is known, and by language, if Table 1 lacks some."""
    domains: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    for (language, domain), pages in figures.pages_by.items():
        domains[f".{domain}" if domain else "none"] += pages
        languages[f"{language_name(language)} ({language})" if language else "none"] += pages
    head = ("", "pages", "share")
    if not set(domains) <= {"none"}:
        rows = _greatest(domains, figures.pages, _MOST_DOMAINS)
        of_paper = [(f"paper: .{name}", "", share) for name, share in paper.DOMAINS.items()]
        yield Table("Top-level domains", head, rows, of_paper if has_paper else ())
    if len(languages) > 3:
        yield Table("Languages", head, _greatest(languages, figures.pages, _MOST_LANGUAGES))


def _greatest(counts: Mapping[str, int], total: int, most: int) -> list[tuple[Cell, ...]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if len(ordered) > most + 1:
        rest = sum(count for _, count in ordered[most:])
        ordered[most:] = [(f"{len(ordered) - most} others", rest)]
    return [(name, count, share_of(count, total)) for name, count in ordered]


def _links(title: str, ends: str, table: Sequence[LinkCounts], of_paper: Sequence[_Pairs]) -> Table:
    rows = [line for row in table for line in _link_rows(row.source, (row.all, row.outside))]
    paper_rows = [
        line
        for row, counts in zip(table, of_paper, strict=False)
        for line in _link_rows(f"paper: {row.source}", counts)
    ]
    head = ("links of", f"to relevant {ends}", f"to other {ends}")
    return Table(title, head, rows, paper_rows)


def _link_rows(source: str, counts: _Pairs) -> list[tuple[str, ...]]:
    return [
        (name, *(_with_share(count, sum(pair)) for count in pair))
        for name, pair in zip((source, "of these, to other servers"), counts, strict=True)
    ]


def _with_share(count: int, total: int) -> str:
    return f"{count:,} ({percent(share_of(count, total))})"


def distance_parts(figures: GraphFigures) -> list[Section | Plot | Table]:
    """Figures 1 and 2 of Tamura 2007, which the page of simulations has too."""
    return [_figure_1(figures), _figure_2(figures)]


def _figure_1(figures: GraphFigures) -> Section:
    """Pages and relevant pages within each distance from the seeds.

    If there are too many distances, the last row joins the greater ones.
    """
    rows: list[tuple[str, int, int, float | None]] = []
    pages = relevant = 0
    for distance, (more_pages, more_relevant) in enumerate(figures.by_distance):
        pages, relevant = pages + more_pages, relevant + more_relevant
        row = (str(distance), pages, relevant, share_of(relevant, pages))
        if distance < _MOST_DISTANCES:
            rows.append(row)
    if len(figures.by_distance) > _MOST_DISTANCES:
        rows.append(("any", *row[1:]))
    lang, unreached = language_name(figures.target), figures.pages - pages
    title = "Figure 1: pages within a distance from the seeds"
    plots = []
    for name, what, label, place in (
        ("share", "Share of relevant pages", f"pages in {lang}", 3),
        ("pages", "Pages", "pages", 1),
    ):
        heading = f"{what} within a distance from the seeds"
        values: list[float | None] = [row[place] for row in rows]  # type: ignore[misc]
        plots.append(
            Plot(
                name=f"figure-1-{name}",
                title=heading,
                series=[Series(name, range(len(rows)), values, is_marked=True)],
                x_label="distance from the seeds",
                y_label=label,
                is_share=name == "share",
                width=5.0,
                caption=f"{heading}.",
            )
        )
    notes = [f"The seeds do not lead to {unreached:,} pages."] if unreached else []
    return Section(
        title=title,
        plots=plots,
        notes=[
            f"All pages that the seeds reach over at most d links: their share in {lang}, and "
            "their number (Tamura 2007, Fig. 1)."
        ],
        tables=[Table(title, ("distance", "pages", "relevant", "share"), rows, notes=notes)],
        is_folded=True,
    )


def _figure_2(figures: GraphFigures) -> Plot | Table:
    """Relevant pages by their distance from the nearest other relevant page."""
    title = "Figure 2: relevant pages by distance from the nearest other relevant page"
    counts = list(figures.nearest[1:])
    near, far = counts[:_MOST_DISTANCES], sum(counts[_MOST_DISTANCES:])
    named = [(str(distance), count) for distance, count in enumerate(near, start=1)]
    named += [(f"over {_MOST_DISTANCES}", far)] if far else []
    named += [("cannot be reached", figures.nearest[0])] if any(figures.nearest[:1]) else []
    rows = [(name, count, share_of(count, figures.relevant_pages)) for name, count in named]
    table = Table(title, ("distance", "relevant pages", "share"), rows)
    if not counts:
        return table
    drawn = [count or None for count in near]
    return Plot(
        name="figure-2",
        title=title,
        series=[Series("pages", range(1, len(near) + 1), drawn, is_marked=True)],
        x_label="distance",
        y_label="relevant pages",
        is_logarithmic=True,
        caption="At distance 1 another relevant page links to the page. At distance d a crawl has "
        "to pass d - 1 irrelevant pages to reach it (Tamura 2007, Fig. 2).",
        table=table,
    )
