"""Progress display of a command or a crawl: in place on a terminal, in plain lines elsewhere.

A crawl has a panel of its snapshot, like live files and dashboard.
"""

import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import RLock
from typing import TYPE_CHECKING, Final, TextIO

from langfocus.crawler.frontier.base import FIRST_SCORE
from langfocus.crawler.report.formatting import duration, percent, printable, share_of
from langfocus.crawler.report.live import LastPage, Snapshot, figures, goal_of, live_json
from langfocus.crawler.report.terminal import MARK, unguarded

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

PASSED_ON: Final = "LANGFOCUS_PANEL"
"""Environment variable, set if the parent process shows the crawl's panel."""

_LABEL_COLUMNS: Final = 9
_MOST_BARS: Final = 40
_LEAST_LABELLED: Final = 5
"""Least labelled pages per bar; the rate of fewer pages is noise."""

_LEVELS: Final = "▁▂▃▄▅▆▇█"
_COLOURS: Final = {"running": "green", "ending": "yellow", "finished": "bold"}


class Display(AbstractContextManager["Display"]):
    """Rows of text about a running task, removed when the task ends.

    On a terminal, rows are at the bottom, change at most every `refresh_s` seconds, and are cut at
    the right edge. On any other stream, a line is printed every `every_s` seconds. `clock` returns
    increasing seconds. All methods are thread-safe.
    """

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        *,
        every_s: float = 30.0,
        refresh_s: float = 0.2,
    ) -> None:
        stream = self._stream = unguarded(stream)
        self._clock = clock
        self._console = _console_of(stream) if stream.isatty() else None
        self.is_terminal = self._console is not None
        self._interval = refresh_s if self.is_terminal else every_s
        self._shown_at = clock()
        self._live: Live | None = None
        self._width = 0
        self._lock = RLock()

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows of the terminal."""
        return (sys.maxsize, 1) if self._console is None else (*self._console.size,)

    def __exit__(self, *error: object) -> None:
        """Remove the row."""
        self.close()

    def update(self, drawn: "Callable[[], str | Group]", *, at_once: bool = False) -> None:
        """Show rows if an update is due; `drawn` is called only then.

        Cheap enough for a call per page.
        """
        with self._lock:
            now = self._clock()
            if at_once or now - self._shown_at >= self._interval:
                self._shown_at = now
                rows = drawn()
                self._show(printable(rows) if isinstance(rows, str) else rows)

    def count(self, task: str, done: int, total: int | None) -> None:
        """Show the progress of a task: `done`, of `total` if known."""
        if total is not None and done >= total:
            self.close()
        else:
            of_total = f" of {total:,} ({100 * done / total:.0f} %)" if total else ""
            self.update(lambda: f"{task}: {done:,}{of_total}")

    def tell(self, line: str) -> None:
        """Print a permanent line; on a terminal, above the rows."""
        with self._lock:
            if self._live is None:
                print(printable(line), file=self._stream, flush=True)
            else:
                self._live.console.print(printable(line), soft_wrap=True)

    def tell_as_is(self, line: str) -> None:
        """Print a line for another process."""
        self._stream.write(line)
        self._stream.flush()

    def write(self, text: str) -> None:
        """Print permanent lines: a display is a stream for a log."""
        for line in text.splitlines():
            self.tell(line)

    def flush(self) -> None:
        """Do nothing: each line was printed."""

    def close(self) -> None:
        """Remove the row; a second call does nothing."""
        with self._lock:
            if self._live is not None:
                self._live.stop()
                self._live = None

    def _show(self, rows: "str | Group") -> None:
        if self._console is None:
            print(rows, file=self._stream, flush=True)
            return
        from rich.live import Live
        from rich.text import Text

        if self._live is not None and self._console.width < self._width:
            # The narrower terminal has wrapped the lines, so their start is unknown.
            self.close()
            self._console.clear()
        self._width = self._console.width
        if self._live is None:
            self._live = Live(
                console=self._console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
            # A killed process cannot restore a hidden cursor.
            self._console.show_cursor(True)
        text = Text(rows, no_wrap=True, overflow="crop") if isinstance(rows, str) else rows
        self._live.update(text, refresh=True)


def _console_of(stream: TextIO) -> "Console | None":
    """Return the console of a terminal; None for one in ASCII, which gets plain lines too."""
    from rich.console import Console

    console = Console(file=stream, force_terminal=True, markup=False, highlight=False)
    return None if console.is_dumb_terminal or console.options.ascii_only else console


class Progress:
    """A crawl on a display: a panel on a terminal, lines elsewhere.

    If it `is_passed_on`, each snapshot is a line of JSON, for a parent process with a terminal.
    """

    def __init__(self, display: Display, *, is_passed_on: bool = False) -> None:
        self._display, self._is_passed_on = display, is_passed_on
        self._drawn: Snapshot | None = None
        self._state = ""
        self._is_closed = False
        self._threads = ThreadPoolExecutor(1)
        self._shown: Future[None] | None = None

    def show_meanwhile(self, snapshot: Snapshot) -> None:
        """Show a snapshot in a thread; skip it while the previous snapshot is being written.

        A slow or paused terminal (Ctrl-S) thus never blocks the crawl.
        """
        before = self._shown
        if before is None or before.done():
            self._shown = self._threads.submit(self.show, snapshot)
            if before is not None:
                before.result()

    def show(self, snapshot: Snapshot) -> None:
        """Show a snapshot if an update is due, or at once after a state change."""
        is_changed, self._state = snapshot.state != self._state, snapshot.state
        if self._is_passed_on:
            self._display.tell_as_is(MARK + live_json(snapshot))
        elif not self._is_closed:
            at_once = is_changed and self._display.is_terminal
            self._display.update(lambda: self._rows(snapshot), at_once=at_once)

    def close(self, snapshot: Snapshot) -> None:
        """Print the final figures; a second call does nothing."""
        if self._is_closed:
            return
        self._threads.shutdown()
        self._is_closed = True
        self._display.close()
        if self._is_passed_on:
            self._display.tell_as_is(MARK + live_json(snapshot))
        elif self._display.is_terminal or self._drawn is None or _differs(self._drawn, snapshot):
            self._display.tell(line(snapshot, self._display.size[0]))

    def _rows(self, snapshot: Snapshot) -> "str | Group":
        self._drawn = snapshot
        if self._display.is_terminal:
            return panel(snapshot, *self._display.size)
        return line(snapshot)


def _differs(one: Snapshot, other: Snapshot) -> bool:
    return (one.pages, one.queued, one.labelled) != (other.pages, other.queued, other.labelled)


def line(snapshot: Snapshot, width: int = sys.maxsize) -> str:
    """Return the main figures in one line, fewer figures for a narrow terminal."""
    rate, speed = percent(snapshot.share), f"{snapshot.pages_per_s:,.1f}"
    pages = f"{snapshot.about.title}  {snapshot.pages:,} pages"
    named = f"with a language {rate}"
    if not snapshot.about.is_census:
        named = f"harvest {rate} (last 200: {percent(snapshot.harvest_last)})"
    hosts = f"hosts {snapshot.hosts_with_page:,}"
    whole = f"{pages}  {named}  queue {snapshot.queued:,}  {hosts}  {speed} pages/s"
    return whole if len(whole) <= width else f"{pages}  {rate}  {hosts}  {speed}/s"


# --- The panel


def panel(snapshot: Snapshot, width: int, height: int) -> "Group":
    """Return a crawl's state in rows that fit a terminal; the last pages fill the rest."""
    from rich.console import Group

    # A character in the last column makes some terminals begin another row.
    width = max(20, width - 1)
    by_name = figures(snapshot)
    if rates := by_name.get("harvest"):
        room = width - _LABEL_COLUMNS - sum(len(rate) + 2 for rate in rates)
        rates.append(spark(snapshot.course, room))
    rows = [
        *(_head(snapshot, width), _goal(snapshot, width)),
        *(_row(name, parts, width) for name, parts in by_name.items()),
    ]
    # One row more for the cursor, so that the "^C" of the terminal disappears.
    room = height - len(rows) - 2
    if room > 0 and snapshot.last:
        rows.append(_text(("before  after  page", "dim")))
        rows += [_page(page, width) for page in snapshot.last[:room]]
    return Group(*rows[: max(1, height - 1)], _text())


