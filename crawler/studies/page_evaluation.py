"""The evaluation of methods that identify labelled pages or texts."""

import argparse
import sys
from collections.abc import Callable
from typing import Any, Final

from langfocus.classifiers.datasets.rows import Dataset
from langfocus.classifiers.datasets.texts import LabelledPage, LabelledTexts
from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.pages.method import Surroundings
from langfocus.classifiers.pages.methods import method as page_method
from langfocus.classifiers.papers import page_cases
from langfocus.classifiers.papers.page_cases import Cases, MethodRun, Progress, found_methods
from langfocus.classifiers.papers.page_tables import results
from langfocus.crawler.report.progress import Display
from langfocus.crawler.report.table import WIDE, Printer
from langfocus.crawler.simulate.recorded_links import RecordedLinks
from langfocus.crawler.simulate.webgraph import WebGraph
from langfocus.crawler.studies.report import print_facts, print_result, write_study

Pages = LabelledTexts | Dataset[LabelledPage]

_SHORT: Final = "short"
"""The experiment with pages that are cut."""


def evaluate_pages(source: Pages, opts: argparse.Namespace) -> None:
    """Run each method on all cases, print the tables and write the file.

    The finished methods are printed and written even after Ctrl-C or an error. Raises StudyError
    for wrong arguments before data are read.
    """
    for name in opts.experiments:
        if name != _SHORT:
            raise StudyError(f"{name!r}: the only experiment on pages is {_SHORT}; see --methods")
    if isinstance(source, LabelledTexts) and (opts.graph or opts.experiments):
        raise StudyError(f"{_SHORT} and --graph are for pages; these are texts")
    methods = found_methods(opts.methods)
    with Display(sys.stderr) as display:
        cases, found = _cases(source, opts, display.count)
    if not cases.cases:
        raise StudyError(f"{source.path}: no rows in these languages")
    languages = len({case.language for case in cases.cases})
    facts = {"data": source.path.name, cases.sort: len(cases.cases), "languages": languages}
    facts |= {"rows skipped": source.skipped, **found}
    runs: list[MethodRun] = []
    try:
        with Display(sys.stderr) as display:
            for method in methods:
                runs.append(page_cases.run_of(method, cases.cases, display.count))
    finally:
        if unfinished := [method.name for method in methods[len(runs) :]]:
            facts["not carried out"] = unfinished
        if runs:
            tables = results(cases, runs)
            printer = Printer(width=WIDE)
            print_facts(facts, printer)
            print_result(tables, printer)
            facts["confusion"] = {run.name: run.confusion() for run in runs}
            data = (source.path, opts.labels, opts.graph)
            write_study(opts.json, facts, [tables], data)


def _cases(
    source: Pages, opts: argparse.Namespace, on_progress: Progress
) -> tuple[Cases, dict[str, Any]]:
    """Return the cases for the methods, and facts about them."""
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
        cases, left_out = page_cases.shortened(cases, page_method())
        facts["cut"] = (
            "to 5-24 and 25-49 characters in turn, from the text of each page; left out, because "
            f"their text is short or not in the language of the label: {left_out:,}"
        )
    return cases, facts
