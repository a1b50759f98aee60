"""The base of all commands: their help, their options, and one way to fail.

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted. A failure is one line on standard
error, `langfocus: MESSAGE`.

The class is not in `crawler.commands`, because Scrapy takes each class there for a command.
"""

import argparse
import sys
import textwrap
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.utils.conf import arglist_to_dict

from classifiers import languages
from classifiers.errors import ClassifierError, LanguageError, StudyError
from crawler.errors import CrawlError, SettingError
from crawler.report.files import check_places, json_text, write_whole
from crawler.report.formatting import printable

_WIDTH = 95


class ExitCode(IntEnum):
    """The exit codes of every command."""

    DONE = 0
    FAILED = 1
    MISUSED = 2
    INTERRUPTED = 130


class LangfocusCommand(ScrapyCommand):
    """A command of the project. A subclass defines its texts, its options and `carry_out`."""

    requires_project = False
    requires_crawler_process = False

    usage: ClassVar[str]
    """The arguments, as printed after the name of the command."""
    summary: ClassVar[str]
    """One line for the list of commands."""
    description: ClassVar[str]
    """The paragraph that `--help` begins with."""
    json_help: ClassVar[str]
    """The help of `--json FILE`."""
    pairs_help: ClassVar[str] = ""
    """The help of `-a NAME=VALUE`; without it the command takes no `-a`."""
    files: ClassVar[tuple[str, ...]] = ("json",)
    """Options that name files to write. Their folders are checked before `carry_out`."""

    def syntax(self) -> str:
        """Return the arguments, as printed after the name of the command."""
        return self.usage

    def short_desc(self) -> str:
        """Return one line for the list of commands."""
        return self.summary

    def long_desc(self) -> str:
        """Return the paragraph that `--help` begins with."""
        return self.description

    def manual(self) -> str:
        """Return the rest of `--help`, which follows the options: details and examples."""
        return ""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options and those that several commands have."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = textwrap.fill(self.description, _WIDTH)
        parser.epilog = self.manual()
        if self.pairs_help:
            parser.add_argument(
                "-a",
                dest="spargs",
                action="append",
                default=[],
                metavar="NAME=VALUE",
                help=self.pairs_help,
            )
        parser.add_argument("--json", metavar="FILE", type=Path, help=self.json_help)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command; a failure is one line on standard error and an exit code."""
        try:
            self._check(args, opts)
            self.carry_out(args, opts)
            sys.stdout.flush()
        except BrokenPipeError:
            self.exitcode = ExitCode.FAILED
            # The reader of the pipe has ended. Python must not flush to it at exit.
            sys.stdout = None
        except KeyboardInterrupt as interrupt:
            self.fail(str(interrupt) or "interrupted", ExitCode.INTERRUPTED)
        except (SettingError, StudyError) as error:
            self.fail(str(error), ExitCode.MISUSED)
        except (CrawlError, ClassifierError, OSError) as error:
            self.fail(str(error))

    @abstractmethod
    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command; a subclass implements it.

        Raises SettingError or StudyError for wrong usage, another CrawlError, ClassifierError or
        OSError for a failure, and KeyboardInterrupt, with or without a message.
        """

    def fail(self, message: str, code: int = ExitCode.FAILED) -> None:
        """Print one line on standard error and set the exit code."""
        sys.stderr.write(f"langfocus: {printable(' '.join(message.splitlines()))}\n")
        self.exitcode = code

    def write_json(self, opts: argparse.Namespace, content: Mapping[str, Any]) -> None:
        """Write the figures to the file of `--json`, if there is one."""
        if opts.json is not None:
            write_whole(opts.json, json_text(content))

    def _check(self, args: Iterable[str], opts: argparse.Namespace) -> None:
        for arg in args:
            if arg.startswith("-") and arg != "-":
                raise SettingError(f"there is no option {arg}; see --help")
        check_places(*(getattr(opts, name) for name in self.files))


def pairs(given: Iterable[str], option: str = "-a") -> dict[str, str]:
    """The values of `-a NAME=VALUE` by name; raises SettingError."""
    try:
        return dict(arglist_to_dict(list(given)))
    except ValueError:
        raise SettingError(f"{option} takes NAME=VALUE") from None


def meanings(title: str, of: Mapping[str, str]) -> str:
    """A paragraph of the manual: a title, then names and their meanings in two columns."""
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
    """The parts of texts that have commas between them; empty parts are left out."""
    whole = [texts] if isinstance(texts, str) else texts or ()
    return [part.strip() for text in whole for part in text.split(",") if part.strip()]


def language_codes(texts: Iterable[str] | None, option: str = "--languages") -> tuple[str, ...]:
    """The codes of the languages of an option, each once; raises SettingError."""
    return tuple(dict.fromkeys(language_code(tag, option) for tag in parts(texts)))


def language_code(text: str, option: str) -> str:
    """The code of the language that an option names; raises SettingError."""
    try:
        return languages.understood(text)
    except LanguageError as error:
        raise SettingError(f"{option} {error}") from error


def positive(text: str) -> int:
    """A whole number from 1; argparse's error for any other text."""
    return _at_least(text, 1)


def natural(text: str) -> int:
    """A whole number from 0; argparse's error for any other text."""
    return _at_least(text, 0)


def naturals(text: str) -> tuple[int, ...]:
    """Whole numbers from 0 with commas between them; argparse's error for any other text."""
    return tuple(natural(part) for part in text.split(","))


def share(text: str) -> float:
    """A number between 0 and 1, both excluded; argparse's error for any other text."""
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _at_least(text: str, least: int) -> int:
    value = int(text)
    if value < least:
        raise argparse.ArgumentTypeError(f"{text} is not {least} or more")
    return value
