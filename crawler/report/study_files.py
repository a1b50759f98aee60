"""The results of a study in the terminal, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from crawler.report.files import json_text
from crawler.report.formatting import duration
from crawler.report.markdown import markdown
from crawler.report.study_tables import study_table

if TYPE_CHECKING:
    from classifiers.papers.page_cases import MethodRun
    from classifiers.papers.table import MeasureTable, Result
    from crawler.report.printer import Printer

Facts = Mapping[str, Any]

_LEAD: Final = (
    "Figures are percentages: ours and, in brackets or in the column *paper*, those of the paper;"
    " *sd* is the standard deviation over the folds."
)
_LEAD_OF_PAGES: Final = (
    "Figures are percentages of pages or texts, unless noted otherwise; the figures of the papers"
    " are in brackets."
)


def print_facts(facts: Facts, printer: Printer) -> None:
    """Print the facts about an evaluation, one per line."""
    for name, value in facts.items():
        printer.line(f"{name}: {_fact(value)}")
    printer.line()


def print_result(result: Result, printer: Printer) -> None:
    """Print the tables of an experiment."""
    for measured in result.tables:
        printer.table(study_table(measured))


def study_markdown(facts: Facts, results: Iterable[Result], pictures: str = "") -> str:
    """The results for labelled URLs; `pictures` is the folder of the plots in the file's links."""
    lines = [_LEAD, "", *_facts(facts)]
    for result in results:
        lines += ["", f"## {result.experiment}", "", f"Computed in {duration(result.seconds)}."]
        for measured in result.tables:
            lines += _section("###", measured)
        if pictures:
            for figure in result.figures:
                lines += ["", f"![{figure.title}]({pictures}/{figure.name}.svg)"]
    return "\n".join(lines) + "\n"


def page_study_markdown(facts: Facts, result: Result) -> str:
    """The results for labelled pages or texts."""
    lines = [_LEAD_OF_PAGES, "", *_facts(facts)]
    for measured in result.tables:
        lines += _section("##", measured)
    return "\n".join(lines) + "\n"


def study_json(facts: Facts, results: Iterable[Result]) -> str:
    """The results for labelled URLs as the text of a JSON file."""
    return json_text({**facts, "experiments": [result.as_json() for result in results]})


def page_study_json(facts: Facts, runs: Sequence[MethodRun], result: Result) -> str:
    """The results for labelled pages or texts, with the confusion matrix of each method."""
    return json_text(
        {
            **facts,
            "tables": [_plain(measured) for measured in result.tables],
            "cpu_ms": {run.name: round(run.ms_per_page, 4) for run in runs},
            "confusion": {run.name: run.confusion() for run in runs},
        }
    )


def _facts(facts: Facts) -> list[str]:
    return [f"- {name}: {_fact(value)}" for name, value in facts.items()]


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _section(level: str, measured: MeasureTable) -> list[str]:
    table = study_table(measured, with_all=True)
    return ["", f"{level} {table.title}", "", *markdown(table)]


def _plain(measured: MeasureTable) -> dict[str, Any]:
    """A table with counts as numbers, and without the marks that only a study of URLs has."""
    content = measured.as_json()
    for row in content["rows"]:
        del row["best"], row["best_in_paper"]
        row.update({key: int(row[key]) for key in measured.heads if row[key].isdecimal()})
        row["figures"] = {name: _cell(figure) for name, figure in row["figures"].items()}
    return content


def _cell(figure: Mapping[str, float | None]) -> Any:
    """Our figure, with the paper's if there is one."""
    if figure["paper"] is None:
        return figure["ours"]
    return {name: figure[name] for name in ("ours", "paper", "difference")}
