"""The report of a strategy comparison: Tables XVII to XIX and Fig. 7 of Baykan 2013.

The paper's figures are shown beside ours: three crawls of 1,000 pages for each of five languages,
at most 10 URLs of a host, on the Web of that time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Final
from urllib.parse import urlsplit

from langfocus.crawler.report.effort import HEAD, MEANING, Effort, efforts
from langfocus.crawler.report.formatting import (
    Cell,
    duration,
    language_name,
    number,
    percent,
    share_of,
)
from langfocus.crawler.report.harvest import Portion, Summary, merged
from langfocus.crawler.report.page import Chart, Report, period_of
from langfocus.crawler.report.table import Table

Runs = Mapping[str, Mapping[str, Summary]]
"""Language -> strategy -> figures of the run, in display order."""

STRATEGIES_OF_PAPER: Final = ("random", "cctld", "svm")
OF_PAPER: Final[Mapping[str, tuple[str, Sequence[Sequence[Cell]]]]] = {
    "en": ("www.bbc.co.uk", [(770, 423, 279), (0.04, 0.05, 0.06), (0.945, 0.956, 0.954)]),
    "de": ("www.tagesschau.de", [(654, 470, 242), (0.06, 0.05, 0.05), (0.384, 0.887, 0.954)]),
    "fr": ("www.lemonde.fr", [(711, 460, 273), (0.04, 0.05, 0.08), (0.495, 0.923, 0.968)]),
    "es": ("www.elmundo.es", [(585, 353, 252), (0.06, 0.13, 0.10), (0.252, 0.922, 0.948)]),
    "it": ("www.corriere.it", [(625, 474, 314), (0.02, 0.02, 0.03), (0.382, 0.871, 0.901)]),
}
"""Seed and, by strategy, visited hosts (Table XVII), the share of pages without a label (XVIII),
and of labelled pages in the language (XIX)."""

_MOST_POINTS: Final = 50
_MOST_COLUMNS: Final = 5

_PAPER = (
    "Rows marked “paper”: Baykan, Henzinger and Weber, A Comprehensive Study of Techniques for "
    "URL-Based Web Page Language Classification (2013), section 5.2: crawls of 1,000 pages on the "
    "Web of that time. They are for orientation: the seeds, the Web and the identification of "
    "pages differ from those of these runs."
)


_MEASURES: Final[Sequence[tuple[str, Callable[[Summary], Cell]]]] = (
    ("Visited hosts (Baykan 2013, Table XVII)", lambda run: run.hosts),
    (
        "Pages without a label (Baykan 2013, Table XVIII)",
        lambda run: share_of(run.unlabelled, run.pages),
    ),
    (
        "Pages in the desired language (Baykan 2013, Table XIX)",
        lambda run: run.harvest_rate,
    ),
)
"""Title and figure of each table, in the paper's order in `OF_PAPER`."""


def comparison_report(runs: Runs, folders: Mapping[tuple[str, str], str]) -> Report:
    """Return the report of a comparison; `folders` has the run folder by language and strategy."""
    every = [(lang, name, run) for lang, by in runs.items() for name, run in by.items()]
    spent = efforts(folders)
    tables = [_table(runs, place) for place in range(len(_MEASURES))]
    tables[0] = replace(tables[0], notes=[_origin(lang, by) for lang, by in runs.items()])
    return Report(
        title="Strategies compared",
        lead=" ".join([*map(_best, runs.items()), "One crawl for each, from the same seeds."]),
        period=period_of((run.started_at, run.ended_at) for *_, run in every),
        cards=[
            (f"harvest rate, {lang} {name}", run.harvest_rate)
            for lang, name, run in sorted(every, key=lambda one: -(one[2].harvest_rate or 0))[:3]
        ],
        parts=[
            *(over_time(lang, by) for lang, by in runs.items()),
            *tables,
            *_efforts(spent),
            _endings(every),
            Table(
                "The commands of the runs",
                ("run", "command"),
                [(f"{lang} {name}", run.command) for lang, name, run in every if run.command],
                text_columns=2,
            ),
            _PAPER,
        ],
        figures={
            "runs": [
                {
                    "folder": folders.get((lang, name)),
                    "effort": asdict(spent[lang, name]) if (lang, name) in spent else None,
                    **run.as_json(),
                }
                for lang, name, run in every
            ],
        },
    )


def _best(one: tuple[str, Mapping[str, Summary]]) -> str:
    """Return a sentence about the best and the worst strategy for a language."""
    rates = sorted((run.harvest_rate or 0.0, name) for name, run in one[1].items())
    first, last = ((name, percent(rate)) for rate, name in (rates[-1], rates[0]))
    others = f", {last[0]} least: {last[1]}" if len(rates) > 1 else ""
    return f"{language_name(one[0])}: {first[0]} found most, a harvest rate of {first[1]}{others}."


