"""The figures of a run, computed from its `run.db` alone.

Every table, report and comparison uses these figures. Nothing per page is kept in memory: SQLite
counts rows, or rows are streamed. So a run can have ten million pages.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from itertools import accumulate
from math import sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

from langfocus.classifiers.languages import codes_of
from langfocus.classifiers.plugins import Plugin
from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.report.breakdown import Group, breakdown
from langfocus.crawler.report.formatting import falling, iso_time, json_text, share_of
from langfocus.crawler.run.embeds import embed_figures
from langfocus.crawler.run.folder import reading, sessions_of
from langfocus.crawler.run.target import IS_RATED, in_target, is_wanted, last_pages
from langfocus.crawler.run.whole_file import write_whole
from langfocus.crawler.strategies.focus.evidence import probability_of

PORTION = 200
"""Pages in one point of Baykan 2013, Fig. 7."""

# A column beside max() is taken from the row of the maximum (SQLite, "bare columns").
_PORTIONS: Final = f"""\
WITH numbered AS (
    SELECT row_number() OVER (ORDER BY id) - 1 AS number, language, is_copy, in_scope, queued
    FROM pages WHERE outcome = 'page')
SELECT max(number) + 1, count(*), count(*) FILTER (WHERE {IS_RATED}),
       count(*) FILTER (WHERE {is_wanted(":lang")}), queued
FROM numbered GROUP BY number / :size ORDER BY number / :size"""  # noqa: S608

_LISTS: Final = ("seeds", "gaps")
_NAMES: Final = ("lang", "strategy", "filter", "web", "command")
_APART: Final = (*_LISTS, "command", "parts", "plugins", "readable_by")
"""Keys of `meta` that are no settings, or separate figures."""

_COUNTERS: Final = ("outcomes", "languages", "statuses", "methods")
_GROUPS: Final = ("types", "top_level_domains", "countries", "days", "modified_years")
_TALLIES: Final = """\
SELECT outcome, language, status, CASE WHEN language IS NOT NULL THEN method END,
       count(*), sum(is_copy), sum(bytes) FROM pages GROUP BY 1, 2, 3, 4"""

_IN_SCOPE: Final = f"""\
SELECT count(*), count(*) FILTER (WHERE {in_target()} AND NOT is_copy), count(language)
FROM pages WHERE outcome = 'page' AND in_scope"""  # noqa: S608

_HOSTS: Final = """\
SELECT count(*) FILTER (WHERE has_page),
       coalesce((SELECT nullif(max(sent), 0) FROM hosts), max(answered), 0)
FROM (SELECT max(outcome = 'page') AS has_page, count(status) AS answered
      FROM pages GROUP BY host)"""
"""Host counts. A worker of a shared crawl has no request counts, so answers are counted instead."""

_SCORES: Final = f"""\
SELECT score, {in_target()} AND NOT is_copy FROM pages
WHERE outcome = 'page' AND language IS NOT NULL AND reasons IS NOT NULL AND depth > 0
      AND url NOT IN (SELECT url FROM earlier)"""  # noqa: S608
"""Pages of an earlier run are excluded: they are fetched first, whatever their probability."""

_LAST: Final = f"""\
SELECT count(*) FILTER (WHERE {is_wanted()}), count(*) FILTER (WHERE {IS_RATED})
FROM (SELECT * FROM pages WHERE outcome = 'page' ORDER BY id DESC LIMIT ?)"""  # noqa: S608

_LAST_PLACES: Final = f"""\
SELECT coalesce(max(number) FILTER (WHERE {is_wanted()}), 0),
       coalesce(max(number) FILTER (WHERE score > 0 OR depth = 0), 0)
FROM (SELECT row_number() OVER (ORDER BY id) AS number, language, is_copy, in_scope, score, depth
      FROM pages WHERE outcome = 'page')"""  # noqa: S608

_QUEUED: Final = "SELECT count(*), count(*) FILTER (WHERE score > 0) FROM urls WHERE queued = 1"

_STATES: Final = """\
SELECT CASE
    WHEN e.url IS NULL THEN 'new'
    WHEN v.digest = e.digest THEN 'stayed'
    WHEN v.digest IS NOT NULL THEN 'changed'
    WHEN p.status IN (404, 410) THEN 'vanished'
    WHEN p.outcome = 'redirect' THEN 'moved'
    ELSE 'failed' END, COUNT(*)
