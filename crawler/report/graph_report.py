"""Tables 1, 4, 5 and Figures 1, 2 of Tamura 2007 of any Web graph: text, JSON and HTML."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from classifiers.errors import LanguageError
from classifiers.languages import tlds_of
from crawler.report import markup
from crawler.report.formatting import language_name, percent
from crawler.report.plots import Series, line_plot
from crawler.report.sheets import Sheet, share_of, sheet_html
from crawler.simulate import tamura_figures
from crawler.simulate.figures import GraphFigures, LinkCounts

_MOST_DISTANCES = 24
"""Rows of a figure's table; what is farther stands in the last one."""
_MOST_DOMAINS = 9
_MOST_LANGUAGES = 10


def graph_sheets(figures: GraphFigures, provenance: Mapping[str, object]) -> list[Sheet]:
    """Return what the graph is made of, as tables; the paper's beside where it was made to it."""
    is_paper = tamura_figures.is_made_to(provenance)
    return [
        _counts(figures, is_paper=is_paper),
        _table_1(figures, is_paper=is_paper),
        _domains(figures, is_paper=is_paper),
        _languages(figures),
        _links(
            "Table 4: links by the language of their ends, fetched pages only",
            ("to relevant pages", "to other pages"),
            figures.by_page,
            tamura_figures.TABLE_4 if is_paper else (),
        ),
        _links(
            "Table 5: links by the servers of their ends",
            ("to relevant servers", "to other servers"),
            figures.by_server,
            tamura_figures.TABLE_5 if is_paper else (),
        ),
        figure_1(figures),
        figure_2(figures),
    ]


def figure_1(figures: GraphFigures) -> Sheet:
    """Return pages and relevant pages within each distance from the seeds."""
    rows = [
        (name, f"{pages:,}", f"{relevant:,}", percent(share_of(relevant, pages)))
        for name, pages, relevant in _up_to_distance(figures)
    ]
    far = sum(pages for pages, _ in figures.by_distance)
    notes = []
    if far < figures.pages:
        notes = [f"No way leads from the seeds to {figures.pages - far:,} pages."]
    return Sheet(
        "Figure 1: pages within a distance from the seeds",
        ("distance", "pages", "relevant", "share"),
        rows,
        notes=notes,
    )


def figure_2(figures: GraphFigures) -> Sheet:
    """Return how many relevant pages are how far from the nearest other one."""
    counts = list(figures.nearest[1:])
    near, far = counts[:_MOST_DISTANCES], sum(counts[_MOST_DISTANCES:])
    named = [(str(distance), count) for distance, count in enumerate(near, start=1)]
    if far:
        named.append((f"over {_MOST_DISTANCES}", far))
    named += [("none leads there", figures.nearest[0])] if any(figures.nearest[:1]) else []
    rows = [
        (name, f"{count:,}", percent(share_of(count, figures.relevant_pages)))
        for name, count in named
    ]
    return Sheet(
        "Figure 2: relevant pages by distance from the nearest other one",
        ("distance", "relevant pages", "share"),
        rows,
    )


def graph_plots(figures: GraphFigures) -> str:
    """Return Figures 1 and 2 as sections of a page."""
    lang = language_name(figures.target)
    sheet_1, sheet_2 = figure_1(figures), figure_2(figures)
    within = _up_to_distance(figures)
    distances = list(range(len(within)))
    shares = [share_of(relevant, pages) for _, pages, relevant in within]
    pages = [float(pages) for _, pages, _ in within]
    counts = [count or None for count in figures.nearest[1 : _MOST_DISTANCES + 1]]
    parts = [
        line_plot(
            "figure-1-share",
            "share of relevant pages within a distance from the seeds",
            [Series("share", distances, shares, is_marked=True)],
            x_label="distance from the seeds",
            y_label=f"pages in {lang}",
            is_share=True,
            width=5.0,
        ),
        line_plot(
            "figure-1-pages",
            "pages within a distance from the seeds",
            [Series("pages", distances, pages, is_marked=True)],
            x_label="distance from the seeds",
            y_label="pages",
            width=5.0,
        ),
    ]
    nearest = line_plot(
        "figure-2",
        sheet_2.title,
        [Series("pages", list(range(1, len(counts) + 1)), counts, is_marked=True)],
        x_label="distance",
        y_label="relevant pages",
        is_logarithmic=True,
    )
    return "\n".join(
        [
            markup.section(
                sheet_1.title,
                markup.columns(*parts),
                markup.figure(
                    "",
                    "All pages that the seeds reach over so many links or fewer: how many they "
                    f"are, and the share of them in {lang} (Tamura 2007, Fig. 1).",
                    sheet_html(sheet_1),
                ),
            ),
            markup.section(
                sheet_2.title,
                markup.figure(
                    nearest,
                    "At distance 1 another relevant page links to the page; at distance d a crawl "
                    "has to pass d - 1 irrelevant pages to get there (Tamura 2007, Fig. 2).",
                    sheet_html(sheet_2),
                ),
            )
            if counts
            else "",
        ]
    )


