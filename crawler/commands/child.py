"""A crawl in a separate process, since Twisted's reactor cannot start twice in one process."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from langfocus.crawler.report.live import decoded
from langfocus.crawler.report.progress import PASSED_ON, Display, Progress
from langfocus.crawler.report.terminal import MARK
from langfocus.crawler.shared.crew import Crew, End

IMPORTING: Final = "LANGFOCUS_IMPORTED_SPIDER"
"""The variable of the environment that is set while `--spider` imports a file."""


def command(
    arguments: Mapping[str, str], settings: Mapping[str, str], folder: Path, *, spider: str = ""
) -> list[str]:
    """Return the command line of a crawl without tables, in its run folder.

    `spider` is the place of a spider of the user's own.
    """
    settings = {**settings, "JOBDIR": str(folder), "LANGFOCUS_QUIET": "True"}
    return [
        # -P: the working folder may contain a folder or file with the name of a package.
        *(sys.executable, "-P", "-m", "langfocus", "crawl"),
        *(("--spider", spider) if spider else ()),
        *(part for name, value in arguments.items() for part in ("-a", f"{name}={value}")),
        *(part for name, value in settings.items() for part in ("-s", f"{name}={value}")),
    ]


def run_child(
    command_line: Sequence[str],
    *,
    shows_progress: bool = True,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> End:
    """Run a crawl to its end, with further variables of the environment.

    With `shows_progress`, a terminal shows the crawl's panel below the messages; otherwise the
    crawl's standard error is copied. The first Ctrl-C stops the crawl in order, the second kills
    the process. `KeyboardInterrupt` is raised after the process ends.
    """
    display = Display(sys.stderr)
    progress = Progress(display)
    is_panel = shows_progress and display.is_terminal
    environment = {**os.environ, **variables, **({PASSED_ON: "1"} if is_panel else {})}

    def show(line: str) -> None:
        if shows_progress:
            display.tell(line)

    def passed_on(line: str) -> bool:
        if line.startswith(MARK):
            snapshot = decoded(line.removeprefix(MARK))
            (progress.close if snapshot.state == "finished" else progress.show)(snapshot)
        return line.startswith(MARK)

    with display:
        crew = Crew({"": command_line}, show, passed_on, environment=environment)
        try:
            crew.wait()
        except BaseException:
            crew.stop()
            try:
                crew.wait()
            finally:
                crew.kill()
            raise
    return crew.ends[""]
