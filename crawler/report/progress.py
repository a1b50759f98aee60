"""The progress of a command on one stream: in place on a terminal, in plain lines elsewhere."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from crawler.report.formatting import printable


class Display(AbstractContextManager["Display"]):
    """Rows of text, one for each running task; it removes them at its end.

    On a terminal the rows are at its bottom, change at most every `refresh_s` seconds, and are cut
    at its right edge. On any other stream each row is printed as a line every `every_s` seconds.
    `clock` returns increasing seconds. All methods may be called by any thread.
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
        self._rows: dict[object, Callable[[], str]] = {}
        self._live: Live | None = None
        self._lock = RLock()

    @property
    def width(self) -> int:
        """The columns of a row."""
        return self._console.width if self.is_terminal else sys.maxsize

    def __exit__(self, *error: object) -> None:
        """Remove all rows."""
        self.close()

    def update(self, row: object, text: Callable[[], str]) -> None:
        """Set the text of a row, and show all rows if an update is due.

        `text` is called only when the rows are shown, so this is cheap enough for every page.
        """
        with self._lock:
            self._rows[row] = text
            now = self._clock()
            if now - self._shown_at >= self._interval:
                self._shown_at = now
                self._show("\n".join(printable(text()) for text in self._rows.values()))

    def count(self, task: str, done: int, total: int | None) -> None:
        """Show the progress of a task: `done` of `total`, if the total is known.

        All tasks that are counted share one row, which is removed when a task is finished.
        """
        if total is not None and done >= total:
            self.remove(Display.count)
        else:
            of_total = f" of {total:,} ({100 * done / total:.0f} %)" if total else ""
            self.update(Display.count, lambda: f"{task}: {done:,}{of_total}")

    def remove(self, row: object) -> None:
        """Remove a row. It disappears at the next update, or at once if it was the last."""
        with self._lock:
            self._rows.pop(row, None)
            if not self._rows:
                self.close()

    def tell(self, line: str) -> None:
        """Print a line that stays; on a terminal it is above the rows."""
        with self._lock:
            if self._live is None:
                print(printable(line), file=self._stream, flush=True)
            else:
                self._live.console.print(printable(line), soft_wrap=True)

    def close(self) -> None:
        """Remove all rows; a second call does nothing."""
        with self._lock:
            self._rows.clear()
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
