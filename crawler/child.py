"""A crawl in a process of its own, since Twisted's reactor cannot start twice in one process."""

import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, cast

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

    Standard error of the crawl is repeated if it `shows_progress`. Ctrl-C in a terminal reaches the
    crawl once, from here, and stops it in order; a second one kills it. `KeyboardInterrupt` is
    raised when it has ended.
    """
    with subprocess.Popen(  # noqa: S603  our own command
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        process_group=0,
    ) as child:
        log = cast(IO[str], child.stderr)
        try:
            lines = _read(log, shows_progress=shows_progress)
            child.wait()
        except BaseException:
            child.send_signal(signal.SIGINT)
            try:
                _read(log, shows_progress=shows_progress)
                child.wait()
            except BaseException:
                child.kill()
                raise
            raise
    return child.returncode, lines


def _read(log: IO[str], *, shows_progress: bool) -> list[str]:
    """Return the last lines of a process's log, after the process has closed it."""
    last: deque[str] = deque(maxlen=_KEPT_LINES)
    for line in log:
        if shows_progress:
            sys.stderr.write(line)
        if line.strip():
            last.append(line.strip())
    return list(last)
