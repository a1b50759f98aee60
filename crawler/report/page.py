"""The page of a report: one HTML file without scripts and network requests.

Every text is escaped, because titles, URLs and names of hosts come from the Web.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from crawler.report.formatting import Cell, printable, shown
from crawler.report.plots import Plot
from crawler.report.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Plots side by side, notes, then tables, below one heading."""

    title: str
    plots: Sequence[Plot] = ()
    notes: Sequence[str] = ()
    tables: Sequence[Table] = ()
    is_folded: bool = False
    """Whether a reader opens the tables, which have the figures of the plots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A title, a sentence, the figures that are seen first, and the parts in their order.

    A table or a plot is a section of its own, a text is a note.
    """

    title: str
    lead: str
    cards: Sequence[tuple[str, Cell]] = ()
    parts: Sequence[Section | Plot | Table | str]

    def html(self) -> str:
        """Return the text of the HTML file."""
        return _environment().get_template("page.html").render(page=self, sections=self._sections())

    def tables(self) -> list[Table]:
        """Return all tables of the page."""
        return [
            table
            for section in self._sections()
            for table in (*(plot.table for plot in section.plots), *section.tables)
            if table is not None
        ]

    def _sections(self) -> Iterator[Section]:
        for part in self.parts:
            if isinstance(part, Plot):
                yield Section(title=part.title, plots=[part])
            elif isinstance(part, str):
                yield Section(title="", notes=[part])
            elif isinstance(part, Section):
                yield part
            elif not part.is_empty:
                yield Section(title=part.title, tables=[part])


@cache
def _environment() -> "Environment":
    # A crawl imports this module at its start and needs Jinja2 at its end only.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("crawler.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalised,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _finalised(value: Any) -> Any:
    """A value as a text without invisible letters, which could hide a part of an address."""
    is_markup = hasattr(value, "__html__")
    return value if is_markup else printable(shown(value))
