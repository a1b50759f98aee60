"""The report of a census: tables, page and JSON in the form of Cai 2009, chapter 5."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from classifiers.errors import MissingPackageError
from classifiers.pages.methods import method
from crawler.census.facts import Reading, gathered
from crawler.census.figures import UNKNOWN, CensusFigures, MethodFigures, census_figures
from crawler.report.country_names import country_name
from crawler.report.files import json_text, write_whole
from crawler.report.formatting import language_name, percent, share_of
from crawler.report.harvest import summarise, write_summary
from crawler.report.page import Page, Section
from crawler.report.plots import Plot, PlotAxes, bar_plot
from crawler.report.printer import WIDE, Printer
from crawler.report.table import Table
from crawler.report.world_map import WorldMap, opacity, world_map

_ENGLISH = "en"
_MOST_ALONE = 5
_MOST_BARS = 20


@dataclass(frozen=True, slots=True)
class CensusView:
    """The rows that are shown: `top` of each table, 0 for all.

    Table 5-5 is shown for each of `countries`, Table 5-6 for each of `languages`; by default for
    the country with the most pages and for the largest language but English.
    """

    countries: Sequence[str] = ()
    languages: Sequence[str] = ()
    top: int = 20

    def chosen_countries(self, figures: CensusFigures) -> list[str]:
        """The countries of Table 5-5."""
        if self.countries:
            return list(self.countries)
        known = [code for code in _pages_by_country(figures) if code != UNKNOWN]
        return known[:1] or [UNKNOWN]

    def chosen_languages(self, figures: CensusFigures) -> list[str]:
        """The languages of Table 5-6."""
        if self.languages:
            return list(self.languages)
        known = [code for code in figures.languages if code not in (UNKNOWN, _ENGLISH)]
        return known[:1] or list(figures.languages)[:1]


def write_census(folder: Path) -> CensusFigures:
    """The figures of the census in a run's folder.

    Writes `summary.json`, `census.json` and `census.html` into it, each in one step. Raises
    RunFolderError for a folder without a run.
    """
    with gathered([folder], Reading(method)) as (connection, sources):
        figures = census_figures(connection, sources)
    write_summary(summarise(folder), folder)
    write_whole(folder / "census.json", json_text(census_json(figures)))
    write_whole(folder / "census.html", census_page(figures, CensusView()).html())
    return figures


def print_census(figures: CensusFigures, view: CensusView, stream: TextIO | None = None) -> None:
    """Print the tables of a census, to standard output by default."""
    printer = Printer(stream, width=WIDE)
    for table in census_tables(figures, view):
        printer.table(table)


def census_tables(figures: CensusFigures, view: CensusView) -> list[Table]:
    """All tables of a census, in the order of the thesis."""
    return [
        _overview(figures),
        methods_table(figures),
        _encoding_table(figures, view.top),
        servers_table(figures, view.top),
        _languages_table(figures, view.top),
        *(country_table(figures, code, view.top) for code in view.chosen_countries(figures)),
        *(language_table(figures, code, view.top) for code in view.chosen_languages(figures)),
    ]


def census_page(figures: CensusFigures, view: CensusView) -> Page:
    """The page of a census, with the map and Figures 5-1 to 5-5."""
    names = ", ".join(source.name for source in figures.sources)
    matrix = _matrix_table(figures)
    return Page(
        title="Census of Web servers",
        lead=f"{figures.all_servers:,} servers, {figures.all_pages:,} {_things(figures)}: {names}.",
        cards=_cards(figures),
        parts=[
            _map(figures),
            *_plots(figures, view),
            *census_tables(figures, view),
            Section(title=matrix.title, tables=[matrix], is_folded=True),
        ],
    )


def census_json(figures: CensusFigures) -> dict[str, Any]:
    """All figures of a census; the tables and the map show parts of them.

    `languages_by_country` has every language and country: language -> country -> pages.
    """
    return {
        "sources": [
            {"name": one.name, "rows": one.rows, "damaged": one.damaged} for one in figures.sources
        ],
        **counted_json(figures),
    }


def counted_json(figures: CensusFigures) -> dict[str, Any]:
    """The figures without the names of their sources: equal for a census that was split."""
    return {
        "counted": "portal pages" if figures.pages == "portals" else "all pages",
        "hosts": figures.hosts,
        "servers": figures.all_servers,
        "addresses": sum(figures.addresses.values()),
        "pages": figures.all_pages,
        "outcomes": dict(figures.outcomes),
        "methods": _methods(figures),
        "encodings": [
            {"language": code, "by_encoding": number, "pages": pages, "share": number / pages}
            for code, number, pages in _by_encoding(figures)
        ],
        "servers_by_country": [
            {**row, "addresses": figures.addresses.get(row["country"], 0)}
            for row in _rows(figures.servers, "country", "servers")
        ],
        "pages_by_language": _rows(figures.languages, "language", "pages"),
        "languages_by_country": {code: dict(row) for code, row in figures.by_country.items()},
    }


def _methods(figures: CensusFigures) -> dict[str, Any]:
    return {
        "decided": dict(figures.decided),
        "pages_with_answers": figures.answered,
        "evidence": [
            {
                "name": one.name,
                "identified": one.identified,
                "coverage": share_of(one.identified, figures.answered),
                "agreeing": one.agreeing,
                "alone": sum(one.alone.values()),
                "alone_by_language": dict(one.alone),
            }
            for one in figures.methods
        ],
    }


def _rows(counts: Mapping[str, int], what: str, things: str) -> list[dict[str, Any]]:
    named = country_name if what == "country" else language_name
    total = sum(counts.values())
    return [
        {
            what: code,
            "name": UNKNOWN if code == UNKNOWN else named(code),
            things: number,
            "share": share_of(number, total),
        }
        for code, number in counts.items()
    ]


def _cards(figures: CensusFigures) -> list[tuple[str, str]]:
    told = figures.all_pages - figures.languages.get(UNKNOWN, 0)
    countries = [code for code in figures.servers if code != UNKNOWN]
    languages = [code for code in figures.languages if code != UNKNOWN]
    return [
        ("hosts", f"{figures.hosts:,}"),
        ("servers", f"{figures.all_servers:,}"),
        ("countries", f"{len(countries):,}"),
        (_things(figures), f"{figures.all_pages:,}"),
        ("with a language", percent(share_of(told, figures.all_pages))),
        ("languages", f"{len(languages):,}"),
    ]


def _map(figures: CensusFigures) -> Section:
    title = "Servers by country"
    known = {code: number for code, number in figures.servers.items() if code != UNKNOWN}
    try:
        drawn = world_map(known, title, "server")
    except MissingPackageError as error:
        return Section(title=title, notes=[f"No map: {error}."])
    unknown = figures.servers.get(UNKNOWN, 0)
    notes = [f"{unknown:,} servers have no known country."] if unknown else []
    if drawn.lacks:
        lacking = ", ".join(f"{country_name(code)} {known[code]:,}" for code in drawn.lacks)
        notes.append(f"Not on the map: {lacking}.")
    shades = _shades(drawn)
    caption = "Servers:" if shades else ""
    plot = Plot(title=title, draw=lambda: drawn.svg, caption=caption, shades=shades)
    return Section(title=title, plots=[plot], notes=notes)


def _shades(drawn: WorldMap) -> list[tuple[float, str]]:
    """The opacity of each shade and its counts in words."""
    if not drawn.bounds:
        return []
    ends = [f"{after - 1:,}" for after in drawn.bounds[1:]]
    return [
        (opacity(shade, len(drawn.bounds)), _interval(f"{least:,}", end))
        for shade, (least, end) in enumerate(zip(drawn.bounds, [*ends, None], strict=True), start=1)
    ]


def _interval(least: str, end: str | None) -> str:
    if end is None:
        return f"{least} and more"
    return least if least == end else f"{least} to {end}"


def _plots(figures: CensusFigures, view: CensusView) -> list[Plot]:
    """Figures 5-1, 5-2, 5-4 and 5-5."""
    encodings = {
        language_name(code): number / pages
        for code, number, pages in list(_by_encoding(figures))[:_MOST_BARS]
        if number
    }
    languages = _without_largest(figures.languages)
    plots = [
        _bars("coverage", "Pages that each evidence tells (Figure 5-1)", _coverage(figures)),
        _bars("encodings", "Pages that the encoding tells (Figure 5-2)", encodings),
        _bars(
            "languages",
            "Languages without English and unknown (Figure 5-4)",
            languages,
            _things(figures),
        ),
    ]
    for country in view.chosen_countries(figures):
        plots.append(
            _bars(
                f"country-{country}",
                f"Languages in {country_name(country)} without the largest and unknown (Fig. 5-5)",
                _without_largest(figures.languages_of(country), is_of_country=True),
                _things(figures),
            )
        )
    return [plot for plot in plots if plot is not None]


def _coverage(figures: CensusFigures) -> dict[str, float]:
    told = figures.all_pages - figures.languages.get(UNKNOWN, 0)
    shares = {"all together": share_of(told, figures.all_pages) or 0.0}
    if figures.methods:
        return shares | {one.name: one.identified / figures.answered for one in figures.methods}
    return shares | {name: n / figures.all_pages for name, n in figures.decided.items()}


def _without_largest(counts: Mapping[str, int], *, is_of_country: bool = False) -> dict[str, float]:
    """The first languages by name, without those that would dwarf the others, as in the thesis."""
    known = [code for code in counts if code != UNKNOWN]
    left_out = known[:1] if is_of_country else [_ENGLISH]
    kept = [code for code in known if code not in left_out] or known
    return {language_name(code): counts[code] for code in kept[:_MOST_BARS]}


def _bars(
    name: str, title: str, values: Mapping[str, float], label: str | None = None
) -> Plot | None:
    """A plot of bars; without a label the values are shares. None without values."""
    if not values:
        return None
    axes = PlotAxes(y_label=label or "share of the pages", is_share=label is None)
    return Plot(title=title, draw=partial(bar_plot, name, title, list(values.items()), axes))


def _things(figures: CensusFigures) -> str:
    """The name of the pages that are counted."""
    return "portal pages" if figures.pages == "portals" else "pages"


def _overview(figures: CensusFigures) -> Table:
    """The numbers of hosts, servers and pages, and the outcomes of all URLs."""
    told = figures.all_pages - figures.languages.get(UNKNOWN, 0)
    located = figures.all_servers - figures.servers.get(UNKNOWN, 0)
    rows = [(name, _spelled(value)) for name, value in figures.listed.items()]
    rows += [
        ("hosts", f"{figures.hosts:,}"),
        ("servers: hosts that answered", f"{figures.all_servers:,}"),
        ("IP addresses of servers", f"{sum(figures.addresses.values()):,}"),
        ("servers with a known country", f"{located:,}"),
        (f"{_things(figures)} with status 2xx", f"{figures.all_pages:,}"),
        (f"{_things(figures)} with a language", f"{told:,}"),
        ("share with a language", percent(share_of(told, figures.all_pages))),
        *((f"URLs: {name}", f"{number:,}") for name, number in figures.outcomes.items()),
    ]
    damaged = sum(source.damaged for source in figures.sources)
    if damaged:
        rows.append(("damaged places in WARC files", f"{damaged:,}"))
    sources = ", ".join(source.name for source in figures.sources)
    return Table(f"Census of {sources}", ("", "number"), rows)


def methods_table(figures: CensusFigures) -> Table:
    """The share of pages that each kind of evidence told, and told alone (Table 4-4)."""
    if figures.methods:
        head = ("evidence", "pages", "coverage", "agree", "told alone", "share", "alone, languages")
        rows = [_method_row(one, figures.answered) for one in figures.methods]
        notes = [
            f"Of {figures.answered:,} {_things(figures)}. agree: with the language of the page. "
            "told alone: no other evidence told a language; share: of all pages.",
        ]
        return Table("Evidence of the languages (Table 4-4, Figure 5-1)", head, rows, notes=notes)
    total = figures.all_pages
    decided = [
        (name, f"{number:,}", percent(share_of(number, total)))
        for name, number in figures.decided.items()
    ]
    notes = ["A run has the deciding evidence alone; its WARC files give all of it."]
    title = "Deciding evidence of the languages (Table 4-4, Figure 5-1)"
    return Table(title, ("evidence", "pages", "coverage"), decided, notes=notes)


def _method_row(one: MethodFigures, answered: int) -> tuple[str, ...]:
    alone = sum(one.alone.values())
    most = [f"{language_name(code)} {n:,}" for code, n in list(one.alone.items())[:_MOST_ALONE]]
    others = len(one.alone) - len(most)
    return (
        one.name,
        f"{one.identified:,}",
        percent(share_of(one.identified, answered)),
        percent(share_of(one.agreeing, one.identified)),
        f"{alone:,}",
        percent(share_of(alone, answered)),
        ", ".join(most) + (f", {others} others" if others else ""),
    )


def _encoding_table(figures: CensusFigures, top: int) -> Table:
    """The share of each language's pages whose encoding tells it (Table 5-2)."""
    rows = [
        (language_name(code), f"{number:,}", f"{pages:,}", percent(number / pages))
        for code, number, pages in _by_encoding(figures)
    ]
    head = ("language", "by encoding", _things(figures), "share")
    title = "Pages whose encoding tells the language (Table 5-2, Figure 5-2)"
    return Table(title, head, rows[: top or None])


