"""`langfocus train`: the URL model, from labelled URLs or runs."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from classifiers.errors import DatasetError
from crawler.commands.base import Parser, language_codes, settings_of
from crawler.errors import SettingError

if TYPE_CHECKING:
    from classifiers.datasets import LabelledUrl
    from classifiers.training.extension import Added
    from classifiers.training.urls import Options
    from classifiers.urls.modelfile import Parameters

DESCRIPTION = (
    "Trains one linear SVM for each language on the character n-grams of labelled URLs, "
    "measures it on registered domains that it was not trained on, and writes the model file. "
    "With --from-run the pages of crawls add languages to a model."
)

_LEAST_URLS: Final = 30
"""URLs that a language needs to get a classifier."""
_THREADS: Final = 2
"""The model does not depend on it."""

_MANUAL = """\
data:
  *.tsv            a table whose first line names the columns url, lang, label_kind, source
  *.rdf.u8         content.rdf.u8 of the Open Directory Project (DMOZ)
  *.parquet        Common Crawl's columnar index, a file or a folder of them (needs the extra
                   commoncrawl)
  *.cdxj, cdx-*    Common Crawl's CDXJ index, a file or a folder of them
  All but Parquet also as .gz. Rows that cannot be used are left out and counted by reason. Word
  lists and names of towns are learned from, too, if the extra training is installed.
  With --from-run, folders of runs: their pages whose language is sure from the page itself (text,
  declaration or encoding, confidence 0.9 or more), never those that were told by their URL or by
  the pages around them. Without DATA they add a classifier to the model that ships (or to that of
  -s LANGFOCUS_URL_MODEL=FILE) for each language that the runs were crawled for, or of --languages;
  all others stay as they are. With DATA both are learned from together, which takes minutes.

output:
  The model file: plain arrays, a classifier for each language that has 30 URLs or more. A model is
  first trained on nine tenths of the registered domains and measured on the last tenth; the model
  in the file is then trained on all rows. The file keeps the figures. Same data, same options: same
  bytes.

examples:
  langfocus train sample                  (a small table that ships, for first steps)
  langfocus train urls.tsv.gz
  langfocus train urls.tsv.gz --output de-en.npz --languages de en
  langfocus train --from-run runs/cy-soft --output cy.npz
      then: langfocus crawl -a lang=cy -s LANGFOCUS_URL_MODEL=cy.npz
  langfocus train --from-run 'runs/cy-*' runs/br-focus --languages cy br --output celtic.npz
  langfocus train urls.tsv.gz --from-run 'runs/*' --output all.npz
  langfocus train content.rdf.u8.gz --languages en de fr es it
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_argument(
        "data", metavar="DATA", type=Path, nargs="?", help="a file or folder of labelled URLs"
    )
    parser.add_pairs("-s", "setting (may be repeated): LANGFOCUS_URL_MODEL")
    parser.add_argument(
        "--from-run",
        metavar="RUN",
        nargs="+",
        default=[],
        help="folders of runs whose sure pages are learned from; a pattern in quotes names several",
    )
    parser.add_argument(
        "--languages", metavar="CODE", nargs="+", help="only these (default: all with enough URLs)"
    )
    parser.add_file("--output", "model file to write (default: url-model.npz)")


def run(opts: argparse.Namespace) -> None:
    """Train, write the model, and print the figures."""
    from classifiers.urls import modelfile

    start = time.monotonic()
    if opts.data is None and not opts.from_run:
        raise SettingError("expected a file or folder of labelled URLs, or --from-run RUN")
    base = settings_of(opts).get("LANGFOCUS_URL_MODEL")
    if base and opts.data is not None:
        raise SettingError("LANGFOCUS_URL_MODEL: a model learns from --from-run, without DATA")
    languages = language_codes(opts.languages)
    if opts.data is not None:
        parameters = _of_data(opts.data, opts.from_run, languages)
    else:
        parameters = _extended(Path(base) if base else None, opts.from_run, languages)
    output = opts.output or Path("url-model.npz")
    modelfile.write(parameters, output)
    size, seconds = output.stat().st_size, time.monotonic() - start
    of_languages = f"{len(parameters.languages)} languages, {size / 1e6:.1f} MB"
    print(f"{output}: version {parameters.version}, {of_languages}, {seconds:.0f} s")


