"""`langfocus report`: the figures of a run, recomputed from its `run.db`."""

import argparse
from pathlib import Path

from crawler.commands.base import Parser
from crawler.errors import SettingError

DESCRIPTION = (
    "Prints the figures of a crawl (pages, harvest rate, hosts, languages, outcomes) and "
    "writes summary.json and report.html into its folder. All figures are computed from "
    "run.db in that folder. The crawl may still be running. report.html is one file that "
    "needs no network and no scripts."
)

_EXAMPLES = """\
examples:
  langfocus report runs/FOLDER
  langfocus report runs/FOLDER --labels labels.csv
  langfocus report runs/FOLDER --explain http://www.example.de/
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _EXAMPLES
    parser.add_argument("folder", metavar="RUN_FOLDER", type=Path, help="the folder of a crawl")
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
        help="print why this URL was fetched when it was, or waits in the queue, and nothing else",
    )


def run(opts: argparse.Namespace) -> None:
    """Print and rewrite the report of the given folder."""
    from crawler.report.crawl import report
    from crawler.report.explanation import explain

    folder: Path = opts.folder.parent if opts.folder.name == "run.db" else opts.folder
    if opts.explain is None:
        print(report(folder, opts.labels)[1])
        return
    if opts.labels is not None:
        raise SettingError("--explain and --labels are two reports: give one of them")
    explain(folder, opts.explain).print()
