"""The report of a Web graph: Tables 1, 4, 5 and Figures 1, 2 of Tamura 2007.

The figures of the paper follow those of a graph that was generated with the paper's quantities.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final

from classifiers.errors import LanguageError
from classifiers.languages import tlds_of
from crawler.report.chart import Chart
from crawler.report.formatting import Cell, language_name, percent, share_of
from crawler.report.page import Report
from crawler.report.table import Table, counts_table
from crawler.simulate import measures as paper
from crawler.simulate.figures import GraphFigures, LinkCounts

_PAPER: Final = paper.WebMeasures()
_MOST_DISTANCES: Final = 24
"""Rows of Figures 1 and 2; greater distances are together in one more row."""
_MOST_ROWS: Final = 10
_COUNTS: Final = (
    *("target", "vertices", "pages", "relevant_pages", "links", "servers", "relevant_servers"),
    *("unfetched_links", "unfetched_urls"),
)
"""Figures that the JSON has under their own names."""

_Pairs = tuple[tuple[int, int], tuple[int, int]]
_Links = tuple[str, tuple[int, int], tuple[int, int]]
"""A kind of source, its links to two kinds of target, and those of them between servers."""


def graph_report(figures: GraphFigures, provenance: Mapping[str, object], name: str) -> Report:
    """The report of a graph with a name."""
    lang = language_name(figures.target)
    return Report(
        title=f"Web graph {name}",
        lead=f"Pages, servers and links of a Web graph. {origin(provenance)} "
        f"Target language: {lang}.",
        cards=[
            (f"pages in {lang}", share_of(figures.relevant_pages, figures.pages)),
            ("pages", figures.pages),
            ("servers", figures.servers),
            (
                f"servers with pages in {lang}",
                share_of(figures.relevant_servers, figures.servers),
            ),
        ],
        parts=[
            *_tables(figures, has_paper=paper.is_made_to(provenance)),
            *distance_parts(figures),
        ],
        figures=_figures(figures, provenance),
    )


def origin(provenance: Mapping[str, object]) -> str:
    """A sentence about the source of a graph."""
    if paper.is_made_to(provenance):
        return "Generated with the quantities of Tamura 2007."
    return f"Source: {provenance.get('source', 'unknown')}."


def _figures(figures: GraphFigures, provenance: Mapping[str, object]) -> dict[str, Any]:
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


def _tables(figures: GraphFigures, *, has_paper: bool) -> list[Table]:
    """The tables that count pages, servers and links."""
    return [
        _totals(figures, has_paper=has_paper),
        _table_1(figures, has_paper=has_paper),
        *_pages_tables(figures, has_paper=has_paper),
        Table(
            "Table 4: links by the languages of their two pages, downloaded pages only",
            ("links of", "to relevant pages", "to other pages"),
            _links((row.source, row.all, row.outside) for row in figures.by_page),
            _links(_of_paper(figures.by_page, paper.TABLE_4)) if has_paper else (),
        ),
        Table(
            "Table 5: links by their two servers",
            ("links of", "to relevant servers", "to other servers"),
            _links((row.source, row.all, row.outside) for row in figures.by_server),
            _links(_of_paper(figures.by_server, paper.TABLE_5)) if has_paper else (),
        ),
    ]


def _totals(figures: GraphFigures, *, has_paper: bool) -> Table:
    pages, links, servers = figures.pages, figures.links, figures.servers
    relevant, of_paper = figures.relevant_servers, _PAPER.relevant_servers
    rows: list[tuple[str, Cell, Cell]] = [
        ("URLs", figures.vertices, ""),
        ("pages", pages, share_of(pages, figures.vertices)),
        ("links", links, f"{links / max(1, pages):.1f} a page"),
        ("links to URLs never downloaded", figures.unfetched_links, ""),
        ("URLs never downloaded", figures.unfetched_urls, ""),
        ("servers with pages", servers, ""),
        ("relevant servers", relevant, share_of(relevant, servers)),
    ]
    paper_rows: list[tuple[str, Cell, Cell]] = [
        ("paper: pages", _PAPER.pages, share_of(_PAPER.pages, _PAPER.vertices)),
        ("paper: links", _PAPER.links, f"{_PAPER.links / _PAPER.pages:.1f} a page"),
        ("paper: URLs never downloaded", paper.UNFETCHED, ""),
        ("paper: relevant servers", of_paper, share_of(of_paper, _PAPER.servers)),
    ]
    return Table("The graph", ("", "number", "share"), rows, paper_rows if has_paper else ())


def _table_1(figures: GraphFigures, *, has_paper: bool) -> Table:
    try:
        own = tlds_of(figures.target) & {domain for _, domain in figures.pages_by}
    except LanguageError:
        own = frozenset()
    named = list(dict.fromkeys((figures.target, "en")))
    every = {language for language, _ in figures.pages_by}
    groups: list[tuple[str, Collection[str]]] = [(language_name(code), [code]) for code in named]
    groups += [("others", every - set(named)), ("total", every)]
    rows = []
    for name, languages in groups:
        counts: Counter[bool] = Counter()
        for (language, domain), pages in figures.pages_by.items():
            counts[domain in own] += pages if language in languages else 0
        rows.append(_row_1(name, counts[True], counts[False], figures.pages))
    inside, outside = map(sum, zip(*paper.TABLE_1.values(), strict=True))
    names = {"th": "Thai", "en": "English", "": "others", "total": "total"}
    paper_rows = [
        _row_1(f"paper: {names[code]}", *pages, _PAPER.pages)
        for code, pages in {**paper.TABLE_1, "total": (inside, outside)}.items()
    ]
    head = ("language", " ".join(f".{name}" for name in sorted(own)) or "-", "elsewhere", "total")
    title = "Table 1: pages by language and top-level domain"
    return Table(title, head, rows, paper_rows if has_paper else ())


def _row_1(name: str, inside: int, outside: int, total: int) -> tuple[str, ...]:
    return name, *(_with_share(pages, total) for pages in (inside, outside, inside + outside))


def _pages_tables(figures: GraphFigures, *, has_paper: bool) -> Iterator[Table]:
    """The pages by top-level domain, if any is known, and by language, if Table 1 lacks some."""
    domains: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    for (language, domain), pages in figures.pages_by.items():
        domains[f".{domain}" if domain else "none"] += pages
        languages[f"{language_name(language)} ({language})" if language else "none"] += pages
    head = ("", "pages")
    if not set(domains) <= {"none"}:
        table = counts_table("Top-level domains", head, domains, _MOST_ROWS)
        of_paper = [(f"paper: .{name}", "", share) for name, share in paper.DOMAINS.items()]
        yield replace(table, paper=of_paper if has_paper else ())
    if len(languages) > 3:
        yield counts_table("Languages", head, languages, _MOST_ROWS)


def _of_paper(rows: Sequence[LinkCounts], counts: Sequence[_Pairs]) -> Iterator[_Links]:
    for row, pairs in zip(rows, counts, strict=False):
        yield f"paper: {row.source}", *pairs


def _links(rows: Iterable[_Links]) -> list[tuple[str, ...]]:
    """For each kind of source all links, and those of them that lead to other servers."""
    return [
        (name, *(_with_share(count, sum(pair)) for count in pair))
        for source, *pairs in rows
        for name, pair in zip((source, "of these, to other servers"), pairs, strict=True)
    ]


def _with_share(count: int, total: int) -> str:
    return f"{count:,} ({percent(share_of(count, total))})"


def distance_parts(figures: GraphFigures) -> list[Chart | Table]:
    """Figures 1 and 2 of Tamura 2007, which the report of simulations has too."""
    within = list(
        accumulate(figures.by_distance, lambda all, more: (all[0] + more[0], all[1] + more[1]))
    )
    rows = [
        (str(distance), pages, relevant, share_of(relevant, pages))
        for distance, (pages, relevant) in enumerate(within)
    ]
    if len(rows) > _MOST_DISTANCES:
        rows[_MOST_DISTANCES:] = [("any", *rows[-1][1:])]
    unreached = figures.pages - (within[-1][0] if within else 0)
    title = "Figure 1: pages within a distance from the seeds"
    lang = language_name(figures.target)
    chart = Chart(
        title=title,
        lines={lang: list(enumerate(row[3] for row in rows))},
        x_label="distance from the seeds",
        y_label=f"pages in {lang}",
        is_share=True,
        caption="Of all pages that the seeds reach over at most d links the share that is in "
        f"{lang} (Tamura 2007, Fig. 1).",
        table=Table(
            title,
            ("distance", "pages", "relevant", "share"),
            rows,
            notes=[f"The seeds do not lead to {unreached:,} pages."] if unreached else [],
        ),
    )
    return [chart, _figure_2(figures)]


def _figure_2(figures: GraphFigures) -> Table:
    """Relevant pages by their distance from the nearest other relevant page."""
    unreached, *counts = figures.nearest or [0]
    named = {str(distance): count for distance, count in enumerate(counts[:_MOST_DISTANCES], 1)}
    named[f"over {_MOST_DISTANCES}"] = sum(counts[_MOST_DISTANCES:])
    named["cannot be reached"] = unreached
    return Table(
        "Figure 2: relevant pages by distance from the nearest other relevant page",
        ("distance", "relevant pages", "share"),
        [
            (name, count, share_of(count, figures.relevant_pages))
            for name, count in named.items()
            if count or name.isdecimal()
        ],
        notes=[
            "At distance 1 another relevant page links to the page. At distance d a crawl has to "
            "pass d - 1 irrelevant pages to reach it (Tamura 2007, Fig. 2)."
        ],
    )
