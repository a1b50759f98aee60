"""The report of a run: one HTML file that needs neither network nor scripts."""

from pathlib import Path

from crawler.report import markup
from crawler.report.course import CurvePoint, Portion, curve, ends_of, merged, middles_of
from crawler.report.files import write_whole
from crawler.report.formatting import (
    NOTHING,
    duration,
    language_name,
    number,
    percent,
    size,
)
from crawler.report.harvest import Summary, summarise, write_summary
from crawler.report.plots import Series, line_plot
from crawler.report.tables import finish, language_rows, shares
from crawler.run_reader import reading

MOST_PORTIONS = 50
"""A longer run is shown in stretches of 400, 600, ... pages."""

ROWS_OF_CURVE = 20
"""Rows of the table that stands for a plot."""


def write_report(folder: Path) -> Summary:
    """The figures of the run in `folder`, after writing its `summary.json` and `report.html`.

    Both are replaced in one step. Raises RunFolderError for what is no run.
    """
    with reading(folder) as connection:
        summary = summarise(connection)
        course = curve(connection)
    write_summary(summary, folder)
    write_whole(folder / "report.html", report(summary, course))
    return summary


def report(summary: Summary, course: list[CurvePoint]) -> str:
    """The report as an HTML document."""
    language = language_name(summary.lang)
    lead = (
        f"{summary.pages:,} pages of {summary.hosts:,} hosts in {duration(summary.seconds)}; "
        f"ordering by {summary.strategy or NOTHING}, filter {summary.filter or NOTHING}."
    )
    parts = [
        markup.heading(f"Crawl for {language} ({summary.lang})", lead),
        markup.figures(_headline(summary)),
        _harvest(summary, course),
        _queue_and_hosts(course),
        _what_came(summary),
        _settings(summary),
        markup.section(f"Seeds ({len(summary.seeds):,})", markup.urls(summary.seeds)),
    ]
    return markup.page(f"{language} crawl, {summary.strategy}", "\n".join(filter(None, parts)))


def _headline(summary: Summary) -> list[tuple[str, str]]:
    cards = [
        ("harvest rate", percent(summary.harvest_rate)),
        ("last 200 pages", percent(summary.harvest_last_200)),
        ("pages", f"{summary.pages:,}"),
        (f"in {language_name(summary.lang)}", f"{summary.relevant:,}"),
        ("without a label", f"{summary.unlabelled:,}"),
        ("hosts", f"{summary.hosts:,}"),
        ("most pages of a host", f"{summary.max_pages_per_host:,}"),
        ("pages per second", number(summary.pages_per_second)),
        ("downloaded", size(summary.bytes)),
        ("finish reason", finish(summary)),
    ]
    if summary.coverage is not None:
        cards.insert(2, ("coverage", percent(summary.coverage)))
    return cards


def _harvest(summary: Summary, course: list[CurvePoint]) -> str:
    if not course:
        return ""
    portions = merged(summary.harvest_by_200, MOST_PORTIONS)
    title = "Harvest rate by the number of pages"
    pages_each = max(portion.pages for portion in portions)
    svg = line_plot(
        "harvest",
        title,
        [
            Series(
                f"per {pages_each:,} pages",
                middles_of(portions),
                [portion.harvest_rate for portion in portions],
                is_marked=True,
            ),
            Series(
                "since the start",
                [point.pages for point in course],
                [point.harvest_rate for point in course],
            ),
        ],
        y_label="harvest rate",
        is_share=True,
    )
    caption = (
        "Relevant pages per page with a label: for each stretch of pages by itself "
        "(the counterpart of Baykan et al. 2013, Fig. 7), and for all pages so far."
    )
    return markup.section(title, markup.figure(svg, caption, _portion_table(portions)))


def _portion_table(portions: list[Portion]) -> str:
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
    return markup.table("Harvest rate by stretches of pages", head, rows)


def _queue_and_hosts(course: list[CurvePoint]) -> str:
    if not course:
        return ""
    pages = [point.pages for point in course]
    plots = (
        ("queue", "URLs waiting", [point.queued for point in course]),
        ("hosts", "hosts with a page", [point.hosts for point in course]),
    )
    drawn = [
        markup.figure(
            line_plot(name, label, [Series(label, pages, values)], y_label=label, width=4.2),
            f"{label[0].upper()}{label[1:]}, by the number of pages.",
        )
        for name, label, values in plots
    ]
    every = max(1, -(-len(course) // ROWS_OF_CURVE))
    rows = [
        (f"{point.pages:,}", f"{point.queued:,}", f"{point.hosts:,}")
        for point in course[every - 1 :: every]
    ]
    numbers = markup.table("Queue and hosts", ("pages", "URLs waiting", "hosts"), rows)
    folded = f"<details><summary>as a table</summary>{numbers}</details>"
    return markup.section("Queue and hosts", markup.columns(*drawn), folded)


def _what_came(summary: Summary) -> str:
    def counted(caption: str, counts: dict[str, int], of: str = "pages") -> str:
        return markup.table(caption, ("", of, "share"), shares(counts, 15))

    return markup.section(
        "What came back",
        markup.flow(
            markup.table("Languages", ("", "pages", "share"), language_rows(summary, 15)),
            counted("How the language was identified", summary.methods),
            counted("Outcomes of the URLs", summary.outcomes, "URLs"),
            counted("HTTP statuses", summary.statuses),
            counted("Character encodings", summary.charsets),
            counted("Countries of the servers", summary.countries),
        ),
        markup.note("Only URLs with the outcome “page” count as pages; shares are of all counted."),
    )


def _settings(summary: Summary) -> str:
    counts = [(name, f"{value:,}") for name, value in summary.counts.items()]
    return markup.section(
        "Settings and counters",
        markup.flow(
            markup.table(
                "Settings of the run",
                ("", ""),
                [(name, value or NOTHING) for name, value in sorted(summary.settings.items())],
                is_text=True,
            ),
            markup.table("Counters of the frontier", ("", ""), counts),
        ),
    )
