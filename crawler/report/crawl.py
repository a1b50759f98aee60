"""The report of a crawl: `summary.json`, `report.html` and the tables at its end."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TextIO

from crawler.errors import SettingError
from crawler.report.census import CensusView, census_json, print_census, write_census
from crawler.report.course import CurvePoint, Portion, curve, ends_of, merged, middles_of
from crawler.report.files import write_whole
from crawler.report.formatting import NOTHING, Cell, duration, language_name, number, size
from crawler.report.harvest import Summary, summarise, write_summary
from crawler.report.labels import label_table
from crawler.report.page import Page, Section
from crawler.report.plots import Plot, Series
from crawler.report.printer import WIDE, Printer
from crawler.report.table import Table
from crawler.run import reading

_MOST_PORTIONS = 50
"""A longer run is shown in portions of 400, 600, ... pages."""

_MOST_POINTS = 20
"""Rows of the table of queue and hosts."""

_MOST_PRINTED = 10
_MOST_ROWS = 15
_MOST_SEEDS = 100

_ENDS: Final = {
    None: "running or killed",
    "finished": "finished (nothing was left to fetch)",
    "unanswered": "unanswered (no seed answered)",
    "expected": "expected (nothing expected in the language was left to fetch)",
}

_SHARES: Final = (
    "Only URLs with the outcome “page” count as pages. A share is a part of all rows of its table."
)


def report(folder: Path, labels: Path | None = None) -> tuple[dict[str, Any], Path]:
    """Write the files of a crawl or a census and print its tables; return its figures and the page.

    `labels` is a file of a person's labels. Raises SettingError for one that belongs to another
    run, and for labels of a census.
    """
    if _is_census(folder):
        if labels is not None:
            raise SettingError(
                f"{folder}: is a census; --labels is for the harvest rate of a crawl"
            )
        census = write_census(folder)
        print_census(census, CensusView())
        return census_json(census), folder / "census.html"
    table = None if labels is None else label_table(folder, labels)
    summary = write_report(folder, table)
    print_summary(summary)
    if table is not None:
        Printer(width=WIDE).table(table)
    return summary.as_json(), folder / "report.html"


def write_report(folder: Path, labels: Table | None = None) -> Summary:
    """The figures of the run in `folder`, after writing its `summary.json` and `report.html`.

    `labels` is the table of the figures by a person's labels, for the page. Each file is replaced
    in one step. Raises RunFolderError for a folder without a run.
    """
    with reading(folder) as connection:
        summary = summarise(connection)
        course = curve(connection)
    write_summary(summary, folder)
    write_whole(folder / "report.html", crawl_page(summary, course, labels).html())
    return summary


def print_summary(summary: Summary, stream: TextIO | None = None) -> None:
    """Print the tables at the end of a crawl, to standard output by default."""
    printer = Printer(stream)
    title = f"{language_name(summary.lang)} ({summary.lang}), strategy {summary.strategy}"
    printer.table(Table(title, ("", "Run"), headline(summary)))
    printer.table(_languages(summary, "language", _MOST_PRINTED))
    printer.table(_shares("Outcomes", ("outcome", "URLs"), summary.outcomes, _MOST_PRINTED))
    for advice in summary.advice:
        printer.line(f"advice: {advice}")


def headline(summary: Summary) -> list[tuple[str, Cell]]:
    """The main figures of a run, as pairs of a name and a figure."""
    beyond = summary.counts.get("domain_full", 0) + summary.outcomes.get("domain_full", 0)
    rows: list[tuple[str, Cell, bool]] = [
        ("pages", summary.pages, True),
        ("pages with a label", summary.labelled, True),
        *((f"of these by {name}", count, True) for name, count in summary.methods.items()),
        (f"relevant (in {language_name(summary.lang)})", summary.relevant, True),
        ("copies (their text stands on many domains)", summary.copies, bool(summary.copies)),
        ("harvest rate", summary.harvest_rate, True),
        ("harvest rate, last 200 pages", summary.harvest_last_200, True),
        ("pages without a label", summary.unlabelled, True),
        ("hosts", summary.hosts, True),
        ("most URLs of one host", summary.max_urls_per_host, True),
        ("URLs beyond the cap of their domain", beyond, bool(beyond)),
        ("downloaded", size(summary.bytes), True),
        ("time", duration(summary.seconds), True),
        ("pages per second", number(summary.pages_per_second), True),
        ("finish reason", _ENDS.get(summary.finish_reason) or summary.finish_reason, True),
    ]
    return [(name, cell) for name, cell, is_shown in rows if is_shown] + _learnt(summary)


def _learnt(summary: Summary) -> list[tuple[str, Cell]]:
    """The errors of an ordering that learns, and the changes since an earlier run."""
    rows: list[tuple[str, Cell]] = []
    if summary.brier is not None:
        rows.append(("Brier score of the probabilities", f"{summary.brier:.4f}"))
        rows.append(("calibration error", summary.calibration_error))
    if (changes := summary.changes) is not None:
        stayed = f"{changes.stayed:,} ({changes.not_modified:,} by the server's word)"
        rows += [
            ("pages of the earlier run", changes.earlier),
            ("of these stayed", stayed),
            ("of these changed", changes.changed),
            ("of these vanished", changes.vanished),
            ("of these moved", changes.moved),
            ("of these not reached", changes.failed),
            ("of these not asked for", changes.not_asked),
            ("new pages", changes.new),
        ]
    return rows


def crawl_page(summary: Summary, course: list[CurvePoint], labels: Table | None = None) -> Page:
    """The report of a crawl as a page, the harvest rate first."""
    cards = sorted(headline(summary), key=lambda row: not row[0].startswith("harvest rate"))
    return Page(
        title=f"Crawl for {language_name(summary.lang)} ({summary.lang}), {summary.strategy}",
        lead=f"This crawl downloaded {summary.pages:,} pages from {summary.hosts:,} hosts in "
        f"{duration(summary.seconds)}, with the ordering {summary.strategy or NOTHING} and the "
        f"filter {summary.filter or NOTHING}.",
        cards=cards,
        parts=[
            *(f"Note: {gap}." for gap in summary.gaps),
            *(f"Advice: {sentence}." for sentence in summary.advice),
            *([] if labels is None else [labels]),
            *_course(summary, course),
            *_results(summary),
            *_settings(summary),
        ],
    )


def _course(summary: Summary, course: list[CurvePoint]) -> list[Plot | Section]:
    return [_harvest(summary, course), _queue_and_hosts(course)] if course else []


def _harvest(summary: Summary, course: list[CurvePoint]) -> Plot:
    portions = merged(summary.harvest_by_200, _MOST_PORTIONS)
    label = f"per {max(portion.pages for portion in portions):,} pages"
    rates = [portion.harvest_rate for portion in portions]
    pages = [point.pages for point in course]
    return Plot(
        name="harvest",
        title="Harvest rate by number of pages",
        series=[
            Series(label, middles_of(portions), rates, is_marked=True),
            Series("since the start", pages, [point.harvest_rate for point in course]),
        ],
        y_label="harvest rate",
        is_share=True,
        caption="Relevant pages per page with a label: for each portion of the pages (as in "
        "Baykan et al. 2013, Fig. 7), and for all pages since the start.",
        table=_portion_table(portions),
    )


def _portion_table(portions: list[Portion]) -> Table:
    rows = [
        (f"{end - part.pages + 1:,} to {end:,}", part.labelled, part.relevant, part.harvest_rate)
        for end, part in zip(ends_of(portions), portions, strict=True)
    ]
    head = ("pages", "with a label", "relevant", "harvest rate")
    return Table("Harvest rate by portions of pages", head, rows)


def _queue_and_hosts(course: list[CurvePoint]) -> Section:
    pages = [point.pages for point in course]
    curves = (
        ("queue", "queued URLs", [point.queued for point in course]),
        ("hosts", "hosts with a page", [point.hosts for point in course]),
    )
    every = max(1, -(-len(course) // _MOST_POINTS))
    rows = [(f"{one.pages:,}", one.queued, one.hosts) for one in course[every - 1 :: every]]
    plots = [
        Plot(
            name=name,
            title=label,
            series=[Series(label, pages, values)],
            y_label=label,
            width=4.2,
            caption=f"{label[0].upper()}{label[1:]}, by number of pages.",
        )
        for name, label, values in curves
    ]
    title = "Queue and hosts"
    table = Table(title, ("pages", "queued URLs", "hosts"), rows)
    return Section(title=title, plots=plots, tables=[table], is_folded=True)


def _results(summary: Summary) -> list[Section]:
    counted = (
        ("How the language was identified", "pages", summary.methods),
        ("Outcomes of the URLs", "URLs", summary.outcomes),
        ("HTTP statuses", "pages", summary.statuses),
        ("Character encodings", "pages", summary.charsets),
        ("Countries of the servers", "pages", summary.countries),
    )
    tables = [
        _languages(summary, "", _MOST_ROWS),
        *(_shares(title, ("", things), counts, _MOST_ROWS) for title, things, counts in counted),
    ]
    if all(table.is_empty for table in tables):
        return []
    return [Section(title="Languages, outcomes and encodings", notes=[_SHARES], tables=tables)]


def _settings(summary: Summary) -> list[Section | Table]:
    settings = [(name, value or None) for name, value in sorted(summary.settings.items())]
    tables = [
        Table("Settings of the run", ("", ""), settings, text_columns=2),
        Table("Counters of the frontier", ("", ""), list(summary.counts.items())),
    ]
    more = len(summary.seeds) - _MOST_SEEDS
    seeds = Table(
        f"Seeds ({len(summary.seeds):,})",
        ("",),
        [(seed,) for seed in summary.seeds[:_MOST_SEEDS]],
        notes=[f"And {more:,} more."] if more > 0 else [],
    )
    return [Section(title="Settings and counters", tables=tables), seeds]


def _languages(summary: Summary, name: str, most: int) -> Table:
    """The most frequent languages with their share of the labelled pages; `name` is the header."""
    named = {f"{language_name(code)} ({code})": n for code, n in summary.languages.items()}
    return _shares("Languages", (name, "pages"), named, most)


def _shares(title: str, head: tuple[str, str], counts: Mapping[str, int], most: int) -> Table:
    """The first `most` counts with their share of all; the others together in one row."""
    total = sum(counts.values())
    rows = dict(list(counts.items())[:most])
    if rest := total - sum(rows.values()):
        rows[f"{len(counts) - most} others"] = rest
    return Table(title, (*head, "share"), [(name, n, n / total) for name, n in rows.items()])


def _is_census(folder: Path) -> bool:
    with reading(folder) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'hosts'").fetchone()
    return bool(row and row[0])
