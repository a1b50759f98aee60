"""A comparison of strategies: Tables XVII to XIX and Fig. 7 of Baykan 2013, as text, page and JSON.

The figures of the paper are shown beside ours: three crawls of 1,000 pages for each of five
languages, at most 10 URLs of a host, on the Web of that time.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from crawler.report.course import Portion, ends_of, merged, middles_of
from crawler.report.formatting import Cell, duration, language_name, number, share_of
from crawler.report.harvest import Summary
from crawler.report.page import Page
from crawler.report.plots import Plot, Series
from crawler.report.printer import Printer
from crawler.report.table import Table

Runs = Mapping[str, Mapping[str, Summary]]
"""Language -> strategy -> the figures of that run, in the order in which they are shown."""

STRATEGIES_OF_PAPER: Final = ("random", "cctld", "svm")
OF_PAPER: Final[Mapping[str, tuple[str, Sequence[int], Sequence[float], Sequence[float]]]] = {
    "en": ("www.bbc.co.uk", (770, 423, 279), (0.04, 0.05, 0.06), (0.945, 0.956, 0.954)),
    "de": ("www.tagesschau.de", (654, 470, 242), (0.06, 0.05, 0.05), (0.384, 0.887, 0.954)),
    "fr": ("www.lemonde.fr", (711, 460, 273), (0.04, 0.05, 0.08), (0.495, 0.923, 0.968)),
    "es": ("www.elmundo.es", (585, 353, 252), (0.06, 0.13, 0.10), (0.252, 0.922, 0.948)),
    "it": ("www.corriere.it", (625, 474, 314), (0.02, 0.02, 0.03), (0.382, 0.871, 0.901)),
}
"""Seed and, by strategy, visited hosts (Table XVII), the share of pages without a label (XVIII),
and of labelled pages in the language (XIX)."""

_PAGES_OF_PAPER: Final = 1000
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
        lead=f"{languages}: one crawl for each strategy ({', '.join(_strategies_of(runs))}) from "
        "the same seeds. Harvest rates leave out pages without a label:",
        cards=[
            (f"{lang} {strategy}", summary.harvest_rate)
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
    """Print the tables, then the course of each strategy."""
    for table in comparison_tables(runs):
        printer.table(table)
    for lang, by in runs.items():
        printer.table(over_time(lang, by))


def comparison_json(runs: Runs, folders: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """The tables by language and strategy, and the figures of every run, as JSON types.

    `folders` maps a language and a strategy to the folder of their run.
    """

    def table(value: Callable[[Summary], Any]) -> dict[str, dict[str, Any]]:
        return {lang: {s: value(run) for s, run in by.items()} for lang, by in runs.items()}

    return {
        "visited_hosts": table(lambda summary: summary.hosts),
        "pages": table(lambda summary: summary.pages),
        "without_label": table(_unlabelled),
        "in_language": table(lambda summary: summary.harvest_rate),
        "by_200": table(lambda summary: [part.as_json() for part in summary.harvest_by_200]),
        "runs": [
            {"folder": folders.get((lang, strategy)), **summary.as_json()}
            for lang, by in runs.items()
            for strategy, summary in by.items()
        ],
    }


def comparison_tables(runs: Runs) -> list[Table]:
    """All tables except those of Fig. 7: Tables XVII, XVIII and XIX, and how the runs ended."""
    hosts = _figures(runs, 1, lambda summary: summary.hosts)
    return [
        Table(
            "Visited hosts (Baykan 2013, Table XVII)",
            ("language", "seeds", "pages", *_strategies_of(runs)),
            [
                [language_name(lang), _seeds(by), _sizes(by), *row]
                for (lang, by), row in zip(runs.items(), hosts[0], strict=True)
            ],
            [
                [f"{language_name(lang)}, paper", OF_PAPER[lang][0], _PAGES_OF_PAPER, *row]
                for lang, row in hosts[1].items()
            ],
        ),
        _shares(runs, "Pages without a label (Baykan 2013, Table XVIII)", 2, _unlabelled),
        _shares(
            runs,
            "Pages in the desired language (Baykan 2013, Table XIX)",
            3,
            lambda summary: summary.harvest_rate,
        ),
        _endings(runs),
    ]


def _shares(
    runs: Runs, title: str, place: Literal[2, 3], value: Callable[[Summary], float | None]
) -> Table:
    ours, papers = _figures(runs, place, value)
    return Table(
        title,
        ("language", *_strategies_of(runs)),
        [[language_name(lang), *row] for lang, row in zip(runs, ours, strict=True)],
        [[f"{language_name(lang)}, paper", *row] for lang, row in papers.items()],
    )


def _figures(
    runs: Runs, place: Literal[1, 2, 3], value: Callable[[Summary], Cell]
) -> tuple[list[list[Cell]], dict[str, list[Cell]]]:
    """A figure by strategy for each language; the paper's, at a place, for each that it has."""
    strategies = _strategies_of(runs)
    ours = [[value(by[s]) if s in by else None for s in strategies] for by in runs.values()]
    papers: dict[str, list[Cell]] = {}
    for lang in (lang for lang in runs if lang in OF_PAPER):
        by = dict(zip(STRATEGIES_OF_PAPER, OF_PAPER[lang][place], strict=True))
        papers[lang] = [by.get(strategy) for strategy in strategies]
    return ours, papers


