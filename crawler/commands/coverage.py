"""`langfocus coverage`: the share of relevant pages that crawls found, without ground truth."""

import argparse
from pathlib import Path

from crawler.command import LangfocusCommand

_MANUAL = """\
The runs are crawls for one language by different strategies, or from different seeds: the less they
have in common, the better the estimate. All of them should have ended because nothing was queued;
a budget of pages makes them share fewer pages, and the estimate higher.

Crawls are not independent, so the coverage is mostly too high (docs/report.md).

examples:
  langfocus coverage runs/de-focus runs/de-random
  langfocus coverage runs/de-seeds-1 runs/de-seeds-2 runs/de-seeds-3 --json coverage.json
"""


class CoverageCommand(LangfocusCommand):
    """Estimates the relevant pages that exist from those that several runs share."""

    usage = "RUN_FOLDER RUN_FOLDER... [--json FILE]"
    summary = "Estimate how many relevant pages crawls have missed"
    description = (
        "Estimates how many pages in the language exist, and the share of them that each crawl "
        "found, from the pages that two crawls or more have in common (capture and recapture). The "
        "hosts with such pages are estimated too."
    )
    json_help = "write the figures to FILE, as JSON"

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _MANUAL

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the table of the runs that are named."""
        from crawler.report.coverage_report import coverage_report
        from crawler.report.printer import WIDE, Printer

        found = coverage_report([Path(arg) for arg in args])
        Printer(width=WIDE).table(found.table())
        self.write_json(opts, found.as_json())
