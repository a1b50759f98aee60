"""The tables that stand in the terminal at the end of a run."""

import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from crawler.report.formatting import (
    duration,
    in_ascii,
    language_name,
    number,
    percent,
    printable,
    size,
)
from crawler.report.harvest import Summary

WIDTH = 80
"""Columns of a table that goes into a file or a pipe."""

Rows = Iterable[Sequence[str]]


class Printer:
    """Prints tables to a stream: with rules and colours to a terminal, as plain ASCII elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        stream = sys.stdout if stream is None else stream
        # A terminal that can only show ASCII gets what a file gets.
        self.is_terminal = stream.isatty() and "utf" in (stream.encoding or "").lower()
        self._console = Console(
            file=stream,
            width=None if self.is_terminal else WIDTH,
            color_system="auto" if self.is_terminal else None,
            markup=False,
            highlight=False,
            emoji=False,
        )

    def line(self, text: str = "") -> None:
        """Print one line, which is never broken."""
        self._console.print(self._clean(text), soft_wrap=True)

    def table(self, title: str, columns: Sequence[str], rows: Rows, *, faint: Rows = ()) -> None:
        """Print a table whose first column is text and whose others are figures.

        `faint` rows follow the others and stand back where the terminal can do that.
        """
        table = Table(header_style="", box=box.SIMPLE_HEAD if self.is_terminal else box.ASCII)
        for place, column in enumerate(columns):
            justify: JustifyMethod = "right" if place else "left"
            # Rich marks what it cuts with a letter that is not ASCII; it breaks the text instead.
            table.add_column(self._clean(column), justify=justify, overflow="fold")
        for row in rows:
            table.add_row(*map(self._clean, row))
        for row in faint:
            table.add_row(*map(self._clean, row), style="dim")
        self._console.print(Text(self._clean(title), style="bold"), soft_wrap=True)
        self._console.print(table)
        if not self.is_terminal:
            self.line()

    def _clean(self, text: str) -> str:
        return printable(text) if self.is_terminal else in_ascii(printable(text))


def print_summary(summary: Summary, stream: TextIO | None = None) -> None:
    """Print the end-of-run table to a stream, standard output by default."""
    printer = Printer(stream)
    title = f"{language_name(summary.lang)} ({summary.lang}), strategy {summary.strategy}"
    printer.table(title, ("", "Run"), headline(summary))
    if summary.languages:
        printer.table("Languages", ("language", "pages", "share"), language_rows(summary))
    if summary.outcomes:
        printer.table("Outcomes", ("outcome", "URLs", "share"), shares(summary.outcomes))


def headline(summary: Summary) -> list[tuple[str, str]]:
    """The figures that tell how a run went, as (name, figure)."""
    rows = [
        ("pages", f"{summary.pages:,}"),
        ("pages with a label", f"{summary.labelled:,}"),
        (f"relevant (in {language_name(summary.lang)})", f"{summary.relevant:,}"),
        ("harvest rate", percent(summary.harvest_rate)),
        ("harvest rate, last 200 pages", percent(summary.harvest_last_200)),
        ("pages without a label", f"{summary.unlabelled:,}"),
        ("hosts", f"{summary.hosts:,}"),
        ("most pages of one host", f"{summary.max_pages_per_host:,}"),
        ("downloaded", size(summary.bytes)),
        ("time", duration(summary.seconds)),
        ("pages per second", number(summary.pages_per_second)),
        ("finish reason", finish(summary)),
    ]
    if summary.coverage is not None:
        rows.insert(5, ("coverage", percent(summary.coverage)))
    return rows


def finish(summary: Summary) -> str:
    """Why a run ended, or that nobody noted why."""
    return summary.finish_reason or "running or killed"


def language_rows(summary: Summary, top: int = 10) -> list[tuple[str, str, str]]:
    """The most frequent languages as (name, pages, share of the labelled pages)."""
    named = {f"{language_name(code)} ({code})": n for code, n in summary.languages.items()}
    return shares(named, top)


def shares(counts: dict[str, int], top: int = 10) -> list[tuple[str, str, str]]:
    """The first `top` counts as (name, count, share of all); the others together in one row."""
    total = sum(counts.values())
    shown = dict(list(counts.items())[:top])
    rest = total - sum(shown.values())
    if rest:
        shown[f"{len(counts) - top} others"] = rest
    return [(label, f"{count:,}", percent(count / total)) for label, count in shown.items()]
