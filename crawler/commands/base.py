"""The base of all commands: options, help, and errors.

A command is a module in `COMMANDS` with `DESCRIPTION`, the first paragraph of `--help`,
`arguments(parser)`, which adds the arguments, and `run(opts)`, which returns an exit code or None.

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
from langfocus.crawler.options.json_log import JsonFormatter, check_format, is_json
from langfocus.crawler.report.formatting import json_text, printable_lines
from langfocus.crawler.report.terminal import guarded
from langfocus.crawler.run.whole_file import write_whole

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from langfocus.crawler.report.page import Report

_WIDTH = 95

# At exit Python would scan all objects three times: 0.4 s after a crawl.
atexit.register(gc.freeze)


class ExitCode(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    FAILED = 1
    MISUSED = 2
    INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """The argument parser of a command; invalid arguments raise `SettingError`."""

    def __init__(self, name: str, description: str) -> None:
        super().__init__(
            prog=f"langfocus {name}",
            description=textwrap.fill(description, _WIDTH),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            conflict_handler="resolve",
        )

    def error(self, message: str) -> NoReturn:
        """Raise `SettingError` for an invalid argument."""
        raise SettingError(f"{message}; see {self.prog} --help")

    def add_pairs(self, flag: str, meaning: str) -> None:
        """Add a repeatable flag with NAME=VALUE: `-a`, as `opts.spargs`, or `-s`, as `opts.set`."""
        name = {"-a": "spargs", "-s": "set"}[flag]
        self.add_argument(
            flag, dest=name, action="append", default=[], metavar="NAME=VALUE", help=meaning
        )

    def add_path(self, name: str, metavar: str, meaning: str) -> None:
        """Add an input file or folder."""
        self.add_argument(name, metavar=metavar, type=Path, help=meaning)

    def add_paths(self, name: str, metavar: str, meaning: str) -> None:
        """Add one or more input files or folders."""
        self.add_argument(name, metavar=metavar, type=Path, nargs="+", help=meaning)

    def add_names(self, flag: str, metavar: str, meaning: str) -> None:
        """Add a flag with names separated by spaces or commas."""
        self.add_argument(flag, metavar=metavar, nargs="+", default=[], help=meaning)

    def add_file(self, flag: str, meaning: str) -> None:
        """Add an output file, in an existing folder."""
        self.add_argument(flag, metavar="FILE", type=_writable, help=meaning)

    def add_report_files(self) -> None:
        """Add the output files of `publish`."""
        self.add_file("--html", "write a page with all tables and plots to FILE")
        self.add_file("--json", "write all figures to FILE, as JSON")


def parser_of(name: str) -> Parser:
    """Return the argument parser of a command."""
    command = import_module(COMMANDS[name].module)
    parser = Parser(name, command.DESCRIPTION)
    command.arguments(parser)
    return parser


class _PrintableFormatter(logging.Formatter):
    """Formats messages for a terminal; no foreign text can forge a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message and its traceback."""
        return printable_lines(super().format(record))


def run_command(name: str, arguments: Sequence[str]) -> int:
    """Return the exit code of a command."""
    if logging.lastResort is not None:  # writes warnings of a command without a configured log
        kind = JsonFormatter if is_json() else _PrintableFormatter
        logging.lastResort.setFormatter(kind())
    return ended(lambda: _run(name, arguments))


def _run(name: str, arguments: Sequence[str]) -> int | None:
    check_format()
    opts, rest = parser_of(name).parse_known_intermixed_args(arguments)
    if rest:
        raise not_understood(rest[0], f"langfocus {name}")
    code: int | None = import_module(COMMANDS[name].module).run(opts)
    return code


def not_understood(word: str, command: str) -> SettingError:
    """Return the error for an unknown argument."""
    if "=" in word and not word.startswith("-"):
        return SettingError(f"{word}: an argument needs -a before it: -a {word}")
    return SettingError(f"{word}: not understood; see {command} --help")


@guarded()
def ended(work: Callable[[], int | None]) -> int:
    """Do the work of a command; return the exit code. A failure is one line on standard error."""
    try:
        code = work()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe, so Python must not flush at exit.
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
    """Write the figures to the file of `--json`, if any."""
    if path is not None:
        write_whole(path, json_text(content))


def measured(data: Iterable[Path]) -> dict[str, Any]:
    """Return the provenance of figures measured by this command from `data`."""
    from langfocus.crawler.report.provenance import provenance

    return provenance(["langfocus", *sys.argv[1:]], data, date.today())


def publish(report: Report, opts: argparse.Namespace, **more: Any) -> None:
    """Print a report, and write page and figures to the files of `add_report_files`.

    `more` are further figures. The page ends with this command.
    """
    from langfocus.crawler.report.page import Command

    report.print()
    write_json(opts.json, {**more, **report.figures})
    if opts.html:
        asked = Command("The command", shlex.join(["langfocus", *sys.argv[1:]]))
        print(write_whole(opts.html, replace(report, parts=[*report.parts, asked]).html()))


def settings_of(opts: argparse.Namespace) -> Settings:
    """Return Scrapy's settings for langfocus and `-s NAME=VALUE`; raises SettingError."""
    from scrapy.settings import Settings

    settings = Settings()
    settings.setmodule("langfocus.crawler.settings", priority="project")
    for name, value in pairs(opts.set, "-s").items():
        try:
            settings.set(name, value, priority="cmdline")
        except ValueError as error:  # JSON is needed
            raise SettingError(f"{name}={value}: {error}") from error
    return settings


def pairs(given: Iterable[str], option: str = "-a") -> dict[str, str]:
    """Parse `-a NAME=VALUE` into values by name; raises SettingError."""
    texts = list(given)
    if not all("=" in text for text in texts):
        raise SettingError(f"{option} takes NAME=VALUE")
    return dict(text.split("=", 1) for text in texts)


def meanings(title: str, of: Mapping[str, str]) -> str:
    """Return a manual paragraph: a title, then names and meanings in two columns."""
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
    """Split texts at commas; skip empty parts."""
    whole = [texts] if isinstance(texts, str) else texts or ()
    return [part.strip() for text in whole for part in text.split(",") if part.strip()]


def language_codes(texts: Iterable[str] | None, option: str = "--languages") -> tuple[str, ...]:
    """Return the distinct language codes of an option; raises SettingError."""
    return tuple(dict.fromkeys(language_code(tag, option) for tag in parts(texts)))


def language_code(text: str, option: str) -> str:
    """Return the language code of an option's value; raises SettingError."""
    try:
        return languages.parse_language(text)
    except LanguageError as error:
        raise SettingError(f"{option} {error}") from error


def positive(text: str) -> int:
    """Parse an integer of 1 or more; argparse's error for any other text."""
    return _at_least(text, 1)


def natural(text: str) -> int:
    """Parse an integer of 0 or more; argparse's error for any other text."""
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
