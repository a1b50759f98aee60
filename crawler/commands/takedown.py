"""`langfocus takedown`: hosts are removed from a run and from what it kept."""

import argparse
from dataclasses import asdict
from pathlib import Path

from crawler.command import LangfocusCommand
from crawler.errors import SettingError

_EXAMPLES = """\
Queued URLs, links, robots.txt and WARC records are deleted. Of a fetched page only the entry
of the log stays (URL, time, status, size). Index, WACZ file and report are written again. Later
sessions of the run do not fetch the URLs again. Files that were exported before are not changed.

examples:
  langfocus takedown runs/FOLDER example.org
  langfocus takedown runs/FOLDER '*.example.org' example.com/private/
"""


class TakedownCommand(LangfocusCommand):
    """Removes hosts, domains or beginnings of paths from a run."""

    usage = "RUN_FOLDER HOST... [--json FILE]"
    summary = "Remove hosts from a crawl: its queue, WARC files and exports"
    description = (
        "Removes hosts (example.org), names with all names below them (*.example.org), or "
        "beginnings of their paths (example.org/private/) from a run that no process crawls."
    )
    json_help = "also write the figures to FILE, as JSON"

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _EXAMPLES

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Remove the hosts and print what was removed."""
        from crawler.outputs.takedown import take_down
        from crawler.politeness.blocking import read_lines
        from crawler.report.printer import Printer
        from crawler.report.table import Table
        from crawler.run import maintaining

        if len(args) < 2:
            raise SettingError("name a run and a host: langfocus takedown RUN_FOLDER HOST...")
        folder, lines = Path(args[0]), args[1:]
        _, bad = read_lines(lines)
        if bad:
            raise SettingError(bad[0].reason)
        with maintaining(folder) as connection:
            told = take_down(connection, folder, lines)
        _write_again(folder)
        figures = asdict(told)
        rows = [(name.replace("_", " "), f"{number:,}") for name, number in figures.items()]
        Printer().table(Table(f"Removed from {folder}", ("", "Run"), rows))
        self.write_json(opts, figures)
        if not any(figures.values()):
            names = ", ".join(lines)
            self.fail(f"{folder} has no URL of {names}; later sessions will not fetch any either")


def _write_again(folder: Path) -> None:
    """Write the files again that were made of the run."""
    from crawler.outputs.cdxj import INDEX, write_index
    from crawler.outputs.wacz import PACKAGE, write_wacz
    from crawler.report.crawl_page import write_report
    from crawler.settings import BOT_NAME, VERSION

    if (folder / INDEX).exists():
        write_index(folder)
    if (folder / PACKAGE).exists():
        write_wacz(folder, folder / PACKAGE, f"{BOT_NAME} {VERSION}")
    if (folder / "report.html").exists():
        write_report(folder)
