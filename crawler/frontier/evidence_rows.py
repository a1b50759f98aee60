"""The learning of the SQLite frontier: evidence, unit tallies and weights, in its database."""

import sqlite3
from collections.abc import Collection, Mapping
from typing import Final

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.learning import Scorer
from langfocus.crawler.frontier.links import QueuedUrl
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.storage import queued_url
from langfocus.crawler.frontier.transactions import TallyTable
from langfocus.crawler.strategies.filters import Tally
from langfocus.crawler.strategies.focus.belief import Belief
from langfocus.crawler.strategies.focus.evidence import units_of
from langfocus.crawler.strategies.focus.prior import Prior

_SET_BELIEF: Final = (
    "UPDATE belief SET labelled = ?, relevant = ?, mean = ?, covariance = ? WHERE id = 1"
)


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

    def known(self, url: int) -> QueuedUrl:
        """Return a queued URL by its id."""
        query = "SELECT url, score, depth, evidence FROM urls WHERE id = ?"
        return queued_url(*self._sql(query, (url,)).fetchone())

    def learn(self, url: QueuedUrl, *, is_relevant: bool) -> None:
        """Learn from the labelled page of a URL."""
        self._before = self._belief.copy()
        self._belief.learn(self._known([url])[0], is_relevant=is_relevant)
        self._tallies.count(units_of(url.url), is_relevant=is_relevant)

    def tallies(self, units: Collection[str]) -> Mapping[str, Tally]:
        """Return unit records, cached ones from memory."""
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
        # SQLite updates a row of the same size in place; a replaced row moves.
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
                fault = f"the belief of the run cannot be used: {error}; restore a copy"
                raise StorageError(fault) from error
        return belief
