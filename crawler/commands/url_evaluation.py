"""`langfocus evaluate` on labelled URLs: runs the requested experiments in order."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from classifiers.errors import StudyError
from crawler.command import language_codes, parts

if TYPE_CHECKING:
    from classifiers.lab.datasets import LabelledUrl
    from classifiers.lab.study.result import Result
    from classifiers.lab.study.validation import Study

FIVE: Final = ("en", "de", "fr", "es", "it")
"""The languages of the paper, which are the default."""


def evaluate(data: Path, named: Sequence[str], opts: argparse.Namespace) -> None:
    """Run the named experiments, print their tables and write the files.

    Finished experiments are written even after Ctrl-C or an error. Raises StudyError for wrong
    arguments before data are read.
    """
    from classifiers.lab.datasets import open_dataset
    from crawler.report.printer import WIDE, Printer
    from crawler.report.progress import Display
    from crawler.report.study_files import print_result

    wanted = _wanted(named, opts)
    languages = language_codes(opts.languages) or FIVE
    workers, resolver = _workers(opts), _resolver(opts)
    source = open_dataset(data, opts.format)
    rows = list(source)
    facts: dict[str, Any] = {"data": data.name, "rows": len(rows), "rows skipped": source.skipped}
    printer = Printer(width=WIDE)
    results: list[Result] = []
    with _writing(source.path, facts, results, wanted, opts), Display(sys.stderr) as display:

        def on_progress(done: int, total: int) -> None:
            display.count("cross-validation", done, total)

        study = None
        if opts.classifiers or set(wanted) != {"model"}:
            study = _study(rows, languages, workers, resolver, on_progress, opts)
            facts |= _facts(study)
        printer.line(", ".join(f"{name} {_shown(value)}" for name, value in facts.items()))
        printer.line()
        for result in _results(study, rows, wanted, opts):
            results.append(result)
            print_result(result, printer)


def _wanted(named: Sequence[str], opts: argparse.Namespace) -> list[str]:
    """The experiments to run; the arguments are checked before data are read."""
    from classifiers.lab.study.catalogue import EVERY
    from classifiers.lab.study.names import parse

    known = (*EVERY, "model")
    for name in named:
        if name not in known and name != "all":
            raise StudyError(f"experiment {name!r} is none of {', '.join(known)}, all")
    opts.classifiers = parts(opts.classifiers)
    for name in opts.classifiers:
        if parse(name).needs_addresses and not opts.mmdb:
            raise StudyError(f"{name} needs the countries of servers: give --mmdb")
    if opts.urls is not None and opts.urls < opts.folds:
        raise StudyError(f"--urls {opts.urls} does not fill {opts.folds} folds: see --folds")
    if not named:
        return [] if opts.classifiers else ["comparison"]
    return list(known) if "all" in named else list(dict.fromkeys(named))


def _workers(opts: argparse.Namespace) -> Any:
    from classifiers.lab.study.workers import Workers

    return Workers(opts.jobs, opts.cluster)


def _resolver(opts: argparse.Namespace) -> Any:
    """A function from hosts to addresses; None if no countries of servers are wanted."""
    from classifiers.lab.features.hosting import resolve
    from classifiers.lab.study.servers import listed

    if not opts.mmdb:
        if opts.addresses or opts.resolve:
            raise StudyError("addresses are of no use without a database of countries: give --mmdb")
        return None
    if bool(opts.addresses) == opts.resolve:
        raise StudyError("--mmdb needs either --addresses FILE or --resolve")
    return listed(Path(opts.addresses)) if opts.addresses else resolve


def _study(
    rows: Sequence[LabelledUrl],
    languages: Sequence[str],
    workers: Any,
    resolver: Any,
    on_progress: Callable[[int, int], None] | None,
    opts: argparse.Namespace,
) -> Study:
    from classifiers.lab.study.samples import draw
    from classifiers.lab.study.servers import locate
    from classifiers.lab.study.validation import Study

    corpus = draw(rows, languages, urls=opts.urls, least=opts.folds, seed=opts.seed)
    servers = locate(corpus.urls, Path(opts.mmdb), resolver) if resolver else None
    return Study(
        corpus,
        n_folds=opts.folds,
        seed=opts.seed,
        workers=workers,
        servers=servers,
        on_progress=on_progress,
    )


def _facts(study: Study) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "languages": list(study.languages),
        "URLs of each language": study.corpus.per_language,
        "folds": study.n_folds,
        "seed": study.seed,
    }
    if study.servers is not None:
        facts["hosts with a country"] = len(study.servers.countries)
    return facts


def _shown(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else f"{value}"


def _results(
    study: Study | None,
    rows: Sequence[LabelledUrl],
    wanted: Sequence[str],
    opts: argparse.Namespace,
) -> Iterator[Result]:
    from classifiers.lab.study.catalogue import carry_out
    from classifiers.lab.study.comparisons import chosen

    if study is not None:
        if opts.classifiers:
            yield chosen(study, opts.classifiers)
        yield from carry_out(study, [name for name in wanted if name != "model"])
    if "model" in wanted:
        yield _model(rows, opts)


def _model(rows: Sequence[LabelledUrl], opts: argparse.Namespace) -> Result:
    from classifiers.lab.datasets import distinct
    from classifiers.lab.study.beyond import model_figures
    from classifiers.urls.model import UrlModel

    start = time.monotonic()
    model = UrlModel.load(Path(opts.model) if opts.model else None)
    result = model_figures(model, distinct(rows), f"Model {model.version}")
    return replace(result, seconds=time.monotonic() - start)


@contextlib.contextmanager
def _writing(
    data: Path,
    facts: dict[str, Any],
    results: Sequence[Result],
    wanted: Sequence[str],
    opts: argparse.Namespace,
) -> Iterator[None]:
    """Write the finished experiments at the end, also after Ctrl-C or an error."""
    try:
        yield
    finally:
        if results:
            done = {result.experiment for result in results}
            if unfinished := [name for name in wanted if name not in done]:
                facts["not carried out"] = unfinished
            _write(data, facts, results, opts)


def _write(
    data: Path, facts: dict[str, Any], results: Sequence[Result], opts: argparse.Namespace
) -> None:
    from crawler.report.files import write_whole
    from crawler.report.markdown import write_markdown
    from crawler.report.provenance import provenance
    from crawler.report.study_files import study_json, study_markdown
    from crawler.report.study_plots import draw

    measured = provenance(["langfocus", *sys.argv[1:]], [data], date.today())
    if opts.json:
        write_whole(opts.json, study_json({"measured": measured, **facts}, results))
    if opts.plots:
        draw([figure for result in results for figure in result.figures], Path(opts.plots))
    if opts.markdown:
        pictures = os.path.relpath(opts.plots, opts.markdown.parent) if opts.plots else ""
        write_markdown(opts.markdown, study_markdown(facts | measured, results, pictures))
