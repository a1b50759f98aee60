"""Why a URL was fetched when it was, or waits where it does, from a run's `run.db` alone.

A page of an ordering that learns keeps what each feature added to its log-odds. A queued URL gets
the same figures from the weights that are stored now.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TextIO

from crawler.errors import RunFolderError
from crawler.frontier.evidence_rows import EvidenceRows
from crawler.frontier.learning import Learner
from crawler.frontier.rules import FrontierRules
from crawler.report.formatting import language_name, percent
from crawler.report.printer import WIDE, Printer
from crawler.report.table import Table
from crawler.run import reading
from crawler.strategies.focus.belief import Prior
from crawler.strategies.focus.evidence import units_of
from crawler.strategies.focus.features import FEATURES
from crawler.strategies.focus.odds import probability_of
from crawler.strategies.focus.ordering import DOUBTS_UP_TO
from crawler.url import fingerprint, normalise

_UNITS: Final = {"registered domain": slice(0, 1), "host": slice(1, 2), "path": slice(2, None)}
"""The units of a URL whose records make a feature."""


class FeaturePart(NamedTuple):
    """What a feature adds to the log-odds of a URL, and the facts behind it."""

    feature: str
    log_odds: float
    fact: str = ""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The reasons for the place of one URL in a crawl."""

    url: str
    sentences: Sequence[str]
    score: float
    """The log-odds that the page is in the language, or the score of an ordering that learns
    nothing."""
    parts: Sequence[FeaturePart] = ()
    """The largest effect first. The weights are uncertain, so the sum is shrunk to the score. Empty
    for an ordering that learns nothing."""


class _Found(NamedTuple):
    """A row of `pages` or a queued URL; `id` is that of the page, None for a queued one."""

    url: str
    depth: int
    parent: str | None
    score: float
    reasons: str | None
    id: int | None = None
    language: str | None = None
    confidence: float | None = None
    outcome: str | None = None
    queued: int = 0
    is_copy: int = 0


def explain(run: sqlite3.Connection | Path | str, url: str) -> Explanation:
    """Explain a URL of a run; nothing is written.

    Raises RunFolderError for a folder without a run, and for a URL that the run neither fetched nor
    queued. Cost: one scan of the pages.
    """
    normal = normalise(url)
    with reading(run) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        found = None if normal is None else _found(connection, meta, fingerprint(normal))
        if found is None:
            raise RunFolderError(f"{url} is no URL that this run fetched or has in its queue")
        return Explanation(
            url=found.url,
            sentences=list(_sentences(connection, meta, found)),
            score=found.score,
            parts=_parts(connection, meta, found),
        )


def print_explanation(why: Explanation, stream: TextIO | None = None) -> None:
    """Print an explanation, to standard output by default."""
    printer = Printer(stream, width=WIDE)
    printer.line(why.url)
    for sentence in why.sentences:
        printer.line(f"  {sentence}")
    printer.line()
    total = sum(part.log_odds for part in why.parts)
    notes = []
    if total:
        share = percent(why.score / total)
        notes.append(
            f"The sum is {_signed(total)}. It is shrunk to {share} of that because the weights are "
            "uncertain."
        )
    shown = [part for part in why.parts if part.log_odds or part.fact]
    if len(shown) < len(why.parts):
        silent = "; ".join(part.feature for part in why.parts if part not in shown)
        notes.append(f"Nothing is added by: {silent}.")
    head = ("feature", "before it in the crawl", "log-odds")
    rows = [(part.feature, part.fact, _signed(part.log_odds)) for part in shown]
    printer.table(Table("What each feature adds", head, rows, notes=notes, text_columns=2))


def _found(connection: sqlite3.Connection, meta: Mapping[str, str], key: int) -> _Found | None:
    row = connection.execute(
        """SELECT url, depth, parent, score, reasons, id, language, confidence, outcome, queued,
                  is_copy FROM pages WHERE fingerprint = ?""",
        (key,),
    ).fetchone()
    if row is not None:
        return _Found(*row)
    row = connection.execute(
        """SELECT u.id, u.url, u.depth, p.url, u.score, NULL FROM urls AS u
           LEFT JOIN urls AS p ON p.id = u.parent WHERE u.fingerprint = ? AND u.queued = 1""",
        (key,),
    ).fetchone()
    if row is None:
        return None
    queued = _Found(*row[1:])
    if meta.get("ordering") != "focus":
        return queued
    try:
        rules = FrontierRules(doubts_up_to=DOUBTS_UP_TO)
        learner = Learner(EvidenceRows(connection), Prior.shipped(), rules)
    except (ValueError, TypeError) as error:
        raise RunFolderError(f"the weights of the run cannot be read: {error}") from error
    weighed = learner.weigh(learner.known(row[0]))
    return queued._replace(score=weighed.odds, reasons=weighed.reasons())


