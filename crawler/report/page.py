"""A report: its figures as JSON, its tables in a terminal, and its page.

The page is one HTML file without scripts and network requests. Every text in it is escaped,
because titles, URLs and names of hosts come from the Web.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from crawler.report.chart import Chart
from crawler.report.formatting import Cell, printable, shown
from crawler.report.printer import WIDE, Printer
from crawler.report.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A title, a sentence, the figures that are seen first, and the parts in their order."""

    title: str
    lead: str
    cards: Sequence[tuple[str, Cell]] = ()
    parts: Sequence[Chart | Table | str]
    figures: Mapping[str, Any] = field(default_factory=dict)
    """All figures as JSON types."""

    def html(self) -> str:
        """Return the text of the HTML file."""
        shown_parts = [
            part for part in self.parts if not (isinstance(part, Table) and part.is_empty)
        ]
        template = _environment().get_template("page.html")
        return template.render(report=self, parts=shown_parts)

    def tables(self) -> list[Table]:
        """Return all tables, those of charts too."""
        found = [part.table if isinstance(part, Chart) else part for part in self.parts]
        return [part for part in found if isinstance(part, Table) and not part.is_empty]

    def print(self, printer: Printer | None = None) -> None:
        """Print all tables."""
        printer = printer or Printer(width=WIDE)
        for table in self.tables():
            printer.table(table)


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
