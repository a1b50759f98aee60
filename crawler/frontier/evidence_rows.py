"""What the SQLite frontier learns: evidence, records of units and weights, in its database."""

import sqlite3
from collections.abc import Collection, Mapping
from struct import Struct
from typing import Final

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.learning import Scorer
from langfocus.crawler.frontier.links import KnownUrl, Links
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.storage import TallyTable
from langfocus.crawler.strategies.filters import Tally
from langfocus.crawler.strategies.focus.belief import Belief
from langfocus.crawler.strategies.focus.evidence import Evidence, units_of
from langfocus.crawler.strategies.focus.prior import Prior

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


class Learner(Scorer):
    """Learns from the pages of a run, in the caller's transaction: tables `tallies`, `belief`."""

    def __init__(self, connection: sqlite3.Connection, prior: Prior, rules: FrontierRules) -> None:
        """Continue with what the run's database holds."""
        self._sql = connection.execute
        self._prior = prior
        self._tallies = TallyTable(connection, "tallies", "labelled, relevant")
        self._before: Belief | None = None
        super().__init__(self._stored_belief(), rules)
        self._written = self._belief.labelled

    def known(self, url: int) -> KnownUrl:
        """Return a queued URL by its id."""
        query = "SELECT url, score, depth, evidence FROM urls WHERE id = ?"
        return known_url(*self._sql(query, (url,)).fetchone())

    def learn(self, url: KnownUrl, *, is_relevant: bool) -> None:
        """Learn from the page of a URL, which has a label."""
        self._before = self._belief.copy()
        self._belief.learn(self._standings([url])[0], is_relevant=is_relevant)
        self._tallies.count(units_of(url.url), is_relevant=is_relevant)

    def tallies(self, units: Collection[str]) -> Mapping[str, Tally]:
        """Return records of units, from memory if they are there."""
        return self._tallies.of(units)

    def begin(self) -> None:
        """See `WrittenLater`."""
        self._tallies.begin()
        self._before = None

    def undo(self) -> None:
        """See `WrittenLater`."""
        self._tallies.undo()
        if self._before is not None:
            self._belief = self._before

    def write(self) -> None:
        """See `WrittenLater`."""
        if self._belief.labelled == self._written:
            return
        self._tallies.write()
        belief = self._belief
        values = (belief.labelled, belief.relevant, *belief.packed())
        # SQLite changes a row of the same size where it stands; a replaced one moves.
        if not self._sql(_SET_BELIEF, values).rowcount:
            self._sql("INSERT INTO belief VALUES (1, ?, ?, ?, ?)", values)
        self._written = belief.labelled

    def _stored_belief(self) -> Belief:
        """Return the weights; the prior if nothing is stored."""
        belief = Belief(self._prior)
        row = self._sql("SELECT labelled, relevant, mean, covariance FROM belief").fetchone()
        if row is not None:
            try:
                belief.labelled, belief.relevant = map(int, row[:2])
                belief.unpack(*row[2:])
            except (TypeError, ValueError) as error:
                told = f"the belief of the run cannot be used: {error}; restore a copy"
                raise StorageError(told) from error
        return belief
