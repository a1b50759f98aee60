"""`langfocus takedown`: removal of hosts from a run and its archive."""

import argparse
from pathlib import Path

from langfocus.crawler.commands.base import Parser
from langfocus.crawler.errors import CrawlError

DESCRIPTION = (
    "Removes hosts (example.org), names with all names below them (*.example.org), or "
    "beginnings of their paths (example.org/private/) from a run that no process crawls."
)

_EXAMPLES = """\
Queued URLs, links, robots.txt and WARC records are deleted. Of a fetched page only the entry
of the log stays (URL, time, status, size). Index, WACZ files and report are written again. Later
sessions of the run do not fetch the URLs again. Files that were exported before are not changed.

examples:
  langfocus takedown runs/FOLDER example.org
  langfocus takedown runs/FOLDER '*.example.org' example.com/private/
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _EXAMPLES
    parser.add_path("folder", "RUN_FOLDER", "folder of a crawl")
    parser.add_argument("hosts", metavar="HOST", nargs="+", help="hosts or paths to remove")


def run(opts: argparse.Namespace) -> None:
    """Remove the hosts and print the counts."""
    from langfocus.crawler.outputs.takedown import take_down
    from langfocus.crawler.politeness.blocking import read_lines
    from langfocus.crawler.report.table import Printer, Table
    from langfocus.crawler.run.folder import maintaining
    from langfocus.crawler.sources.unread_seeds import remove_seeds

    blocked = read_lines(opts.hosts)  # nothing is removed if a name is malformed
    with maintaining(opts.folder) as connection:
        removed = take_down(connection, opts.folder, opts.hosts)._asdict()
        remove_seeds(opts.folder, blocked.blocks)
    _write_again(opts.folder)
    rows = [(name.replace("_", " "), f"{number:,}") for name, number in removed.items()]
    Printer().table(Table(f"Removed from {opts.folder}", ("", "Run"), rows))
    if not any(removed.values()):
        names = ", ".join(opts.hosts)
        raise CrawlError(
            f"{opts.folder} has no URL of {names}; later sessions will not fetch any either"
        )


def _write_again(folder: Path) -> None:
    """Rewrite the files derived from the run."""
    from langfocus.crawler.outputs.package import INDEX, write_index, write_wacz
    from langfocus.crawler.report.run_report import report

    if (folder / INDEX).exists():
        write_index(folder)
    for package in folder.glob("*.wacz"):
        write_wacz(folder, package)
    if (folder / "summary.json").exists():
        report(folder)