FROM pages AS p LEFT JOIN earlier AS e ON e.url = p.url LEFT JOIN visits AS v ON v.page = p.id
WHERE e.url IS NOT NULL OR v.page IS NOT NULL GROUP BY 1"""

_REVISITS: Final = """\
SELECT count(*), coalesce(sum(p.bytes) FILTER (WHERE a.is_revisit = 1), 0)
FROM archived AS a LEFT JOIN pages AS p ON p.fingerprint = a.fingerprint
WHERE a.is_revisit = 2 OR (a.is_revisit = 1 AND NOT EXISTS (
    SELECT 1 FROM archived AS o WHERE o.digest = a.digest AND o.is_revisit = 0))"""
"""Repeated bodies within the run are not counted."""

_SHELLS: Final = """\
SELECT host, count(*), sum(count(*)) OVER () FROM pages WHERE needs_browser = 1
GROUP BY host ORDER BY 2 DESC, host LIMIT 100"""

_RENDERED: Final = "SELECT count(*) FROM pages WHERE needs_browser = 2"

_BINS: Final = 10
"""Bins of equal width, from probability 0 to 1."""

_DOUBTS: Final = ("focus", "svm", "cctld")
"""Orderings whose scores up to 0 mark URLs not expected in the language."""

_Z: Final = 1.96


class Portion(NamedTuple):
    """Counts of consecutive pages of a run."""

    last: int
    """Number of the last page."""
    pages: int
    labelled: int
    relevant: int
    queued: int
    """Queued URLs after the last page."""

    @property
    def harvest_rate(self) -> float | None:
        """Relevant pages per page with a label, 0 to 1; `None` if no page has a label."""
        return share_of(self.relevant, self.labelled)

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The 95 % interval of the harvest rate (Wilson 1927); (None, None) without a label."""
        if not self.labelled:
            return None, None
        share, square = self.relevant / self.labelled, _Z * _Z / self.labelled
        half = sqrt(square * share * (1 - share) + square * square / 4)
        middle, width = share + square / 2, 1 + square
        return max(0.0, (middle - half) / width), min(1.0, (middle + half) / width)

    @property
    def span(self) -> str:
        """The numbers of the first and the last page."""
        return f"{self.last - self.pages + 1:,}-{self.last:,}"

    @property
    def point(self) -> tuple[float, float | None]:
        """The harvest rate at the middle of the pages, for a chart."""
        return self.last - self.pages / 2, self.harvest_rate

    def and_then(self, next_one: "Portion") -> "Portion":
        """Merge this portion with the next one."""
        added = ("pages", "labelled", "relevant")
        return next_one._replace(
            **{name: getattr(self, name) + getattr(next_one, name) for name in added}
        )

    def as_json(self) -> dict[str, Any]:
        """Return page counts and harvest rate."""
        counts = {"pages": self.pages, "labelled": self.labelled, "relevant": self.relevant}
        return counts | {"harvest_rate": self.harvest_rate}


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The figures of one run. Rates are fractions from 0 to 1, `None` if the divisor is 0.

    A page is a URL that was downloaded with a final status (outcome `page`). Redirects, URLs that
    robots.txt forbids and failures are counted in `outcomes` only. No rate includes pages without a
    label (Baykan 2013, Tables XVIII and XIX). All counters are in falling order of their counts.
    """

    lang: str  # the target language
    strategy: str
    filter: str
    tolerance: int | None
    host_cap: int | None
    web: str
    pages: int  # URLs that were downloaded with a final status
    labelled: int  # pages whose language was identified, or taken by `-a scope`
    relevant: int  # pages in the target language that are no copies, or taken by `-a scope`
    relevant_by_language: dict[str, int]  # of these the pages in each language of the target
    copies: int  # pages in the language that are not relevant: their text is on many domains
    harvest_rate: float | None  # relevant / labelled
    unlabelled: int  # pages without a label
    needs_browser: int  # pages with little text, which scripts would write in a browser
    needs_browser_hosts: dict[str, int]  # of these by host; at most 100 hosts
    rendered: int  # pages whose text scripts wrote in a browser (LANGFOCUS_RENDER)
    hosts: int  # hosts with a page
    max_urls_per_host: int  # of the host with most requests, as the host cap counts them
    started_at: str | None  # start of the first session, ISO 8601 in UTC
    ended_at: str | None  # of the last session; one that runs or was killed ends with its last page
    seconds: float  # of all sessions; a session that was killed ends with its last page
    pages_per_second: float | None  # pages / seconds
    sessions: int  # starts of the crawl
    last_pages: int  # that show whether more is to be found, see `-a least_yield`
    relevant_in_last: int  # relevant pages among these
    finish_reason: str | None  # of the last session; None while it runs and after a kill
    bytes: int  # of all downloads, as received
    page_bytes: int  # of these the bytes of pages
    relevant_bytes: int  # of these the bytes of relevant pages
    stored_bytes: int  # of the WARC files, where they are compressed
    revisits: int  # answers whose body only another archive has, `revisit` records
    revisit_bytes: int  # of the bodies of pages that were thus not kept again
    embeds: dict[str, int]  # files that pages embed, by outcome; `waiting`: without one (-a embeds)
    embed_bytes: int  # of these, as received
    harvest_by_200: list[Portion]  # the first 200 pages, the next, ... (Baykan 2013, Fig. 7)
    harvest_last_200: float | None  # relevant / labelled of the last 200 pages
    last_relevant: int  # number of the last relevant page, 0 without one
    last_expected: int | None  # of the last page whose URL was expected; `focus`, `svm`, `cctld`
    relevant_after: int | None  # relevant pages after that one
    queued: int  # URLs that are queued now in run.db; those of a shared crawl are in Redis
    queued_expected: int | None  # of these the URLs that are expected in the language
    brier: float | None  # mean of (probability - label)^2 before the fetch, 0 is perfect; `focus`
    calibration_error: float | None  # probability against share, mean over 10 bins; `focus`
    languages: dict[str, int]  # pages by label
    outcomes: dict[str, int]  # URLs by outcome
    statuses: dict[str, int]  # pages by HTTP status
    methods: dict[str, int]  # labelled pages by the evidence that decided
    types: dict[str, Group]  # answers in WARC files by media type; at most 100
    top_level_domains: dict[str, Group]  # pages by top-level domain, `address` without one
    countries: dict[str, Group]  # pages by country of the server; empty without `LANGFOCUS_GEOIP`
    days: dict[str, Group]  # pages by day of the fetch in UTC, in the order of time
    modified_years: dict[str, Group]  # pages by year of their Last-Modified, the latest first
    counts: dict[str, int]  # the frontier's own counters (`crawler/report/reasons.tsv`)
    seeds: list[str]  # where the crawl began
    gaps: list[str]  # what does not know the language, a sentence each (`session.preparation`)
    settings: dict[str, str]  # all that the run was asked for
    plugins: list[Plugin]  # kind, name, path, distribution and version of all that were used
    command: str  # that asks for the same crawl in a new folder; "" where it is not known
    changes: Mapping[str, int] | None = None  # what became of earlier pages, with `-a since`
    in_scope: int | None = None  # pages that `-a scope` takes
    in_scope_and_language: int | None = None  # of these the pages in the target language
    harvest_outside_scope: float | None = None  # relevant / labelled of all other pages

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON types, under the names of the fields."""
        figures = {field.name: getattr(self, field.name) for field in fields(self)}
        figures["plugins"] = [one._asdict() for one in self.plugins]
        if len(self.relevant_by_language) < 2:
            del figures["relevant_by_language"]
        for name in _GROUPS:
            figures[name] = {key: group.as_json() for key, group in figures[name].items()}
        figures["harvest_by_200"] = [portion.as_json() for portion in self.harvest_by_200]
        return figures


