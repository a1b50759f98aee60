"""`scrapy evaluate`: the experiments of Baykan 2013 on labelled URLs; methods on pages, texts."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from classifiers.errors import ClassifierError, StudyError
from classifiers.languages import canonical
from crawler.commands import page_evaluation

if TYPE_CHECKING:
    from classifiers.lab.datasets import LabelledUrl
    from classifiers.lab.study.page_runs import Progress
    from classifiers.lab.study.result import Result
    from classifiers.lab.study.validation import Study

_FIVE: Final = ("en", "de", "fr", "es", "it")
_INTERRUPTED: Final = 130

_EPILOG = """\
data:
  Labelled URLs in one of the formats of docs/data.md, such as .tsv or .tsv.gz with the columns
  url, lang, label_kind, source. Each URL counts once, URLs of two languages not at all.
  A folder with pages.tsv and html.tar holds labelled pages, a .tsv with the columns text, lang,
  kind, source labelled texts: see pages and texts below.

experiments (default: comparison):
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
  by-kind             by how the labels arose
  by-tld              generic top-level domains and others
  best-combination    the best combination of classifiers: slides of 2008, Table 9
  model               a model file measured on all of the data, not cross-validated
  all                 all of these

classifiers:
  cctld, cctld+, ip, ALGORITHM:FEATURES or ip+ALGORITHM:FEATURES
  algorithms  svm, nb, me, dt, re, ros, markov
  features    words, N-grams-from-word, N-grams-from-url, allgrams-from-word, custom, ...

pages and texts:
  No experiments and no training: each method of identifying pages is asked about each page (a
  text is a page without links and declarations). Tables show accuracy by method, language,
  length, kind, encoding and evidence, confusions, calibration, CPU time, and what Hayati 2004
  and Cai 2009 found. --methods takes any that `scrapy identify pages` knows. A method of the
  default whose package or file is missing is left out, with the reason. --surroundings gives
  texts a URL and 0 to 10 pages that link to them; these are simulated: 95 of 100 are in the
  text's language, as counted by Hayati. A method that has learned from the data looks better
  than it is: train it with --held-out 0.1 and evaluate it with the same.

output:
  Tables with the paper's figures beside ours, the same as JSON or Markdown, and pictures. In a
  Markdown file that has the lines <!-- begin: scrapy evaluate --> and
  <!-- end: scrapy evaluate --> only what stands between them is replaced. After Ctrl-C the
  files have the experiments that were finished, and name those that were not.

examples:
  scrapy evaluate sample                  (a small table that ships, for first steps)
  scrapy evaluate urls.tsv.gz --urls 2000 --jobs 2
  scrapy evaluate urls.tsv.gz words ngrams --urls 5000 --json figures.json
  scrapy evaluate urls.tsv.gz --classifiers svm:words nb:3-grams-from-word --languages nl da sv
  scrapy evaluate urls.tsv.gz all --markdown study.md --plots plots
  scrapy evaluate urls.tsv.gz baselines --mmdb GeoLite2-Country.mmdb --addresses hosts.tsv
  scrapy evaluate pages/ --json figures.json
  scrapy evaluate texts.tsv.gz --methods composite,nfc,inlinks --surroundings --limit 5000
