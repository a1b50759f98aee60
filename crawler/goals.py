"""The goals of a crawl: the crawl ends when the first of them is reached.

The frontier keeps the goals of pages, relevant pages and expected URLs: it leases no URL that could
go beyond them. The others are watched here. What is sought first (`-a goal`) is another matter: it
is the order of the queue (`crawler.strategies.focus.goal`).

After the goal of words or the floor is reached, pages that were still in progress are not settled;
their URLs stay queued. All goals follow from what the run has stored, so a crawl that is continued
ends where an uninterrupted one would have ended.
"""

import sqlite3
from collections import deque
from collections.abc import Iterable

from crawler.errors import SettingError
from crawler.frontier.base import PAGE, Counts, Record
from crawler.options import ONLY_EXPECTED, CrawlOptions
from crawler.run_reader import sessions_of
from crawler.strategies.focus.goal import COVERAGE, RELEVANT

FLOOR_PAGES = 200
"""Pages whose harvest rate must not fall below `-a floor`: one point of Baykan 2013, Fig. 7."""

_WORDS = "SELECT COALESCE(SUM(words_read), 0) FROM pages WHERE language = ?"
_LAST_LANGUAGES = "SELECT language FROM pages WHERE outcome = ? ORDER BY id DESC LIMIT ?"
_S_PER_HOUR = 3600.0


class GoalWatch:
    """Knows which goal of a crawl is reached."""

    def __init__(
        self,
        options: CrawlOptions,
        *,
        now: float,
        used_s: float = 0.0,
        words: int = 0,
        last: Iterable[bool | None] = (),
    ) -> None:
        """Watch a session that begins at `now`, unix seconds.

        Earlier sessions took `used_s` seconds and found `words` words. `last` tells of the last
        pages, the latest at the end, whether each is relevant; None: it has no label.
        """
        self._options = options
        self._words = words
        self._last = deque(last, maxlen=FLOOR_PAGES)
        hours = options.hours
        self.deadline = float("inf") if hours is None else now + hours * _S_PER_HOUR - used_s

    def count(self, record: Record) -> None:
        """Count a settled URL, and the words by which a relevant page was identified."""
        self._words += (record.words_read or 0) if record.is_relevant else 0
        if record.outcome == PAGE:
            self._last.append(None if record.language is None else record.is_relevant)

    def is_over(self) -> bool:
        """Return True if no further page may be settled."""
        return self._has_words() or self._is_below_floor()

    def may_fetch(self, now: float) -> bool:
        """Return False if no further request may begin."""
        return now < self.deadline and not self.is_over()

    def is_covered(self, counts: Counts) -> bool:
        """Return True if the relevant pages are the wanted share of those found and expected."""
        wanted, remaining = self._options.coverage, counts.remaining
        if wanted is None or remaining is None or not counts.relevant:
            return False
        return counts.relevant >= wanted * (counts.relevant + remaining)

    def reached(self, counts: Counts, now: float) -> str:
        """Return the name of the first goal that is reached, "" if none is."""
        options = self._options
        is_reached = {
            "pages": options.pages is not None and counts.pages >= options.pages,
            "relevant": options.relevant is not None and counts.relevant >= options.relevant,
            "words": self._has_words(),
            "coverage": self.is_covered(counts),
            "floor": self._is_below_floor(),
            "hours": now >= self.deadline,
            "expected": options.expected == ONLY_EXPECTED
            and counts.queued > 0
            and counts.expected == 0,
        }
        return next((name for name, is_true in is_reached.items() if is_true), "")

    def _has_words(self) -> bool:
        return self._options.words is not None and self._words >= self._options.words

    def _is_below_floor(self) -> bool:
        if self._options.floor is None or len(self._last) < FLOOR_PAGES:
            return False
        relevant = self._last.count(True)
        labelled = FLOOR_PAGES - self._last.count(None)
        return relevant < self._options.floor * labelled or not labelled


def watch(options: CrawlOptions, connection: sqlite3.Connection, now: float) -> GoalWatch:
    """Return the watch of a session that has just begun in a run."""
    rows = connection.execute(_LAST_LANGUAGES, (PAGE, FLOOR_PAGES)).fetchall()
    labels = [None if language is None else language == options.lang for (language,) in rows]
    words = connection.execute(_WORDS, (options.lang,)).fetchone()[0]
    used_s = sum(one.ended_at - one.started_at for one in sessions_of(connection)[:-1])
    return GoalWatch(options, now=now, used_s=used_s, words=words, last=reversed(labels))


def check_sought(options: CrawlOptions, *, learns: bool) -> None:
    """Raise `SettingError` if this crawl cannot seek `-a goal`.

    `learns` is True if the ordering gives URLs probabilities that follow the crawl.
    """
    goal = options.goal
    if goal != COVERAGE and options.coverage is not None:
        raise SettingError(f"-a coverage={options.coverage:g} needs -a goal=coverage too")
    if goal == COVERAGE and options.coverage is None:
        raise SettingError("-a goal=coverage needs a share too, such as -a coverage=0.95")
    if goal == RELEVANT:
        return
    if not learns:
        raise SettingError(f"-a goal={goal}: only for -a strategy=focus")
    if goal == COVERAGE and options.since is not None:
        raise SettingError("-a goal=coverage: not with -a since, whose unchanged pages count apart")


def check_goals(options: CrawlOptions, *, doubts: bool, is_shared: bool) -> None:
    """Raise `SettingError` for a goal that this crawl cannot keep.

    `doubts` is True if the ordering knows URLs that it does not expect in the language.
    """
    if options.expected and not doubts:
        raise SettingError(
            f"-a expected={options.expected}: this strategy expects no language of a URL; "
            "use -a strategy=focus, svm or cctld"
        )
    for name in ("words", "floor", "expected"):
        if is_shared and getattr(options, name) is not None:
            raise SettingError(
                f"-a {name}: not for a shared crawl (LANGFOCUS_FRONTIER), whose goals are pages, "
                "relevant, coverage and hours"
            )
