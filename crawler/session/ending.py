"""When and why a crawl ends: at a goal, without an answer, or by a fault.

The frontier enforces the goals of pages, relevant pages and expected URLs: no URL beyond a goal is
leased. Words, bytes and hours are counted here. After the goal of words or bytes, pages in progress
are not settled; their URLs remain queued. All goals depend on stored figures only, so a resumed
crawl ends at the same point as an uninterrupted crawl.

A crawl also ends when nothing more is to be found (`least_yield`). The last pages are looked at
regularly, and at the start of a session without new seeds. Each worker of a shared crawl looks at
its own pages.

Without a network, all seeds would fail in vain. Any answer proves a network, even a robots.txt or
an error; from then on the crawl is patient.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from langfocus.crawler.errors import StorageError, one_line
from langfocus.crawler.frontier.base import PAGE, Counts, Record
from langfocus.crawler.options.config import Config
from langfocus.crawler.run.folder import sessions_of
from langfocus.crawler.run.target import in_target, is_wanted, last_pages
from langfocus.crawler.strategies.focus.evidence import probability_of

UNANSWERED: Final = "unanswered"
"""The finish reason of a crawl that no server answered."""

_WORDS: Final = f"SUM(words_read) FILTER (WHERE {in_target()} AND NOT is_copy)"
_FILES: Final = "(SELECT COALESCE(SUM(bytes), 0) FROM embeds)"
_DONE: Final = f"""\
SELECT COALESCE({_WORDS}, 0), COALESCE(SUM(bytes), 0) + {_FILES},
       COUNT(*) FILTER (WHERE outcome = 'page') FROM pages"""  # noqa: S608
_LAST: Final = f"""\
SELECT {is_wanted()} IS TRUE, depth, reasons IS NULL, score FROM pages WHERE outcome = 'page'
ORDER BY id DESC LIMIT ?"""  # noqa: S608
_S_PER_HOUR: Final = 3600.0
_NEVER: Final = float("inf")

T = TypeVar("T")


class Ending:
    """Decides whether a crawl ends, and why. Times are unix seconds.

    `fault` is the reason why the crawl cannot continue, "" while it can. `finish_reason` is ""
    until the session has ended.
    """

    def __init__(
        self,
        config: Config,
        *,
        ends_at: float = _NEVER,
        words: int = 0,
        received: int = 0,
        pages: int = 0,
        run: sqlite3.Connection | None = None,
        awaits_answer: bool = False,
    ) -> None:
        """Watch a session whose time is up at `ends_at`.

        Earlier sessions found `words` words in `received` bytes and `pages` pages, those of `run`.
        While it `awaits_answer`, a server must answer within `config.first_answer_s` seconds after
        the first request.
        """
        self._config = config
        self._ends_at = ends_at
        self._words, self._bytes, self._pages = words, received, pages
        self._run = run if config.least_yield and config.since is None else None
        self._is_exhausted = False
        self.awaits_answer = awaits_answer
        self._asked_at = _NEVER
        self._reasons: dict[str, str] = {}
        self.fault = self.finish_reason = ""

    @classmethod
    def of_run(
        cls, config: Config, connection: sqlite3.Connection, now: float, *, awaits_answer: bool
    ) -> "Ending":
        """Return the ending of a new session; earlier sessions count against the hours."""
        words, received, pages = connection.execute(_DONE, (config.lang,)).fetchone()
        used_s = sum(one.ended_at - one.started_at for one in sessions_of(connection)[:-1])
        left_s = _NEVER if config.hours is None else config.hours * _S_PER_HOUR - used_s
        done = {"words": words, "received": received, "pages": pages, "run": connection}
        return cls(config, ends_at=now + left_s, **done, awaits_answer=awaits_answer)

    @property
    def answer_deadline(self) -> float:
        """End of the wait for the first answer; infinite without a wait."""
        return self._asked_at + self._config.first_answer_s if self.awaits_answer else _NEVER

    @property
    def deadline(self) -> float:
        """End of the crawl by its time goal; infinite without a time goal."""
        return min(self._ends_at, self.answer_deadline)

    @property
    def failures(self) -> Counter[str]:
        """Last failure reason of each host, counted; empty after the first answer."""
        return Counter(self._reasons.values() if self.awaits_answer else ())

    def fail(self, reason: str) -> None:
        """End the crawl, which cannot continue; of several reasons the first counts."""
        self.fault = self.fault or reason

    def guard(self, work: Callable[[], T], failure: str = "", *, remedy: str = "") -> T | None:
        """Return the result of `work`; None after `StorageError`, which ends the crawl.

        With a `failure` name, any other exception ends the crawl too, under this name.
        """
        try:
            return work()
        except StorageError as error:
            self.fail(str(error))
        except Exception as error:
            if not failure:
                raise
            self.fail(f"{failure}: {one_line(f'{type(error).__name__}: {error}')}{remedy}")
        return None

    def finish(self, reason: str) -> None:
        """End the session."""
        self.finish_reason = reason

    def note_request(self, now: float) -> None:
        """Start the first-answer time-out with the first request."""
        self._asked_at = min(self._asked_at, now)

    def note_failure(self, host: str, reason: str) -> None:
        """Keep the reason of a failed request for its host."""
        if self.awaits_answer:
            self._reasons[host] = reason

    def note_answer(self) -> None:
        """Stop the first-answer time-out: a server has answered."""
        self.awaits_answer = False

    def count(self, record: Record) -> None:
        """Count a settled URL: its bytes, and the words by which a relevant page was identified."""
        self._bytes += record.bytes
        self._words += (record.words_read or 0) if record.is_relevant else 0
        if record.outcome == PAGE:
            self._pages += 1
            # After 32 of 1,000 pages, 512 of 10,000; the same after a kill.
            every = 1 << max(0, self._pages.bit_length() - 5)
            if self._pages % every == 0:
                self.look()

    def look(self) -> None:
        """Let no further request begin if the last pages show that nothing more is to be found."""
        if self._run is None or self._pages < last_pages(0):
            return
        try:
            found = _finds_more(self._run, self._config.lang, self._pages, self._config.least_yield)
        except sqlite3.DatabaseError as error:
            raise StorageError(f"the run can no longer be read: {error}") from error
        self._is_exhausted = self._is_exhausted or not found

    def count_file(self, size: int) -> None:
        """Count the bytes of a file that a page embeds."""
        self._bytes += size

    def may_fetch_files(self, now: float) -> bool:
        """Return False if no further file may be fetched: other goals than these are of pages."""
        most_bytes = self._config.bytes
        has_bytes = most_bytes is None or self._bytes < most_bytes
        return has_bytes and now < self.deadline and not self.fault

    def is_over(self) -> bool:
        """Return True if no further page may be settled."""
        return bool(self._spent())

    def _spent(self) -> str:
        """Return the name of the reached goal of words or bytes, or ""."""
        words, most_bytes = self._config.words, self._config.bytes
        if words is not None and self._words >= words:
            return "words"
        return "bytes" if most_bytes is not None and self._bytes >= most_bytes else ""

    def may_fetch(self, now: float) -> bool:
        """Return False if no further request may begin."""
        return now < self.deadline and not self.is_over() and not self._is_exhausted

    def is_unanswered(self, now: float, ready_at: float | None) -> bool:
        """Return True if no server answered and no request in time is left; none is in progress.

        The next one can be sent at `ready_at`, None if nothing is queued.
        """
        at = _NEVER if ready_at is None else ready_at
        ends_at = self.answer_deadline
        return now >= ends_at or (bool(self.failures) and at >= ends_at)

    def goals(self, counts: Counts, now: float) -> Iterator[tuple[str, float, float]]:
        """Yield the name of each goal that is a number, how much is done, and the whole."""
        config = self._config
        if config.hosts is not None:
            yield "hosts", config.hosts.number - counts.queued - counts.leased, config.hosts.number
        if config.hours:
            whole_s = config.hours * _S_PER_HOUR
            yield "hours", whole_s - (self._ends_at - now), whole_s
        for name, done in (
            ("pages", counts.pages),
            ("relevant", counts.relevant),
            ("words", self._words),
            ("bytes", self._bytes),
        ):
            if (most := getattr(config, name)) is not None:
                yield name, done, most

    def reached(self, counts: Counts, now: float) -> str:
        """Return the name of the first reached goal, or ""."""
        config, spent = self._config, self._spent()
        is_reached = {
            "pages": config.pages is not None and counts.pages >= config.pages,
            "relevant": config.relevant is not None and counts.relevant >= config.relevant,
            "words": spent == "words",
            "bytes": spent == "bytes",
            "hours": now >= self._ends_at,
            "expected": counts.queued > 0 and not counts.has_expected,
            "least_yield": self._is_exhausted,
        }
        return next((name for name, is_true in is_reached.items() if is_true), "")


def _finds_more(run: sqlite3.Connection, lang: str, pages: int, least_yield: float) -> bool:
    """Return False if the last pages of a crawl of `pages` pages had too few relevant ones.

    Their relevant share and the mean probability before their fetch are then below `least_yield`.
    Seeds among them, and pages of an ordering without probabilities, show nothing.
    """
    number, expected = last_pages(pages), 0.0
    relevant = read = 0
    for is_relevant, depth, is_unknown, score in run.execute(_LAST, (lang, number)):
        if depth == 0 or is_unknown:
            return True
        relevant += is_relevant
        expected += probability_of(score)
        read += 1
    return read < number or max(relevant, expected) >= least_yield * number