def _table(runs: Runs, place: int) -> Table:
    """Return a measure by language and strategy, with the paper's figures for its languages."""
    title, value = _MEASURES[place]
    strategies = list(dict.fromkeys(strategy for by in runs.values() for strategy in by))
    paper = {
        lang: dict(zip(STRATEGIES_OF_PAPER, OF_PAPER[lang][1][place], strict=True))
        for lang in runs
        if lang in OF_PAPER
    }
    return Table(
        title,
        ("language", *strategies),
        [
            [language_name(lang), *(value(by[name]) if name in by else None for name in strategies)]
            for lang, by in runs.items()
        ],
        [[f"{language_name(lang)}, paper", *map(by.get, strategies)] for lang, by in paper.items()],
    )


def _efforts(spent: Mapping[tuple[str, str], Effort]) -> Iterator[Table]:
    """Yield the table of efforts, unless there are none."""
    if not spent:
        return
    rows = [[f"{lang} {name}", *found.cells] for (lang, name), found in spent.items()]
    found_by_any = {lang: found.reachable for (lang, _), found in spent.items()}
    notes = [
        f"{MEANING}, from the first download to the last one of the longest crawl.",
        *(
            f"{language_name(lang)}: {urls:,} relevant URLs, those that any of the crawls found. "
            "There may be more; they are not known."
            for lang, urls in found_by_any.items()
        ),
    ]
    yield Table("Downloads for each relevant page", ("run", *HEAD), rows, notes=notes)


def _origin(lang: str, by: Mapping[str, Summary]) -> str:
    """Return page counts and seeds of the crawls for a language, ours and the paper's."""
    sizes = sorted({run.pages for run in by.values()})
    pages = " to ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1])))
    seeds = next(iter(by.values())).seeds
    first = (urlsplit(seeds[0]).netloc or seeds[0]) if seeds else "no seed"
    more = f" and {len(seeds) - 1:,} more seeds" if len(seeds) > 1 else ""
    paper = f" (paper: 1,000 pages from {OF_PAPER[lang][0]})" if lang in OF_PAPER else ""
    return f"{language_name(lang)}: {pages} pages from {first}{more}{paper}."


def _endings(every: Sequence[tuple[str, str, Summary]]) -> Table:
    """Return pages, time and finish reason of every run, with host cap and filter in notes."""
    rows = [
        [
            f"{lang} {name}",
            run.pages,
            run.relevant,
            duration(run.seconds),
            number(run.pages_per_second),
            run.finish_reason,
        ]
        for lang, name, run in every
    ]
    head = ("run", "pages", "relevant", "time", "pages/s", "finish reason")
    return Table(
        "The runs", head, rows, notes=list(dict.fromkeys(_rule_of(run) for *_, run in every))
    )


def _rule_of(summary: Summary) -> str:
    cap, queue = summary.host_cap, summary.settings.get("host_queue", "0")
    choice = "the first found (Baykan 2013, 5.2)"
    if queue != str(cap):
        choice = f"chosen among {'any number' if queue == '0' else queue}"
    rule = f"{cap} URLs of a host, {choice}" if cap else "none"
    tolerance = "" if summary.filter == "none" else f" with T = {summary.tolerance}"
    return f"Cap: {rule}. Filter: {summary.filter}{tolerance}."


def portions(by: Mapping[str, Summary], at_most: int) -> dict[str, list[Portion]]:
    """Return each strategy's pages in at most `at_most` portions of equal size."""
    longest = max(len(summary.harvest_by_200) for summary in by.values())
    return {
        strategy: merged(summary.harvest_by_200, at_most, longest=longest)
        for strategy, summary in by.items()
    }


def over_time(lang: str, by: Mapping[str, Summary]) -> Chart:
    """Return the share in the desired language for each portion of pages (Fig. 7)."""
    title = f"{language_name(lang)}, by the number of pages (Baykan 2013, Fig. 7)"
    drawn, parts = portions(by, _MOST_POINTS), portions(by, _MOST_COLUMNS)
    longest = max(parts.values(), key=len)
    rows = [
        [name, *(part.harvest_rate for part in own), *[None] * (len(longest) - len(own))]
        for name, own in parts.items()
    ]
    each = max((part.pages for own in drawn.values() for part in own), default=0)
    return Chart(
        title=title,
        lines={name: [part.point for part in own] for name, own in drawn.items()},
        y_label=f"pages in {language_name(lang)}",
        is_share=True,
        caption=f"Each point is the harvest rate of {each:,} consecutive pages, the last one "
        "of the rest.",
        table=Table(title, ("pages", *(part.span for part in longest)), rows),
    )
