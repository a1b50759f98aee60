"""The base of all commands: their options, their help, and one way to fail.

A command is a module in `COMMANDS` with `DESCRIPTION`, the paragraph that `--help` begins with,
`arguments(parser)`, which adds its arguments, and `run(opts)`, which returns an exit code or None.

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted. A failure is one line on standard
error, `langfocus: MESSAGE`.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import logging
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from langfocus.classifiers import languages
from langfocus.classifiers.errors import LangfocusError, LanguageError, StudyError
from langfocus.crawler.commands import COMMANDS
from langfocus.crawler.errors import SettingError
from langfocus.crawler.report.formatting import json_text, printable_lines
from langfocus.crawler.report.terminal import guarded
from langfocus.crawler.run.whole_file import write_whole

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from langfocus.crawler.report.page import Report

_WIDTH = 95

# At its end Python would look through all objects three times: 0.4 s after a crawl.
atexit.register(gc.freeze)


class ExitCode(IntEnum):
    """The exit codes of every command."""

    DONE = 0
    FAILED = 1
    MISUSED = 2
    INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """The arguments of a command. Wrong ones raise `SettingError`."""

    def __init__(self, name: str, description: str) -> None:
        super().__init__(
            prog=f"langfocus {name}",
            description=textwrap.fill(description, _WIDTH),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            conflict_handler="resolve",
        )

    def error(self, message: str) -> NoReturn:
        """Raise the error of a wrong argument."""
        raise SettingError(f"{message}; see {self.prog} --help")

    def add_pairs(self, flag: str, meaning: str) -> None:
        """Add a flag that takes NAME=VALUE and may be repeated: `-a`, as `opts.spargs`, or `-s`."""
        name = {"-a": "spargs", "-s": "set"}[flag]
        self.add_argument(
            flag, dest=name, action="append", default=[], metavar="NAME=VALUE", help=meaning
        )

    def add_path(self, name: str, metavar: str, meaning: str) -> None:
        """Add a file or folder to read."""
        self.add_argument(name, metavar=metavar, type=Path, help=meaning)

    def add_paths(self, name: str, metavar: str, meaning: str) -> None:
        """Add files or folders to read, at least one."""
        self.add_argument(name, metavar=metavar, type=Path, nargs="+", help=meaning)

    def add_names(self, flag: str, metavar: str, meaning: str) -> None:
        """Add a flag that takes names with spaces or commas between them."""
        self.add_argument(flag, metavar=metavar, nargs="+", default=[], help=meaning)

    def add_file(self, flag: str, meaning: str) -> None:
        """Add a file to write, in a folder that exists."""
        self.add_argument(flag, metavar="FILE", type=_writable, help=meaning)

    def add_report_files(self) -> None:
        """Add the files to which `publish` writes a report."""
        self.add_file("--html", "write a page with all tables and plots to FILE")
        self.add_file("--json", "write all figures to FILE, as JSON")


def parser_of(name: str) -> Parser:
    """Return the parser of a command's arguments."""
    command = import_module(COMMANDS[name].module)
    parser = Parser(name, command.DESCRIPTION)
    command.arguments(parser)
    return parser


class _PrintableFormatter(logging.Formatter):
    """Formats messages for a terminal; no text of a stranger in them can forge a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message and its traceback."""
        return printable_lines(super().format(record))


def run_command(name: str, arguments: Sequence[str]) -> int:
    """Return the exit code of a command."""
    if logging.lastResort is not None:  # writes the warnings of a command that sets up no log
        logging.lastResort.setFormatter(_PrintableFormatter())
    return ended(lambda: _run(name, arguments))


def _run(name: str, arguments: Sequence[str]) -> int | None:
    opts, rest = parser_of(name).parse_known_intermixed_args(arguments)
    if rest:
        raise not_understood(rest[0], f"langfocus {name}")
    code: int | None = import_module(COMMANDS[name].module).run(opts)
    return code


def not_understood(word: str, command: str) -> SettingError:
    """Return the error of an argument that the command does not have."""
    if "=" in word and not word.startswith("-"):
        return SettingError(f"{word}: an argument needs -a before it: -a {word}")
    return SettingError(f"{word}: not understood; see {command} --help")


