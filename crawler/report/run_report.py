"""Writes a run's report in the form of its kind, found by name."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from langfocus.crawler.run.folder import kind_of, reading

_REPORTS: Final = {
    "crawl": "langfocus.crawler.report.crawl",
    "census": "langfocus.crawler.census.report",
}
"""Run kind -> module whose `written` writes the report of a folder."""


class Written(NamedTuple):
    """A report in a run folder."""

    page: Path
    figures: Mapping[str, Any]  # as JSON types
    show: Callable[[], None]  # prints its tables


def report(folder: Path, labels: Path | None = None, *, is_quiet: bool = True) -> Written:
    """Write the report files of a run; print the tables unless it `is_quiet`.

    `labels` is a file of a person's labels. Raises `RunFolderError` for a folder without a run,
    `SettingError` for labels that belong to another run, and for labels of a census.
    """
    with reading(folder) as connection:
        module = import_module(_REPORTS[kind_of(connection)])
    written: Written = module.written(folder, labels)
    if not is_quiet:
        written.show()
    return written