def summarise(run: sqlite3.Connection | Path | str) -> Summary:
    """Return the figures of a run at this moment.

    Raises RunFolderError for a folder without a run. Cost: some scans of the table of pages.
    """
    with reading(run) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        if "lang" not in meta:
            raise RunFolderError("run.db has no language: it was not made by a crawl of langfocus")
        lang = str(meta["lang"])
        counters, copied, size = _tallies(connection)
        pages = counters["outcomes"]["page"]
        labelled = counters["languages"].total()
        own = {code: counters["languages"][code] - copied[code] for code in codes_of(lang)}
        copies = sum(copied[code] for code in codes_of(lang))
        relevant = sum(own.values())
        hosts, most = connection.execute(_HOSTS).fetchone()
        sessions = sessions_of(connection)
        seconds = sum(one.ended_at - one.started_at for one in sessions)
        brier, error = _calibration(connection, lang)
        last_relevant, last_expected = connection.execute(_LAST_PLACES, (lang,)).fetchone()
        after = connection.execute(_LAST, (lang, pages - last_expected)).fetchone()[0]
        revisits, saved = connection.execute(_REVISITS).fetchone()
        embeds, embed_bytes = embed_figures(connection)
        shells = connection.execute(_SHELLS).fetchall()
        queued, queued_expected = connection.execute(_QUEUED).fetchone()
        has_doubts = meta.get("ordering") in _DOUBTS
        asked: dict[str, Any] = {name: str(meta.get(name, "")) for name in _NAMES}
        asked |= {name: _whole(meta.get(name)) for name in ("tolerance", "host_cap")}
        asked |= {name: falling(counter) for name, counter in counters.items()}
        asked |= {name: [str(t) for t in json.loads(meta.get(name) or "[]")] for name in _LISTS}
        if meta.get("scope"):
            inside, spoken, named = connection.execute(_IN_SCOPE, (lang,)).fetchone()
            asked |= {"in_scope": inside, "in_scope_and_language": spoken}
            relevant, labelled = relevant - spoken, labelled - named
            asked["harvest_outside_scope"] = share_of(relevant, labelled)
            relevant, labelled = relevant + inside, labelled + inside
        return Summary(
            **asked,
            **breakdown(connection, lang),
            plugins=plugins_of(connection),
            settings={str(k): str(v) for k, v in meta.items() if k not in _APART},
            pages=pages,
            labelled=labelled,
            relevant=relevant,
            relevant_by_language=own,
            copies=copies,
            harvest_rate=share_of(relevant, labelled),
            unlabelled=pages - labelled,
            needs_browser=shells[0][2] if shells else 0,
            needs_browser_hosts={host: count for host, count, _ in shells},
            rendered=connection.execute(_RENDERED).fetchone()[0],
            hosts=hosts,
            max_urls_per_host=most,
            started_at=iso_time(min((one.started_at for one in sessions), default=None)),
            ended_at=iso_time(max((one.ended_at for one in sessions), default=None)),
            seconds=seconds,
            pages_per_second=pages / seconds if seconds else None,
            sessions=len(sessions),
            last_pages=(last := min(pages, last_pages(pages))),
            relevant_in_last=connection.execute(_LAST, (lang, last)).fetchone()[0],
            finish_reason=sessions[-1].finish_reason if sessions else None,
            bytes=size,
            revisits=revisits,
            revisit_bytes=saved,
            embeds=falling(embeds),
            embed_bytes=embed_bytes,
            harvest_by_200=by_portion(connection, lang),
            harvest_last_200=share_of(*connection.execute(_LAST, (lang, PORTION)).fetchone()),
            last_relevant=last_relevant,
            last_expected=last_expected if has_doubts else None,
            relevant_after=after if has_doubts else None,
            queued=queued,
            queued_expected=queued_expected if has_doubts else None,
            brier=brier,
            calibration_error=error,
            counts=falling(dict(connection.execute("SELECT name, value FROM counts"))),
            changes=_changes(connection),
        )


