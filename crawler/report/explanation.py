"""Why a URL was fetched when it was, or waits where it does, from a run's `run.db` alone.

A page of an ordering that learns keeps what each feature added to its log-odds. A queued URL gets
the same figures from the weights that are stored now.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from crawler.errors import RunFolderError
from crawler.frontier.evidence_rows import Learner
from crawler.frontier.rules import FrontierRules
from crawler.report.formatting import language_name, percent
from crawler.report.printer import WIDE, Printer
from crawler.report.table import Table
from crawler.run import reading
from crawler.strategies.focus.belief import Prior
from crawler.strategies.focus.features import FEATURES
from crawler.strategies.focus.odds import probability_of
from crawler.strategies.focus.ordering import DOUBTS_UP_TO
from crawler.url import fingerprint, normalise

_PAGE: Final = """\
SELECT id, url, depth, parent, score, reasons, outcome, language, confidence, is_copy, queued,
       (SELECT count(*) FROM pages AS p WHERE p.id <= pages.id) AS place,
       (SELECT count(*) FROM pages) AS settled
FROM pages WHERE fingerprint = ?"""
_QUEUED: Final = """\
SELECT NULL AS id, u.id AS number, u.url, u.depth, p.url AS parent, u.score, NULL AS reasons,
       (SELECT count(*) FROM urls AS o WHERE o.queued = 1 AND o.score > u.score) AS ahead
FROM urls AS u LEFT JOIN urls AS p ON p.id = u.parent WHERE u.fingerprint = ? AND u.queued = 1"""


class Explanation(NamedTuple):
    """The reasons for the place of one URL in a crawl."""

    url: str
    score: float
    """The log-odds that the page is in the language, or the score of an ordering that learns
    nothing."""
    sentences: Sequence[str]
    parts: Sequence[tuple[str, float]]
    """Each feature and what it adds to the log-odds, the largest effect first. The weights are
    uncertain, so the sum is shrunk to the score. Empty for an ordering that learns nothing."""

    def print(self) -> None:
        """Print the sentences and a table of the features."""
        printer = Printer(width=WIDE)
        for line in (self.url, *(f"  {sentence}" for sentence in self.sentences), ""):
            printer.line(line)
        total = sum(added for _, added in self.parts)
        shrunk = percent(self.score / total if total else None)
        notes = [
            f"The sum is {_signed(total)}. It is shrunk to {shrunk} of that because the weights "
            "are uncertain."
        ]
        rows = [(name, _signed(added)) for name, added in self.parts]
        printer.table(Table("What each feature adds", ("feature", "log-odds"), rows, notes=notes))


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
            url=found["url"],
            score=found["score"],
            sentences=list(_sentences(connection, meta, found)),
            parts=[] if found["reasons"] is None else _parts(found["reasons"]),
        )


def _found(
    connection: sqlite3.Connection, meta: Mapping[str, str], key: int
) -> dict[str, Any] | None:
    """The row of a page or of a queued URL; the latter has no id and gets its reasons of now."""
    for query in (_PAGE, _QUEUED):
        rows = connection.execute(query, (key,))
        names = [column[0] for column in rows.description]
        if row := rows.fetchone():
            break
    else:
        return None
    found = dict(zip(names, row, strict=True))
    if found["id"] is None and meta.get("ordering") == "focus":
        try:
            rules = FrontierRules(doubts_up_to=DOUBTS_UP_TO)
            learner = Learner(connection, Prior.shipped(), rules)
        except (ValueError, TypeError) as error:
            raise RunFolderError(f"the weights of the run cannot be read: {error}") from error
        weighed = learner.weigh(learner.known(found["number"]))
        found |= {"score": weighed.odds, "reasons": weighed.reasons()}
    return found


def _sentences(
    connection: sqlite3.Connection, meta: Mapping[str, str], found: Mapping[str, Any]
) -> Iterator[str]:
    """The place of the URL, its probability, how it was found, and what it turned out to be."""
    is_queued = found["id"] is None
    if is_queued:
        yield f"in the queue; {found['ahead']:,} queued URLs have a better score"
    else:
        place = f"settled as URL {found['place']:,} of {found['settled']:,}"
        yield f"{place}; {found['queued']:,} were queued"
    if found["reasons"] is None:
        yield f"score {found['score']:.4g}, by the ordering {meta.get('ordering', '')}"
    else:
        named = f"probability of {language_name(meta.get('lang', ''))}"
        chance = f"{probability_of(found['score']):.4f} (log-odds {_signed(found['score'])})"
        yield f"{named} {'now' if is_queued else 'then'}: {chance}"
    earlier = "SELECT 1 FROM earlier WHERE url = ?"
    if connection.execute(earlier, (found["url"],)).fetchone():
        yield "a page of the earlier run (-a since): it goes before URLs that are new"
    elif found["parent"] is None:
        yield "no page linked to it first: it is a seed or came from a sitemap"
    else:
        query = "SELECT language FROM pages WHERE fingerprint = ? AND language IS NOT NULL"
        row = connection.execute(query, (fingerprint(found["parent"]),)).fetchone()
        label = row[0] if row else "without a label"
        yield f"first linked by {found['parent']} ({label}), depth {found['depth']}"
    if not is_queued:
        yield f"it turned out to be: {_result(found)}"


def _result(found: Mapping[str, Any]) -> str:
    if found["language"] is None:
        return f"{found['outcome']}, without a label"
    sure = "" if found["confidence"] is None else f", confidence {found['confidence']:.2f}"
    copied = ", a copy of a text that stands on many domains" if found["is_copy"] else ""
    named = f"{language_name(found['language'])} ({found['language']})"
    return f"{found['outcome']}, {named}{sure}{copied}"


def _parts(reasons: str) -> list[tuple[str, float]]:
    try:
        parts = dict(zip(FEATURES, map(float, reasons.split()), strict=True))
    except ValueError as error:
        raise RunFolderError(f"the reasons of this URL are not {len(FEATURES)} numbers") from error
    return sorted(parts.items(), key=lambda part: -abs(part[1]))


def _signed(value: float) -> str:
    """`+1.20`; never `-0.00`."""
    return f"{round(value, 2) + 0.0:+.2f}"