def graph_page(figures: GraphFigures, provenance: Mapping[str, object], name: str) -> str:
    """Return a graph as an HTML document that needs neither network nor scripts."""
    lang = language_name(figures.target)
    sheets = graph_sheets(figures, provenance)
    cards = [
        ("pages", f"{figures.pages:,}"),
        (f"in {lang}", percent(share_of(figures.relevant_pages, figures.pages))),
        ("servers", f"{figures.servers:,}"),
        (f"with pages in {lang}", percent(share_of(figures.relevant_servers, figures.servers))),
    ]
    parts = [
        markup.heading(f"Web graph {name}", f"{origin(provenance)} Target language: {lang}."),
        markup.figures(cards),
        *(markup.section(sheet.title, sheet_html(sheet)) for sheet in sheets[:-2]),
        graph_plots(figures),
    ]
    return markup.page(f"Web graph {name}", "\n".join(parts))


def origin(provenance: Mapping[str, object]) -> str:
    """Return a sentence that says where a graph comes from."""
    source = provenance.get("source")
    if tamura_figures.is_made_to(provenance):
        return "Generated to the quantities of Tamura 2007."
    return f"Source: {source}." if isinstance(source, str) else "Source: not told."


def graph_json(figures: GraphFigures, provenance: Mapping[str, object]) -> dict[str, Any]:
    """Return all that is known of a graph as plain values."""
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


def _up_to_distance(figures: GraphFigures) -> list[tuple[str, int, int]]:
    """Distances with the pages and relevant pages within them; far ones in one row."""
    rows: list[tuple[str, int, int]] = []
    pages = relevant = 0
    for distance, (more_pages, more_relevant) in enumerate(figures.by_distance):
        pages, relevant = pages + more_pages, relevant + more_relevant
        if distance < _MOST_DISTANCES:
            rows.append((str(distance), pages, relevant))
    if len(figures.by_distance) > _MOST_DISTANCES:
        rows.append(("any", pages, relevant))
    return rows


def _counts(figures: GraphFigures, *, is_paper: bool) -> Sheet:
    pages, links = figures.pages, figures.links
    rows = [
        ("URLs", f"{figures.vertices:,}", ""),
        ("pages", f"{pages:,}", percent(share_of(pages, figures.vertices))),
        ("links", f"{links:,}", f"{links / max(1, pages):.1f} a page"),
        ("links to URLs never fetched", f"{figures.unfetched_links:,}", ""),
        ("URLs never fetched", f"{figures.unfetched_urls:,}", ""),
        ("servers with pages", f"{figures.servers:,}", ""),
        (
            "relevant servers",
            f"{figures.relevant_servers:,}",
            percent(share_of(figures.relevant_servers, figures.servers)),
        ),
    ]
    paper = [
        (
            "paper: pages",
            f"{tamura_figures.PAGES:,}",
            percent(tamura_figures.PAGES / tamura_figures.VERTICES),
        ),
        (
            "paper: links",
            f"{tamura_figures.LINKS:,}",
            f"{tamura_figures.LINKS / tamura_figures.PAGES:.1f} a page",
        ),
        ("paper: URLs never fetched", f"{tamura_figures.UNFETCHED:,}", ""),
        (
            "paper: relevant servers",
            f"{tamura_figures.RELEVANT_SERVERS:,}",
            percent(tamura_figures.RELEVANT_SERVERS / tamura_figures.SERVERS),
        ),
    ]
    return Sheet("The graph", ("", "number", "share"), rows, paper if is_paper else ())