def plugins_of(run: sqlite3.Connection | Path | str) -> list[Plugin]:
    """Return the plug-ins that the sessions of a run used; raises RunFolderError."""
    with reading(run) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'plugins'").fetchone()
        return [Plugin(*map(str, one)) for one in json.loads(row[0] if row else "[]")]


def write_summary(summary: Summary, folder: Path) -> Path:
    """Replace `summary.json` in `folder` in one step, and return its path."""
    return write_whole(folder / "summary.json", json_text(summary.as_json()))


def _tallies(
    connection: sqlite3.Connection,
) -> tuple[dict[str, Counter[str]], Counter[str], int]:
    """Return all counters, the copies by language and the bytes from one scan.

    Even many pages have few distinct combinations.
    """
    counters: dict[str, Counter[str]] = {name: Counter() for name in _COUNTERS}
    copies, size = Counter[str](), 0
    for *values, rows, copied, downloaded in connection.execute(_TALLIES):
        size += downloaded or 0
        is_page = values[0] == "page"
        copies[str(values[1])] += copied if is_page else 0
        counted = values if is_page else values[:1]
        for counter, value in zip(counters.values(), counted, strict=False):
            if value is not None:
                counter[str(value)] += rows
    return counters, copies, size


def _calibration(
    connection: sqlite3.Connection, lang: str
) -> tuple[float, float] | tuple[None, None]:
    """Return the Brier score and the expected calibration error of page probabilities.

    Probabilities are from just before the fetch, of labelled pages except seeds and pages of an
    earlier run. The score is the mean of (probability - label)**2 (Brier 1950, "Verification of
    forecasts expressed in terms of probability"). The error is the difference between mean
    probability and share of relevant pages in ten bins, weighted by bin size (Naeini, Cooper and
    Hauskrecht 2015, "Obtaining well calibrated probabilities using Bayesian binning"). None if the
    ordering does not learn.
    """
    pages, squares = 0, 0.0
    excess = [0.0] * _BINS
    for score, is_relevant in connection.execute(_SCORES, (lang,)):
        share = probability_of(score)
        pages += 1
        squares += (share - is_relevant) ** 2
        excess[min(_BINS - 1, int(_BINS * share))] += share - is_relevant
    return (squares / pages, sum(map(abs, excess)) / pages) if pages else (None, None)


