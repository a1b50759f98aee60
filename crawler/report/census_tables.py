"""The tables of a census, in the form of Cai 2009, chapter 5."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from crawler.census.figures import UNKNOWN, CensusFigures, MethodFigures
from crawler.report.country_names import country_name
from crawler.report.formatting import language_name, percent, share_of
from crawler.report.printer import WIDE, Printer
from crawler.report.table import Table

ENGLISH = "en"
_MOST_ALONE = 5


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
        known = [code for code in figures.languages if code not in (UNKNOWN, ENGLISH)]
        return known[:1] or list(figures.languages)[:1]


def print_census(figures: CensusFigures, view: CensusView, stream: TextIO | None = None) -> None:
    """Print the tables of a census, to standard output by default."""
    printer = Printer(stream, width=WIDE)
    for table in census_tables(figures, view):
        printer.table(table)


def census_tables(figures: CensusFigures, view: CensusView) -> list[Table]:
    """All tables of a census, in the order of the thesis."""
    return [
        overview(figures),
        methods_table(figures),
        encoding_table(figures, view.top),
        servers_table(figures, view.top),
        languages_table(figures, view.top),
        *(country_table(figures, code, view.top) for code in view.chosen_countries(figures)),
        *(language_table(figures, code, view.top) for code in view.chosen_languages(figures)),
    ]


def things(figures: CensusFigures) -> str:
    """The name of the pages that are counted."""
    return "portal pages" if figures.pages == "portals" else "pages"


def overview(figures: CensusFigures) -> Table:
    """The numbers of hosts, servers and pages, and the outcomes of all URLs."""
    told = figures.all_pages - figures.languages.get(UNKNOWN, 0)
    located = figures.all_servers - figures.servers.get(UNKNOWN, 0)
    rows = [(name, _spelled(value)) for name, value in figures.listed.items()]
    rows += [
        ("hosts", f"{figures.hosts:,}"),
        ("servers: hosts that answered", f"{figures.all_servers:,}"),
        ("IP addresses of servers", f"{sum(figures.addresses.values()):,}"),
        ("servers with a known country", f"{located:,}"),
        (f"{things(figures)} with status 2xx", f"{figures.all_pages:,}"),
        (f"{things(figures)} with a language", f"{told:,}"),
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
            f"Of {figures.answered:,} {things(figures)}. agree: with the language of the page. "
            "told alone: no other evidence told a language; share: of all pages.",
        ]
        return Table("Evidence of the languages (Table 4-4, Figure 5-1)", head, rows, notes=notes)
    total = figures.all_pages
    decided = [
        (name, f"{number:,}", percent(share_of(number, total)))
        for name, number in figures.decided.items()
    ]
    notes = ["The deciding evidence alone was kept: -s LANGFOCUS_ANSWERS=True keeps all of it."]
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


def encoding_table(figures: CensusFigures, top: int) -> Table:
    """The share of each language's pages whose encoding tells it (Table 5-2)."""
    rows = [
        (language_name(code), f"{number:,}", f"{pages:,}", percent(number / pages))
        for code, number, pages in by_encoding(figures)
    ]
    head = ("language", "by encoding", things(figures), "share")
    title = "Pages whose encoding tells the language (Table 5-2, Figure 5-2)"
    return Table(title, head, rows[: top or None])


def by_encoding(figures: CensusFigures) -> Iterator[tuple[str, int, int]]:
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


def languages_table(figures: CensusFigures, top: int) -> Table:
    """The languages by their pages (Table 5-4)."""
    return _counts_table(
        f"Languages by {things(figures)} (Table 5-4, Figure 5-4)",
        ("language", things(figures)),
        {_language(code): number for code, number in figures.languages.items()},
        top,
    )


def country_table(figures: CensusFigures, country: str, top: int) -> Table:
    """The languages of the pages in a country (Table 5-5)."""
    counts = figures.languages_of(country)
    place = (
        "of servers without a known country" if country == UNKNOWN else f"in {_country(country)}"
    )
    title = f"Languages {place}, by {things(figures)} (Table 5-5, Figure 5-5)"
    named = {_language(code): number for code, number in counts.items()}
    return _counts_table(title, ("language", things(figures)), named, top)


def language_table(figures: CensusFigures, language: str, top: int) -> Table:
    """The countries of the pages in a language (Table 5-6)."""
    counts = figures.countries_of(language)
    title = f"Countries by {things(figures)} in {_language(language)} (Table 5-6)"
    named = {_country(code): number for code, number in counts.items()}
    return _counts_table(title, ("country", things(figures)), named, top)


def matrix_table(figures: CensusFigures) -> Table:
    """The pages of every language in every country, unknown ones included."""
    countries = list(_pages_by_country(figures))
    rows = [
        (_language(code), *(_cell(row.get(country, 0)) for country in countries), f"{total:,}")
        for (code, row), total in zip(
            figures.by_country.items(), figures.languages.values(), strict=True
        )
    ]
    title = f"Languages and countries of all {figures.all_pages:,} {things(figures)}"
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