def _sentences(
    connection: sqlite3.Connection, meta: Mapping[str, str], found: _Found
) -> Iterator[str]:
    """The place of the URL, its probability, how it was found, and what it turned out to be."""
    if found.id is None:
        (ahead,) = connection.execute(
            """SELECT count(*) FROM urls WHERE queued = 1
               AND score > (SELECT score FROM urls WHERE fingerprint = ?)""",
            (fingerprint(found.url),),
        ).fetchone()
        yield f"in the queue; {ahead:,} queued URLs have a better score"
    else:
        place, settled = connection.execute(
            "SELECT count(*) FILTER (WHERE id <= ?), count(*) FROM pages", (found.id,)
        ).fetchone()
        yield f"settled as URL {place:,} of {settled:,}; {found.queued:,} were queued"
    if found.reasons is None:
        yield f"score {found.score:.4g}, by the ordering {meta.get('ordering', '')}"
    else:
        named = f"probability of {language_name(meta.get('lang', ''))}"
        when = "now" if found.id is None else "then"
        chance = f"{probability_of(found.score):.4f}"
        yield f"{named} {when}: {chance} (log-odds {_signed(found.score)})"
    yield _origin(connection, found)
    if found.id is not None:
        yield f"it turned out to be: {_result(found)}"


def _origin(connection: sqlite3.Connection, found: _Found) -> str:
    query = "SELECT EXISTS(SELECT 1 FROM earlier WHERE url = ?)"
    if connection.execute(query, (found.url,)).fetchone()[0]:
        return "a page of the earlier run (-a since): it goes before URLs that are new"
    if found.parent is None:
        return "no page linked to it first: it is a seed or came from a sitemap"
    query = "SELECT language FROM pages WHERE fingerprint = ?"
    row = connection.execute(query, (fingerprint(found.parent),)).fetchone()
    of_it = "without a label" if row is None or row[0] is None else row[0]
    return f"first linked by {found.parent} ({of_it}), depth {found.depth}"


def _result(found: _Found) -> str:
    if found.language is None:
        return f"{found.outcome}, without a label"
    sure = "" if found.confidence is None else f", confidence {found.confidence:.2f}"
    copied = ", a copy of a text that stands on many domains" if found.is_copy else ""
    named = f"{language_name(found.language)} ({found.language})"
    return f"{found.outcome}, {named}{sure}{copied}"


def _parts(
    connection: sqlite3.Connection, meta: Mapping[str, str], found: _Found
) -> list[FeaturePart]:
    """The features, the largest effect first."""
    if found.reasons is None:
        return []
    try:
        added = [float(part) for part in found.reasons.split()]
    except ValueError:
        added = []
    if len(added) != len(FEATURES):
        raise RunFolderError(f"the reasons of this URL are not {len(FEATURES)} numbers")
    records = _records(connection, found, meta.get("lang", ""))
    facts = {name: "; ".join(records[of]) for name, of in _UNITS.items()}
    parts = [
        FeaturePart(name, log_odds, facts.get(name, ""))
        for name, log_odds in zip(FEATURES, added, strict=True)
    ]
    return sorted(parts, key=lambda part: -abs(part.log_odds))


def _records(connection: sqlite3.Connection, found: _Found, lang: str) -> list[str]:
    """The pages of each unit of a URL that were settled before it, and how many were relevant."""
    units = units_of(found.url)
    counts = {unit: [0, 0] for unit in units}
    before = connection.execute(
        """SELECT url, language = :lang AND NOT is_copy FROM pages
           WHERE outcome = 'page' AND language IS NOT NULL AND (:id IS NULL OR id < :id)
           AND (host = :domain OR substr(host, -length(:domain) - 1) = '.' || :domain)""",
        {"lang": lang, "id": found.id, "domain": units[0]},
    )
    for url, is_relevant in before:
        for unit in counts.keys() & set(units_of(url)):
            counts[unit][0] += 1
            counts[unit][1] += is_relevant
    return [
        f"{unit}: {relevant:,} of {labelled:,} pages before were relevant"
        if labelled
        else f"{unit}: no page before"
        for unit, (labelled, relevant) in counts.items()
    ]


def _signed(value: float) -> str:
    """`+1.20`; never `-0.00`."""
    return f"{round(value, 2) + 0.0:+.2f}"
