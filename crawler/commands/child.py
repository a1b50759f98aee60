"""A crawl in a process of its own, since Twisted's reactor cannot start twice in one process."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from langfocus.crawler.report.live import decoded
from langfocus.crawler.report.progress import MARK, PASSED_ON, Display, Progress
from langfocus.crawler.shared.crew import Crew, End


def command(arguments: Mapping[str, str], settings: Mapping[str, str], folder: Path) -> list[str]:
    """Return the command line of a crawl without tables, in its run folder."""
    settings = {**settings, "JOBDIR": str(folder), "LANGFOCUS_QUIET": "True"}
    return [
        # -P: a folder or file in the working folder may have the name of a package.
        *(sys.executable, "-P", "-m", "langfocus", "crawl"),
        *(part for name, value in arguments.items() for part in ("-a", f"{name}={value}")),
        *(part for name, value in settings.items() for part in ("-s", f"{name}={value}")),
    ]


def run_child(line: Sequence[str], *, shows_progress: bool = True) -> End:
    """Run a crawl to its end.

    If it `shows_progress`, a terminal shows the panel of the crawl and its messages above; else
    standard error of the crawl is repeated. Ctrl-C in a terminal reaches the crawl once, from
    here, and stops it in order; a second one kills it. `KeyboardInterrupt` is raised when it has
    ended.
    """
    display = Display(sys.stderr)
    progress = Progress(display)
    is_panel = shows_progress and display.is_terminal
    environment = {**os.environ, PASSED_ON: "1"} if is_panel else None

    def tell(told: str) -> None:
        if shows_progress:
            display.tell(told)

    def take(told: str) -> bool:
        if told.startswith(MARK):
            snapshot = decoded(told.removeprefix(MARK))
            (progress.close if snapshot.state == "finished" else progress.show)(snapshot)
        return told.startswith(MARK)

    with display:
        crew = Crew({"": line}, tell, take, environment=environment)
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
