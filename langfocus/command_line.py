"""The command `langfocus`, which works in any folder.

Heavy modules are imported only after the command is known, so help and errors are fast.
"""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

from langfocus import __version__
from langfocus.crawler.commands import COMMANDS

_FIRST_STEPS = """\
langfocus crawl -a lang=de -a web=sample -a pages=200   crawl a small built-in web
langfocus report runs/FOLDER                            show the figures of a crawl
echo https://www.spiegel.de/ | langfocus identify urls  read the language of a URL
langfocus crawl -a lang=de -a pages=1000 -s LANGFOCUS_CONTACT=you@example.org   crawl the Web
langfocus --help                                        list all commands"""

_CRAWLS: Final = ("crawl", "compare")
"""Commands with modules and models that take seconds to load."""

_USAGE_ERROR = 2
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of a command line: 0 only after success."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: no other file may get its number
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        return _say(_FIRST_STEPS)
    first = given.pop(0)
    if first in ("-h", "--help", "help"):
        return _say(_overview())
    if first == "--version":
        return _say(f"langfocus {__version__}")
    if first not in COMMANDS:
        return _refuse(first)
    is_plain = os.environ.get("LANGFOCUS_LOG") == "json" or not sys.stderr.isatty()
    if first in _CRAWLS and not {"-h", "--help"} & set(given) and not is_plain:
        # The next line, or the panel, takes its place.
        print("starting ...", end="\r", file=sys.stderr, flush=True)  # noqa: T201
    if first == "crawl":
        gc.disable()  # the start leaves next to no garbage, and the search took a seventh of it
    try:
        from langfocus.crawler.commands.base import run_command

        return run_command(first, given)
    except KeyboardInterrupt:  # during the import
        print("langfocus: interrupted", file=sys.stderr)  # noqa: T201
        return _INTERRUPTED
    finally:
        if arguments is None:
            # The command has said how it ended; another Ctrl-C would change its exit code.
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _say(text: str) -> int:
    print(text)  # noqa: T201  the text of a command
    return 0


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {one.help}" for name, one in COMMANDS.items()]
    return "\n".join(
        [
            "usage: langfocus COMMAND [options]",
            "",
            "Crawls the part of the Web that is written in one language.",
            "",
            "commands:",
            *lines,
            "",
            "langfocus COMMAND --help shows its manual; --version shows the version.",
        ]
    )


def _refuse(name: str) -> int:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    advice = f"did you mean {near[0]!r}?" if near else "langfocus --help lists them"
    print(f"langfocus: there is no command {name!r}; {advice}", file=sys.stderr)  # noqa: T201
    return _USAGE_ERROR
