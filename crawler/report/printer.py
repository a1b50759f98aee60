"""Tables and lines in a terminal, a pipe or a file."""

import re
import sys
from textwrap import wrap
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from crawler.report.formatting import in_ascii, printable
from crawler.report.table import Table

WIDTH = 80
"""Columns of a table that goes into a file or a pipe."""

WIDE = 120
"""The same for studies and simulations, whose tables have many columns."""

_LINES = re.compile(r"[^\n\t]+")


class PrintableStream:
    """Standard output for texts from the Web: as they are, but to a terminal without commands."""

    def __init__(self, stream: TextIO) -> None:
        """Write to a stream; the bytes that its `buffer` gets are UTF-8."""
        self._stream = stream
        self.buffer = self if stream.isatty() else stream.buffer

    def write(self, text: str | bytes) -> int:
        """Write a text; tabs and line ends stay."""
        told = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        if self._stream.isatty():
            told = _LINES.sub(lambda line: printable(line[0]), told)
        self._stream.write(told)
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()


class Printer:
    """Prints tables to a stream: with rules and colours to a terminal, as plain ASCII elsewhere."""

    def __init__(self, stream: TextIO | None = None, *, width: int = WIDTH) -> None:
        """Print to standard output by default; a terminal decides its width itself."""
        stream = sys.stdout if stream is None else stream
        # A terminal that can only show ASCII gets the same text as a file.
        self.is_terminal = stream.isatty() and "utf" in (stream.encoding or "").lower()
        self._console = Console(
            file=stream,
            width=None if self.is_terminal else width,
            color_system="auto" if self.is_terminal else None,
            markup=False,
            highlight=False,
            emoji=False,
        )

    def line(self, text: str = "") -> None:
        """Print one line, which is never broken."""
        self._console.print(self._clean(text), soft_wrap=True)

    def table(self, table: Table) -> None:
        """Print a table that has rows, and its notes."""
        if table.is_empty:
            return
        self._console.print(Text(self._clean(table.title), style="bold"), soft_wrap=True)
        self._console.print(self._as_rich(table))
        if not self.is_terminal:
            self.line()
        for note in table.notes:
            for line in wrap(note, min(WIDE, self._console.width) - 2):
                self.line(f"  {line}")
        if table.notes:
            self.line()

    def _as_rich(self, table: Table) -> RichTable:
        shown = RichTable(header_style="", box=box.SIMPLE_HEAD if self.is_terminal else box.ASCII)
        for place, column in enumerate(table.head):
            # Rich marks a cut text with a letter that is not ASCII; a folded text has no mark.
            shown.add_column(
                self._clean(column),
                justify="left" if place < table.text_columns else "right",
                overflow="fold",
            )
        for row in table.texts:
            shown.add_row(*map(self._clean, row))
        for row in table.paper_texts:
            shown.add_row(*map(self._clean, row), style="dim")
        return shown

    def _clean(self, text: str) -> str:
        return printable(text) if self.is_terminal else in_ascii(printable(text))