def _table_1(figures: GraphFigures, *, is_paper: bool) -> Sheet:
    target = figures.target
    own = _own_domains(target) & {domain for _, domain in figures.pages_by}
    languages = [target] + ["en"] * (target != "en")

    def row(name: str, is_in: Iterable[str] | None) -> list[str]:
        wanted = None if is_in is None else set(is_in)
        counts = [
            (domain in own, pages)
            for (language, domain), pages in figures.pages_by.items()
            if wanted is None or language in wanted
        ]
        inside = sum(pages for is_own, pages in counts if is_own)
        total = sum(pages for _, pages in counts)
        return [name, *(_with_share(n, figures.pages) for n in (inside, total - inside, total))]

    others = {language for language, _ in figures.pages_by} - set(languages)
    rows = [row(language_name(code), [code]) for code in languages]
    rows += [row("others", others), row("total", None)]
    paper = []
    if is_paper:
        names = {"th": "paper: Thai", "en": "paper: English", "": "paper: others"}
        table = [(names[code], *counts) for code, counts in tamura_figures.TABLE_1.items()]
        inside = sum(counts[0] for counts in tamura_figures.TABLE_1.values())
        table.append(("paper: total", inside, tamura_figures.PAGES - inside))
        paper = [
            (
                name,
                *(
                    _with_share(n, tamura_figures.PAGES)
                    for n in (inside, outside, inside + outside)
                ),
            )
            for name, inside, outside in table
        ]
    head = ("language", " ".join(f".{name}" for name in sorted(own)) or "-", "elsewhere", "total")
    return Sheet("Table 1: pages by language and top-level domain", head, rows, paper)


def _own_domains(target: str) -> frozenset[str]:
    try:
        return tlds_of(target)
    except LanguageError:
        return frozenset()


def _domains(figures: GraphFigures, *, is_paper: bool) -> Sheet:
    by_domain: dict[str, int] = {}
    for (_, domain), pages in figures.pages_by.items():
        by_domain[f".{domain}" if domain else "none"] = (
            by_domain.get(f".{domain}" if domain else "none", 0) + pages
        )
    if set(by_domain) <= {"none"}:
        return Sheet("", (), ())
    paper = [
        (f"paper: .{name}", "", percent(share)) for name, share in tamura_figures.DOMAINS.items()
    ]
    rows = _greatest(by_domain, figures.pages, _MOST_DOMAINS)
    return Sheet("Top-level domains", ("", "pages", "share"), rows, paper if is_paper else ())


def _languages(figures: GraphFigures) -> Sheet:
    by_language: dict[str, int] = {}
    for (language, _), pages in figures.pages_by.items():
        name = f"{language_name(language)} ({language})" if language else "none"
        by_language[name] = by_language.get(name, 0) + pages
    if len(by_language) <= 3:
        return Sheet("", (), ())
    return Sheet(
        "Languages",
        ("", "pages", "share"),
        _greatest(by_language, figures.pages, _MOST_LANGUAGES),
    )


def _greatest(counts: Mapping[str, int], total: int, most: int) -> list[tuple[str, str, str]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown, rest = ordered[:most], ordered[most:]
    if len(rest) > 1:
        shown.append((f"{len(rest)} others", sum(count for _, count in rest)))
    else:
        shown += rest
    return [(name, f"{count:,}", percent(share_of(count, total))) for name, count in shown]


def _links(
    title: str,
    ends: tuple[str, str],
    table: Sequence[LinkCounts],
    paper: Sequence[tuple[tuple[int, int], tuple[int, int]]],
) -> Sheet:
    rows, of_paper = [], []
    for place, row in enumerate(table):
        for name, counts in ((row.source, row.all), ("of these, to other servers", row.outside)):
            rows.append((name, *(_with_share(n, sum(counts)) for n in counts)))
        if paper:
            names = (f"paper: {row.source}", "of these, to other servers")
            for name, counts in zip(names, paper[place], strict=True):
                of_paper.append((name, *(_with_share(n, sum(counts)) for n in counts)))
    return Sheet(title, ("links of", *ends), rows, of_paper)


def _with_share(count: int, total: int) -> str:
    return f"{count:,} ({percent(share_of(count, total))})"
