"""The evaluation of classifiers on labelled URLs: the experiments of Baykan 2013."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from joblib import cpu_count

from langfocus.classifiers.datasets import open_dataset
from langfocus.classifiers.datasets.rows import Dataset, LabelledUrl
from langfocus.classifiers.datasets.texts import recognised
from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.papers.baykan.algorithms import parse
from langfocus.classifiers.papers.baykan.experiments import EXPERIMENTS, OF_TEST_SET, of_classifiers
from langfocus.classifiers.papers.baykan.grams import listed, locate
from langfocus.classifiers.papers.baykan.measures import Experiment
from langfocus.classifiers.papers.baykan.samples import draw, joined
from langfocus.classifiers.papers.baykan.special import texts_of
from langfocus.classifiers.papers.baykan.study import Study
from langfocus.classifiers.papers.table import Result
from langfocus.crawler.report.progress import Display
from langfocus.crawler.report.table import WIDE, Printer
from langfocus.crawler.studies.report import print_facts, print_result, write_study

FIVE: Final = ("en", "de", "fr", "es", "it")
"""The languages of the paper, which are the default."""
FOLDS: Final = 10
"""Folds of the cross-validation (Baykan 2013, 3.2)."""

_SEED: Final = 0
_FEW_URLS: Final = 20_000
"""URLs that one process tests as quickly as several; the results do not depend on it."""


def evaluate_urls(opts: argparse.Namespace) -> None:
    """Run the named experiments, print their tables and write the file.

    Finished experiments are written even after Ctrl-C or an error. Raises StudyError for wrong
    arguments before data are read.
    """
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
            write_study(opts.json, facts, done, (source.path, opts.test, opts.content))


def _wanted(opts: argparse.Namespace) -> list[Experiment]:
    """Return the experiments to run; the arguments are checked before data are read."""
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
