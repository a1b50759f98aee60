"""What a study of pages or texts found, as text, as Markdown and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from classifiers.lab.study.page_measures import confusion
from classifiers.lab.study.page_runs import Cases, MethodRun
from classifiers.lab.study.result import MeasureTable, Result
from crawler.report.files import write_whole
from crawler.report.study import WidePrinter, cells, head, print_result, write_markdown

_LEAD: Final = (
    "Figures are percentages of pages or texts, if nothing else is said; in brackets stand those"
    " of the papers."
)

Facts = Mapping[str, Any]


def show(facts: Facts, results: Iterable[Result]) -> None:
    """Print facts and tables to standard output."""
    printer = WidePrinter()
    for name, value in facts.items():
        printer.line(f"{name}: {_fact(value)}")
    printer.line()
    for result in results:
        print_result(result, printer)


def write_json(
    path: Path, facts: Facts, cases: Cases, runs: Sequence[MethodRun], results: Iterable[Result]
) -> Path:
    """A file with all tables and the whole confusion of each method."""
    content = {
        **facts,
        "tables": [_plain(table) for result in results for table in result.tables],
        "cpu_ms": {run.name: round(run.ms_per_page, 4) for run in runs},
        "confusion": {run.name: confusion(cases, run) for run in runs},
    }
    text = json.dumps(_defined(content), indent=1, ensure_ascii=False, allow_nan=False)
    return write_whole(path, text + "\n")


def write_page(path: Path, facts: Facts, results: Iterable[Result]) -> Path:
    """A Markdown file with all tables, between the marks of `scrapy evaluate` if it has them."""
    lines = [_LEAD, "", *(f"- {name}: {_fact(value)}" for name, value in facts.items())]
    for result in results:
        for table in result.tables:
            heading = f"{table.title} ({table.source})" if table.source else table.title
            lines += ["", f"## {heading}", "", *_markdown(table)]
            lines += [line for note in table.notes for line in ("", _escaped(note))]
    return write_markdown(path, "\n".join(lines) + "\n")


def _plain(table: MeasureTable) -> dict[str, Any]:
    """The table for programs: counts are numbers; without what only a study of URLs has."""
    content = table.as_json()
    for row in content["rows"]:
        del row["best"], row["best_in_paper"]
        row.update({key: int(row[key]) for key in table.heads if row[key].isdecimal()})
        row["figures"] = {name: _cell(figure) for name, figure in row["figures"].items()}
    return content


def _cell(figure: Mapping[str, float | None]) -> Any:
    """Our figure; beside the paper's where there is one."""
    if figure["paper"] is None:
        return figure["ours"]
    return {name: figure[name] for name in ("ours", "paper", "difference")}


def _defined(value: Any) -> Any:
    """The same with None for what is undefined, since JSON has no nan."""
    if isinstance(value, Mapping):
        return {key: _defined(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _markdown(table: MeasureTable) -> list[str]:
    columns = head(table)
    ruler = [":--" if place < len(table.heads) else "--:" for place in range(len(columns))]
    rows = [cells(table, row) for row in table.rows]
    return [_line(columns), _line(ruler), *(_line(row) for row in rows)]


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(text) for text in texts)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
