"""The tables of a comparison of strategies: those of Baykan 2013, Tables XVII to XIX and Fig. 7."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from crawler.report import baykan
from crawler.report.course import Portion, ends_of, merged
from crawler.report.formatting import NOTHING, duration, language_name, number, percent
from crawler.report.harvest import Summary
from crawler.report.table import Table

Runs = Mapping[str, Mapping[str, Summary]]
"""Language -> strategy -> the figures of that run, in the order in which they are shown."""


def comparison_tables(runs: Runs) -> list[Table]:
    """All tables except those of Fig. 7."""
    return [visited_hosts(runs), without_label(runs), in_language(runs), how_they_ended(runs)]


def visited_hosts(runs: Runs) -> Table:
    """Seeds, size and visited hosts of the crawls (Table XVII)."""
    strategies = strategies_of(runs)
    rows = [
        [
            language_name(lang),
            _seeds(next(iter(by.values()))),
            _sizes([summary.pages for summary in by.values()]),
            *(_cell(by, strategy, lambda s: f"{s.hosts:,}") for strategy in strategies),
        ]
        for lang, by in runs.items()
    ]
    paper = [
        [
            _paper_label(lang),
            baykan.SEEDS[lang],
            f"{baykan.PAGES:,}",
            *(_paper_cell(baykan.VISITED_HOSTS, lang, s, "{:,.0f}".format) for s in strategies),
        ]
        for lang in runs
        if lang in baykan.SEEDS
    ]
    title = "Visited hosts (Baykan 2013, Table XVII)"
    return Table(title, ("language", "seeds", "pages", *strategies), rows, paper)


def without_label(runs: Runs) -> Table:
    """The share of pages whose language could not be identified (Table XVIII)."""
    return _shares(
        runs,
        "Pages without a label (Baykan 2013, Table XVIII)",
        unlabelled_share,
        baykan.WITHOUT_LABEL,
    )


def in_language(runs: Runs) -> Table:
    """The share of the labelled pages that are in the desired language (Table XIX)."""
    return _shares(
        runs,
        "Pages in the desired language (Baykan 2013, Table XIX)",
        lambda summary: summary.harvest_rate,
        baykan.IN_LANGUAGE,
    )


def how_they_ended(runs: Runs) -> Table:
    """Pages, time and finish reason of every run."""
    rows = [
        [
            f"{lang} {strategy}",
            f"{summary.pages:,}",
            f"{summary.relevant:,}",
            duration(summary.seconds),
            number(summary.pages_per_second),
            summary.finish_reason or NOTHING,
        ]
        for lang, by in runs.items()
        for strategy, summary in by.items()
    ]
    rules = dict.fromkeys(_rule_of(summary) for by in runs.values() for summary in by.values())
    head = ("run", "pages", "relevant", "time", "pages/s", "finish reason")
    return Table("The runs", head, rows, notes=tuple(rules))


def _rule_of(summary: Summary) -> str:
    """The cap of hosts and the filter of a run."""
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
    ends = ends_of(longest)
    starts = [end - portion.pages + 1 for end, portion in zip(ends, longest, strict=True)]
    rows = [
        [strategy, *(percent(p.harvest_rate) for p in own), *[NOTHING] * (len(longest) - len(own))]
        for strategy, own in parts.items()
    ]
    title = f"{language_name(lang)}, by the number of pages (Baykan 2013, Fig. 7)"
    head = ("pages", *(f"{start:,}-{end:,}" for start, end in zip(starts, ends, strict=True)))
    return Table(title, head, rows)


def strategies_of(runs: Runs) -> list[str]:
    """The strategies of all languages, in the order of the runs."""
    return list(dict.fromkeys(strategy for by in runs.values() for strategy in by))


def portions(by: Mapping[str, Summary], at_most: int) -> dict[str, list[Portion]]:
    """For each strategy its pages in at most `at_most` portions of equal size."""
    longest = max(len(summary.harvest_by_200) for summary in by.values())
    return {
        strategy: merged(summary.harvest_by_200, at_most, longest=longest)
        for strategy, summary in by.items()
    }


def sparkline(parts: Sequence[Portion], levels: str) -> str:
    """One letter per portion: the first of `levels` for a harvest rate of 0, the last for 1."""
    return "".join(
        " " if part.harvest_rate is None else levels[round(part.harvest_rate * (len(levels) - 1))]
        for part in parts
    )


def unlabelled_share(summary: Summary) -> float | None:
    """Pages without a label / pages."""
    return summary.unlabelled / summary.pages if summary.pages else None


def comparison_json(runs: Runs, folders: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """The tables by language and strategy, and the figures of every run, as JSON types.

    `folders` maps a language and a strategy to the folder of their run.
    """

    def table(value: Callable[[Summary], Any]) -> dict[str, dict[str, Any]]:
        return {lang: {s: value(run) for s, run in by.items()} for lang, by in runs.items()}

    return {
        "visited_hosts": table(lambda summary: summary.hosts),
        "pages": table(lambda summary: summary.pages),
        "without_label": table(unlabelled_share),
        "in_language": table(lambda summary: summary.harvest_rate),
        "by_200": table(lambda summary: [part.as_json() for part in summary.harvest_by_200]),
        "runs": [
            {"folder": folders.get((lang, strategy)), **summary.as_json()}
            for lang, by in runs.items()
            for strategy, summary in by.items()
        ],
    }


def _shares(
    runs: Runs,
    title: str,
    share: Callable[[Summary], float | None],
    table: Mapping[str, baykan.Row],
) -> Table:
    strategies = strategies_of(runs)
    rows = [
        [language_name(lang), *(_cell(by, s, lambda r: percent(share(r))) for s in strategies)]
        for lang, by in runs.items()
    ]
    paper = [
        [_paper_label(lang), *(_paper_cell(table, lang, s, percent) for s in strategies)]
        for lang in runs
        if lang in table
    ]
    return Table(title, ("language", *strategies), rows, paper)


def _cell(by: Mapping[str, Summary], strategy: str, show: Callable[[Summary], str]) -> str:
    return show(by[strategy]) if strategy in by else NOTHING


def _paper_cell(
    table: Mapping[str, baykan.Row], lang: str, strategy: str, show: Callable[[float], str]
) -> str:
    value = baykan.figure(table, lang, strategy)
    return NOTHING if value is None else show(value)


def _paper_label(lang: str) -> str:
    return f"{language_name(lang)}, paper"


def _seeds(summary: Summary) -> str:
    if not summary.seeds:
        return NOTHING
    first = urlsplit(summary.seeds[0]).netloc or summary.seeds[0]
    return first if len(summary.seeds) == 1 else f"{first} + {len(summary.seeds) - 1:,}"


def _sizes(pages: Sequence[int]) -> str:
    least, most = min(pages), max(pages)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"