@guarded()
def ended(work: Callable[[], int | None]) -> int:
    """Do the work of a command; return its exit code. A failure is one line on standard error."""
    try:
        code = work()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe has ended. Python must not flush to it at exit.
        sys.stdout = None
        return ExitCode.FAILED
    except KeyboardInterrupt as interrupt:
        return _failed(str(interrupt) or "interrupted", ExitCode.INTERRUPTED)
    except (SettingError, StudyError) as error:
        return _failed(str(error), ExitCode.MISUSED)
    except (LangfocusError, OSError) as error:
        return _failed(str(error), ExitCode.FAILED)
    return code or ExitCode.DONE


def _failed(message: str, code: ExitCode) -> ExitCode:
    sys.stderr.write(f"langfocus: {' '.join(message.splitlines())}\n")
    return code


def write_json(path: Path | None, content: Mapping[str, Any]) -> None:
    """Write the figures to the file of `--json`, if there is one."""
    if path is not None:
        write_whole(path, json_text(content))


def measured(data: Iterable[Path]) -> dict[str, Any]:
    """Return when, by this command, from which data and by which code figures are measured."""
    from langfocus.crawler.report.provenance import provenance

    return provenance(["langfocus", *sys.argv[1:]], data, date.today())


def publish(report: Report, opts: argparse.Namespace, **more: Any) -> None:
    """Print a report, and write its page and its figures to the files of `add_report_files`.

    `more` are further figures. The page has this command at its end.
    """
    from langfocus.crawler.report.page import Command

    report.print()
    write_json(opts.json, {**more, **report.figures})
    if opts.html:
        asked = Command("The command", shlex.join(["langfocus", *sys.argv[1:]]))
        print(write_whole(opts.html, replace(report, parts=[*report.parts, asked]).html()))


def settings_of(opts: argparse.Namespace) -> Settings:
    """Return Scrapy's settings for langfocus, with those of `-s NAME=VALUE`; SettingError."""
    from scrapy.settings import Settings

    settings = Settings()
    settings.setmodule("langfocus.crawler.settings", priority="project")
    settings.setdict(pairs(opts.set, "-s"), priority="cmdline")
    return settings


def pairs(given: Iterable[str], option: str = "-a") -> dict[str, str]:
    """Return the values of `-a NAME=VALUE` by name; raises SettingError."""
    texts = list(given)
    if not all("=" in text for text in texts):
        raise SettingError(f"{option} takes NAME=VALUE")
    return dict(text.split("=", 1) for text in texts)


def meanings(title: str, of: Mapping[str, str]) -> str:
    """Return a paragraph of the manual: a title, then names and their meanings in two columns."""
    lines = [title]
    for name, meaning in of.items():
        lines += textwrap.wrap(
            meaning,
            _WIDTH,
            initial_indent=f"  {name:<16} ",
            subsequent_indent=" " * 19,
            break_on_hyphens=False,
        )
    return "\n".join([*lines, ""])


def parts(texts: Iterable[str] | str | None) -> list[str]:
    """Return the parts of texts that have commas between them; empty parts are left out."""
    whole = [texts] if isinstance(texts, str) else texts or ()
    return [part.strip() for text in whole for part in text.split(",") if part.strip()]


def language_codes(texts: Iterable[str] | None, option: str = "--languages") -> tuple[str, ...]:
    """Return the codes of the languages of an option, each once; raises SettingError."""
    return tuple(dict.fromkeys(language_code(tag, option) for tag in parts(texts)))


def language_code(text: str, option: str) -> str:
    """Return the code of the language that an option names; raises SettingError."""
    try:
        return languages.parse_language(text)
    except LanguageError as error:
        raise SettingError(f"{option} {error}") from error


def positive(text: str) -> int:
    """Return a whole number from 1; argparse's error for any other text."""
    return _at_least(text, 1)


def natural(text: str) -> int:
    """Return a whole number from 0; argparse's error for any other text."""
    return _at_least(text, 0)


def _at_least(text: str, least: int) -> int:
    value = int(text)
    if value < least:
        raise argparse.ArgumentTypeError(f"{text} is not {least} or more")
    return value


def _writable(text: str) -> Path:
    path = Path(text)
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"{path}: its folder does not exist")
    return path