def _changes(connection: sqlite3.Connection) -> dict[str, int] | None:
    """Return the changes of an earlier run's pages; None without `-a since`."""
    (earlier,) = connection.execute("SELECT COUNT(*) FROM earlier").fetchone()
    if not earlier:
        return None
    states = Counter(dict(connection.execute(_STATES)))
    new = states.pop("new", 0)
    # By status 304; other unchanged pages have an equal body.
    unchanged = "SELECT COUNT(*) FROM pages WHERE outcome = 'unchanged'"
    return {
        "earlier": earlier,
        **{name: states[name] for name in ("changed", "stayed", "vanished", "moved", "failed")},
        "not_modified": connection.execute(unchanged).fetchone()[0],
        "not_asked": earlier - states.total(),
        "new": new,
    }


def _whole(value: str | None) -> int | None:
    return int(value) if value and value != "null" else None


def by_portion(connection: sqlite3.Connection, lang: str, size: int = PORTION) -> list[Portion]:
    """Return the first `size` pages, the next ones, and so on; the last portion may be shorter."""
    rows = connection.execute(_PORTIONS, {"lang": lang, "size": size})
    return [Portion(*row) for row in rows]


def curve(connection: sqlite3.Connection, lang: str, *, points: int = 500) -> list[Portion]:
    """Return a run's pages at evenly spaced points, at most `points`; the last is its end."""
    (pages,) = connection.execute("SELECT count(*) FROM pages WHERE outcome = 'page'").fetchone()
    portions = by_portion(connection, lang, max(1, -(-pages // points)))
    return list(accumulate(portions, Portion.and_then))


def merged(
    portions: Sequence[Portion], at_most: int, *, longest: int | None = None
) -> list[Portion]:
    """Merge consecutive portions into at most `at_most` portions of equal size.

    `longest` is the number of portions of the longest of several runs, for equal sizes in all runs.
    """
    width = max(1, -(-(longest or len(portions)) // at_most))
    starts = range(0, len(portions), width)
    return [reduce(Portion.and_then, portions[start : start + width]) for start in starts]
