"""A crawl in a process of its own, since Twisted's reactor cannot start twice in one process."""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, cast

from crawler.report.live import decoded
from crawler.report.progress import MARK, PASSED_ON, Display, Progress

_KEPT_LINES: Final = 10


def command(arguments: Mapping[str, str], settings: Mapping[str, str], folder: Path) -> list[str]:
    """Return the command line of a crawl without tables, in its run folder."""
    settings = {**settings, "JOBDIR": str(folder), "LANGFOCUS_QUIET": "True"}
    return [
        # -P: the working folder may contain a package called crawler.
        *(sys.executable, "-P", "-m", "langfocus", "crawl"),
        *(part for name, value in arguments.items() for part in ("-a", f"{name}={value}")),
        *(part for name, value in settings.items() for part in ("-s", f"{name}={value}")),
    ]


def run_child(line: Sequence[str], *, shows_progress: bool = True) -> tuple[int, list[str]]:
    """Run a crawl to its end; return its exit code and the last lines of its standard error.

    If it `shows_progress`, a terminal shows the panel of the crawl and its messages above; else
    standard error of the crawl is repeated. Ctrl-C in a terminal reaches the
    crawl once, from here, and stops it in order; a second one kills it. `KeyboardInterrupt` is
    raised when it has ended.
    """
    display = Display(sys.stderr)
    is_panel = shows_progress and display.is_terminal
    show: Callable[[str], object] = _Panel(display).show if is_panel else sys.stderr.write
    show = show if shows_progress else str
    with subprocess.Popen(  # noqa: S603  our own command
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, PASSED_ON: "1"} if is_panel else None,
        process_group=0,
    ) as child:
        log = cast(IO[str], child.stderr)
        try:
            lines = _read(log, show)
            child.wait()
        except BaseException:
            child.send_signal(signal.SIGINT)
            try:
                _read(log, show)
                child.wait()
            except BaseException:
                child.kill()
                raise
            raise
    return child.returncode, lines


def _read(log: IO[str], show: Callable[[str], object]) -> list[str]:
    """Return the last lines of a process's log, after the process has closed it."""
    last: deque[str] = deque(maxlen=_KEPT_LINES)
    for line in log:
        show(line)
        if line.strip() and not line.startswith(MARK):
            last.append(line.strip())
    return list(last)


class _Panel:
    """Shows the snapshots in the log of a crawl as its panel, and other lines above it."""

    def __init__(self, display: Display) -> None:
        self._display, self._progress = display, Progress(display)

    def show(self, line: str) -> None:
        """Show a line of the log."""
        if not line.startswith(MARK):
            self._display.write(line)
            return
        snapshot = decoded(line.removeprefix(MARK))
        if snapshot.state == "finished":
            self._progress.close(snapshot)
        else:
            self._progress.show(snapshot)
