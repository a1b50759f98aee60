"""The report of a run folder: that of a crawl, or that of a census."""

from pathlib import Path
from typing import Any

from crawler.report.census_json import census_json
from crawler.report.census_page import write_census
from crawler.report.census_tables import CensusView, print_census
from crawler.report.crawl_page import write_report
from crawler.report.crawl_tables import print_summary
from crawler.run_reader import reading


def report(folder: Path) -> tuple[dict[str, Any], Path]:
    """Write the files of a run and print its tables; return its figures and the page."""
    if not _is_census(folder):
        summary = write_report(folder)
        print_summary(summary)
        return summary.as_json(), folder / "report.html"
    figures = write_census(folder)
    print_census(figures, CensusView())
    return census_json(figures), folder / "census.html"


def _is_census(folder: Path) -> bool:
    with reading(folder) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'hosts'").fetchone()
    return bool(row and row[0])
