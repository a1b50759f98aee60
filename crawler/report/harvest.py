"""The figures of a run, computed from its `run.db` alone.

Every table, report and comparison takes its figures from here. Nothing is kept in memory for each
page: SQLite counts the rows, or they are streamed. So a run can have ten million pages.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from crawler.errors import RunFolderError
from crawler.report.calibration import calibration_of
from crawler.report.changes import Changes, changes_of
from crawler.report.closing import closing_advice
from crawler.report.course import Portion, by_portion, last_portion
from crawler.report.files import json_text, write_whole
from crawler.run import reading, sessions_of

_APART = ("seeds", "gaps")
"""Keys of `meta` that are no settings, or have their own figure."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The figures of one run. Rates are fractions from 0 to 1, `None` if the divisor is 0.

    A page is a URL that was downloaded with a final status (outcome `page`). Redirects, URLs that
    robots.txt forbids and failures are counted in `outcomes` only. No rate includes pages without a
    label (Baykan 2013, Tables XVIII and XIX). All counters are in falling order of their counts.
    """

    lang: str
    strategy: str
    filter: str
    tolerance: int | None
    host_cap: int | None
    web: str
    pages: int
    labelled: int
    relevant: int
    copies: int
    """Pages in the language that are not relevant: their text stands on many domains."""
    harvest_rate: float | None
    unlabelled: int
    hosts: int
    max_urls_per_host: int
    """URLs of the host of which most got a request, as the host cap counts them."""
    seconds: float
    """Sum over all sessions; a session that was killed ends with its last page."""
    pages_per_second: float | None
    sessions: int
    finish_reason: str | None
    """Why the last session ended; `None` while it runs and after a kill."""
    bytes: int
    harvest_by_200: list[Portion]
    """The first 200 pages, the next 200, ... (Baykan 2013, Fig. 7); the last may be shorter."""
    harvest_last_200: float | None
    brier: float | None
    """Of the probabilities of an ordering that learns (`crawler.report.calibration`); `None` of
    others."""
    calibration_error: float | None
    languages: dict[str, int]
    outcomes: dict[str, int]
    statuses: dict[str, int]
    methods: dict[str, int]
    """How the labelled pages were identified."""
    charsets: dict[str, int]
    countries: dict[str, int]
    counts: dict[str, int]
    """The frontier's own counters (stored, seen, host_full, ...)."""
    coverage: float | None
    """Relevant pages crawled / all relevant pages (Tamura 2007, 5.2); `None` if unknown."""
    seeds: list[str]
    gaps: list[str]
    """What does not know the language of the crawl, a sentence each (`crawler.gaps`)."""
    advice: list[str]
    """What a next crawl may do otherwise, a sentence each (`crawler.report.closing`)."""
    settings: dict[str, str]
    changes: Changes | None = None
    """What became of the pages of an earlier run; `None` without `-a since`."""

    def as_json(self) -> dict[str, Any]:
        """The figures as JSON types, under the names of the fields."""
        figures = asdict(self)
        figures["harvest_by_200"] = [portion.as_json() for portion in self.harvest_by_200]
        return figures


@dataclass(slots=True)
class _Tallies:
    outcomes: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    charsets: Counter[str] = field(default_factory=Counter)
    countries: Counter[str] = field(default_factory=Counter)
    copies: int = 0
    bytes: int = 0


def summarise(
    run: sqlite3.Connection | Path | str, *, truth: Collection[str] | None = None
) -> Summary:
    """The figures of a run at this moment.

    `truth` has the URLs of all relevant pages, which are known for a recorded or generated web
    only; the coverage is computed from it. Raises RunFolderError for a folder without a run. Cost:
    some scans of the table of pages.
    """
    with reading(run) as connection:
        return _summary(connection, truth)


def write_summary(summary: Summary, folder: Path) -> Path:
    """The path of `summary.json` in `folder`, after replacing it in one step."""
    return write_whole(folder / "summary.json", json_text(summary.as_json()))