def _by_encoding(figures: CensusFigures) -> Iterator[tuple[str, int, int]]:
    """Yield each known language, its pages that the encoding tells, and all of its pages."""
    for code, pages in figures.languages.items():
        if code != UNKNOWN:
            yield code, figures.by_encoding.get(code, 0), pages


def servers_table(figures: CensusFigures, top: int) -> Table:
    """The countries by their servers (Table 5-3)."""
    total = figures.all_servers
    rows = [
        (
            str(order),
            _country(code),
            f"{number:,}",
            percent(share_of(number, total)),
            f"{figures.addresses.get(code, 0):,}",
        )
        for order, (code, number) in enumerate(figures.servers.items(), 1)
    ]
    head = ("order", "country", "servers", "share", "IP addresses")
    title = "Countries by servers (Table 5-3, Figure 5-3)"
    return Table(title, head, _first(rows, top, "countries"), text_columns=2)


def _languages_table(figures: CensusFigures, top: int) -> Table:
    """The languages by their pages (Table 5-4)."""
    return _counts_table(
        f"Languages by {_things(figures)} (Table 5-4, Figure 5-4)",
        ("language", _things(figures)),
        {_language(code): number for code, number in figures.languages.items()},
        top,
    )


def country_table(figures: CensusFigures, country: str, top: int) -> Table:
    """The languages of the pages in a country (Table 5-5)."""
    counts = figures.languages_of(country)
    place = (
        "of servers without a known country" if country == UNKNOWN else f"in {_country(country)}"
    )
    title = f"Languages {place}, by {_things(figures)} (Table 5-5, Figure 5-5)"
    named = {_language(code): number for code, number in counts.items()}
    return _counts_table(title, ("language", _things(figures)), named, top)


