"""The langfocus commands for `scrapy`, in any project.

`scrapy crawl` remains Scrapy's own command, and runs spiders of langfocus like other spiders.
"""

import argparse

from scrapy.commands import ScrapyCommand

from langfocus.crawler.commands import COMMANDS


class InScrapy(ScrapyCommand):
    """A command of langfocus, which reads its arguments itself."""

    requires_crawler_process = False
    name = ""

    def syntax(self) -> str:
        """Return what follows the name."""
        return "[options]"

    def short_desc(self) -> str:
        """Return the line in Scrapy's overview."""
        return COMMANDS[self.name].help

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Leave all arguments to the command, and have --help show its manual."""
        from langfocus.crawler.commands.base import parser_of

        parser.set_defaults(profile=None)
        setattr(parser, "print_help", lambda: parser_of(self.name).print_help())  # noqa: B010

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Leave all options to the command."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command."""
        from langfocus.crawler.commands.base import run_command

        self.exitcode = run_command(self.name, args)


def class_name(command: str) -> str:
    """Return the name in this module of the class of a command."""
    return command.title()


globals().update(
    {class_name(name): type(class_name(name), (InScrapy,), {"name": name}) for name in COMMANDS}
)
