"""Census report in the form of Cai 2009, chapter 5."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from langfocus.classifiers.pages.methods import method
from langfocus.crawler.census.figures import UNKNOWN, CensusFigures, MethodFigures, census_figures
from langfocus.crawler.errors import SettingError
from langfocus.crawler.report.formatting import (
    Cell,
    country_name,
    json_text,
    language_name,
    percent,
    share_of,
)
from langfocus.crawler.report.harvest import summarise, write_summary
from langfocus.crawler.report.page import Command, Report, period_of
from langfocus.crawler.report.run_report import Written
from langfocus.crawler.report.table import Table, counts_table
from langfocus.crawler.run.whole_file import write_whole

_ENGLISH: Final = "en"
_MOST_ALONE: Final = 5
_MOST_ROWS: Final = 20
"""Row limit of a table; one further row counts the rest."""


def written(folder: Path, labels: Path | None = None) -> Written:
    """Write `summary.json`, `census.json` and `census.html` of a run, each atomically."""
    if labels is not None:
        raise SettingError(f"{folder}: is a census; --labels is for the harvest rate of a crawl")
    summary = summarise(folder)
    report = census_report(census_figures([folder], method))
    asked = Command("The command for the same census", summary.command)
    report = replace(report, parts=[*report.parts, asked])
    write_summary(summary, folder)
    write_whole(folder / "census.json", json_text(report.figures))
    page = write_whole(folder / "census.html", report.html())
    return Written(page, report.figures, report.print)


def census_report(
    figures: CensusFigures, countries: Sequence[str] = (), languages: Sequence[str] = ()
) -> Report:
    """Return a census report with Table 5-5 by country and Table 5-6 by language.

    Defaults: the country with the most pages, and the largest language except English.
    """
    sources = ", ".join(source.name for source in figures.sources)
    things, countries_known = _things(figures), len(figures.servers.keys() - {UNKNOWN})
    most = ""
    for code in [code for code in figures.languages if code != UNKNOWN][:1]:
        share = percent(share_of(figures.languages[code], _identified(figures)))
        most = f"{share} of the {things} with a language are in {language_name(code)}. "
    return Report(
        title="Census of Web servers",
        lead=f"{most}{figures.all_servers:,} servers, {figures.all_pages:,} {things}: {sources}.",
        period=period_of((source.started_at, source.ended_at) for source in figures.sources),
        cards=[
            ("servers", figures.all_servers),
            ("hosts", figures.hosts),
            *([("countries", countries_known)] if countries_known else []),
            (things, figures.all_pages),
            ("with a language", share_of(_identified(figures), figures.all_pages)),
            ("languages", len(figures.languages.keys() - {UNKNOWN})),
        ],
        parts=[
            _overview(figures),
            _methods_table(figures),
            *_count_tables(figures, countries, languages),
        ],
        figures=asdict(figures),
    )


def _overview(figures: CensusFigures) -> Table:
    """Return host, server and page counts, and the outcomes of all URLs."""
    identified, things = _identified(figures), _things(figures)
    damaged = sum(source.damaged for source in figures.sources)
    rows: list[tuple[str, Cell]] = [
        ("hosts", figures.hosts),
        ("servers: hosts that answered", figures.all_servers),
        ("IP addresses of servers", sum(figures.addresses.values())),
        ("servers with a known country", figures.all_servers - figures.servers.get(UNKNOWN, 0)),
        (f"{things} with status 2xx", figures.all_pages),
        (f"{things} with a language", identified),
        ("share with a language", share_of(identified, figures.all_pages)),
        *((f"URLs: {name}", number) for name, number in figures.outcomes.items()),
        *([("damaged places in WARC files", damaged)] if damaged else []),
    ]
    sources = ", ".join(source.name for source in figures.sources)
    return Table(f"Census of {sources}", ("", "number"), rows)


def _methods_table(figures: CensusFigures) -> Table:
    """Return each evidence's page share, also without other evidence (Table 4-4)."""
    if not figures.methods:
        return Table(
            "Deciding evidence of the languages (Table 4-4, Figure 5-1)",
            ("evidence", "pages", "coverage"),
            [(name, n, share_of(n, figures.all_pages)) for name, n in figures.decided.items()],
            notes=["A run has the deciding evidence alone; its WARC files give all of it."],
        )
    return Table(
        "Evidence of the languages (Table 4-4, Figure 5-1)",
        ("evidence", "pages", "coverage", "agree", "told alone", "share", "alone, languages"),
        [_evidence(evidence, figures.answered) for evidence in figures.methods],
        notes=[
            f"Of {figures.answered:,} {_things(figures)}. agree: with the language of the page. "
            "coverage: the share with such evidence. told alone: no other evidence told a "
            "language; share: of all pages.",
        ],
    )


