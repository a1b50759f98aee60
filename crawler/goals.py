"""The goals of a crawl: the crawl ends when the first of them is reached.

The frontier keeps the goals of pages, relevant pages and expected URLs: it leases no URL that could
go beyond them. The others are watched here.

After the goal of words is reached, pages that were still in progress are not settled; their URLs
stay queued. All goals follow from what the run has stored, so a crawl that is continued
ends where an uninterrupted one would have ended.
"""

import sqlite3

from crawler.config import ONLY_EXPECTED, Config
from crawler.frontier.base import Counts, Record
from crawler.run import sessions_of

_WORDS = "SELECT COALESCE(SUM(words_read), 0) FROM pages WHERE language = ? AND NOT is_copy"
_S_PER_HOUR = 3600.0


class GoalWatch:
    """Knows which goal of a crawl is reached."""

    def __init__(
        self,
        config: Config,
        *,
        now: float,
        used_s: float = 0.0,
        words: int = 0,
    ) -> None:
        """Watch a session that begins at `now`, unix seconds.

        Earlier sessions took `used_s` seconds and found `words` words.
        """
        self._config = config
        self._words = words
        hours = config.hours
        self.deadline = float("inf") if hours is None else now + hours * _S_PER_HOUR - used_s

    def count(self, record: Record) -> None:
        """Count a settled URL, and the words by which a relevant page was identified."""
        self._words += (record.words_read or 0) if record.is_relevant else 0

    def is_over(self) -> bool:
        """Return True if no further page may be settled."""
        return self._config.words is not None and self._words >= self._config.words

    def may_fetch(self, now: float) -> bool:
        """Return False if no further request may begin."""
        return now < self.deadline and not self.is_over()

    def reached(self, counts: Counts, now: float) -> str:
        """Return the name of the first goal that is reached, "" if none is."""
        config = self._config
        is_reached = {
            "pages": config.pages is not None and counts.pages >= config.pages,
            "relevant": config.relevant is not None and counts.relevant >= config.relevant,
            "words": self.is_over(),
            "hours": now >= self.deadline,
            "expected": config.expected == ONLY_EXPECTED
            and counts.queued > 0
            and counts.expected == 0,
        }
        return next((name for name, is_true in is_reached.items() if is_true), "")


def watch(config: Config, connection: sqlite3.Connection, now: float) -> GoalWatch:
    """Return the watch of a session that has just begun in a run."""
    words = connection.execute(_WORDS, (config.lang,)).fetchone()[0]
    used_s = sum(one.ended_at - one.started_at for one in sessions_of(connection)[:-1])
    return GoalWatch(config, now=now, used_s=used_s, words=words)