def _text(*parts: tuple[str, str]) -> "Text":
    from rich.text import Text

    return Text.assemble(
        *((printable(text), style) for text, style in parts), no_wrap=True, overflow="crop"
    )


def _head(snapshot: Snapshot, width: int) -> "Text":
    about = snapshot.about
    title = "  ".join([about.title, *([] if about.is_census else [about.filter]), about.web])
    state = f"{snapshot.state}  {duration(snapshot.elapsed_s)}"
    title = title[: max(0, width - len(state) - 2)]
    gap = " " * (width - len(title) - len(state))
    return _text((title, "bold"), (gap, ""), (state, _COLOURS[snapshot.state]))


def _goal(snapshot: Snapshot, width: int) -> "Text":
    """Return the progress bar of the first goal, or a rule."""
    goal = snapshot.goal
    if goal is None:
        return _text(("─" * width, "dim"))
    label = f" {goal_of(snapshot)}"
    room = max(8, width - len(label))
    done = round(room * min(1.0, max(0.0, goal.done / goal.of)))
    return _text(("━" * done, "green"), ("─" * (room - done), "dim"), (label, ""))


def _row(name: str, parts: Iterable[str], width: int) -> "Text":
    """Return a name with the parts that fit the width."""
    fitting, left = "", width - _LABEL_COLUMNS
    for part in parts:
        more = part if not fitting else f"{fitting}  {part}"
        if len(more) > left:
            fitting = fitting or more
            break
        fitting = more
    row = _text((f"{name:<{_LABEL_COLUMNS}}", "dim"), (fitting[:left], ""))
    row.highlight_regex(f"[{_LEVELS}]+", "green")
    return row


def spark(course: Iterable[tuple[int, int]], width: int) -> str:
    """Return a row of at most `width` blocks: the harvest rate of equal parts of the crawl."""
    parts = list(course)
    bars = []
    labelled = sum(part[1] for part in parts)
    number = max(0, min(width, len(parts), _MOST_BARS, 1 + labelled // _LEAST_LABELLED))
    for place in range(number):
        some = parts[place * len(parts) // number : (place + 1) * len(parts) // number]
        share = share_of(sum(part[0] for part in some), sum(part[1] for part in some))
        bars.append(" " if share is None else _LEVELS[round(share * (len(_LEVELS) - 1))])
    return "".join(bars)


def _page(page: LastPage, width: int) -> "Text":
    """Return a page row: score before the fetch, language after it."""
    # The pages of an earlier run go before all others.
    score = f"{page.score:6.2f}" if page.score < FIRST_SCORE else " first"
    style = "green" if page.is_relevant else "dim"
    start = f"{score}  {page.language or '-':<5}  "
    row = _text((start, style), (page.url[:width], ""))
    row.truncate(width)  # some letters take two columns
    return row
