"""The report of several crawls, each compared with the one before: pages, languages, hosts.

Rows of two runs are joined while both are read in the same order, so memory does not grow with
their pages.
"""

import heapq
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.report.formatting import Cell, language_name, size
from langfocus.crawler.report.harvest import Summary, summarise
from langfocus.crawler.report.labels import language_of
from langfocus.crawler.report.page import Report, period_of
from langfocus.crawler.report.table import Table
from langfocus.crawler.run.folder import kind_of, reading
from langfocus.crawler.run.target import is_wanted

_Found = TypeVar("_Found")

_MOST_LANGUAGES: Final = 15
_MOST_HOSTS: Final = 10

_PAGES: Final = """\
SELECT fingerprint, outcome, digest, status FROM pages LEFT JOIN visits ON visits.page = pages.id
ORDER BY fingerprint"""
_HOSTS: Final = f"""\
SELECT host, count(*) FILTER (WHERE {is_wanted()}) FROM pages
WHERE outcome IN ('page', 'unchanged') GROUP BY host ORDER BY host"""  # noqa: S608
_HAS_BODY: Final = ("page", "unchanged")
_GONE: Final = (404, 410)

CHANGES: Final = ("new", "stayed", "changed", "vanished", "moved", "failed", "not_asked")
"""What became of a page since the run before, see `state`."""


class Hosts(NamedTuple):
    """The hosts of two runs with pages, and those with the largest change of relevant pages."""

    new: int  # with pages in the later run alone
    gone: int  # with pages in the earlier run alone
    largest: Sequence[tuple[str | int, ...]]  # host, relevant pages before, and now


def series_report(folders: Sequence[Path]) -> Report:
    """Return the report of crawls in the order of `folders`.

    Raises `RunFolderError` for a folder without a run, and for a census.
    """
    for folder in folders:
        with reading(folder) as connection:
            if kind_of(connection) != "crawl":
                raise RunFolderError(f"{folder} has a census; several runs must be crawls")
    runs = [summarise(folder) for folder in folders]
    names = _names(folders)
    pages = [_compared(pair, _changes) for pair in pairwise(folders)]
    hosts = [_compared(pair, _hosts) for pair in pairwise(folders)]
    return Report(
        title="Crawls compared over time",
        lead=_lead(names, runs, pages),
        period=period_of((run.started_at, run.ended_at) for run in runs),
        cards=[
            (f"harvest rate, {name}", run.harvest_rate)
            for name, run in reversed([*zip(names, runs, strict=True)][-3:])
        ],
        parts=[
            _runs(names, runs),
            _changes_table(names, pages),
            _languages(names, runs),
            *_hosts_tables(names, hosts),
        ],
        figures={
            "runs": [
                {
                    "folder": str(folder),
                    **run.as_json(),
                    "since_the_run_before": {**dict(states), "hosts": found._asdict()}
                    if states is not None and found is not None
                    else None,
                }
                for folder, run, states, found in zip(
                    folders, runs, [None, *pages], [None, *hosts], strict=True
                )
            ]
        },
    )


def state(before: tuple[Any, ...] | None, now: tuple[Any, ...] | None) -> str:
    """Return the name in `CHANGES` of a page of two runs; "" if neither run has its body.

    A row is outcome, digest and status, None if the run did not settle the URL. Without digests of
    both bodies a page has stayed.
    """
    had, has = (row is not None and row[0] in _HAS_BODY for row in (before, now))
    if has and now is not None:
        if not had or before is None:
            return "new"
        both = before[1], now[1]
        is_other = now[0] != "unchanged" and None not in both and both[0] != both[1]
        return "changed" if is_other else "stayed"
    if not had:
        return ""
    if now is None:
        return "not_asked"
    if now[0] == "redirect":
        return "moved"
    return "vanished" if now[2] in _GONE else "failed"


def _compared(
    pair: tuple[Path, Path], compare: Callable[[sqlite3.Connection, sqlite3.Connection], _Found]
) -> _Found:
    with reading(pair[0]) as before, reading(pair[1]) as now:
        return compare(before, now)


