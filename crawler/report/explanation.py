"""Why a URL was fetched when it was, or waits where it does, from a run's `run.db` alone.

A page of an ordering that learns keeps what each feature added to its log-odds. A queued URL gets
the same figures from the weights that are stored now.
"""

import sqlite3
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

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

_RECORDS: Final = {"registered domain": slice(0, 1), "host": slice(1, 2), "path": slice(2, None)}
"""The units of a URL whose records make a feature."""

_COLUMNS: Final = (
    "url, depth, parent, score, reasons, id, language, confidence, outcome, queued, is_copy"
)


class FeaturePart(NamedTuple):
    """What a feature adds to the log-odds of a URL, and the facts behind it as text."""

    feature: str
    log_odds: float
    fact: str = ""


class UnitRecord(NamedTuple):
    """The pages with a label of a unit before a URL, and how many of them were relevant."""

    unit: str
    labelled: int
    relevant: int

    def __str__(self) -> str:
        """Return `a.de/: 3 of 4 pages before were relevant`."""
        if not self.labelled:
            return f"{self.unit}: no page before"
        return f"{self.unit}: {self.relevant:,} of {self.labelled:,} pages before were relevant"


@dataclass(frozen=True, kw_only=True)
class UrlExplanation:
    """The reasons for the place of one URL in a crawl.

    `place` is that among `settled` URLs, None for a queued one. `queued` URLs were queued after it
    was settled; `ahead` are queued URLs with a better score than a queued one. `probability`
    belongs to `score`, and `parts` add up to about `log_odds` before the uncertainty of the weights
    shrinks it to `score`; all three are empty for an ordering that learns nothing.
    """

    url: str
    lang: str
    ordering: str
    state: str
    place: int | None
    settled: int
    queued: int | None
    ahead: int | None
    depth: int
    parent: str | None
    parent_language: str | None
    is_of_earlier_run: bool
    score: float
    probability: float | None
    log_odds: float | None
    parts: tuple[FeaturePart, ...]
    records: tuple[UnitRecord, ...]
    outcome: str | None
    language: str | None
    confidence: float | None
    is_copy: bool

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as JSON types, under the names of the fields."""
        figures = asdict(self)
        figures["parts"] = [part._asdict() for part in self.parts]
        figures["records"] = [record._asdict() for record in self.records]
        return figures


def explain(run: sqlite3.Connection | Path | str, url: str) -> UrlExplanation:
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
        return _explained(connection, meta, found)


def print_explanation(why: UrlExplanation, stream: TextIO | None = None) -> None:
    """Print an explanation, to standard output by default."""
    printer = Printer(stream, width=WIDE)
    printer.line(why.url)
    for line in _lines(why):
        printer.line(f"  {line}")
    rows = [(part.feature, part.fact, _signed(part.log_odds)) for part in why.parts]
    shown = [row for row, part in zip(rows, why.parts, strict=True) if part.log_odds or part.fact]
    printer.line()
    printer.table(
        Table(
            "What each feature adds",
            ("feature", "before it in the crawl", "log-odds"),
            shown,
            notes=_notes(why),
            text_columns=2,
        )
    )


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
    queued: int | None = None
    is_copy: int = 0


def _found(connection: sqlite3.Connection, meta: dict[str, str], key: int) -> _Found | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM pages WHERE fingerprint = ?",  # noqa: S608
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


def _explained(
    connection: sqlite3.Connection, meta: dict[str, str], found: _Found
) -> UrlExplanation:
    lang = str(meta.get("lang", ""))
    place, settled = connection.execute(
        "SELECT count(*) FILTER (WHERE id <= ?), count(*) FROM pages", (found.id,)
    ).fetchone()
    records = _records(connection, found, lang) if found.reasons is not None else ()
    parts = _parts(found.reasons, records)
    is_queued = found.id is None
    return UrlExplanation(
        url=found.url,
        lang=lang,
        ordering=str(meta.get("ordering", "")),
        state="queued" if is_queued else "settled",
        place=None if is_queued else place,
        settled=settled,
        queued=found.queued,
        ahead=_ahead(connection, found.url) if is_queued else None,
        depth=found.depth,
        parent=found.parent,
        parent_language=_language(connection, found.parent),
        is_of_earlier_run=_is_of_earlier_run(connection, found.url),
        score=found.score,
        probability=probability_of(found.score) if parts else None,
        log_odds=sum(part.log_odds for part in parts) if parts else None,
        parts=parts,
        records=records,
        outcome=found.outcome,
        language=found.language,
        confidence=found.confidence,
        is_copy=bool(found.is_copy),
    )


def _ahead(connection: sqlite3.Connection, url: str) -> int:
    """The queued URLs with a better score, as the scores were last stored."""
    ahead: int = connection.execute(
        """SELECT count(*) FROM urls WHERE queued = 1
           AND score > (SELECT score FROM urls WHERE fingerprint = ?)""",
        (fingerprint(url),),
    ).fetchone()[0]
    return ahead


def _is_of_earlier_run(connection: sqlite3.Connection, url: str) -> bool:
    query = "SELECT EXISTS(SELECT 1 FROM earlier WHERE url = ?)"
    return bool(connection.execute(query, (url,)).fetchone()[0])


def _language(connection: sqlite3.Connection, url: str | None) -> str | None:
    if url is None:
        return None
    query = "SELECT language FROM pages WHERE fingerprint = ?"
    row = connection.execute(query, (fingerprint(url),)).fetchone()
    return None if row is None else row[0]


def _records(connection: sqlite3.Connection, found: _Found, lang: str) -> tuple[UnitRecord, ...]:
    """The records of the units of a URL, from the pages that were settled before it."""
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
    return tuple(UnitRecord(unit, *count) for unit, count in counts.items())


def _parts(reasons: str | None, records: tuple[UnitRecord, ...]) -> tuple[FeaturePart, ...]:
    """The features, the largest effect first."""
    if reasons is None:
        return ()
    try:
        added = [float(part) for part in reasons.split()]
    except ValueError:
        added = []
    if len(added) != len(FEATURES):
        raise RunFolderError(f"the reasons of this URL are not {len(FEATURES)} numbers")
    facts = {
        name: "; ".join(str(record) for record in records[of]) for name, of in _RECORDS.items()
    }
    found = [
        FeaturePart(name, part, facts.get(name, ""))
        for name, part in zip(FEATURES, added, strict=True)
    ]
    return tuple(sorted(found, key=lambda part: -abs(part.log_odds)))


def _signed(value: float) -> str:
    """`+1.20`; never `-0.00`."""
    return f"{round(value, 2) + 0.0:+.2f}"


def _lines(why: UrlExplanation) -> list[str]:
    named = language_name(why.lang)
    lines = []
    if why.place is None:
        lines.append(f"in the queue; {why.ahead:,} queued URLs have a better score")
    else:
        lines.append(f"settled as URL {why.place:,} of {why.settled:,}; {why.queued:,} were queued")
    if why.probability is None:
        lines.append(f"score {why.score:.4g}, by the ordering {why.ordering}")
    else:
        when = "now" if why.place is None else "then"
        share = f"{why.probability:.4f}"
        lines.append(f"probability of {named} {when}: {share} (log-odds {_signed(why.score)})")
    if why.is_of_earlier_run:
        lines.append("a page of the earlier run (-a since): it goes before URLs that are new")
    elif why.parent is None:
        lines.append("no page linked to it first: it is a seed or came from a sitemap")
    else:
        of_it = "without a label" if why.parent_language is None else why.parent_language
        lines.append(f"first linked by {why.parent} ({of_it}), depth {why.depth}")
    if why.place is not None:
        lines.append(f"it turned out to be: {_result(why)}")
    return lines


def _result(why: UrlExplanation) -> str:
    if why.language is None:
        return f"{why.outcome}, without a label"
    sure = "" if why.confidence is None else f", confidence {why.confidence:.2f}"
    copied = ", a copy of a text that stands on many domains" if why.is_copy else ""
    return f"{why.outcome}, {language_name(why.language)} ({why.language}){sure}{copied}"


def _notes(why: UrlExplanation) -> list[str]:
    if not why.log_odds:
        return []
    share = percent(why.score / why.log_odds)
    notes = [
        f"The sum is {_signed(why.log_odds)}. It is shrunk to {share} of that because the weights "
        "are uncertain."
    ]
    silent = [part.feature for part in why.parts if not part.log_odds and not part.fact]
    if silent:
        notes.append(f"Nothing is added by: {'; '.join(silent)}.")
    return notes
