"""The statements of the SQLite frontier about evidence, records of units and learned weights."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from struct import Struct
from typing import Final

from crawler.frontier.links import KnownUrl, Links
from crawler.strategies.focus.belief import Belief, Prior
from crawler.strategies.focus.evidence import Evidence

TABLES: Final = """\
CREATE TABLE tallies(
    unit TEXT PRIMARY KEY,                -- registered domain, host or directory
    labelled INTEGER NOT NULL, relevant INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE belief(
    id INTEGER PRIMARY KEY,               -- 1
    labelled INTEGER NOT NULL, relevant INTEGER NOT NULL,
    mean BLOB NOT NULL, covariance BLOB NOT NULL)"""

_SET_BELIEF: Final = (
    "UPDATE belief SET labelled = ?, relevant = ?, mean = ?, covariance = ? WHERE id = 1"
)

_PACKED: Final = Struct("<2d3f4B")
"""The fields of `Evidence` and those of `Links`: rows of one size can be changed where they stand,
and SQLite reads one value for all."""


def packed(evidence: Evidence, links: Links) -> bytes:
    """Return the evidence of a queued URL as `urls.evidence` holds it."""
    return _PACKED.pack(*evidence, *links)


_make = tuple.__new__
"""Makes a named tuple in half the time of its own constructor; a page reads about 50."""


def known_url(url: str, score: float, depth: int, evidence: bytes | None) -> KnownUrl:
    """Return a queued URL from its columns in `urls`."""
    numbers = _PACKED.unpack(evidence or bytes(_PACKED.size))
    facts, links = _make(Evidence, numbers[:5]), _make(Links, numbers[5:])
    return _make(KnownUrl, (url, score, depth, facts, links))


class EvidenceRows:
    """Reads and writes the tables of `TABLES`, in the caller's transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use a run's database."""
        self._sql = connection.execute
        self._many = connection.executemany

    def by_id(self, url: int) -> KnownUrl:
        """Return a queued URL by its id."""
        query = "SELECT url, score, depth, evidence FROM urls WHERE id = ?"
        return known_url(*self._sql(query, (url,)).fetchone())

    def tallies(self, units: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return pages with a label and relevant pages, for those units that have any."""
        rows = self._sql(
            "SELECT unit, labelled, relevant FROM tallies"
            " WHERE unit IN (SELECT value FROM json_each(?))",
            (json.dumps(units),),
        )
        return {unit: (labelled, relevant) for unit, labelled, relevant in rows}

    def store_tallies(self, tallies: Mapping[str, tuple[int, int]]) -> None:
        """Store the tallies of units."""
        rows = [(unit, *tally) for unit, tally in tallies.items()]
        self._many("INSERT OR REPLACE INTO tallies VALUES (?, ?, ?)", rows)

    def belief(self, prior: Prior) -> Belief:
        """Return the weights; the prior if nothing is stored."""
        belief = Belief(prior)
        row = self._sql("SELECT labelled, relevant, mean, covariance FROM belief").fetchone()
        if row is not None:
            belief.labelled, belief.relevant = row[:2]
            belief.unpack(*row[2:])
        return belief

    def store_belief(self, belief: Belief) -> None:
        """Store the weights."""
        values = (belief.labelled, belief.relevant, *belief.packed())
        # SQLite changes a row of the same size where it stands; a replaced one moves.
        if not self._sql(_SET_BELIEF, values).rowcount:
            self._sql("INSERT INTO belief VALUES (1, ?, ?, ?, ?)", values)
