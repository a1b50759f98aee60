"""`scrapy train`: the URL model, from labelled URLs; methods for pages, from texts or pages."""

import argparse
import json
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from classifiers.errors import ClassifierError, DatasetError, MissingPackageError
from classifiers.lab.datasets import (
    FORMATS,
    Dataset,
    LabelledPage,
    LabelledText,
    LabelledTexts,
    LabelledUrl,
    open_dataset,
)
from classifiers.lab.datasets.texts import is_held_out, recognised
from classifiers.lab.page_methods.trainers import FROM_ADDRESSES, trainer
from classifiers.lab.page_methods.trainers import NAMES as METHODS
from classifiers.languages import canonical
from crawler.commands.page_evaluation import share

_URL_MODEL: Final = "url-model.npz"

_EPILOG = """\
data:
  *.tsv            a table whose first line names the columns url, lang, label_kind, source
  *.rdf.u8         content.rdf.u8 of the Open Directory Project (DMOZ)
  *.parquet        Common Crawl's columnar index, a file or a folder of them
  *.cdxj, cdx-*    Common Crawl's CDXJ index, a file or a folder of them
  All but Parquet also as .gz; --format reads a file of another name. Rows that cannot be used are
  left out and counted by reason.
  With --method: labelled texts (a .tsv with the columns text, lang, kind, source), or a folder
  of pages (pages.tsv and html.tar) whose visible text is learned from. top-level-domain learns
  from the addresses of such a folder, or from labelled URLs.

output:
  The model file: plain arrays, a classifier for each language. With --evaluate a model is first
  trained on nine tenths of the registered domains and measured on the last tenth; the model that
  is written is then trained on all rows. Same data, same options: same bytes. With --method
  nothing is measured; `scrapy evaluate` does that.

examples:
  scrapy train sample --no-word-lists     (a small table that ships, for first steps)
  scrapy train urls.tsv.gz
  scrapy train urls.tsv.gz --output de-en.npz --languages de en --no-evaluate
  scrapy train urls.tsv.gz --json figures.json
  scrapy train content.rdf.u8.gz --languages en de fr es it
  scrapy train texts.tsv.gz --method nfc --output nfc.npz
  scrapy train pages/ --method top-level-domain
"""