def language_table(figures: CensusFigures, language: str, top: int) -> Table:
    """The countries of the pages in a language (Table 5-6)."""
    counts = figures.countries_of(language)
    title = f"Countries by {_things(figures)} in {_language(language)} (Table 5-6)"
    named = {_country(code): number for code, number in counts.items()}
    return _counts_table(title, ("country", _things(figures)), named, top)


def _matrix_table(figures: CensusFigures) -> Table:
    """The pages of every language in every country, unknown ones included."""
    countries = list(_pages_by_country(figures))
    rows = [
        (_language(code), *(_cell(row.get(country, 0)) for country in countries), f"{total:,}")
        for (code, row), total in zip(
            figures.by_country.items(), figures.languages.values(), strict=True
        )
    ]
    title = f"Languages and countries of all {figures.all_pages:,} {_things(figures)}"
    return Table(title, ("language", *countries, "all"), rows)


def _pages_by_country(figures: CensusFigures) -> dict[str, int]:
    totals: dict[str, int] = {}
    for row in figures.by_country.values():
        for country, number in row.items():
            totals[country] = totals.get(country, 0) + number
    return dict(sorted(totals.items(), key=lambda pair: (-pair[1], pair[0])))


def _counts_table(title: str, head: Sequence[str], counts: Mapping[str, int], top: int) -> Table:
    total = sum(counts.values())
    rows = [
        (str(order), name, f"{number:,}", percent(share_of(number, total)))
        for order, (name, number) in enumerate(counts.items(), 1)
    ]
    return Table(title, ("order", *head, "share"), _first(rows, top, "others"), text_columns=2)


def _first(rows: Sequence[tuple[str, ...]], top: int, others: str) -> Sequence[tuple[str, ...]]:
    """The first rows, and one that says how many follow."""
    if not top or len(rows) <= top:
        return rows
    more = len(rows) - top
    left = sum(int(row[2].replace(",", "")) for row in rows[top:])
    blank = [""] * (len(rows[0]) - 3)
    return [*rows[:top], ("", f"{more} {others}", f"{left:,}", *blank)]


def _country(code: str) -> str:
    return UNKNOWN if code == UNKNOWN else f"{country_name(code)} ({code})"


def _language(code: str) -> str:
    return UNKNOWN if code == UNKNOWN else f"{language_name(code)} ({code})"


def _cell(number: int) -> str:
    return f"{number:,}" if number else ""


def _spelled(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else value
