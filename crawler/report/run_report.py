"""The report of a run folder: that of a crawl, or that of a census."""

from pathlib import Path
from typing import Any

from crawler.errors import SettingError
from crawler.report.census import CensusView, census_json, print_census, write_census
from crawler.report.crawl_page import write_report
from crawler.report.crawl_tables import print_summary
from crawler.report.labels import label_report
from crawler.report.printer import WIDE, Printer
from crawler.run import reading


def report(folder: Path, labels: Path | None = None) -> tuple[dict[str, Any], Path]:
    """Write the files of a run and print its tables; return its figures and the page.

    `labels` is a file of a person's labels. Raises SettingError for one that belongs to another
    run, and for labels of a census.
    """
    if not _is_census(folder):
        by_labels = None if labels is None else label_report(folder, labels)
        table = None if by_labels is None else by_labels.table()
        summary = write_report(folder, table)
        print_summary(summary)
        figures = summary.as_json()
        if by_labels is not None and table is not None:
            Printer(width=WIDE).table(table)
            figures["labels"] = by_labels.as_json()
        return figures, folder / "report.html"
    if labels is not None:
        raise SettingError(f"{folder}: is a census; --labels is for the harvest rate of a crawl")
    census = write_census(folder)
    print_census(census, CensusView())
    return census_json(census), folder / "census.html"


def _is_census(folder: Path) -> bool:
    with reading(folder) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'hosts'").fetchone()
    return bool(row and row[0])