class Command(ScrapyCommand):
    """Trains the URL model, or a method that identifies pages."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Return what stands after the command's name."""
        return "[options] DATA"

    def short_desc(self) -> str:
        """Return the line that `scrapy` shows for the command."""
        return "Train the model that reads a page's language from its URL, or one that reads pages"

    def long_desc(self) -> str:
        """Return what the help begins with."""
        return (
            "Trains one linear SVM for each language on the character n-grams of labelled URLs, "
            "measures it on registered domains it has not seen, and writes the model file. "
            "With --method it trains a way to tell the language of a page instead."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Describe the arguments."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = textwrap.fill(self.long_desc(), 95)
        parser.epilog = _EPILOG
        group = parser.add_argument_group("Training")
        group.add_argument(
            "--format",
            choices=list(FORMATS),
            help="format of DATA (default: told by its name)",
        )
        group.add_argument(
            "--method",
            choices=list(METHODS),
            help="train this method for pages (default: the URL model); of the options below it "
            "takes --output, --languages and --json",
        )
        group.add_argument(
            "--kinds",
            metavar="KIND",
            nargs="+",
            help="with --method: texts or pages of these kinds only (default: all)",
        )
        group.add_argument(
            "--held-out",
            metavar="SHARE",
            type=share,
            default=0.0,
            help="with --method: leave out this share of the texts, or of the hosts of pages, for "
            "`scrapy evaluate --held-out SHARE` (default: 0)",
        )
        group.add_argument(
            "--output",
            metavar="FILE",
            help=f"model file to write (default: {_URL_MODEL}, or METHOD.npz)",
        )
        group.add_argument(
            "--languages",
            metavar="CODE",
            nargs="+",
            help="only these (default: all with enough URLs)",
        )
        group.add_argument(
            "--buckets",
            metavar="N",
            type=int,
            default=1 << 18,
            help="buckets of the hashed features, a power of two (default: 262144)",
        )
        group.add_argument(
            "--min-urls",
            metavar="N",
            type=int,
            default=30,
            help="URLs a language needs to get a classifier (default: 30)",
        )
        group.add_argument(
            "--seed",
            metavar="N",
            type=int,
            default=0,
            help="of the split and of the training (default: 0)",
        )
        group.add_argument(
            "--jobs",
            metavar="N",
            type=int,
            default=1,
            help="threads, two at most (default: 1); the model does not depend on it",
        )
        group.add_argument(
            "--evaluate",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="measure on other domains first; takes twice the time",
        )
        group.add_argument(
            "--word-lists",
            action=argparse.BooleanOptionalAction,
            default=None,
            help="learn names of hosts from word lists and towns also (default: if the extra "
            "training is installed)",
        )
        group.add_argument("--json", metavar="FILE", help="write the figures to FILE")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Train, and print tables; an error is one line and exit code 1."""
        if len(args) != 1:
            raise UsageError("expected one file or folder of labelled URLs, texts or pages")
        opts.languages, opts.kinds = _codes(opts), _split(opts.kinds)
        opts.output = opts.output or (f"{opts.method}.npz" if opts.method else _URL_MODEL)
        try:
            if opts.method:
                _train_method(Path(args[0]), opts)
            else:
                _train(Path(args[0]), opts)
        except MissingPackageError as error:
            way_out = "" if opts.method else ", or add --no-word-lists"
            print(f"langfocus: {error}{way_out}", file=sys.stderr)
            self.exitcode = 1
        except (ClassifierError, OSError) as error:
            print(f"langfocus: {error}", file=sys.stderr)
            self.exitcode = 1


def _codes(opts: argparse.Namespace) -> tuple[str, ...] | None:
    tags = _split(opts.languages)
    codes = [canonical(tag) for tag in tags]
    for tag, code in zip(tags, codes, strict=True):
        if code is None:
            raise UsageError(f"--languages: {tag!r} is no language known here")
    return tuple(dict.fromkeys(code for code in codes if code)) or None


def _split(texts: Iterable[str] | None) -> list[str]:
    return [part for text in texts or () for part in text.split(",") if part]


def _train(data: Path, opts: argparse.Namespace) -> None:
    from classifiers.lab.training.urltraining import Options, fit, usable
    from classifiers.urls.model import UrlModel

    options = Options(
        buckets=opts.buckets,
        seed=opts.seed,
        min_urls=opts.min_urls,
        languages=opts.languages,
        word_lists=_uses_word_lists(opts.word_lists),
        jobs=opts.jobs,
    )
    start = time.monotonic()
    source = open_dataset(data, opts.format)
    rows = usable(source)
    print(f"{len(rows)} usable URLs, {_left_out(source.reasons)}")
    figures = _evaluate(rows, options) if opts.evaluate else None
    parameters = fit(rows, options)
    if figures is not None:
        parameters.facts["evaluation"] = figures
    model = UrlModel(parameters)
    output = Path(opts.output)
    model.save(output)
    size = output.stat().st_size
    print(
        f"{output}: version {model.version}, {len(model.languages)} languages, "
        f"{size / 1e6:.1f} MB, {time.monotonic() - start:.0f} s"
    )
    if opts.json:
        result = {"version": model.version, "bytes": size, **parameters.facts}
        Path(opts.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _uses_word_lists(wanted: bool | None) -> bool:
    """Whether to learn from word lists: as wanted, else if their packages are there."""
    from classifiers.lab.training.wordlists import are_installed

    if wanted is None and not are_installed():
        print("word lists are left out: pip install 'langfocus[training]' adds them")
        return False
    return wanted is not False


def _train_method(data: Path, opts: argparse.Namespace) -> None:
    start = time.monotonic()
    learn = _addresses if opts.method in FROM_ADDRESSES else _texts
    source, rows = learn(data, opts)
    learned = list(rows)
    if not learned:
        raise DatasetError(f"{data}: no usable rows, {_left_out(source.reasons)}")
    print(f"{len(learned)} usable rows, {_left_out(source.reasons)}")
    model = trainer(opts.method)(learned)
    output = Path(opts.output)
    model.save(output)
    size, languages = output.stat().st_size, sorted(model.languages)
    seconds = time.monotonic() - start
    known = f"{len(languages)} languages" if languages else "any language"
    print(f"{output}: {known}, {size / 1e6:.1f} MB, {seconds:.0f} s")
    if opts.json:
        result = {
            "method": opts.method,
            "bytes": size,
            "rows": len(learned),
            "rows left out": dict(source.reasons),
            "languages": languages,
        }
        Path(opts.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _texts(data: Path, opts: argparse.Namespace) -> tuple[Dataset[Any], Iterable[LabelledText]]:
    """Labelled texts, or the visible texts of pages."""
    source = recognised(data)
    if source is None:
        wanted = "a table with the columns text, lang, kind, source or a folder of pages"
        raise DatasetError(f"{data}: {opts.method} learns from texts; expected {wanted}")
    rows = (row for row in source if _is_chosen(row, opts))
    return source, (_visible(row) if isinstance(row, LabelledPage) else row for row in rows)


def _visible(row: LabelledPage) -> LabelledText:
    from classifiers.pages.parse import parse_page

    page = parse_page(row.body, content_type=None, url=row.url)
    return LabelledText(page.text, row.language, row.kind, row.url)


def _addresses(
    data: Path, opts: argparse.Namespace
) -> tuple[Dataset[Any], Iterable[tuple[str, str]]]:
    """Pairs of URL and language, from pages or labelled URLs."""
    known = recognised(data)
    source: Dataset[Any] = known or open_dataset(data, opts.format)
    if isinstance(known, LabelledTexts):
        raise DatasetError(f"{data}: {opts.method} learns from URLs; texts have none")
    rows: Iterator[Any] = (row for row in source if row.url and _is_chosen(row, opts))
    return source, ((row.url, row.language) for row in rows)


def _is_chosen(row: LabelledText | LabelledPage | LabelledUrl, opts: argparse.Namespace) -> bool:
    kind = row.label_kind if isinstance(row, LabelledUrl) else row.kind
    is_wanted = not opts.languages or row.language in opts.languages
    is_of_kind = not opts.kinds or kind in opts.kinds
    return is_wanted and is_of_kind and not is_held_out(row, opts.held_out)


def _left_out(reasons: Counter[str]) -> str:
    """How many rows were left out, and why, the commonest reason first."""
    parts = [f"{reason} {count}" for reason, count in reasons.most_common()]
    return f"{reasons.total()} rows left out" + (f" ({', '.join(parts)})" if parts else "")


def _evaluate(rows: list[Any], options: Any) -> dict[str, Any]:
    """The figures of a model trained without a tenth of the domains, on that tenth."""
    from classifiers.lab.datasets import split
    from classifiers.lab.training.assessment import assess
    from classifiers.lab.training.urltraining import fit
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
