"""`scrapy train`: the URL model, from labelled URLs."""

import argparse
import json
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from classifiers.datasets import FORMATS, open_dataset
from classifiers.errors import ClassifierError, MissingPackageError
from classifiers.languages import canonical

_EPILOG = """\
data:
  *.tsv            a table whose first line names the columns url, lang, label_kind, source
  *.rdf.u8         content.rdf.u8 of the Open Directory Project (DMOZ)
  *.parquet        Common Crawl's columnar index, a file or a folder of them
  *.cdxj, cdx-*    Common Crawl's CDXJ index, a file or a folder of them
  All but Parquet also as .gz; --format reads a file of another name. Rows that cannot be used are
  left out and counted by reason.

output:
  The model file: plain arrays, a classifier for each language. With --evaluate a model is first
  trained on nine tenths of the registered domains and measured on the last tenth; the model that
  is written is then trained on all rows. Same data, same options: same bytes.

examples:
  scrapy train urls.tsv.gz
  scrapy train urls.tsv.gz --output de-en.npz --languages de en --no-evaluate
  scrapy train urls.tsv.gz --json figures.json
  scrapy train content.rdf.u8.gz --languages en de fr es it
"""


class Command(ScrapyCommand):
    """Trains the URL model."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Return what stands after the command's name."""
        return "[options] DATA"

    def short_desc(self) -> str:
        """Return the line that `scrapy` shows for the command."""
        return "Train the model that reads the language of a page from its URL"

    def long_desc(self) -> str:
        """Return what the help begins with."""
        return (
            "Trains one linear SVM for each language on the character n-grams of labelled URLs, "
            "measures it on registered domains it has not seen, and writes the model file."
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
            "--output",
            metavar="FILE",
            default="url-model.npz",
            help="model file to write (default: url-model.npz)",
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
            default=True,
            help="learn names of hosts from word lists and towns also; needs the extra training",
        )
        group.add_argument("--json", metavar="FILE", help="write the figures to FILE")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Train, and print tables; an error is one line and exit code 1."""
        if len(args) != 1:
            raise UsageError("expected one file or folder of labelled URLs")
        opts.languages = _codes(opts)
        try:
            _train(Path(args[0]), opts)
        except MissingPackageError as error:
            print(f"langfocus: {error}, or add --no-word-lists", file=sys.stderr)
            self.exitcode = 1
        except (ClassifierError, OSError) as error:
            print(f"langfocus: {error}", file=sys.stderr)
            self.exitcode = 1


def _codes(opts: argparse.Namespace) -> tuple[str, ...] | None:
    tags = [tag for item in opts.languages or () for tag in item.split(",") if tag]
    codes = [canonical(tag) for tag in tags]
    for tag, code in zip(tags, codes, strict=True):
        if code is None:
            raise UsageError(f"--languages: {tag!r} is no language known here")
    return tuple(dict.fromkeys(code for code in codes if code)) or None


def _train(data: Path, opts: argparse.Namespace) -> None:
    from classifiers.urls.model import UrlModel
    from classifiers.urls.training import Options, fit, usable

    options = Options(
        buckets=opts.buckets,
        seed=opts.seed,
        min_urls=opts.min_urls,
        languages=opts.languages,
        word_lists=opts.word_lists,
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


def _left_out(reasons: Counter[str]) -> str:
    """How many rows were left out, and why, the commonest reason first."""
    parts = [f"{reason} {count}" for reason, count in reasons.most_common()]
    return f"{reasons.total()} rows left out" + (f" ({', '.join(parts)})" if parts else "")


def _evaluate(rows: list[Any], options: Any) -> dict[str, Any]:
    """The figures of a model trained without a tenth of the domains, on that tenth."""
    from classifiers.datasets import split
    from classifiers.urls.assessment import assess
    from classifiers.urls.model import UrlModel
    from classifiers.urls.training import fit

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
