"""`langfocus evaluate` on labelled pages and texts: runs the methods and prints tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from datetime import date
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
    from classifiers.datasets import LabelledTexts
    from classifiers.papers.page_cases import asked, found_methods
    from classifiers.papers.page_tables import results
    from crawler.report.files import write_whole
    from crawler.report.printer import WIDE, Printer
    from crawler.report.progress import Display
    from crawler.report.provenance import provenance
    from crawler.report.study import page_study_json, print_facts, print_result

    for name in opts.experiments:
        if name != _SHORT:
            raise StudyError(f"{name!r}: the only experiment on pages is {_SHORT}; see --methods")
    if isinstance(source, LabelledTexts) and (opts.graph or opts.experiments):
        raise StudyError(f"{_SHORT} and --graph are for pages; these are texts")
    methods, left_out = found_methods(opts.methods)
    with Display(sys.stderr) as display:
        cases, found = _cases(source, opts, display.count)
    if not cases.cases:
        raise StudyError(f"{source.path}: no rows in these languages")
    languages = len({case.language for case in cases.cases})
    facts = {"data": source.path.name, cases.sort: len(cases.cases), "languages": languages}
    facts |= {
        "rows skipped": source.skipped,
        **({"left out": left_out} if left_out else {}),
        **found,
    }
    runs: list[MethodRun] = []
    try:
        with Display(sys.stderr) as display:
            for method in methods:
                runs.append(asked(method, cases.cases, display.count))
    finally:
        if unfinished := [method.name for method in methods[len(runs) :]]:
            facts["not carried out"] = unfinished
        if runs:
            tables = results(cases, runs)
            printer = Printer(width=WIDE)
            print_facts(facts, printer)
            print_result(tables, printer)
        if runs and opts.json:
            paths = [path for path in (source.path, opts.labels, opts.graph) if path]
            line = ["langfocus", *sys.argv[1:]]
            measured = provenance(line, paths, date.today(), modules=_MODULES)
            write_whole(opts.json, page_study_json({"measured": measured, **facts}, runs, tables))


def _cases(
    source: Source, opts: argparse.Namespace, on_progress: Progress
) -> tuple[Cases, dict[str, Any]]:
    """The cases for the methods, and facts about them."""
    from classifiers.datasets import LabelledTexts
    from classifiers.pages.method import Surroundings
    from classifiers.pages.methods import method
    from classifiers.papers import page_cases
    from crawler.simulate.recorded_links import RecordedLinks
    from crawler.simulate.webgraph import WebGraph

    if isinstance(source, LabelledTexts):
        return page_cases.cases_of_texts(page_cases.in_languages(source, opts.languages)), {}
    facts: dict[str, Any] = {}
    around: Callable[[str], Surroundings] = Surroundings
    if opts.graph is not None:
        links = RecordedLinks(WebGraph.open(opts.graph))
        same, number = links.agreement()
        facts["links in the graph"] = f"{100 * same:.1f} % of {number:,} are in one language"
        around = links.around
    pages = page_cases.in_languages(source, opts.languages)
    cases = page_cases.cases_of_pages(pages, on_progress, around)
    if opts.experiments:
        cases, left_out = page_cases.shortened(cases, method())
        facts["cut"] = (
            "to 5-24 and 25-49 characters in turn, from the text of each page; left out, because "
            f"their text is short or not in the language of the label: {left_out:,}"
        )
    return cases, facts
