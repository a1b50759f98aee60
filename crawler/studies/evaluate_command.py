"""`langfocus evaluate`: the experiments of Baykan 2013 on labelled URLs; methods on pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langfocus.classifiers.errors import StudyError
from langfocus.crawler.commands.base import Parser, language_codes, measured, parts, positive

if TYPE_CHECKING:
    from langfocus.classifiers.datasets.rows import Dataset, LabelledUrl
    from langfocus.classifiers.datasets.texts import LabelledPage, LabelledTexts
    from langfocus.classifiers.pages.method import Surroundings
    from langfocus.classifiers.papers.baykan.measures import Experiment
    from langfocus.classifiers.papers.baykan.study import Study
    from langfocus.classifiers.papers.page_cases import Cases, MethodRun, Progress
    from langfocus.classifiers.papers.table import Result

    Pages = LabelledTexts | Dataset[LabelledPage]

FIVE: Final = ("en", "de", "fr", "es", "it")
"""The languages of the paper, which are the default."""
FOLDS: Final = 10
"""Folds of the cross-validation (Baykan 2013, 3.2)."""

_SEED: Final = 0
_FEW_URLS: Final = 20_000
"""URLs that one process tests as quickly as several; the results do not depend on it."""
_SHORT: Final = "short"
"""The experiment with pages that are cut."""
_OF_URLS: Final = ("classifiers", "content", "test", "urls", "servers")
_OF_PAGES: Final = ("methods", "labels", "graph")

DESCRIPTION = (
    "Trains and tests binary classifiers of URLs, one for each language, by stratified "
    "cross-validation on balanced samples, and shows their precision, recall, p(-|-) and "
    "F1 next to those of Baykan, Henzinger and Weber 2013. With labelled pages or texts it "
    "runs methods that identify pages instead, and shows their accuracy."
)

_MANUAL = """\
docs/data.md describes the formats of DATA. Each URL counts once; URLs of two languages are left
out. After Ctrl-C the file of --json has the finished experiments or methods, and names the others.

experiments on URLs (default: comparison):
  baselines           top-level domains and IP addresses: Tables V-VIII, Figure 1
  words               words as features: Table IX
  ngrams              the best n-grams of each algorithm: Table X
  svm-features        SVM with words and all n-grams: Table XI
  custom              custom-made features: Table XII
  feature-comparison  three feature sets, with and without empty URLs: Table XIII
  comparison          the best of each approach: Table XIV, Figures 3 and 4
  training-sizes      100, 10, 1 and 0.1 % of the training URLs: Figure 5
  domains             test URLs whose domain was trained on: 4.3.1
  tree                the top of the decision tree of the first language: Figure 2
  few-features        15 of 74 custom-made features, chosen greedily: slides of 2008
  domain-disjoint     folds that share no registered domain
  svm-perf            the paper's own SVM beside ours, also on domains not trained on
  best-combination    the best combination of classifiers: slides of 2008, Table 9
  content             trained on URLs and on the texts of --content: slides of 2008, Table 10
  all                 all of these, content only with --content
  test-set            with --test, the default: Tables XV and XVI
  test-sizes          with --test, with 100, 10, 1 and 0.1 % of the training URLs: Figure 6

