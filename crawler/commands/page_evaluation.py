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
from crawler.command import positive, share

if TYPE_CHECKING:
    from classifiers.lab.datasets import LabelledPages, LabelledTexts
    from classifiers.lab.study.page_runs import Cases, MethodRun, Progress

_OF_URLS: Final = (
    "format",
    "classifiers",
    "test",
    "test_sources",
    "urls",
    "model",
    "cluster",
    "mmdb",
    "addresses",
    "resolve",
    "plots",
)
_OF_PAGES: Final = ("methods", "kinds", "held_out", "limit", "surroundings")


@dataclass(frozen=True)
class Question:
    """The methods and the part of the data that they are tested on; empty tuples mean all."""

    methods: Sequence[str] = ()
    languages: Sequence[str] = ()
    kinds: Sequence[str] = ()
    held_out: float | None = None
    """The held-out share, which no method was trained on."""
    limit: int | None = None
    seed: int | None = None
    """The seed of simulated surroundings; None without them."""
    json: Path | None = None
    markdown: Path | None = None


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
        "--surroundings",
        action="store_true",
        help="give each text simulated inlinks and a URL, drawn with --seed",
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
    source: LabelledTexts | LabelledPages,
    question: Question,
    progress: Callable[[], AbstractContextManager[Progress | None]],
) -> None:
    """Run each method on all cases, print the tables and write the files.

    `progress` gives a function that shows the progress; it is closed before the tables are printed.
    The finished methods are printed and written even after Ctrl-C or an error.
    """
    from classifiers.lab.study.page_runs import asked, found_methods

    methods, left_out = found_methods(question.methods)
    with progress() as told:
        cases = _cases(source, question, told)
    facts = _facts(source, cases, question, left_out)
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
    source: LabelledTexts | LabelledPages, question: Question, on_progress: Progress | None
) -> Cases:
    """The cases for the methods; StudyError if no case is left."""
    from classifiers.lab.datasets import LabelledPages
    from classifiers.lab.study.page_runs import Choice, cases_of_pages, cases_of_texts, selected

    choice = Choice(question.languages, question.kinds, question.held_out or 1.0, question.limit)
    if isinstance(source, LabelledPages):
        if question.seed is not None:
            raise StudyError("--surroundings is for texts; pages have real ones")
        pages = selected(source, choice)
        cases = cases_of_pages(pages, on_progress)
    else:
        texts = selected(source, choice)
        cases = cases_of_texts(texts, seed=question.seed)
    if not cases.cases:
        raise StudyError(f"{source.path}: no rows in these languages and of these kinds")
    return cases


def _facts(
    source: LabelledTexts | LabelledPages,
    cases: Cases,
    question: Question,
    left_out: Mapping[str, str],
) -> dict[str, Any]:
    facts: dict[str, Any] = {"data": source.path.name, cases.sort: len(cases.cases)}
    facts["languages"] = len({case.language for case in cases.cases})
    facts["rows skipped"] = source.skipped
    if question.held_out is not None:
        facts["held out"] = question.held_out
    if question.seed is not None:
        facts["surroundings"] = f"simulated, seed {question.seed}"
    if left_out:
        facts["left out"] = dict(left_out)
    return facts


def _report(
    data: Path, facts: dict[str, Any], cases: Cases, runs: Sequence[MethodRun], question: Question
) -> None:
    from classifiers.lab.study.page_tables import results
    from crawler.report.files import write_whole
    from crawler.report.markdown import write_markdown
    from crawler.report.printer import WIDE, Printer
    from crawler.report.provenance import provenance
    from crawler.report.study_files import (
        page_study_json,
        page_study_markdown,
        print_facts,
        print_result,
    )

    found = results(cases, runs)
    measured = provenance(["langfocus", *sys.argv[1:]], [data], date.today())
    if question.json:
        told = {"measured": measured, **facts}
        write_whole(question.json, page_study_json(told, cases, runs, found))
    if question.markdown:
        write_markdown(question.markdown, page_study_markdown(facts | measured, found))
    printer = Printer(width=WIDE)
    print_facts(facts, printer)
    for result in found:
        print_result(result, printer)
