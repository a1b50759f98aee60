"""Running one of Scrapy's command classes outside of a Scrapy project."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from scrapy.cmdline import ScrapyArgumentParser
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from classifiers.errors import LangfocusError
from crawler.command import ExitCode
from crawler.errors import SettingError
from crawler.report.formatting import printable
from crawler.settings import BOT_NAME
from langfocus.command_table import MODULE
from langfocus.project import load_settings


def run_command(name: str, arguments: Sequence[str]) -> int:
    """Return the exit code of a command; an error is one line on standard error."""
    try:
        return _run(name, arguments)
    except SettingError as error:
        return _fail(str(error), ExitCode.MISUSED)
    except LangfocusError as error:
        return _fail(str(error), ExitCode.FAILED)
    except KeyboardInterrupt:
        return _fail("interrupted", ExitCode.INTERRUPTED)


def _fail(message: str, code: ExitCode) -> int:
    print(f"langfocus: {printable(message)}", file=sys.stderr)  # noqa: T201  the command's error
    return code


def _run(name: str, arguments: Sequence[str]) -> int:
    command = command_of(name)
    parser = parser_of(name, command)
    options, rest = parser.parse_known_args(list(arguments))
    if name == "crawl" and not rest:
        rest = [BOT_NAME]
    try:
        command.process_options(rest, options)
        if command.requires_crawler_process and command.settings is not None:
            from crawler.spiders.running import crawler_process

            command.crawler_process = crawler_process(command.settings)
        _call(command, rest, options)
    except UsageError as error:
        parser.error(str(error) or f"see langfocus {name} --help")
    return command.exitcode


def command_of(name: str) -> ScrapyCommand:
    """Return a command with its settings; its class has its name: `CrawlCommand`."""
    module = import_module(f"{MODULE}.{name}")
    command: ScrapyCommand = getattr(module, f"{name.capitalize()}Command")()
    command.settings = load_settings()
    command.settings.setdict(command.default_settings, priority="command")
    return command


def _call(command: ScrapyCommand, arguments: list[str], options: argparse.Namespace) -> None:
    if not options.profile:
        command.run(arguments, options)
        return
    from cProfile import Profile

    profile = Profile()
    profile.runcall(command.run, arguments, options)
    profile.dump_stats(options.profile)


def parser_of(name: str, command: ScrapyCommand) -> argparse.ArgumentParser:
    """Return the parser of a command's options."""
    parser = ScrapyArgumentParser(
        prog=f"langfocus {name}",
        usage=f"langfocus {name} {command.syntax()}",
        conflict_handler="resolve",
        description=command.long_desc(),
    )
    command.add_options(parser)
    return parser
