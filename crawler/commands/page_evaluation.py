"""`langfocus evaluate` on labelled pages and texts: runs the methods and prints tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from classifiers.errors import StudyError
from crawler.commands.base import positive, share

if TYPE_CHECKING:
    from classifiers.datasets import Dataset, LabelledPage, LabelledTexts
    from classifiers.papers.page_cases import Cases, Choice, MethodRun, Progress
    from crawler.simulate.recorded_links import RecordedLinks

_OF_URLS: Final = (
    "format",
    "classifiers",
    "content",
    "test",
    "test_sources",
    "urls",
    "mmdb",
    "addresses",
    "resolve",
)
_OF_PAGES: Final = (
    "methods",
    "kinds",
    "held_out",
    "limit",
    "labels",
    "graph",
    "short",
)

_MODULES: Final = (
    "classifiers/pages",
    "classifiers/models/[!u]*.npz",
    "classifiers/papers/[!b]*",
)


@dataclass(frozen=True)
class Question:
    """The methods and the part of the data that they are tested on; empty tuples mean all."""

    methods: Sequence[str] = ()
    languages: Sequence[str] = ()
    kinds: Sequence[str] = ()
    held_out: float | None = None
    """The held-out share, which no method was trained on."""
    limit: int | None = None
    seed: int = 0
    """The seed of the places at which pages are cut."""
    labels: Path | None = None
    """The table with the labels of a WARC file's pages."""
    graph: Path | None = None
    """The graph that has the links of the pages; None without neighbours."""
    is_short: bool = False
    """Whether the pages are cut to fewer than 50 characters."""
    json: Path | None = None


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add the options for pages and texts."""
    group.add_argument(
        "--methods",
        metavar="NAME",
        nargs="+",
        help="methods to compare (default: composite and those of the papers)",
    )
    group.add_argument(
        "--kinds", metavar="KIND", nargs="+", help="pages or texts of these kinds (default: all)"
    )
    group.add_argument(
        "--held-out",
        metavar="SHARE",
        type=share,
        help="only the share that `langfocus train --held-out SHARE` leaves out",
    )
    group.add_argument(
        "--limit",
        metavar="N",
        type=positive,
        help="at most N pages or texts, chosen by their hashes (default: all)",
    )
    group.add_argument(
        "--labels",
        metavar="FILE",
        type=Path,
        help="DATA is a WARC file; the languages of its pages are in this table, with the columns "
        "url and lang",
    )
    group.add_argument(
        "--graph",
        metavar="FOLDER",
        type=Path,
        help="give each page the pages around it in this graph (made by langfocus graph --from)",
    )
    group.add_argument(
        "--short",
        action="store_true",
        help="cut each page to fewer than 25 or to 25 to 49 characters, drawn with --seed",
    )


def refuse(opts: argparse.Namespace) -> None:
    """Raise StudyError for options that labelled URLs do not have."""
    for name in _OF_PAGES:
        if getattr(opts, name):
            option = name.replace("_", "-")
            raise StudyError(f"--{option} is for labelled pages and texts; these are URLs")


def check(experiments: Sequence[str], opts: argparse.Namespace) -> None:
    """Raise StudyError for arguments that only labelled URLs have."""
    if experiments:
        raise StudyError(f"{experiments[0]!r}: experiments are for URLs; see --methods")
    for name in _OF_URLS:
        if getattr(opts, name):
            option = name.replace("_", "-")
            raise StudyError(f"--{option} is for labelled URLs; these are pages or texts")


def evaluate(
    source: LabelledTexts | Dataset[LabelledPage],
    question: Question,
    progress: Callable[[], AbstractContextManager[Progress | None]],
) -> None:
    """Run each method on all cases, print the tables and write the files.

    `progress` gives a function that shows the progress; it is closed before the tables are printed.
    The finished methods are printed and written even after Ctrl-C or an error.
    """
    from classifiers.papers.page_cases import asked, found_methods

    methods, left_out = found_methods(question.methods)
    with progress() as told:
        cases, found = _cases(source, question, told)
    facts = {**_facts(source, cases, question, left_out), **found}
    runs: list[MethodRun] = []
    try:
        with progress() as told:
            for method in methods:
                runs.append(asked(method, cases.cases, told))
    finally:
        if unfinished := [method.name for method in methods[len(runs) :]]:
            facts["not carried out"] = unfinished
        if runs:
            _report(source.path, facts, cases, runs, question)


def _cases(
    source: LabelledTexts | Dataset[LabelledPage],
    question: Question,
    on_progress: Progress | None,
) -> tuple[Cases, dict[str, Any]]:
    """The cases for the methods, and facts about them; StudyError if no case is left."""
    from classifiers.datasets import LabelledTexts
    from classifiers.papers.page_cases import Choice, cases_of_texts, selected

    choice = Choice(question.languages, question.kinds, question.held_out or 1.0, question.limit)
    facts: dict[str, Any] = {}
    if isinstance(source, LabelledTexts):
        if question.graph is not None or question.is_short:
            raise StudyError("--graph and --short are for pages; these are texts")
        cases = cases_of_texts(selected(source, choice))
    else:
        cases, facts = _page_cases(source, choice, question, on_progress)
    if not cases.cases:
        raise StudyError(f"{source.path}: no rows in these languages and of these kinds")
    return cases, facts


def _page_cases(
    source: Dataset[LabelledPage],
    choice: Choice,
    question: Question,
    on_progress: Progress | None,
) -> tuple[Cases, dict[str, Any]]:
    from classifiers.pages.method import Surroundings
    from classifiers.pages.methods import method
    from classifiers.papers.page_cases import cases_of_pages, selected, shortened

    facts: dict[str, Any] = {}
    around: Callable[[str], Surroundings] = Surroundings
    if question.graph is not None:
        links = _links(question.graph)
        same, number = links.agreement()
        facts["links in the graph"] = f"{100 * same:.1f} % of {number:,} are in one language"
        around = links.around
    cases = cases_of_pages(selected(source, choice), on_progress, around)
    if question.is_short:
        cases, left_out = shortened(cases, method(), question.seed)
        facts["cut"] = (
            "to 5-24 and 25-49 characters in turn, from the text of each page; left out, because "
            f"their text is short or not in the language of the label: {left_out:,}"
        )
    return cases, facts


def _links(folder: Path) -> RecordedLinks:
    from crawler.simulate.recorded_links import RecordedLinks
    from crawler.simulate.webgraph import WebGraph

    return RecordedLinks(WebGraph.open(folder))


def _facts(
    source: LabelledTexts | Dataset[LabelledPage],
    cases: Cases,
    question: Question,
    left_out: Mapping[str, str],
) -> dict[str, Any]:
    facts: dict[str, Any] = {"data": source.path.name, cases.sort: len(cases.cases)}
    facts["languages"] = len({case.language for case in cases.cases})
    facts["rows skipped"] = source.skipped
    if question.held_out is not None:
        facts["held out"] = question.held_out
    if left_out:
        facts["left out"] = dict(left_out)
    return facts


def _data(data: Path, question: Question) -> list[Path]:
    return [data, *(path for path in (question.labels, question.graph) if path is not None)]


def _report(
    data: Path, facts: dict[str, Any], cases: Cases, runs: Sequence[MethodRun], question: Question
) -> None:
    from classifiers.papers.pages.tables import results
    from crawler.report.files import write_whole
    from crawler.report.printer import WIDE, Printer
    from crawler.report.provenance import provenance
    from crawler.report.study import page_study_json, print_facts, print_result

    found = results(cases, runs)
    if question.json:
        measured = provenance(
            ["langfocus", *sys.argv[1:]], _data(data, question), date.today(), modules=_MODULES
        )
        told = {"measured": measured, **facts}
        write_whole(question.json, page_study_json(told, runs, found))
    printer = Printer(width=WIDE)
    print_facts(facts, printer)
    print_result(found, printer)
