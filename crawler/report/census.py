"""The report of a census: tables, page and JSON in the form of Cai 2009, chapter 5."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from classifiers.errors import MissingPackageError
from classifiers.pages.methods import method
from crawler.census.facts import Reading, gathered
from crawler.census.figures import UNKNOWN, CensusFigures, census_figures
from crawler.report.files import json_text, write_whole
from crawler.report.formatting import Cell, country_name, language_name, share_of
from crawler.report.harvest import summarise, write_summary
from crawler.report.page import Page, Section
from crawler.report.plots import Plot
from crawler.report.printer import WIDE, Printer
from crawler.report.table import Table
from crawler.report.world_map import world_map

_ENGLISH: Final = "en"
_MOST_ALONE: Final = 5
_MOST_BARS: Final = 20


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
        known = [code for code in _pages_by_country(figures) if code != UNKNOWN]
        return list(self.countries) or known[:1] or [UNKNOWN]

    def chosen_languages(self, figures: CensusFigures) -> list[str]:
        """The languages of Table 5-6."""
        known = [code for code in figures.languages if code not in (UNKNOWN, _ENGLISH)]
        return list(self.languages) or known[:1] or list(figures.languages)[:1]


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


def census_page(figures: CensusFigures, view: CensusView) -> Page:
    """The page of a census, with the map and Figures 5-1 to 5-5."""
    names = ", ".join(source.name for source in figures.sources)
    matrix = _matrix_table(figures)
    return Page(
        title="Census of Web servers",
        lead=f"{figures.all_servers:,} servers, {figures.all_pages:,} {_things(figures)}: {names}.",
        cards=[
            ("hosts", figures.hosts),
            ("servers", figures.all_servers),
            ("countries", len(figures.servers.keys() - {UNKNOWN})),
            (_things(figures), figures.all_pages),
            ("with a language", share_of(_told(figures), figures.all_pages)),
            ("languages", len(figures.languages.keys() - {UNKNOWN})),
        ],
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
    servers, pages = figures.all_servers, figures.all_pages
    return {
        "counted": "portal pages" if figures.pages == "portals" else "all pages",
        "hosts": figures.hosts,
        "servers": servers,
        "addresses": sum(figures.addresses.values()),
        "pages": pages,
        "outcomes": dict(figures.outcomes),
        "methods": {
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
        },
        "encodings": [
            {"language": code, "by_encoding": number, "pages": of, "share": number / of}
            for code, number, of in _by_encoding(figures)
        ],
        "servers_by_country": [
            {
                "country": code,
                "name": UNKNOWN if code == UNKNOWN else country_name(code),
                "servers": number,
                "share": share_of(number, servers),
                "addresses": figures.addresses.get(code, 0),
            }
            for code, number in figures.servers.items()
        ],
        "pages_by_language": [
            {
                "language": code,
                "name": UNKNOWN if code == UNKNOWN else language_name(code),
                "pages": number,
                "share": share_of(number, pages),
            }
            for code, number in figures.languages.items()
        ],
        "languages_by_country": {code: dict(row) for code, row in figures.by_country.items()},
    }


def census_tables(figures: CensusFigures, view: CensusView) -> list[Table]:
    """All tables of a census, in the order of the thesis."""
    things, top = _things(figures), view.top
    encodings = [
        (language_name(code), number, pages, number / pages)
        for code, number, pages in _by_encoding(figures)
    ]
    tables = [
        _overview(figures),
        _methods_table(figures),
        Table(
            "Pages whose encoding tells the language (Table 5-2, Figure 5-2)",
            ("language", "by encoding", things, "share"),
            encodings[: top or None],
        ),
        _counts_table(
            "Countries by servers (Table 5-3, Figure 5-3)",
            ("country", "servers", "countries"),
            {_country(code): number for code, number in figures.servers.items()},
            top,
            ("IP addresses", [figures.addresses.get(code, 0) for code in figures.servers]),
        ),
        _counts_table(
            f"Languages by {things} (Table 5-4, Figure 5-4)",
            ("language", things, "others"),
            {_language(code): number for code, number in figures.languages.items()},
            top,
        ),
    ]
    for country in view.chosen_countries(figures):
        counts = figures.languages_of(country)
        place = f"in {_country(country)}"
        if country == UNKNOWN:
            place = "of servers without a known country"
        title = f"Languages {place}, by {things} (Table 5-5, Figure 5-5)"
        named = {_language(code): number for code, number in counts.items()}
        tables.append(_counts_table(title, ("language", things, "others"), named, top))
    for language in view.chosen_languages(figures):
        counts = figures.countries_of(language)
        title = f"Countries by {things} in {_language(language)} (Table 5-6)"
        named = {_country(code): number for code, number in counts.items()}
        tables.append(_counts_table(title, ("country", things, "others"), named, top))
    return tables


def _overview(figures: CensusFigures) -> Table:
    """The numbers of hosts, servers and pages, and the outcomes of all URLs."""
    told = _told(figures)
    rows: list[tuple[str, Cell]] = [
        *figures.listed.items(),
        ("hosts", figures.hosts),
        ("servers: hosts that answered", figures.all_servers),
        ("IP addresses of servers", sum(figures.addresses.values())),
        ("servers with a known country", figures.all_servers - figures.servers.get(UNKNOWN, 0)),
        (f"{_things(figures)} with status 2xx", figures.all_pages),
        (f"{_things(figures)} with a language", told),
        ("share with a language", share_of(told, figures.all_pages)),
        *((f"URLs: {name}", number) for name, number in figures.outcomes.items()),
    ]
    damaged = sum(source.damaged for source in figures.sources)
    if damaged:
        rows.append(("damaged places in WARC files", damaged))
    sources = ", ".join(source.name for source in figures.sources)
    return Table(f"Census of {sources}", ("", "number"), rows)


def _methods_table(figures: CensusFigures) -> Table:
    """The share of pages that each kind of evidence told, and told alone (Table 4-4)."""
    if not figures.methods:
        total = figures.all_pages
        return Table(
            "Deciding evidence of the languages (Table 4-4, Figure 5-1)",
            ("evidence", "pages", "coverage"),
            [(name, number, share_of(number, total)) for name, number in figures.decided.items()],
            notes=["A run has the deciding evidence alone; its WARC files give all of it."],
        )
    rows = []
    for one in figures.methods:
        alone = sum(one.alone.values())
        most = [f"{language_name(code)} {n:,}" for code, n in list(one.alone.items())[:_MOST_ALONE]]
        others = len(one.alone) - len(most)
        rows.append(
            (
                one.name,
                one.identified,
                share_of(one.identified, figures.answered),
                share_of(one.agreeing, one.identified),
                alone,
                share_of(alone, figures.answered),
                ", ".join(most) + (f", {others} others" if others else ""),
            )
        )
    return Table(
        "Evidence of the languages (Table 4-4, Figure 5-1)",
        ("evidence", "pages", "coverage", "agree", "told alone", "share", "alone, languages"),
        rows,
        notes=[
            f"Of {figures.answered:,} {_things(figures)}. agree: with the language of the page. "
            "told alone: no other evidence told a language; share: of all pages.",
        ],
    )


def _counts_table(
    title: str,
    head: tuple[str, str, str],
    counts: Mapping[str, int],
    top: int,
    more: tuple[str, Sequence[int]] | None = None,
) -> Table:
    """The first names by their counts, and a row that says how many follow.

    `head` names them, the things that are counted, and those that follow. `more` is a last column.
    """
    total = sum(counts.values())
    rows: list[list[Cell]] = [
        [str(order), name, number, share_of(number, total)]
        for order, (name, number) in enumerate(counts.items(), 1)
    ]
    if more is not None:
        rows = [[*row, cell] for row, cell in zip(rows, more[1], strict=True)]
    if top and len(rows) > top:
        left = sum(list(counts.values())[top:])
        blank = [""] * (len(rows[0]) - 3)
        rows[top:] = [["", f"{len(rows) - top} {head[2]}", left, *blank]]
    names = ("order", *head[:2], "share", *([] if more is None else [more[0]]))
    return Table(title, names, rows, text_columns=2)


def _matrix_table(figures: CensusFigures) -> Table:
    """The pages of every language in every country, unknown ones included."""
    countries = list(_pages_by_country(figures))
    rows = [
        (_language(code), *(row.get(country) or "" for country in countries), sum(row.values()))
        for code, row in figures.by_country.items()
    ]
    title = f"Languages and countries of all {figures.all_pages:,} {_things(figures)}"
    return Table(title, ("language", *countries, "all"), rows)


def _pages_by_country(figures: CensusFigures) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for row in figures.by_country.values():
        totals.update(row)
    return dict(sorted(totals.items(), key=lambda pair: (-pair[1], pair[0])))


def _by_encoding(figures: CensusFigures) -> Iterator[tuple[str, int, int]]:
    """Yield each known language, its pages that the encoding tells, and all of its pages."""
    for code, pages in figures.languages.items():
        if code != UNKNOWN:
            yield code, figures.by_encoding.get(code, 0), pages


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
    caption = "Servers:" if drawn.shades else ""
    plot = Plot(name="map", title=title, map=drawn.svg, caption=caption, shades=drawn.shades)
    return Section(title=title, plots=[plot], notes=notes)


def _plots(figures: CensusFigures, view: CensusView) -> list[Plot]:
    """Figures 5-1, 5-2, 5-4 and 5-5."""
    encodings = {
        language_name(code): number / pages
        for code, number, pages in list(_by_encoding(figures))[:_MOST_BARS]
        if number
    }
    of_all = _without(figures.languages, _ENGLISH)
    shares = "share of the pages"
    titled: list[tuple[str, str, Mapping[str, float], str]] = [
        ("coverage", "Pages that each evidence tells (Figure 5-1)", _coverage(figures), shares),
        ("encodings", "Pages that the encoding tells (Figure 5-2)", encodings, shares),
        ("languages", "Languages without English and unknown (Figure 5-4)", of_all, ""),
    ]
    for country in view.chosen_countries(figures):
        counts = figures.languages_of(country)
        known = next((code for code in counts if code != UNKNOWN), "")
        title = f"Languages in {country_name(country)} without the largest and unknown (Fig. 5-5)"
        titled.append((f"country-{country}", title, _without(counts, known), ""))
    return [
        Plot(
            name=name,
            title=title,
            bars=list(values.items()),
            y_label=label or _things(figures),
            is_share=bool(label),
        )
        for name, title, values, label in titled
        if values
    ]


def _coverage(figures: CensusFigures) -> dict[str, float]:
    shares = {"all together": share_of(_told(figures), figures.all_pages) or 0.0}
    if figures.methods:
        return shares | {one.name: one.identified / figures.answered for one in figures.methods}
    return shares | {name: n / figures.all_pages for name, n in figures.decided.items()}


def _without(counts: Mapping[str, int], largest: str) -> dict[str, float]:
    """The first languages by name, without the one that would dwarf them, as in the thesis."""
    known = [code for code in counts if code != UNKNOWN]
    kept = [code for code in known if code != largest] or known
    return {language_name(code): counts[code] for code in kept[:_MOST_BARS]}


def _things(figures: CensusFigures) -> str:
    """The name of the pages that are counted."""
    return "portal pages" if figures.pages == "portals" else "pages"


def _told(figures: CensusFigures) -> int:
    """The pages with a language."""
    return figures.all_pages - figures.languages.get(UNKNOWN, 0)


def _country(code: str) -> str:
    return UNKNOWN if code == UNKNOWN else f"{country_name(code)} ({code})"


def _language(code: str) -> str:
    return UNKNOWN if code == UNKNOWN else f"{language_name(code)} ({code})"
