"""`langfocus evaluate` on labelled pages and texts: runs the methods and prints tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from classifiers.errors import StudyError

if TYPE_CHECKING:
    from classifiers.datasets import Dataset, LabelledPage, LabelledTexts
    from classifiers.pages.method import Surroundings
    from classifiers.papers.page_cases import Cases, MethodRun, Progress

    Source = LabelledTexts | Dataset[LabelledPage]

_SHORT: Final = "short"
"""The experiment with pages that are cut."""
_MODULES: Final = (
    "classifiers/pages",
    "classifiers/models/[!u]*.npz",
    "classifiers/papers/[!b]*",
)


def evaluate(source: Source, opts: argparse.Namespace) -> None:
    """Run each method on all cases, print the tables and write the file.

    The finished methods are printed and written even after Ctrl-C or an error. Raises StudyError
    for wrong arguments before data are read.
    """
    from classifiers.papers.page_cases import asked, found_methods
    from crawler.report.progress import Display

    _check(source, opts)
    methods, left_out = found_methods(opts.methods)
    facts: dict[str, Any] = {"data": source.path.name}
    with Display(sys.stderr) as display:
        cases, found = _cases(source, opts, display.count)
    if not cases.cases:
        raise StudyError(f"{source.path}: no rows in these languages")
    facts[cases.sort] = len(cases.cases)
    facts["languages"] = len({case.language for case in cases.cases})
    facts["rows skipped"] = source.skipped
    if left_out:
        facts["left out"] = left_out
    facts |= found
    runs: list[MethodRun] = []
    try:
        with Display(sys.stderr) as display:
            for method in methods:
                runs.append(asked(method, cases.cases, display.count))
    finally:
        if unfinished := [method.name for method in methods[len(runs) :]]:
            facts["not carried out"] = unfinished
        if runs:
            _report(source.path, facts, cases, runs, opts)


def _check(source: Source, opts: argparse.Namespace) -> None:
    from classifiers.datasets import LabelledTexts

    for name in opts.experiments:
        if name != _SHORT:
            raise StudyError(f"{name!r}: the only experiment on pages is {_SHORT}; see --methods")
    if isinstance(source, LabelledTexts) and (opts.graph or opts.experiments):
        raise StudyError(f"{_SHORT} and --graph are for pages; these are texts")


def _cases(
    source: Source, opts: argparse.Namespace, on_progress: Progress
) -> tuple[Cases, dict[str, Any]]:
    """The cases for the methods, and facts about them."""
    from classifiers.datasets import LabelledTexts
    from classifiers.pages.method import Surroundings
    from classifiers.pages.methods import method
    from classifiers.papers.page_cases import (
        cases_of_pages,
        cases_of_texts,
        in_languages,
        shortened,
    )

    if isinstance(source, LabelledTexts):
        return cases_of_texts(in_languages(source, opts.languages)), {}
    facts: dict[str, Any] = {}
    around: Callable[[str], Surroundings] = Surroundings
    if opts.graph is not None:
        around, facts["links in the graph"] = _links(opts.graph)
    cases = cases_of_pages(in_languages(source, opts.languages), on_progress, around)
    if opts.experiments:
        cases, left_out = shortened(cases, method())
        facts["cut"] = (
            "to 5-24 and 25-49 characters in turn, from the text of each page; left out, because "
            f"their text is short or not in the language of the label: {left_out:,}"
        )
    return cases, facts


def _links(folder: Path) -> tuple[Callable[[str], Surroundings], str]:
    """The function that finds the pages around a URL in a graph, and a fact about its links."""
    from crawler.simulate.recorded_links import RecordedLinks
    from crawler.simulate.webgraph import WebGraph

    links = RecordedLinks(WebGraph.open(folder))
    same, number = links.agreement()
    return links.around, f"{100 * same:.1f} % of {number:,} are in one language"


def _report(
    data: Path,
    facts: dict[str, Any],
    cases: Cases,
    runs: Sequence[MethodRun],
    opts: argparse.Namespace,
) -> None:
    from classifiers.papers.pages.tables import results
    from crawler.report.files import write_whole
    from crawler.report.printer import WIDE, Printer
    from crawler.report.provenance import provenance
    from crawler.report.study import page_study_json, print_facts, print_result

    found = results(cases, runs)
    if opts.json:
        paths = [data, *(path for path in (opts.labels, opts.graph) if path)]
        measured = provenance(["langfocus", *sys.argv[1:]], paths, date.today(), modules=_MODULES)
        write_whole(opts.json, page_study_json({"measured": measured, **facts}, runs, found))
    printer = Printer(width=WIDE)
    print_facts(facts, printer)
    print_result(found, printer)
