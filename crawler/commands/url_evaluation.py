"""`langfocus evaluate` on labelled URLs: runs the requested experiments in order."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from classifiers.errors import StudyError
from crawler.commands.base import language_codes, parts

if TYPE_CHECKING:
    from classifiers.datasets import Dataset, LabelledUrl
    from classifiers.papers.baykan.study import Study
    from classifiers.papers.table import Result

    Parted = tuple[Sequence[LabelledUrl], Sequence[LabelledUrl] | None]

FIVE: Final = ("en", "de", "fr", "es", "it")
"""The languages of the paper, which are the default."""
_MODULES: Final = (
    "classifiers/papers/baykan",
    "classifiers/papers/*.py",
    "classifiers/datasets/[!t]*.py",
)


def evaluate(data: Path, named: Sequence[str], opts: argparse.Namespace) -> None:
    """Run the named experiments, print their tables and write the files.

    Finished experiments are written even after Ctrl-C or an error. Raises StudyError for wrong
    arguments before data are read.
    """
    from classifiers.datasets import open_dataset
    from crawler.report.printer import WIDE, Printer
    from crawler.report.progress import Display
    from crawler.report.study import print_result

    wanted = _wanted(named, opts)
    languages = language_codes(opts.languages) or FIVE
    resolver = _resolver(opts)
    source = open_dataset(data, opts.format)
    given = open_dataset(opts.test) if opts.test else None
    rows, tested = _parted(list(source), given, opts)
    facts: dict[str, Any] = {"data": data.name, "rows": len(rows), "rows skipped": source.skipped}
    if tested is not None:
        facts |= _facts_of_test(given, opts)
    printer = Printer(width=WIDE)
    results: list[Result] = []
    paths = [source.path, *([given.path] if given else [])]
    paths += [Path(opts.content)] if opts.content else []
    with _writing(paths, facts, results, wanted, opts), Display(sys.stderr) as display:

        def on_progress(done: int, total: int) -> None:
            display.count("cross-validation", done, total)

        study = _study((rows, tested), languages, resolver, on_progress, opts)
        facts |= _facts(study)
        printer.line(", ".join(f"{name} {_shown(value)}" for name, value in facts.items()))
        printer.line()
        for result in _results(study, wanted, opts):
            results.append(result)
            print_result(result, printer)


def _wanted(named: Sequence[str], opts: argparse.Namespace) -> list[str]:
    """The experiments to run; the arguments are checked before data are read."""
    from classifiers.papers.baykan.experiments import EXPERIMENTS, OF_TEST_SET

    has_test_set = _check(opts)
    known = tuple(OF_TEST_SET if has_test_set else EXPERIMENTS)
    for name in named:
        if name in OF_TEST_SET and not has_test_set:
            raise StudyError(f"experiment {name} needs a test set: give --test or --test-sources")
        if name not in known and name != "all":
            raise StudyError(f"experiment {name!r} is none of {', '.join(known)}, all")
    if "content" in named and not opts.content:
        raise StudyError("experiment content needs texts or pages: give --content")
    if not named:
        return [] if opts.classifiers else ["test-set" if has_test_set else "comparison"]
    if "all" in named:
        return [name for name in known if name != "content" or opts.content]
    return list(dict.fromkeys(named))


def _check(opts: argparse.Namespace) -> bool:
    """Whether there is a test set; raises StudyError for wrong options."""
    from classifiers.datasets.texts import recognised
    from classifiers.papers.baykan.algorithms import parse

    opts.test_sources, opts.classifiers = parts(opts.test_sources), parts(opts.classifiers)
    if opts.test and opts.test_sources:
        raise StudyError("the test set is either --test FILE or --test-sources")
    if opts.content and recognised(Path(opts.content)) is None:
        raise StudyError(f"--content {opts.content}: neither labelled texts nor labelled pages")
    for name in opts.classifiers:
        if parse(name).needs_addresses and not opts.mmdb:
            raise StudyError(f"{name} needs the countries of servers: give --mmdb")
    has_test_set = bool(opts.test or opts.test_sources)
    if opts.urls is not None and opts.urls < opts.folds and not has_test_set:
        raise StudyError(f"--urls {opts.urls} does not fill {opts.folds} folds: see --folds")
    return has_test_set


def _resolver(opts: argparse.Namespace) -> Any:
    """A function from hosts to addresses; None if no countries of servers are wanted."""
    from classifiers.papers.baykan.servers import listed, resolve

    if not opts.mmdb:
        if opts.addresses or opts.resolve:
            raise StudyError("addresses are of no use without a database of countries: give --mmdb")
        return None
    if bool(opts.addresses) == opts.resolve:
        raise StudyError("--mmdb needs either --addresses FILE or --resolve")
    return listed(Path(opts.addresses)) if opts.addresses else resolve


def _parted(
    rows: Sequence[LabelledUrl], given: Dataset[LabelledUrl] | None, opts: argparse.Namespace
) -> Parted:
    """The rows to train on and the rows of the test set; None if there is no test set."""
    if given is not None:
        return rows, list(given)
    if not opts.test_sources:
        return rows, None
    known = {row.source for row in rows}
    if unknown := [name for name in opts.test_sources if name not in known]:
        raise StudyError(f"--test-sources: no row has the source {', '.join(unknown)}")
    apart = [row for row in rows if row.source in opts.test_sources]
    return [row for row in rows if row.source not in opts.test_sources], apart


def _facts_of_test(given: Dataset[LabelledUrl] | None, opts: argparse.Namespace) -> dict[str, Any]:
    if given is None:
        return {"test sources": opts.test_sources}
    return {"test data": given.path.name, "test rows skipped": given.skipped}


def _study(
    parted: Parted,
    languages: Sequence[str],
    resolver: Any,
    on_progress: Callable[[int, int], None] | None,
    opts: argparse.Namespace,
) -> Study:
    from classifiers.papers.baykan.samples import JoinedCorpus, draw, joined
    from classifiers.papers.baykan.servers import locate
    from classifiers.papers.baykan.special import texts_of
    from classifiers.papers.baykan.study import HeldOutStudy, Study

    rows, tested = parted
    least = opts.folds if tested is None else 2
    corpus = draw(rows, languages, urls=opts.urls, least=least, seed=opts.seed)
    if tested is not None:
        corpus = joined(corpus, tested)
    servers = locate(corpus.urls, Path(opts.mmdb), resolver) if resolver else None
    common: dict[str, Any] = {
        "seed": opts.seed,
        "jobs": opts.jobs,
        "servers": servers,
        "on_progress": on_progress,
    }
    if isinstance(corpus, JoinedCorpus):
        return HeldOutStudy(corpus, **common)
    texts = texts_of(Path(opts.content), languages) if opts.content else None
    return Study(corpus, n_folds=opts.folds, texts=texts, **common)


def _facts(study: Study) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "languages": list(study.languages),
        "URLs of each language": study.corpus.per_language,
        "seed": study.seed,
    }
    if study.n_folds > 1:
        facts["folds"] = study.n_folds
    if study.servers is not None:
        facts["hosts with a country"] = len(study.servers.countries)
    return facts


def _shown(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else f"{value}"


def _results(study: Study, wanted: Sequence[str], opts: argparse.Namespace) -> Iterator[Result]:
    from classifiers.papers.baykan.experiments import (
        EXPERIMENTS,
        OF_TEST_SET,
        of_classifiers,
        results,
    )
    from classifiers.papers.baykan.study import HeldOutStudy

    known = OF_TEST_SET if isinstance(study, HeldOutStudy) else EXPERIMENTS
    named = [of_classifiers(opts.classifiers)] if opts.classifiers else []
    return results(study, [*named, *(known[name] for name in wanted)])


@contextlib.contextmanager
def _writing(
    data: Sequence[Path],
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
    data: Sequence[Path], facts: dict[str, Any], results: Sequence[Result], opts: argparse.Namespace
) -> None:
    from crawler.report.files import write_whole
    from crawler.report.provenance import provenance
    from crawler.report.study import study_json

    if opts.json:
        measured = provenance(["langfocus", *sys.argv[1:]], data, date.today(), modules=_MODULES)
        write_whole(opts.json, study_json({"measured": measured, **facts}, results))