def _options(languages: Sequence[str], *, has_word_lists: bool) -> Options:
    from classifiers.training.urls import Options

    return Options(
        min_urls=_LEAST_URLS,
        languages=tuple(languages) or None,
        word_lists=has_word_lists,
        jobs=_THREADS,
    )


def _of_data(data: Path, runs: Sequence[str], languages: Sequence[str]) -> Parameters:
    """A model of labelled URLs and of the pages of runs, with its figures."""
    from classifiers.datasets import open_dataset
    from classifiers.datasets.rows import left_out
    from classifiers.training import examples
    from classifiers.training.urls import fit, usable

    source = open_dataset(data)
    rows = usable([*source, *_of_runs(runs)])
    print(f"{len(rows)} usable URLs, {left_out(source.reasons)}")
    has_word_lists = examples.are_installed()
    if not has_word_lists:
        print("word lists are left out: pip install 'langfocus[training]' adds them")
    options = _options(languages, has_word_lists=has_word_lists)
    figures = _evaluate(rows, options)
    parameters = fit(rows, options)
    parameters.facts["evaluation"] = figures
    return parameters


def _extended(base: Path | None, runs: Sequence[str], languages: Sequence[str]) -> Parameters:
    """A model with a classifier more for each language of the runs."""
    from classifiers.training.extension import extend
    from classifiers.urls import modelfile
    from crawler.outputs.verified import VerifiedPages, named_runs

    rows = _of_runs(runs)
    targets = languages or VerifiedPages(named_runs(runs)).targets()
    if not targets:
        raise SettingError("--from-run: these runs have no target language; give --languages")
    options = _options(languages, has_word_lists=False)
    parameters, added = extend(
        modelfile.read(base or modelfile.SHIPPED), rows, tuple(targets), options
    )
    for each in added:
        print(_learned(each))
    if not any(each.is_used for each in added):
        raise DatasetError("nothing was added: the model knows these languages better already")
    return parameters


def _learned(added: Added) -> str:
    """A line about what a language has learned."""
    from classifiers.languages import name

    before = "no classifier before" if added.f1_before is None else f"before {added.f1_before}"
    verdict = "" if added.is_used else "; the classifier before is not worse and stays"
    return (
        f"{name(added.language)} ({added.language}): {added.urls} URLs on {added.domains} domains"
        f" against {added.negatives}; F1 on domains not learned from {added.f1}, {before},"
        f" top-level domains alone {added.f1_domains}{verdict}"
    )


def _of_runs(names: Sequence[str]) -> list[LabelledUrl]:
    """The sure pages of the runs as labelled URLs; prints how many there are."""
    from classifiers.datasets import LabelledUrl
    from classifiers.datasets.rows import left_out
    from crawler.outputs.verified import VerifiedPages, named_runs

    if not names:
        return []
    pages = VerifiedPages(named_runs(names))
    rows = [LabelledUrl(page.url, page.language, "crawled", page.run) for page in pages]
    runs = "1 run" if len(pages.runs) == 1 else f"{len(pages.runs)} runs"
    print(f"{len(rows)} sure pages of {runs}, {left_out(pages.reasons)}")
    return rows


def _evaluate(rows: list[LabelledUrl], options: Options) -> dict[str, Any]:
    """The figures of a model on a tenth of the domains, trained on the other nine tenths."""
    from classifiers.datasets import split
    from classifiers.training.assessment import assess
    from classifiers.training.urls import fit
    from classifiers.urls.model import UrlModel

    train, test = split(rows, seed=options.seed)
    figures = assess(UrlModel(fit(train, options)), test)
    _print_table("domains not trained on", figures["five"])
    _print_table("the same by ccTLD alone", figures["cctld"])
    print(f"mean F1 of all languages {figures['all']['mean_f1']}, by kind {figures['by_kind']}")
    return figures


def _print_table(title: str, table: dict[str, Any]) -> None:
    print(f"\n{title}: {table['urls']} URLs, mean F1 {table['mean_f1']}")
    print(f"{'':4}{'P':>8}{'R':>8}{'p(-|-)':>8}{'F1':>8}")
    for code, row in table["languages"].items():
        cells = "".join(f"{row[name] or 0:8.1f}" for name in ("P", "R", "p(-|-)", "F1"))
        print(f"{code:4}{cells}")
    print()
