"""A crawl in a process of its own, since Twisted's reactor cannot start twice in one process."""

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

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


def run_child(
    line: Sequence[str], *, is_watched: bool = False, shows_progress: bool = True
) -> tuple[int, list[str]]:
    """Run a crawl to its end; return its exit code and the last lines of its standard error.

    Standard error is that of this process. If it `is_watched`, it goes through this process, which
    keeps its last lines and repeats it if it `shows_progress`. Ctrl-C in a terminal reaches the
    crawl once, from here, and stops it in order; a second one kills it. `KeyboardInterrupt` is
    raised when it has ended.
    """
    with subprocess.Popen(  # noqa: S603  our own command
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if is_watched else None,
        text=True,
        errors="replace",
        process_group=0,
    ) as child:
        try:
            lines = _read(child.stderr, shows_progress=shows_progress)
            child.wait()
        except BaseException:
            _stop(child)
            raise
    return child.returncode, lines


def _read(log: IO[str] | None, *, shows_progress: bool) -> list[str]:
    """Return the last lines of a process's log, after the process has closed it."""
    last: list[str] = []
    for line in log or ():
        if shows_progress:
            sys.stderr.write(line)
        if line.strip():
            last = [*last[1 - _KEPT_LINES :], line.strip()]
    return last


def _stop(child: subprocess.Popen[str]) -> None:
    """Stop a crawl in order; kill it if this process is asked to stop again."""
    child.send_signal(signal.SIGINT)
    try:
        _read(child.stderr, shows_progress=False)
        child.wait()
    except BaseException:
        child.kill()
        raise
