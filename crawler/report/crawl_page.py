"""The page of one crawl, `report.html`."""

from functools import partial
from pathlib import Path

from crawler.report.course import CurvePoint, Portion, curve, ends_of, merged, middles_of
from crawler.report.crawl_tables import (
    headline,
    language_table,
    shares,
)
from crawler.report.files import write_whole
from crawler.report.formatting import NOTHING, duration, language_name, percent
from crawler.report.harvest import Summary, summarise, write_summary
from crawler.report.page import Page, Section
from crawler.report.plots import Plot, PlotAxes, Series, line_plot
from crawler.report.table import Table
from crawler.run import reading

_MOST_PORTIONS = 50
"""A longer run is shown in portions of 400, 600, ... pages."""

_MOST_POINTS = 20
"""Rows of the table of queue and hosts."""

_MOST_ROWS = 15
_MOST_SEEDS = 100


def write_report(folder: Path, labels: Table | None = None) -> Summary:
    """The figures of the run in `folder`, after writing its `summary.json` and `report.html`.

    `labels` is the table of the figures by a person's labels, for the page.

    Each file is replaced in one step. Raises RunFolderError for a folder without a run.
    """
    with reading(folder) as connection:
        summary = summarise(connection)
        course = curve(connection)
    write_summary(summary, folder)
    write_whole(folder / "report.html", crawl_page(summary, course, labels))
    return summary


def crawl_page(summary: Summary, course: list[CurvePoint], labels: Table | None = None) -> str:
    """The report of a crawl as the text of an HTML file."""
    page = Page(
        title=f"Crawl for {language_name(summary.lang)} ({summary.lang}), {summary.strategy}",
        lead=f"This crawl downloaded {summary.pages:,} pages from {summary.hosts:,} hosts in "
        f"{duration(summary.seconds)}, with the ordering {summary.strategy or NOTHING} and the "
        f"filter {summary.filter or NOTHING}.",
        cards=_figures(summary),
        parts=[
            *(f"Note: {gap}." for gap in summary.gaps),
            *(f"Advice: {sentence}." for sentence in summary.advice),
            *([] if labels is None else [labels]),
            *(_course(summary, course) if course else []),
            *_results(summary),
            *_settings(summary),
        ],
    )
    return page.html()


def _figures(summary: Summary) -> list[tuple[str, str]]:
    """The main figures, the harvest rate first."""
    return sorted(headline(summary), key=lambda row: not row[0].startswith("harvest rate"))


def _course(summary: Summary, course: list[CurvePoint]) -> list[Plot | Section]:
    return [_harvest(summary, course), _queue_and_hosts(course)]


def _harvest(summary: Summary, course: list[CurvePoint]) -> Plot:
    portions = merged(summary.harvest_by_200, _MOST_PORTIONS)
    pages_each = max(portion.pages for portion in portions)
    of_portions = Series(
        f"per {pages_each:,} pages",
        middles_of(portions),
        [portion.harvest_rate for portion in portions],
        is_marked=True,
    )
    since_the_start = Series(
        "since the start",
        [point.pages for point in course],
        [point.harvest_rate for point in course],
    )
    title = "Harvest rate by number of pages"
    axes = PlotAxes(y_label="harvest rate", is_share=True)
    return Plot(
        title=title,
        draw=partial(line_plot, "harvest", title, [of_portions, since_the_start], axes),
        caption="Relevant pages per page with a label: for each portion of the pages (as in "
        "Baykan et al. 2013, Fig. 7), and for all pages since the start.",
        table=_portion_table(portions),
    )


def _portion_table(portions: list[Portion]) -> Table:
    rows = [
        (
            f"{end - portion.pages + 1:,} to {end:,}",
            f"{portion.labelled:,}",
            f"{portion.relevant:,}",
            percent(portion.harvest_rate),
        )
        for end, portion in zip(ends_of(portions), portions, strict=True)
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
    rows = [
        (f"{point.pages:,}", f"{point.queued:,}", f"{point.hosts:,}")
        for point in course[every - 1 :: every]
    ]
    title = "Queue and hosts"
    return Section(
        title=title,
        plots=[
            Plot(
                title=label,
                draw=partial(
                    line_plot,
                    name,
                    label,
                    [Series(label, pages, values)],
                    PlotAxes(y_label=label, width=4.2),
                ),
                caption=f"{label[0].upper()}{label[1:]}, by number of pages.",
            )
            for name, label, values in curves
        ],
        tables=[Table(title, ("pages", "queued URLs", "hosts"), rows)],
        is_folded=True,
    )


def _results(summary: Summary) -> list[Section]:
    counted = (
        ("How the language was identified", "pages", summary.methods),
        ("Outcomes of the URLs", "URLs", summary.outcomes),
        ("HTTP statuses", "pages", summary.statuses),
        ("Character encodings", "pages", summary.charsets),
        ("Countries of the servers", "pages", summary.countries),
    )
    tables = [
        language_table(summary, _MOST_ROWS),
        *(
            Table(title, ("", things, "share"), shares(counts, _MOST_ROWS))
            for title, things, counts in counted
        ),
    ]
    if all(table.is_empty for table in tables):
        return []
    note = (
        "Only URLs with the outcome “page” count as pages. A share is a part of all rows of its "
        "table."
    )
    return [Section(title="Languages, outcomes and encodings", notes=[note], tables=tables)]


def _settings(summary: Summary) -> list[Section | Table]:
    settings = [(name, value or NOTHING) for name, value in sorted(summary.settings.items())]
    counts = [(name, f"{value:,}") for name, value in summary.counts.items()]
    seeds, more = summary.seeds[:_MOST_SEEDS], len(summary.seeds) - _MOST_SEEDS
    return [
        Section(
            title="Settings and counters",
            tables=[
                Table("Settings of the run", ("", ""), settings, text_columns=2),
                Table("Counters of the frontier", ("", ""), counts),
            ],
        ),
        Table(
            f"Seeds ({len(summary.seeds):,})",
            ("",),
            [(seed,) for seed in seeds],
            notes=[f"And {more:,} more."] if more > 0 else [],
        ),
    ]