def _joined(
    before: Iterator[tuple[Any, ...]], now: Iterator[tuple[Any, ...]]
) -> Iterator[tuple[Any, tuple[Any, ...] | None, tuple[Any, ...] | None]]:
    """Yield each key with the rest of its row in each run; both are sorted by their keys."""
    rows = heapq.merge(
        ((row[0], 0, row[1:]) for row in before),
        ((row[0], 1, row[1:]) for row in now),
        key=itemgetter(0, 1),
    )
    for key, found in groupby(rows, itemgetter(0)):
        by_run = {place: rest for _, place, rest in found}
        yield key, by_run.get(0), by_run.get(1)


def _changes(before: sqlite3.Connection, now: sqlite3.Connection) -> Counter[str]:
    joined = _joined(before.execute(_PAGES), now.execute(_PAGES))
    states = Counter(state(*rows) for _, *rows in joined)
    return Counter({name: states[name] for name in CHANGES})


def _hosts(before: sqlite3.Connection, now: sqlite3.Connection) -> Hosts:
    rows = [run.execute(_HOSTS, (language_of(run),)) for run in (before, now)]
    new = gone = 0
    largest: list[tuple[int, str, int, int]] = []
    for host, had, has in _joined(*rows):
        new, gone = new + (had is None), gone + (has is None)
        old, late = (found[0] if found else 0 for found in (had, has))
        if old != late:
            heapq.heappush(largest, (abs(late - old), host, old, late))
            if len(largest) > _MOST_HOSTS:
                heapq.heappop(largest)
    largest.sort(reverse=True)
    return Hosts(new, gone, [(host, old, late) for _, host, old, late in largest])


def _names(folders: Sequence[Path]) -> list[str]:
    """Return the last parts of paths, whole paths if two are equal."""
    short = [folder.resolve().name for folder in folders]
    return short if len(set(short)) == len(short) else [str(folder) for folder in folders]


def _lead(names: Sequence[str], runs: Sequence[Summary], pages: Sequence[Counter[str]]) -> str:
    last = pages[-1]
    return (
        f"{names[-1]} has {runs[-1].relevant:,} relevant pages, {names[-2]} {runs[-2].relevant:,}: "
        f"{last['new']:,} pages are new, {last['changed']:,} have changed, "
        f"{last['vanished']:,} have vanished, {last['not_asked']:,} were not requested again."
    )


def _runs(names: Sequence[str], runs: Sequence[Summary]) -> Table:
    head = ("run", "began", "language", "pages", "relevant", "harvest rate", "hosts", "bytes")
    rows = [
        (
            name,
            (run.started_at or "")[:10],
            run.lang,
            run.pages,
            run.relevant,
            run.harvest_rate,
            run.hosts,
            size(run.bytes),
        )
        for name, run in zip(names, runs, strict=True)
    ]
    return Table("The crawls", head, rows, text_columns=3)


def _changes_table(names: Sequence[str], pages: Sequence[Counter[str]]) -> Table:
    return Table(
        "Pages since the crawl before",
        ("run", *(name.replace("_", " ") for name in CHANGES)),
        [
            (name, *(found[state] for state in CHANGES))
            for name, found in zip(names[1:], pages, strict=True)
        ],
        notes=[
            "A changed page has another body, a vanished one 404 or 410, a moved one a redirect."
        ],
    )


def _languages(names: Sequence[str], runs: Sequence[Summary]) -> Table:
    every = sum((Counter(run.languages) for run in runs), Counter[str]())
    rows: list[tuple[Cell, ...]] = [
        (language_name(code), *(run.languages.get(code, 0) for run in runs))
        for code, _ in every.most_common(_MOST_LANGUAGES)
    ]
    rest = len(every) - len(rows)
    notes = [f"{rest:,} more languages have fewer pages."] if rest else []
    return Table("Pages by language", ("language", *names), rows, notes=notes)


def _hosts_tables(names: Sequence[str], hosts: Sequence[Hosts]) -> Iterator[Table]:
    for (before, now), found in zip(pairwise(names), hosts, strict=True):
        yield Table(
            f"Hosts of {now}",
            ("host", before, now),
            found.largest,
            notes=[
                f"{found.new:,} hosts have pages now and had none, {found.gone:,} had some and have"
                " none. The hosts above have the largest change of relevant pages."
            ],
        )
