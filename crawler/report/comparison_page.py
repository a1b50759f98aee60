"""A comparison of strategies: its page, `compare.html`, and its tables in the terminal."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from crawler.report.comparison_tables import (
    Runs,
    comparison_tables,
    over_time,
    portions,
    sparkline,
    strategies_of,
)
from crawler.report.course import middles_of
from crawler.report.formatting import language_name, percent
from crawler.report.harvest import Summary
from crawler.report.page import Page
from crawler.report.plots import Plot, PlotAxes, Series, line_plot
from crawler.report.printer import Printer

_BLOCKS = "▁▂▃▄▅▆▇█"
_TENTHS = "0123456789"
_MOST_POINTS = 50

_PAPER = (
    "Rows marked “paper”: Baykan, Henzinger and Weber, A Comprehensive Study of Techniques for "
    "URL-Based Web Page Language Classification (2013), section 5.2: crawls of 1,000 pages on the "
    "Web of that time. They are for orientation: the seeds, the Web and the identification of "
    "pages differ from those of these runs."
)


def comparison_page(runs: Runs) -> str:
    """The comparison as the text of an HTML file."""
    languages = ", ".join(language_name(lang) for lang in runs)
    page = Page(
        title="Strategies compared",
        lead=f"{languages}: one crawl for each strategy ({', '.join(strategies_of(runs))}) from "
        "the same seeds. Harvest rates leave out pages without a label:",
        cards=[
            (f"{lang} {strategy}", percent(summary.harvest_rate))
            for lang, by in runs.items()
            for strategy, summary in by.items()
        ],
        parts=[
            *(_plot(lang, by) for lang, by in runs.items() if any(portions(by, 1).values())),
            *comparison_tables(runs),
            _PAPER,
        ],
    )
    return page.html()


def print_comparison(runs: Runs, printer: Printer) -> None:
    """Print the tables, and the course of each strategy as a line of small bars or digits."""
    for table in comparison_tables(runs):
        printer.table(table)
    levels = _BLOCKS if printer.is_terminal else _TENTHS
    name = "course" if printer.is_terminal else "tenths"
    for lang, by in runs.items():
        table = over_time(lang, by)
        courses = portions(by, 20)
        rows = [[*row, sparkline(courses[row[0]], levels)] for row in table.rows]
        printer.table(replace(table, head=(*table.head, name), rows=rows))


def _plot(lang: str, by: Mapping[str, Summary]) -> Plot:
    parts = portions(by, _MOST_POINTS)
    table = over_time(lang, by, at_most=10)
    series = [
        Series(strategy, middles_of(own), [part.harvest_rate for part in own], is_marked=True)
        for strategy, own in parts.items()
    ]
    axes = PlotAxes(y_label=f"pages in {language_name(lang)}", is_share=True)
    each = max(part.pages for own in parts.values() for part in own)
    return Plot(
        title=table.title,
        draw=partial(line_plot, f"over-time-{lang}", table.title, series, axes),
        caption=f"Each point is the harvest rate of {each:,} consecutive pages.",
        table=table,
    )
