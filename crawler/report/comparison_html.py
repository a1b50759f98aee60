"""The comparison as one HTML file, and as tables in the terminal."""

from crawler.report import markup
from crawler.report.comparison import Grid, Runs, grids, over_time, portions, sparkline
from crawler.report.course import middles_of
from crawler.report.formatting import language_name, percent
from crawler.report.plots import Series, line_plot
from crawler.report.tables import Printer

_BLOCKS = "▁▂▃▄▅▆▇█"
_TENTHS = "0123456789"
_MOST_POINTS = 50


def comparison_page(runs: Runs) -> str:
    """The comparison as an HTML document that needs neither network nor scripts."""
    languages = ", ".join(language_name(lang) for lang in runs)
    strategies = list(dict.fromkeys(strategy for by in runs.values() for strategy in by))
    lead = (
        f"{languages}: one crawl per strategy ({', '.join(strategies)}) from the same seeds. "
        "The harvest rates leave out the pages without a label:"
    )
    parts = [
        markup.heading("Strategies compared", lead),
        markup.figures(
            (f"{lang} {strategy}", percent(summary.harvest_rate))
            for lang, by in runs.items()
            for strategy, summary in by.items()
        ),
        *(_over_time(runs, lang) for lang in runs),
        *(markup.section(grid.title, _table(grid)) for grid in grids(runs)),
        markup.note(
            "Rows marked “paper”: Baykan, Henzinger and Weber, A Comprehensive Study of Techniques "
            "for URL-Based Web Page Language Classification (2013), section 5.2: crawls of 1,000 "
            "pages on the Web of that time. They are there for orientation: seeds, Web and "
            "content identification differ from those of these runs."
        ),
    ]
    return markup.page("Strategies compared", "\n".join(parts))


def print_comparison(runs: Runs, printer: Printer) -> None:
    """Print the tables, and the course of every strategy as a line of small bars or digits."""
    for grid in grids(runs):
        printer.table(grid.title, grid.head, grid.rows, faint=grid.paper)
    levels = _BLOCKS if printer.is_terminal else _TENTHS
    name = "course" if printer.is_terminal else "tenths"
    for lang, by in runs.items():
        grid = over_time(lang, by)
        courses = portions(by, 20)
        rows = [[*row, sparkline(courses[row[0]], levels)] for row in grid.rows]
        printer.table(grid.title, (*grid.head, name), rows)


def _over_time(runs: Runs, lang: str) -> str:
    parts = portions(runs[lang], _MOST_POINTS)
    grid = over_time(lang, runs[lang], at_most=10)
    if not any(parts.values()):
        return ""
    svg = line_plot(
        f"over-time-{lang}",
        grid.title,
        [
            Series(strategy, middles_of(own), [part.harvest_rate for part in own], is_marked=True)
            for strategy, own in parts.items()
        ],
        y_label=f"pages in {language_name(lang)}",
        is_share=True,
    )
    each = max(part.pages for own in parts.values() for part in own)
    caption = f"Each point is the share in {each:,} pages of their own, in the order of the crawl."
    return markup.section(grid.title, markup.figure(svg, caption, _table(grid)))


def _table(grid: Grid) -> str:
    return markup.table("", grid.head, grid.rows, faint=grid.paper)