classifiers:
  cctld, cctld+, ip, ALGORITHM:FEATURES or ip+ALGORITHM:FEATURES
  algorithms  svm, svm-perf (the paper's own), nb, me, dt, re, ros, markov
  features    words, N-grams-from-word, N-grams-from-url, allgrams-from-word, custom, ...

pages and texts:
  There is no training. Tables show accuracy by method, language, length and evidence, CPU time, and
  the results of Hayati 2004, Cai 2009 and Tamura 2007. A default method whose package or file is
  missing is left out, with the reason. The only experiment is short: pages are cut to fewer than 50
  characters, as few labelled pages are that short (Hayati 2004, Table 5.1).

examples:
  langfocus evaluate sample               (a small table that ships, for first steps)
  langfocus evaluate urls.tsv.gz words ngrams --urls 5000 --json figures.json
  langfocus evaluate urls.tsv.gz --classifiers svm:words nb:3-grams-from-word --languages nl da sv
  langfocus evaluate urls.tsv.gz --test flash.tsv --languages en de
  langfocus evaluate urls.tsv.gz baselines --servers GeoLite2-Country.mmdb hosts.tsv
  langfocus evaluate texts.tsv.gz --methods composite,nfc
  langfocus evaluate docs.warc.gz short --labels docs.tsv --graph graphs/docs
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_path("data", "DATA", "labelled URLs, pages or texts")
    parser.add_argument("experiments", metavar="EXPERIMENT", nargs="*", help="see below")
    codes = "languages (default: those of the paper, en de fr es it; for pages and texts: all)"
    parser.add_names("--languages", "CODE", codes)
    parser.add_file("--json", "write all results to FILE")
    names = "URLs: compare these classifiers, with or without an experiment"
    parser.add_names("--classifiers", "NAME", names)
    number = "URLs of each language (default: as many as the language with the fewest has)"
    parser.add_argument("--urls", metavar="N", type=positive, help=number)
    other = "URLs: labelled URLs of another source or year: train on DATA, test on these"
    parser.add_path("--test", "FILE", other)
    texts = "URLs: labelled texts or pages that the experiment `content` trains on"
    parser.add_path("--content", "PATH", texts)
    parser.add_argument(
        "--servers",
        metavar=("MMDB", "ADDRESSES"),
        nargs=2,
        type=Path,
        help="URLs: countries of servers, for ip: a MaxMind database of countries or cities, and "
        "a file of lines with a host, a tab and its address",
    )
    methods = "pages: methods to compare (default: composite and those of the papers)"
    parser.add_names("--methods", "NAME", methods)
    labels = "pages: DATA is a WARC file; FILE is a table with the columns url and lang"
    parser.add_path("--labels", "FILE", labels)
    graph = "pages: give each page its neighbours in this graph (made by langfocus graph --from)"
    parser.add_path("--graph", "FOLDER", graph)


def run(opts: argparse.Namespace) -> None:
    """Run the evaluation that fits the data, and print tables."""
    from langfocus.classifiers.datasets.texts import recognised
    from langfocus.crawler.studies.labelled_pages import ArchivedPages

    opts.languages = language_codes(opts.languages)
    opts.classifiers, opts.methods = parts(opts.classifiers), parts(opts.methods)
    source = ArchivedPages(opts.data, opts.labels) if opts.labels else recognised(opts.data)
    if source is None:
        _refuse(opts, _OF_PAGES, "labelled pages and texts; these are URLs")
        _evaluate_urls(opts)
    else:
        _refuse(opts, _OF_URLS, "labelled URLs; these are pages or texts")
        _evaluate_pages(source, opts)


def _refuse(opts: argparse.Namespace, options: Sequence[str], reason: str) -> None:
    for name in options:
        if getattr(opts, name):
            raise StudyError(f"--{name} is for {reason}")


def _evaluate_urls(opts: argparse.Namespace) -> None:
    """Run the named experiments, print their tables and write the file.

    Finished experiments are written even after Ctrl-C or an error. Raises StudyError for wrong
    arguments before data are read.
    """
    from langfocus.classifiers.datasets import open_dataset
    from langfocus.crawler.report.progress import Display
    from langfocus.crawler.report.table import WIDE, Printer
    from langfocus.crawler.studies.report import print_facts, print_result

    wanted = _wanted(opts)
    source = open_dataset(opts.data)
    tested = open_dataset(opts.test) if opts.test else None
    printer = Printer(width=WIDE)
    done: list[Result] = []
    try:
        with Display(sys.stderr) as display:
            study = _study(source, tested, partial(display.count, "cross-validation"), opts)
            facts = _facts(study, source, tested)
            print_facts(facts, printer)
            for experiment in wanted:
                done.append(experiment.carried_out(study))
                print_result(done[-1], printer)
    finally:
        if done:
            if unfinished := [row.name for row in wanted[len(done) :]]:
                facts["not carried out"] = unfinished
            _write(opts.json, facts, done, (source.path, opts.test, opts.content))


def _write(
    file: Path | None,
    facts: dict[str, Any],
    results: Sequence[Result],
    data: Sequence[Path | None],
) -> None:
    """Write the file of --json, if it was asked for."""
    from langfocus.crawler.run.whole_file import write_whole
    from langfocus.crawler.studies.report import study_json

    if file is not None:
        told = {"measured": measured(filter(None, data)), **facts}
        write_whole(file, study_json(told, results))


def _wanted(opts: argparse.Namespace) -> list[Experiment]:
    """The experiments to run; the arguments are checked before data are read."""
    from langfocus.classifiers.datasets.texts import recognised
    from langfocus.classifiers.papers.baykan.algorithms import parse
    from langfocus.classifiers.papers.baykan.experiments import (
        EXPERIMENTS,
        OF_TEST_SET,
        of_classifiers,
    )

    if opts.content and recognised(opts.content) is None:
        raise StudyError(f"--content {opts.content}: neither labelled texts nor labelled pages")
    for name in opts.classifiers:
        if parse(name).needs_addresses and not opts.servers:
            raise StudyError(f"{name} needs the countries of servers: give --servers")
    if opts.urls is not None and opts.urls < FOLDS and not opts.test:
        raise StudyError(f"--urls {opts.urls}: {FOLDS} or more are needed, one for each fold")
    known = OF_TEST_SET if opts.test else EXPERIMENTS
    named = list(dict.fromkeys(opts.experiments))
    for name in named:
        if name in OF_TEST_SET and not opts.test:
            raise StudyError(f"experiment {name} needs a test set: give --test")
        if name == "content" and not opts.content:
            raise StudyError("experiment content needs texts or pages: give --content")
        if name not in known and name != "all":
            raise StudyError(f"experiment {name!r} is none of {', '.join(known)}, all")
    if "all" in named:
        named = [name for name in known if name != "content" or opts.content]
    if not named and not opts.classifiers:
        named = ["test-set" if opts.test else "comparison"]
    chosen = [of_classifiers(opts.classifiers)] if opts.classifiers else []
    return [*chosen, *(known[name] for name in named)]


def _study(
    source: Dataset[LabelledUrl],
    tested: Dataset[LabelledUrl] | None,
    on_progress: Callable[[int, int], None],
    opts: argparse.Namespace,
) -> Study:
    from joblib import cpu_count

    from langfocus.classifiers.papers.baykan.grams import listed, locate
    from langfocus.classifiers.papers.baykan.samples import draw, joined
    from langfocus.classifiers.papers.baykan.special import texts_of
    from langfocus.classifiers.papers.baykan.study import Study

    languages = opts.languages or FIVE
    least = FOLDS if tested is None else 2
    corpus = draw(list(source), languages, urls=opts.urls, least=least, seed=_SEED)
    if tested is not None:
        corpus = joined(corpus, tested)
    servers = (
        locate(corpus.urls, opts.servers[0], listed(opts.servers[1])) if opts.servers else None
    )
    return Study(
        corpus,
        n_folds=FOLDS,
        seed=_SEED,
        jobs=1 if len(corpus.urls) < _FEW_URLS else int(cpu_count()),
        servers=servers,
        texts=texts_of(opts.content, languages) if opts.content and not opts.test else None,
        on_progress=on_progress,
    )


def _facts(
    study: Study, source: Dataset[LabelledUrl], tested: Dataset[LabelledUrl] | None
) -> dict[str, Any]:
    facts: dict[str, Any] = {"data": source.path.name, "rows skipped": source.skipped}
    if tested is not None:
        facts |= {"test data": tested.path.name, "test rows skipped": tested.skipped}
    facts |= {"languages": list(study.languages), "seed": study.seed}
    facts["URLs of each language"] = study.corpus.per_language
    if study.n_folds > 1:
        facts["folds"] = study.n_folds
    if study.servers is not None:
        facts["hosts with a country"] = len(study.servers)
    return facts


def _evaluate_pages(source: Pages, opts: argparse.Namespace) -> None:
    """Run each method on all cases, print the tables and write the file.

    The finished methods are printed and written even after Ctrl-C or an error. Raises StudyError
    for wrong arguments before data are read.
    """
    from langfocus.classifiers.datasets.texts import LabelledTexts
    from langfocus.classifiers.papers.page_cases import asked, found_methods
    from langfocus.classifiers.papers.page_tables import results
    from langfocus.crawler.report.progress import Display
    from langfocus.crawler.report.table import WIDE, Printer
    from langfocus.crawler.studies.report import print_facts, print_result

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
                runs.append(asked(method, cases.cases, display.count))
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
            _write(opts.json, facts, [tables], data)


def _cases(
    source: Pages, opts: argparse.Namespace, on_progress: Progress
) -> tuple[Cases, dict[str, Any]]:
    """The cases for the methods, and facts about them."""
    from langfocus.classifiers.datasets.texts import LabelledTexts
    from langfocus.classifiers.pages.method import Surroundings
    from langfocus.classifiers.pages.methods import method
    from langfocus.classifiers.papers import page_cases
    from langfocus.crawler.simulate.recorded_links import RecordedLinks
    from langfocus.crawler.simulate.webgraph import WebGraph

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
