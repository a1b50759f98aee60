"""The report of a Web graph: Tables 1, 4, 5 and Figures 1, 2 of Tamura 2007.

For a graph generated to the paper's quantities, the paper's figures are appended.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import accumulate
from typing import Final

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.languages import tlds_of
from langfocus.crawler.report.formatting import Cell, language_name, percent, share_of
from langfocus.crawler.report.page import Chart, Report
from langfocus.crawler.report.table import Table
from langfocus.crawler.simulate import measures as paper
from langfocus.crawler.simulate.figures import GraphFigures, LinkCounts

_PAPER: Final = paper.WebMeasures()
_MOST_DISTANCES: Final = 24
"""Rows of Figures 1 and 2; a last row sums greater distances."""
_Pairs = Sequence[tuple[int, int]]
"""Links to two target kinds: all links, and links across servers."""


def graph_report(figures: GraphFigures, provenance: Mapping[str, object], name: str) -> Report:
    """Return the report of a named graph."""
    lang = language_name(figures.target)
    relevant = percent(share_of(figures.relevant_pages, figures.pages))
    relevant_servers = share_of(figures.relevant_servers, figures.servers)
    tables = [
        _totals(figures),
        _table_1(figures),
        _links_table(
            "Table 4: links by the languages of their two pages, downloaded pages only",
            "pages",
            figures.by_page,
            paper.TABLE_4,
        ),
        _links_table(
            "Table 5: links by their two servers", "servers", figures.by_server, paper.TABLE_5
        ),
    ]
    if not paper.is_made_to(provenance):
        tables = [replace(table, paper=()) for table in tables]
    return Report(
        title=f"Web graph {name}",
        lead=f"{relevant} of {figures.pages:,} pages are in {lang}. {origin(provenance)}",
        cards=[
            (f"pages in {lang}", share_of(figures.relevant_pages, figures.pages)),
            ("pages", figures.pages),
            ("servers", figures.servers),
            (f"servers with pages in {lang}", relevant_servers),
        ],
        parts=[*tables, *distance_parts(figures)],
        figures={"provenance": dict(provenance), **asdict(figures)},
    )


def origin(provenance: Mapping[str, object]) -> str:
    """Return a sentence about the source of a graph."""
    if paper.is_made_to(provenance):
        return "Generated with the quantities of Tamura 2007."
    return f"Source: {provenance.get('source', 'unknown')}."


def _totals(figures: GraphFigures) -> Table:
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
    return Table("The graph", ("", "number", "share"), rows, paper_rows)


def _table_1(figures: GraphFigures) -> Table:
    try:
        own = tlds_of(figures.target) & set().union(*figures.pages_by.values())
    except LanguageError:
        own = frozenset()
    named = list(dict.fromkeys((figures.target, "en")))
    every = figures.pages_by.keys()
    groups: list[tuple[str, Collection[str]]] = [(language_name(code), [code]) for code in named]
    groups += [("others", every - set(named)), ("total", every)]
    rows = []
    for name, languages in groups:
        of = [figures.pages_by[language] for language in every & set(languages)]
        inside = sum(pages for by in of for domain, pages in by.items() if domain in own)
        total = sum(sum(by.values()) for by in of)
        rows.append(_row_1(name, inside, total - inside, figures.pages))
    inside, outside = map(sum, zip(*paper.TABLE_1.values(), strict=True))
    names = ("paper: Thai", "paper: English", "paper: others", "paper: total")
    counted = (*paper.TABLE_1.values(), (inside, outside))
    of_paper = [
        _row_1(name, *pair, _PAPER.pages) for name, pair in zip(names, counted, strict=True)
    ]
    head = ("language", " ".join(f".{name}" for name in sorted(own)) or "-", "elsewhere", "total")
    return Table("Table 1: pages by language and top-level domain", head, rows, of_paper)


def _row_1(name: str, inside: int, outside: int, total: int) -> tuple[str, ...]:
    return name, *(_with_share(pages, total) for pages in (inside, outside, inside + outside))


def _links_table(
    title: str, kind: str, links: Sequence[LinkCounts], of_paper: Sequence[_Pairs]
) -> Table:
    """Return all links and the links across servers, for each source kind."""
    head = ("links of", f"to relevant {kind}", f"to other {kind}")
    ours = [(row.source, (row.all, row.outside)) for row in links]
    theirs = [(f"paper: {row.source}", both) for row, both in zip(links, of_paper, strict=True)]
    return Table(title, head, _link_rows(ours), _link_rows(theirs))


def _link_rows(sources: Iterable[tuple[str, _Pairs]]) -> list[tuple[str, ...]]:
    return [
        (name, *(_with_share(count, sum(pair)) for count in pair))
        for source, pairs in sources
        for name, pair in zip((source, "of these, to other servers"), pairs, strict=True)
    ]


def _with_share(count: int, total: int) -> str:
    return f"{count:,} ({percent(share_of(count, total))})"


def distance_parts(figures: GraphFigures) -> list[Chart | Table]:
    """Return Figures 1 and 2 of Tamura 2007, also for the simulation report."""
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
    notes = [f"The seeds do not lead to {unreached:,} pages."] if unreached else []
    chart = Chart(
        title=title,
        lines={lang: list(enumerate(row[3] for row in rows))},
        x_label="distance from the seeds",
        y_label=f"pages in {lang}",
        is_share=True,
        caption="Of all pages that the seeds reach over at most d links the share that is in "
        f"{lang} (Tamura 2007, Fig. 1).",
        table=Table(title, ("distance", "pages", "relevant", "share"), rows, notes=notes),
    )
    return [chart, _figure_2(figures)]


def _figure_2(figures: GraphFigures) -> Table:
    """Count relevant pages by distance from the nearest other relevant page."""
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