def _endings(runs: Runs) -> Table:
    """Pages, time and finish reason of every run, with its cap of hosts and its filter."""
    rows = [
        [
            f"{lang} {strategy}",
            summary.pages,
            summary.relevant,
            duration(summary.seconds),
            number(summary.pages_per_second),
            summary.finish_reason,
        ]
        for lang, by in runs.items()
        for strategy, summary in by.items()
    ]
    rules = dict.fromkeys(_rule_of(summary) for by in runs.values() for summary in by.values())
    head = ("run", "pages", "relevant", "time", "pages/s", "finish reason")
    return Table("The runs", head, rows, notes=tuple(rules))


def _rule_of(summary: Summary) -> str:
    cap, queue = summary.host_cap, summary.settings.get("host_queue", "0")
    choice = "the first found (Baykan 2013, 5.2)"
    if queue != str(cap):
        choice = f"chosen among {'any number' if queue == '0' else queue}"
    rule = f"{cap} URLs of a host, {choice}" if cap else "none"
    tolerance = "" if summary.filter == "none" else f" with T = {summary.tolerance}"
    return f"Cap: {rule}. Filter: {summary.filter}{tolerance}."


def over_time(lang: str, by: Mapping[str, Summary], at_most: int = 5) -> Table:
    """The share in the desired language for each portion of pages (Fig. 7), a row per strategy."""
    parts = portions(by, at_most)
    longest = max(parts.values(), key=len)
    spans = [
        f"{end - part.pages + 1:,}-{end:,}"
        for end, part in zip(ends_of(longest), longest, strict=True)
    ]
    rows = [
        [strategy, *(part.harvest_rate for part in own), *[None] * (len(longest) - len(own))]
        for strategy, own in parts.items()
    ]
    title = f"{language_name(lang)}, by the number of pages (Baykan 2013, Fig. 7)"
    return Table(title, ("pages", *spans), rows)


def portions(by: Mapping[str, Summary], at_most: int) -> dict[str, list[Portion]]:
    """For each strategy its pages in at most `at_most` portions of equal size."""
    longest = max(len(summary.harvest_by_200) for summary in by.values())
    return {
        strategy: merged(summary.harvest_by_200, at_most, longest=longest)
        for strategy, summary in by.items()
    }


def _plot(lang: str, by: Mapping[str, Summary]) -> Plot:
    parts = portions(by, _MOST_POINTS)
    table = over_time(lang, by, at_most=10)
    each = max(part.pages for own in parts.values() for part in own)
    return Plot(
        name=f"over-time-{lang}",
        title=table.title,
        series=[
            Series(strategy, middles_of(own), [part.harvest_rate for part in own], is_marked=True)
            for strategy, own in parts.items()
        ],
        y_label=f"pages in {language_name(lang)}",
        is_share=True,
        caption=f"Each point is the harvest rate of {each:,} consecutive pages.",
        table=table,
    )


def _strategies_of(runs: Runs) -> Sequence[str]:
    """The strategies of all languages, in the order of the runs."""
    return list(dict.fromkeys(strategy for by in runs.values() for strategy in by))


def _unlabelled(summary: Summary) -> float | None:
    return share_of(summary.unlabelled, summary.pages)


def _seeds(by: Mapping[str, Summary]) -> str | None:
    seeds = next(iter(by.values())).seeds
    if not seeds:
        return None
    first = urlsplit(seeds[0]).netloc or seeds[0]
    return first if len(seeds) == 1 else f"{first} + {len(seeds) - 1:,}"


def _sizes(by: Mapping[str, Summary]) -> str:
    sizes = sorted({summary.pages for summary in by.values()})
    return f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