"""


class Command(ScrapyCommand):
    """Carries out the experiments of the study."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Return what stands after the command's name."""
        return "[options] DATA [EXPERIMENT ...]"

    def short_desc(self) -> str:
        """Return the line that `scrapy` shows for the command."""
        return "Compare URL classifiers as in Baykan 2013, or ways to tell a page's language"

    def long_desc(self) -> str:
        """Return what the help begins with."""
        return (
            "Trains and tests binary classifiers of URLs, one for each language, by stratified "
            "cross-validation on balanced samples, and shows their precision, recall, p(-|-) and "
            "F1 next to those of Baykan, Henzinger and Weber 2013. With labelled pages or texts it "
            "asks methods of identifying pages instead, and shows how often they are right."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Describe the arguments."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = textwrap.fill(self.long_desc(), 95)
        parser.epilog = _EPILOG
        _add_what(parser.add_argument_group("What is measured"))
        of_pages = parser.add_argument_group("What is measured on pages and texts")
        page_evaluation.add_options(of_pages, _positive)
        _add_where(parser.add_argument_group("Where it is computed"))
        _add_servers(parser.add_argument_group("Where servers stand (for IP)"))
        _add_output(parser.add_argument_group("Output"))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Evaluate, and print tables; an error is one line."""
        if not args:
            raise UsageError("expected labelled URLs, pages or texts")
        from classifiers.lab.datasets.texts import recognised

        data = Path(args[0])
        try:
            if (source := recognised(data)) is not None:
                page_evaluation.check(args[1:], opts)
                page_evaluation.evaluate(source, _question(opts), _told)
            else:
                page_evaluation.refuse(opts)
                _evaluate(data, _wanted(args[1:], opts), opts)
        except StudyError as error:
            self._fail(str(error), 2)
        except (ClassifierError, OSError) as error:
            self._fail(str(error), 1)
        except KeyboardInterrupt:
            self._fail("interrupted", _INTERRUPTED)

    def _fail(self, message: str, code: int) -> None:
        print(f"langfocus: {message}", file=sys.stderr)
        self.exitcode = code


def _add_what(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format", metavar="NAME", help="of DATA, where its name does not tell it (docs/data.md)"
    )
    group.add_argument(
        "--languages",
        metavar="CODE",
        nargs="+",
        help="languages to tell apart (default: those of the paper, en de fr es it; of pages "
        "and texts: all)",
    )
    group.add_argument(
        "--classifiers",
        metavar="NAME",
        nargs="+",
        help="compare these by name, with or without an experiment",
    )
    group.add_argument(
        "--urls",
        metavar="N",
        type=_positive,
        help="URLs of each language (default: as many as the smallest language has)",
    )
    group.add_argument(
        "--folds", metavar="N", type=_positive, default=10, help="of cross-validation (default: 10)"
    )
    group.add_argument(
        "--seed", metavar="N", type=_natural, default=0, help="of samples and folds (default: 0)"
    )
    group.add_argument("--model", metavar="FILE", help="for `model` (default: the one that ships)")


def _add_where(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--jobs",
        metavar="N",
        type=_positive,
        default=1,
        help="processes (default: 1); the figures do not depend on it",
    )
    group.add_argument(
        "--cluster", metavar="ADDRESS", help="a Dask scheduler, such as tcp://10.0.0.1:8786"
    )


def _add_servers(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--mmdb", metavar="FILE", help="MaxMind database of countries or cities")
    group.add_argument(
        "--addresses", metavar="FILE", help="lines of host and address with a tab between"
    )
    group.add_argument(
        "--resolve", action="store_true", help="ask the DNS for the address of every host"
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--json", metavar="FILE", help="write everything found to FILE")
    group.add_argument("--markdown", metavar="FILE", help="write the tables to FILE")
    group.add_argument("--plots", metavar="FOLDER", help="draw the figures, as PNG and SVG")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def _natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is not 0 or more")
    return value


def _wanted(named: Sequence[str], opts: argparse.Namespace) -> list[str]:
    """The experiments to carry out, checked before anything is read."""
    from classifiers.lab.study.catalogue import EVERY
    from classifiers.lab.study.names import parse

    known = (*EVERY, "model")
    for name in named:
        if name not in known and name != "all":
            raise StudyError(f"experiment {name!r} is none of {', '.join(known)}, all")
    opts.classifiers = _split(opts.classifiers)
    for name in opts.classifiers:
        if parse(name).needs_addresses and not opts.mmdb:
            raise StudyError(f"{name} needs the countries of servers: give --mmdb")
    _check_output(opts)
    if opts.urls is not None and opts.urls < opts.folds:
        raise StudyError(f"--urls {opts.urls} does not fill {opts.folds} folds: see --folds")
    if not named:
        return [] if opts.classifiers else ["comparison"]
    return list(known) if "all" in named else list(dict.fromkeys(named))


def _question(opts: argparse.Namespace) -> page_evaluation.Question:
    """What is asked about pages or texts, checked before anything is read."""
    _check_output(opts)
    return page_evaluation.Question(
        methods=_split(opts.methods),
        languages=_codes(_split(opts.languages)),
        kinds=_split(opts.kinds),
        held_out=opts.held_out,
        limit=opts.limit,
        seed=opts.seed if opts.surroundings else None,
        json=opts.json,
        markdown=opts.markdown,
    )


def _check_output(opts: argparse.Namespace) -> None:
    for path in (opts.json, opts.markdown):
        if path and not Path(path).absolute().parent.is_dir():
            raise StudyError(f"{path}: there is no such folder to write it to")


def _split(texts: Sequence[str] | None) -> list[str]:
    return [part for text in texts or () for part in text.split(",") if part]


def _languages(opts: argparse.Namespace) -> tuple[str, ...]:
    return _codes(_split(opts.languages) or _FIVE)


def _codes(tags: Sequence[str]) -> tuple[str, ...]:
    codes = []
    for tag in tags:
        code = canonical(tag)
        if code is None:
            raise StudyError(f"--languages: {tag!r} is no language known here")
        codes.append(code)
    return tuple(dict.fromkeys(codes))


def _evaluate(data: Path, wanted: Sequence[str], opts: argparse.Namespace) -> None:
    from classifiers.lab.datasets import open_dataset
    from crawler.report.printer import WIDE, Printer
    from crawler.report.study_files import print_result

    languages, workers, resolver = _languages(opts), _workers(opts), _resolver(opts)
    source = open_dataset(data, opts.format)
    rows = list(source)
    facts: dict[str, Any] = {"data": data.name, "rows": len(rows), "rows skipped": source.skipped}
    printer = Printer(width=WIDE)
    results: list[Result] = []
    with _writing(facts, results, wanted, opts), _progress() as on_progress:
        study = None
        if opts.classifiers or set(wanted) != {"model"}:
            study = _study(rows, languages, workers, resolver, on_progress, opts)
            facts |= _facts(study)
        printer.line(", ".join(f"{name} {_shown(value)}" for name, value in facts.items()))
        printer.line()
        for result in _results(study, rows, wanted, opts):
            results.append(result)
            print_result(result, printer)


def _workers(opts: argparse.Namespace) -> Any:
    from classifiers.lab.study.workers import Workers

    return Workers(opts.jobs, opts.cluster)


def _resolver(opts: argparse.Namespace) -> Any:
    """From hosts to addresses; None where nothing about servers is wanted."""
    from classifiers.lab.features.hosting import resolve
    from classifiers.lab.study.servers import listed

    if not opts.mmdb:
        if opts.addresses or opts.resolve:
            raise StudyError("addresses tell nothing without a database of countries: give --mmdb")
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


class _Bar:
    """Draws on standard error how far an experiment has come, and is gone when it is done."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Show how many calls are done."""
        self.show("cross-validation", done, total)

    def show(self, what: str, done: int, total: int | None) -> None:
        """Show how much of something is done, of how much if that is known."""
        from rich.console import Console
        from rich.progress import Progress

        if self._bar is None:
            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._bar.add_task(what, total=total)
        task = self._bar.task_ids[0]
        self._bar.update(task, description=what, completed=done, total=total)
        if total is not None and done >= total:
            self.stop()

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextlib.contextmanager
def _progress() -> Iterator[_Bar | None]:
    """What draws a bar on standard error, or None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.stop()


@contextlib.contextmanager
def _told() -> Iterator[Progress | None]:
    """What draws a bar for several things, one after the other."""
    with _progress() as bar:
        yield bar.show if bar else None


@contextlib.contextmanager
def _writing(
    facts: dict[str, Any],
    results: Sequence[Result],
    wanted: Sequence[str],
    opts: argparse.Namespace,
) -> Iterator[None]:
    """Write what is finished in the end, even if that is Ctrl-C or an error."""
    try:
        yield
    finally:
        if results:
            done = {result.experiment for result in results}
            if unfinished := [name for name in wanted if name not in done]:
                facts["not carried out"] = unfinished
            _write(facts, results, opts)


def _write(facts: dict[str, Any], results: Sequence[Result], opts: argparse.Namespace) -> None:
    from crawler.report.files import write_whole
    from crawler.report.markdown import write_markdown
    from crawler.report.study_files import study_json, study_markdown
    from crawler.report.study_plots import draw

    if opts.json:
        write_whole(Path(opts.json), study_json(facts, results))
    if opts.plots:
        draw([figure for result in results for figure in result.figures], Path(opts.plots))
    if opts.markdown:
        path = Path(opts.markdown)
        pictures = os.path.relpath(opts.plots, path.parent) if opts.plots else ""
        write_markdown(path, study_markdown(facts, results, pictures))
