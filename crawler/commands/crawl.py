"""`scrapy crawl`: Scrapy's own command, with a manual and one-line errors for our spider."""

import argparse
import sys
import textwrap
from pathlib import Path

from scrapy.commands import crawl

from crawler.configuration import DESCRIPTIONS
from crawler.crawl import Crawl, open_crawl
from crawler.errors import CrawlError
from crawler.options import ARGUMENTS, CrawlOptions
from crawler.report.files import write_whole
from crawler.spiders.langfocus import LangfocusSpider
from crawler.spiders.scrapy_settings import crawl_settings

_EXAMPLES = """\
examples:
  scrapy crawl langfocus -a lang=de -a web=sample -a pages=500
  scrapy crawl langfocus -a lang=fr -a pages=10000 -s LANGFOCUS_CONTACT=you@example.org
  scrapy crawl langfocus -a lang=th -a host_cap=0 -s LANGFOCUS_CONTACT=https://example.org/bot
  scrapy crawl langfocus -a lang=de -a web=archive -a archive=crawl.warc.gz -a seeds=http://x.de/

A run is a folder: run.db, summary.json, report.html. The same command with the same JOBDIR goes
on where a crawl was stopped, by Ctrl-C or by a kill. The exit code is 0 only if the crawl could
do what was asked.
"""

_STOPPED = {"", "shutdown", "cancelled"}
"""Why a crawl ended that was not done: the process was told to stop, or never got to the end."""


class Command(crawl.Command):
    """Runs a spider; `langfocus` is opened before the engine starts, so that it can say no."""

    def short_desc(self) -> str:
        """Return the line that `scrapy` shows for the command."""
        return "Crawl the part of the Web that is written in one language (spider: langfocus)"

    def long_desc(self) -> str:
        """Return what the help begins with."""
        return (
            "Runs a spider of the project by name. The spider langfocus fetches the pages that are "
            "most likely in the language of -a lang first, checks each from its content, and "
            "reports the harvest rate: relevant pages / pages with a label."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Describe the arguments of the spider and the settings of the project."""
        super().add_options(parser)
        parser.add_argument(
            "--json", metavar="FILE", type=Path, help="write summary.json to FILE too (langfocus)"
        )
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = textwrap.fill(self.long_desc(), 95)
        parser.epilog = "\n".join(
            [
                _listing("arguments of langfocus (-a NAME=VALUE):", ARGUMENTS),
                _listing("settings of the project (-s NAME=VALUE):", DESCRIPTIONS),
                _EXAMPLES,
            ]
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Open the crawl, then let Scrapy run it; an error is one line and exit code 1."""
        if args == [LangfocusSpider.name] and self.settings is not None:
            try:
                options = CrawlOptions.read(opts.spargs)
                settings = crawl_settings(self.settings, has_servers=options.web == "live")
                crawl = open_crawl(options, settings)
            except CrawlError as error:
                self._fail(str(error))
                return
            opts.spargs = {**opts.spargs, "crawl": crawl}
            super().run(args, opts)
            self._judge(crawl)
            if opts.json is not None and not crawl.fault:
                self._copy(crawl.run.folder / "summary.json", opts.json)
        else:
            super().run(args, opts)

    def _judge(self, crawl: Crawl) -> None:
        """Say so where the crawl did not do what was asked."""
        if crawl.fault:
            self._fail(f"{crawl.fault}; {_way_on(crawl)}")
        elif crawl.finish_reason in _STOPPED:
            self._fail(f"stopped; {_way_on(crawl)}")
        elif crawl.counts().pages == 0:
            self._fail("not one page could be fetched; the outcomes above say why")

    def _copy(self, summary: Path, copy: Path) -> None:
        try:
            write_whole(copy, summary.read_text(encoding="utf-8"))
        except OSError as error:
            self._fail(f"--json {copy}: cannot be written: {error}")

    def _fail(self, message: str) -> None:
        print(f"langfocus: {message}", file=sys.stderr)
        self.exitcode = 1


def _way_on(crawl: Crawl) -> str:
    return f"the same command with -s JOBDIR={crawl.run.folder} goes on"


def _listing(title: str, meanings: dict[str, str]) -> str:
    lines = [title]
    for name, meaning in meanings.items():
        lines += textwrap.wrap(
            meaning, 92, initial_indent=f"  {name:<16} ", subsequent_indent=" " * 19
        )
    return "\n".join([*lines, ""])