def _summary(connection: sqlite3.Connection, truth: Collection[str] | None) -> Summary:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if "lang" not in meta:
        raise RunFolderError("run.db has no language: it was not made by a crawl of langfocus")
    lang = str(meta["lang"])
    tallies = _tallies(connection)
    pages = tallies.outcomes["page"]
    labelled = tallies.languages.total()
    relevant = tallies.languages[lang] - tallies.copies
    hosts, most = _hosts(connection)
    seconds = _seconds(connection)
    sessions, finish_reason = _sessions(connection)
    calibration = calibration_of(connection, lang)
    counts = {str(n): int(v) for n, v in connection.execute("SELECT name, value FROM counts")}
    return Summary(
        **_settings(meta),
        **_counters(tallies),
        pages=pages,
        labelled=labelled,
        relevant=relevant,
        copies=tallies.copies,
        harvest_rate=Portion(pages, labelled, relevant).harvest_rate,
        unlabelled=pages - labelled,
        hosts=hosts,
        max_urls_per_host=most,
        seconds=seconds,
        pages_per_second=pages / seconds if seconds else None,
        sessions=sessions,
        finish_reason=finish_reason,
        bytes=tallies.bytes,
        harvest_by_200=by_portion(connection, lang),
        harvest_last_200=last_portion(connection, lang).harvest_rate,
        brier=calibration.brier,
        calibration_error=calibration.error,
        counts=_falling(Counter(counts)),
        coverage=None if truth is None else _coverage(connection, truth),
        changes=changes_of(connection),
        advice=closing_advice(connection, lang),
    )


def _settings(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a summary that say how the crawl was set up."""
    return {
        "lang": str(meta["lang"]),
        "strategy": str(meta.get("strategy", "")),
        "filter": str(meta.get("filter", "")),
        "tolerance": _whole(meta.get("tolerance")),
        "host_cap": _whole(meta.get("host_cap")),
        "web": str(meta.get("web", "")),
        "seeds": _texts(meta.get("seeds")),
        "gaps": _texts(meta.get("gaps")),
        "settings": {str(k): str(v) for k, v in meta.items() if k not in _APART},
    }


def _counters(tallies: _Tallies) -> dict[str, Any]:
    """The fields of a summary that count rows by a column."""
    names = ("languages", "outcomes", "statuses", "methods", "charsets", "countries")
    return {name: _falling(getattr(tallies, name)) for name in names}


def _tallies(connection: sqlite3.Connection) -> _Tallies:
    """All counters from one scan: there are few different combinations, even of many pages."""
    tallies = _Tallies()
    for outcome, language, status, method, charset, country, *numbers in connection.execute(
        """SELECT outcome, language, status, method, charset, country, count(*), sum(is_copy),
                  sum(bytes) FROM pages GROUP BY 1, 2, 3, 4, 5, 6"""
    ):
        rows, copies, size = numbers
        tallies.outcomes[outcome] += rows
        tallies.bytes += size or 0
        if outcome != "page":
            continue
        tallies.copies += copies
        for counter, value in (
            (tallies.languages, language),
            (tallies.statuses, status),
            (tallies.methods, method if language is not None else None),
            (tallies.charsets, charset),
            (tallies.countries, country),
        ):
            if value is not None:
                counter[str(value)] += rows
    return tallies


def _hosts(connection: sqlite3.Connection) -> tuple[int, int]:
    """The number of hosts with a page, and the URLs with a request of the host with most.

    A worker of a shared crawl does not know the latter: then URLs with an answer are counted.
    """
    hosts, most = connection.execute(
        """SELECT count(*) FILTER (WHERE has_page), coalesce(max(answered), 0)
           FROM (SELECT max(outcome = 'page') AS has_page, count(status) AS answered
                 FROM pages GROUP BY host)"""
    ).fetchone()
    sent = connection.execute("SELECT coalesce(max(sent), 0) FROM hosts").fetchone()[0]
    return hosts, sent or most


def _seconds(connection: sqlite3.Connection) -> float:
    return sum(one.ended_at - one.started_at for one in sessions_of(connection))


def _sessions(connection: sqlite3.Connection) -> tuple[int, str | None]:
    row = connection.execute(
        """SELECT (SELECT count(*) FROM sessions),
                  (SELECT finish_reason FROM sessions ORDER BY id DESC LIMIT 1)"""
    ).fetchone()
    return row[0], row[1]


def _coverage(connection: sqlite3.Connection, truth: Collection[str]) -> float | None:
    urls = connection.execute("SELECT url FROM pages WHERE outcome = 'page'")
    return sum(url in truth for (url,) in urls) / len(truth) if truth else None


def _falling(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _whole(value: str | None) -> int | None:
    return int(value) if value and value != "null" else None


def _texts(value: str | None) -> list[str]:
    return [str(text) for text in json.loads(value)] if value else []
