"""`scrapy report`: the figures of a run, printed and written anew from its `run.db`."""

import argparse
import json
import sys
from pathlib import Path

from scrapy.commands import ScrapyCommand

from crawler.errors import RunFolderError
from crawler.report.files import write_whole


class Command(ScrapyCommand):
    """Prints the table of a run and rewrites its `summary.json` and `report.html`."""

    requires_crawler_process = False

    def syntax(self) -> str:
        """How the command is called."""
        return "RUN_FOLDER [--json FILE]"

    def short_desc(self) -> str:
        """One line in the list of commands."""
        return "Print the figures of a crawl and write its report.html"

    def long_desc(self) -> str:
        """What --help says."""
        return (
            "Prints what a crawl has brought in (pages, harvest rate, hosts, languages, outcomes) "
            "and writes summary.json and report.html into its folder. Everything is computed from "
            "run.db in that folder, also while the crawl is going on. report.html is one file that "
            "needs neither a network nor scripts. Exits with 1 if the folder is no crawl's."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The options beside Scrapy's own."""
        super().add_options(parser)
        parser.add_argument(
            "--json", metavar="FILE", type=Path, help="write the figures to FILE too, as JSON"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Report on the one folder named."""
        from crawler.report.crawl_page import write_report
        from crawler.report.crawl_tables import print_summary

        if len(args) != 1 or args[0].startswith("-"):
            self._fail("name one folder of a crawl: scrapy report RUN_FOLDER", 2)
            return
        folder = Path(args[0])
        folder = folder.parent if folder.name == "run.db" else folder
        try:
            summary = write_report(folder)
            print_summary(summary)
            if opts.json:
                write_whole(opts.json, json.dumps(summary.as_json(), indent=2) + "\n")
        except (RunFolderError, OSError) as error:
            self._fail(str(error), 1)
            return
        print(f"{folder / 'report.html'}")

    def _fail(self, message: str, code: int) -> None:
        print(f"scrapy report: {message}", file=sys.stderr)
        self.exitcode = code
