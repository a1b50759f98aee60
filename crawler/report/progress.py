"""The progress of a command or a crawl: in place on a terminal, in plain lines elsewhere."""

import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from crawler.frontier.base import Counts
from crawler.report.formatting import percent, printable, share_of
from crawler.report.harvest import PORTION

_SPEED_OVER_S = 10.0
"""The speed shown is that of the last ten seconds."""


class Display(AbstractContextManager["Display"]):
    """A row of text about a running task; it disappears when the task is done.

    On a terminal the row is at its bottom, changes at most every `refresh_s` seconds, and is cut at
    its right edge. On any other stream it is printed as a line every `every_s` seconds. `clock`
    returns increasing seconds. All methods may be called by any thread.
    """

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        *,
        every_s: float = 30.0,
        refresh_s: float = 0.2,
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._console = Console(file=stream, force_terminal=True, markup=False, highlight=False)
        self.is_terminal = stream.isatty() and not self._console.is_dumb_terminal
        self._interval = refresh_s if self.is_terminal else every_s
        self._shown_at = clock()
        self._live: Live | None = None
        self._lock = RLock()

    @property
    def width(self) -> int:
        """The columns of a row."""
        return self._console.width if self.is_terminal else sys.maxsize

    def __exit__(self, *error: object) -> None:
        """Remove the row."""
        self.close()

    def update(self, text: Callable[[], str]) -> None:
        """Show the row if an update is due; its text is asked for only then.

        So this is cheap enough for every page.
        """
        with self._lock:
            now = self._clock()
            if now - self._shown_at >= self._interval:
                self._shown_at = now
                self._show(printable(text()))

    def count(self, task: str, done: int, total: int | None) -> None:
        """Show the progress of a task: `done` of `total`, if the total is known."""
        if total is not None and done >= total:
            self.close()
        else:
            of_total = f" of {total:,} ({100 * done / total:.0f} %)" if total else ""
            self.update(lambda: f"{task}: {done:,}{of_total}")

    def tell(self, line: str) -> None:
        """Print a line that stays; on a terminal it is above the row."""
        with self._lock:
            if self._live is None:
                print(printable(line), file=self._stream, flush=True)
            else:
                self._live.console.print(printable(line), soft_wrap=True)

    def close(self) -> None:
        """Remove the row; a second call does nothing."""
        with self._lock:
            if self._live is not None:
                self._live.stop()
                self._live = None

    def _show(self, text: str) -> None:
        if not self.is_terminal:
            print(text, file=self._stream, flush=True)
            return
        if self._live is None:
            self._live = Live(
                console=self._console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
            # A process that is killed could not bring a hidden cursor back.
            self._console.show_cursor(True)
        self._live.update(Text(text, no_wrap=True, overflow="crop"), refresh=True)


class LiveLine:
    """One line on a display, with the harvest rate of all pages and of the last 200.

    `title` begins the line. `clock` returns increasing seconds, such as `time.monotonic`. `counts`
    are those of earlier sessions; the last 200 pages are those of this session. A census has no
    harvest rate: its line tells the share of pages with a language.
    """

    def __init__(
        self,
        display: Display,
        clock: Callable[[], float],
        title: str,
        counts: Counts,
        *,
        is_census: bool = False,
    ) -> None:
        self._display = display
        self._clock = clock
        self._title = title
        self._counts = counts
        self._is_census = is_census
        self._last: deque[bool | None] = deque(maxlen=PORTION)
        self._shown: Counts | None = None
        self._speeds: deque[tuple[float, int]] = deque([(clock(), counts.pages)])
        self._is_closed = False

    def record(self, is_relevant: bool | None) -> None:
        """Note the label of a page; `None` is a page without one, which is in no rate."""
        self._last.append(is_relevant)

    def show(self, counts: Counts) -> None:
        """Update the line if it is due; cheap enough for every page."""
        self._counts = counts
        if not self._is_closed:
            self._display.update(self._updated)

    def close(self) -> None:
        """Leave the last figures on the stream; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._display.close()
        if self._display.is_terminal or self._shown != self._counts:
            self._display.tell(self.text(self._clock()))

    def text(self, now: float) -> str:
        """The line with the figures at `now`, all of them where the display has room."""
        counts = self._counts
        pages = f"{self._title}  {counts.pages:,} pages"
        if self._is_census:
            rate = percent(share_of(counts.labelled, counts.pages))
            named = f"with a language {rate}"
        else:
            rate = percent(share_of(counts.relevant, counts.labelled))
            labelled = len(self._last) - self._last.count(None)
            last = percent(share_of(self._last.count(True), labelled))
            named = f"harvest {rate} (last 200: {last})"
        speed = f"{self._speed(now):,.1f}"
        hosts = f"hosts {counts.hosts:,}"
        whole = f"{pages}  {named}  queue {counts.queued:,}  {hosts}  {speed} pages/s"
        return (
            whole if len(whole) <= self._display.width else f"{pages}  {rate}  {hosts}  {speed}/s"
        )

    def _updated(self) -> str:
        now = self._clock()
        line = self.text(now)
        self._shown = self._counts
        self._speeds.append((now, self._counts.pages))
        return line

    def _speed(self, now: float) -> float:
        # The oldest sample stays until the next is old enough to replace it.
        while len(self._speeds) > 1 and now - self._speeds[1][0] >= _SPEED_OVER_S:
            self._speeds.popleft()
        then, pages = self._speeds[0]
        return (self._counts.pages - pages) / (now - then) if now > then else 0.0
