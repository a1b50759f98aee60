"""`langfocus report`: the figures of a run, recomputed from its `run.db`."""

import argparse
from pathlib import Path

from crawler.command import LangfocusCommand
from crawler.errors import SettingError

_EXAMPLES = """\
examples:
  langfocus report runs/FOLDER
  langfocus report runs/FOLDER --json figures.json
  langfocus report runs/FOLDER --labels labels.csv
  langfocus report runs/FOLDER --explain http://www.example.de/
"""


class ReportCommand(LangfocusCommand):
    """Prints the table of a run and rewrites its `summary.json` and `report.html`."""

    usage = "RUN_FOLDER [--labels FILE | --explain URL] [--json FILE]"
    summary = "Print the figures of a crawl and write its report.html"
    description = (
        "Prints the figures of a crawl (pages, harvest rate, hosts, languages, outcomes) and "
        "writes summary.json and report.html into its folder. All figures are computed from "
        "run.db in that folder. The crawl may still be running. report.html is one file that "
        "needs no network and no scripts."
    )
    json_help = "also write the figures to FILE, as JSON"

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _EXAMPLES

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        super().add_options(parser)
        parser.add_argument(
            "--labels",
            metavar="FILE",
            type=Path,
            help="a person's labels of a sample (langfocus sample); the harvest rate gets an "
            "interval that includes the identifier's errors",
        )
        parser.add_argument(
            "--explain",
            metavar="URL",
            help="print why this URL was fetched when it was, or waits in the queue, and nothing "
            "else",
        )

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print and rewrite the report of the given folder."""
        from crawler.report.explanation import explain, print_explanation
        from crawler.report.run_report import report

        if len(args) != 1:
            raise SettingError("name one folder of a crawl: langfocus report RUN_FOLDER")
        folder = Path(args[0])
        folder = folder.parent if folder.name == "run.db" else folder
        if opts.explain is not None:
            if opts.labels is not None:
                raise SettingError("--explain and --labels are two reports: give one of them")
            why = explain(folder, opts.explain)
            print_explanation(why)
            self.write_json(opts, why.as_json())
            return
        figures, page = report(folder, opts.labels)
        self.write_json(opts, figures)
        print(page)
