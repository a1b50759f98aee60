"""The line that says, while a crawl runs, what share of its downloads was worth it."""

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from crawler.report.course import PORTION
from crawler.report.formatting import percent

SPEED_OVER_S = 10.0
"""The speed shown is that of the last ten seconds."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Where the counting starts; a resumed run has pages already."""

    pages: int = 0
    labelled: int = 0
    relevant: int = 0


class LiveLine:
    """One line, updated in place on a terminal, printed anew every `every_s` seconds elsewhere.

    `clock` gives seconds that only grow, such as `time.monotonic`. On a terminal the line changes
    at most every `refresh_s` seconds. `totals` are the counts of earlier sessions; the last 200
    pages are those of this session.
    """

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float],
        *,
        lang: str,
        strategy: str,
        totals: Totals | None = None,
        every_s: float = 30.0,
        refresh_s: float = 0.2,
    ) -> None:
        start = totals or Totals()
        self._stream = stream
        self._clock = clock
        self._title = f"{lang} {strategy}"
        self._is_terminal = stream.isatty()
        self._interval = refresh_s if self._is_terminal else every_s
        self._pages = start.pages
        self._labelled = start.labelled
        self._relevant = start.relevant
        self._last: deque[bool | None] = deque(maxlen=PORTION)
        self._last_labelled = 0
        self._last_relevant = 0
        self._queue_and_hosts = (0, 0)
        self._shown_at = clock()
        self._shown_pages: int | None = None
        self._speeds: deque[tuple[float, int]] = deque([(self._shown_at, start.pages)])
        self._is_closed = False

    def record(self, is_relevant: bool | None) -> None:
        """Count a page; `None` is one without a label, which is in no rate."""
        if len(self._last) == PORTION:
            self._count_last(self._last[0], -1)
        self._last.append(is_relevant)
        self._count_last(is_relevant, 1)
        self._pages += 1
        self._labelled += is_relevant is not None
        self._relevant += is_relevant is True

    def stand(self, totals: Totals) -> None:
        """Take the totals from elsewhere: of a crawl in which others count too."""
        self._pages, self._labelled, self._relevant = (
            totals.pages,
            totals.labelled,
            totals.relevant,
        )

    def show(self, queued: int, hosts: int) -> None:
        """Bring the line up to date, if it is time to; cheap enough for every page."""
        self._queue_and_hosts = (queued, hosts)
        now = self._clock()
        if now - self._shown_at >= self._interval and not self._is_closed:
            self._write(now)

    def close(self) -> None:
        """Leave the last figures on the stream and end the line; a second time does nothing."""
        if self._is_closed:
            return
        if self._is_terminal or self._shown_pages != self._pages:
            self._write(self._clock())
        if self._is_terminal:
            self._stream.write("\n")
            self._stream.flush()
        self._is_closed = True

    def text(self, now: float) -> str:
        """The line as it stands at `now`."""
        queued, hosts = self._queue_and_hosts
        last = percent(_rate(self._last_relevant, self._last_labelled))
        return (
            f"{self._title}  {self._pages:,} pages  "
            f"harvest {percent(_rate(self._relevant, self._labelled))} (last 200: {last})  "
            f"queue {queued:,}  hosts {hosts:,}  {self._speed(now):,.1f} pages/s"
        )

    def _count_last(self, is_relevant: bool | None, by: int) -> None:
        if is_relevant is not None:
            self._last_labelled += by
        if is_relevant:
            self._last_relevant += by

    def _speed(self, now: float) -> float:
        # The oldest sample stays until the next is old enough to replace it.
        while len(self._speeds) > 1 and now - self._speeds[1][0] >= SPEED_OVER_S:
            self._speeds.popleft()
        then, pages = self._speeds[0]
        return (self._pages - pages) / (now - then) if now > then else 0.0

    def _write(self, now: float) -> None:
        line = self.text(now)
        if self._is_terminal:
            self._stream.write(f"\r{line[: _columns(self._stream) - 1]}\x1b[K")
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()
        self._shown_at = now
        self._shown_pages = self._pages
        self._speeds.append((now, self._pages))


def _rate(relevant: int, labelled: int) -> float | None:
    return relevant / labelled if labelled else None


def _columns(stream: TextIO) -> int:
    """The width of the terminal now; a line that is longer would not be updated but scroll."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
