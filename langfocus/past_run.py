"""A run folder, read: its figures and its pages."""

from collections.abc import Iterator
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.run_reader import reading

if TYPE_CHECKING:
    from crawler.report.harvest import Summary

_PAGE = "page"


class Page(NamedTuple):
    """A URL that a crawl is done with, as it stands in `run.db`."""

    url: str
    host: str
    parent: str | None
    """The page that linked here first; None for a seed."""
    depth: int
    """Links from the nearest seed, on the way on which the URL was found."""
    outcome: str
    """`page`, or the reason why there is none: `redirect`, `robots`, `timeout`, ..."""
    status: int | None
    """HTTP status; None where no answer came."""
    language: str | None
    """Code of the language; None for a page without a label."""
    confidence: float | None
    """0 to 1; None for a page without a label."""
    method: str | None
    """The evidence that decided about the language."""
    charset: str | None
    country: str | None
    """Country of the server; None where no database of countries was given."""
    bytes: int
    """Size of the body as received."""
    score: float
    """Score of the ordering before the fetch."""
    fetched_at: float
    """Unix seconds."""


class Run:
    """The run in a folder, also while the crawl goes on.

    Raises `RunFolderError` if the folder holds no run.
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
        from crawler.report.harvest import summarise

        return summarise(self.folder)

    def pages(self, *, with_failures: bool = False) -> Iterator[Page]:
        """Yield the downloaded pages in the order of the crawl, read from disk one by one.

        With `with_failures` also the URLs that gave no page: redirects, errors of the network,
        refusals by robots.txt.
        """
        chosen = "" if with_failures else "WHERE outcome = ?"
        values = () if with_failures else (_PAGE,)
        query = f"SELECT {', '.join(Page._fields)} FROM pages {chosen} ORDER BY id"  # noqa: S608
        with reading(self.folder) as connection:
            for row in connection.execute(query, values):
                yield Page._make(row)

    def table(self, *, with_failures: bool = False) -> dict[str, list[Any]]:
        """Return the pages as columns: field of `Page` -> list of its values.

        `pandas.DataFrame(run.table())` and `pyarrow.table(run.table())` take it as it is.
        """
        rows = list(self.pages(with_failures=with_failures))
        return {name: list(map(attrgetter(name), rows)) for name in Page._fields}

    def write_report(self) -> Path:
        """Write `report.html` and `summary.json` into the folder; return the path of the former."""
        from crawler.report.html import write_report

        write_report(self.folder)
        return self.folder / "report.html"