def _evidence(evidence: MethodFigures, answered: int) -> tuple[Cell, ...]:
    alone = sum(evidence.alone.values())
    most = [
        f"{language_name(code)} {n:,}" for code, n in list(evidence.alone.items())[:_MOST_ALONE]
    ]
    others = len(evidence.alone) - len(most)
    return (
        evidence.name,
        evidence.identified,
        share_of(evidence.identified, answered),
        share_of(evidence.agreeing, evidence.identified),
        alone,
        share_of(alone, answered),
        ", ".join([*most, *([f"{others} others"] if others else [])]),
    )


def _count_tables(
    figures: CensusFigures, countries: Sequence[str], languages: Sequence[str]
) -> list[Table]:
    """Return Tables 5-2 to 5-6; their bars are Figures 5-2 to 5-5."""
    things = _things(figures)
    encodings = [
        (language_name(code), number, pages, number / pages)
        for code, pages in figures.languages.items()
        for number in [figures.by_encoding.get(code, 0)]
        if code != UNKNOWN
    ]
    totals: Counter[str] = Counter()
    for row in figures.by_country.values():
        totals.update(row)
    most = sorted(totals.keys() - {UNKNOWN}, key=lambda code: (-totals[code], code))[:1]
    known = [code for code in figures.languages if code not in (UNKNOWN, _ENGLISH)]
    addresses = {_country(code): number for code, number in figures.addresses.items()}
    servers = _counted(
        "Countries by servers (Table 5-3, Figure 5-3)", ("country", "servers"), figures.servers
    )
    by_country, by_language = ("country", things), ("language", things)
    return [
        Table(
            "Pages whose encoding tells the language (Table 5-2, Figure 5-2)",
            ("language", "by encoding", things, "share"),
            encodings[:_MOST_ROWS],
        ),
        replace(
            servers,
            head=[*servers.head, "IP addresses"],
            rows=[[*row, addresses.get(str(row[0]), "")] for row in servers.rows if most],
        ),
        _counted(f"Languages by {things} (Table 5-4, Figure 5-4)", by_language, figures.languages),
        *(
            _counted(
                f"Languages in {_country(code)}, by {things} (Table 5-5, Figure 5-5)",
                by_language,
                figures.languages_of(code),
            )
            for code in countries or most
        ),
        *(
            _counted(
                f"Countries by {things} in {_language(code)} (Table 5-6)",
                by_country,
                figures.by_country.get(code, {}),
            )
            for code in languages or (known or list(figures.languages))[: len(most)]
        ),
    ]


def _counted(title: str, head: tuple[str, str], counts: Mapping[str, int]) -> Table:
    named = _country if head[0] == "country" else _language
    return counts_table(title, head, {named(code): n for code, n in counts.items()}, _MOST_ROWS)


def _things(figures: CensusFigures) -> str:
    """Return the name of the counted pages."""
    return "portal pages" if figures.pages == "portals" else "pages"


def _identified(figures: CensusFigures) -> int:
    """Return the number of pages with a language."""
    return figures.all_pages - figures.languages.get(UNKNOWN, 0)


def _country(code: str) -> str:
    return UNKNOWN if code == UNKNOWN else f"{country_name(code)} ({code})"


def _language(code: str) -> str:
    return UNKNOWN if code == UNKNOWN else f"{language_name(code)} ({code})"
