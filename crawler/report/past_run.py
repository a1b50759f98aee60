"""Reads a run folder: its figures and its pages."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from langfocus.crawler.frontier.base import PAGE
from langfocus.crawler.run.folder import reading
from langfocus.crawler.run.page_row import PageRow, read_pages

if TYPE_CHECKING:
    from langfocus.crawler.corpus.item import PageItem
    from langfocus.crawler.report.harvest import Summary


class Run:
    """The run in a folder, also during the crawl.

    Raises `RunFolderError` if the folder has no run.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        with reading(self.folder):
            pass

    def __repr__(self) -> str:
        """Return the expression that opens the run."""
        return f"Run({str(self.folder)!r})"

    @property
    def summary(self) -> "Summary":
        """Return the figures of the run at this moment: pages, harvest rate, hosts, outcomes."""
        from langfocus.crawler.report.harvest import summarise

        return summarise(self.folder)

    def pages(self, *, with_failures: bool = False) -> Iterator[PageRow]:
        """Yield the downloaded pages in the order of the crawl, read from disk one by one.

        With `with_failures` also the URLs without a page: redirects, errors of the network,
        refusals by robots.txt.
        """
        with reading(self.folder) as connection:
            for row in read_pages(connection):
                if with_failures or row.outcome == PAGE:
                    yield row

    def texts(self, **options: Any) -> "Iterator[PageItem]":
        """Yield the texts of the pages in the language, as `langfocus export` writes them.

        `options` are those of `crawler.corpus.building.TextOptions`: `lang`, `extractor`,
        `min_words`, `keeps_copies`, `keeps_repeated`, `keeps_reserved`, `processes`.
        `item.as_dict()` is an item as a dictionary. The first item comes when all pages are read.
        """
        from langfocus.crawler.corpus.building import Corpus, TextOptions

        with TemporaryDirectory(prefix="langfocus-") as work:
            yield from Corpus([self.folder], Path(work), TextOptions(**options))

    def write_report(self) -> Path:
        """Write `summary.json` and `report.html`, of a census `census.html`; return its path."""
        from langfocus.crawler.report.run_report import report

        return report(self.folder).page
