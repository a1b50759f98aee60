"""`langfocus export`: page texts of runs and archives as a file, or a run as a package."""

import argparse
import shlex
import sys
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from langfocus.crawler.commands.base import Parser, language_code, natural, write_json
from langfocus.crawler.errors import CrawlError, SettingError

if TYPE_CHECKING:
    from langfocus.crawler.corpus.building import CorpusSummary, TextOptions

DESCRIPTION = (
    "Makes the texts of the pages of runs and WARC files: the main text of each page in the "
    "language, without repeated lines and near-duplicates. The crawl may still be running. "
    "With a file.wacz the WARC files of a run are packed as they are, with their index; with a "
    "file.tsv the hosts of runs are listed by their yield."
)

_MANUAL = """\
A PATH is the folder of a run with WARC files, a WARC file, a WACZ package, or a folder of WARC or
HTML files. Pages without a run are identified here.

The name of the file tells its format. Standard output gets JSON lines.
  .jsonl    one page in each line, with the fields that docs/corpus.md describes
  .parquet  one page in each row, with the same fields
  .csv      one page in each line, without its text: the metadata
  .txt      only the text: a paragraph in each line, an empty line after each page
  .vert     vertical text for corpus tools: one token in each line, and <doc>, <p>, <s>
  .xml      a corpus of TEI P5
A plug-in adds its own ending, or is named by --format.
.gz or .zst may follow (corpus.vert.gz), but for Parquet, which is packed inside.
.wacz has the WARC files of one run, their index (also written as index.cdxj into the folder of the
run) and a list of its pages; the options of texts do not apply.
.tsv has the hosts of runs with pages in the language, most of these first: host, pages, relevant
pages, harvest rate, words in their first 2,000 characters, bytes, and the shortest URL.

The same pages give the same file. The folder FILE.parts keeps what an interrupted export has done;
the same command goes on there.

examples:
  langfocus export runs/FOLDER --output corpus.txt
  langfocus export runs/1 runs/2 --min-words 50 --output corpus.parquet
  langfocus export crawl.warc.gz --lang is --keep-copies --output pages.jsonl
  langfocus export runs/FOLDER --license cc --output gl.vert.gz --card README.md
  langfocus export runs/FOLDER --output pages.wacz
  langfocus export runs/1 runs/2 --output hosts.tsv
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from langfocus.crawler.corpus.extraction import EXTRACTORS

    parser.epilog = _MANUAL
    parser.add_paths("paths", "PATH", "sources of pages: runs, archives, folders")
    parser.add_file("--output", "output file (default: standard output)")
    lang = "language of the pages, or all (default: the run's target; all without a run)"
    parser.add_argument("--lang", metavar="CODE", help=lang)
    parser.add_argument(
        "--extractor",
        metavar="NAME",
        default="combined",
        help=f"main text extractor: {', '.join(EXTRACTORS)}, or a plug-in; combined (default) is "
        "the blocks that a model chooses; resiliparse alone is the fastest",
    )
    kind = "format, whatever the file name; also a plug-in"
    parser.add_argument("--format", metavar="NAME", help=kind)
    markup = "keep headings and lists, as Markdown"
    parser.add_argument("--markup", action="store_true", help=markup)
    words = "skip texts with fewer words"
    parser.add_argument("--min-words", type=natural, default=1, metavar="N", help=words)
    copies = "keep near-duplicates, with the URL of the first page as duplicate_of"
    parser.add_argument("--keep-copies", action="store_true", help=copies)
    repeated = "keep lines repeated by a host, with their numbers in the field repeated"
    parser.add_argument("--keep-repeated", action="store_true", help=repeated)
    reserved = "keep pages reserved from text and data mining by their servers"
    parser.add_argument("--keep-reserved", action="store_true", help=reserved)
    license_name = "keep only pages with a license of this prefix; cc: any Creative Commons license"
    parser.add_argument("--license", metavar="NAME", help=license_name)
    parser.add_file("--card", "write a data card to FILE, such as README.md")
    parser.add_file("--json", "write the corpus figures to FILE, as JSON")


def run(opts: argparse.Namespace) -> None:
    """Export the pages of the given paths."""
    from langfocus.crawler.corpus.building import TextOptions
    from langfocus.crawler.corpus.extraction import EXTRACTORS, extractor_of
    from langfocus.crawler.corpus.sources import ALL_LANGUAGES

    if not EXTRACTORS.knows(opts.extractor):
        known = ", ".join(EXTRACTORS.names())
        raise SettingError(f"--extractor {opts.extractor}: no such extractor; there are {known}")
    extractor_of(opts.extractor)  # raises before a page is read
    lang = opts.lang
    if lang not in (None, ALL_LANGUAGES):
        lang = language_code(lang, "--lang")
    options = TextOptions(
        opts.extractor,
        lang,
        opts.min_words,
        keeps_copies=opts.keep_copies,
        keeps_repeated=opts.keep_repeated,
        keeps_reserved=opts.keep_reserved,
        has_markup=opts.markup,
        license=opts.license,
    )
    if opts.card is not None and opts.output is None:
        raise SettingError(f"--card {opts.card}: a card needs --output FILE")
    kind = None if opts.output is None or opts.format else opts.output.suffix
    if kind == ".tsv":
        _list_hosts(opts, options)
    elif kind != ".wacz":
        _export(opts, options)
    elif len(opts.paths) > 1 or options != TextOptions() or opts.json or opts.card:
        raise SettingError(f"--output {opts.output}: a package has all of one run")
    else:
        from langfocus.crawler.outputs.package import write_wacz

        print(f"{opts.output}: {write_wacz(opts.paths[0], opts.output):,} answers")


def _list_hosts(opts: argparse.Namespace, options: "TextOptions") -> None:
    from langfocus.crawler.corpus.building import TextOptions
    from langfocus.crawler.corpus.sources import ALL_LANGUAGES
    from langfocus.crawler.sources.yields import write_hosts

    others = options != TextOptions(lang=options.lang) or opts.json or opts.card
    if others or options.lang == ALL_LANGUAGES:
        raise SettingError(f"--output {opts.output}: a host list takes runs and --lang CODE alone")
    print(f"{opts.output}: {write_hosts(opts.paths, opts.output, options.lang):,} hosts")


def _export(opts: argparse.Namespace, options: "TextOptions") -> None:
    from langfocus.crawler.corpus.card import card_of
    from langfocus.crawler.corpus.export import export, format_of
    from langfocus.crawler.report.progress import Display

    kind = format_of(opts.output, opts.format)
    if kind == "txt" and not (opts.card or opts.json or opts.license):
        options = replace(options, has_metadata=False)
    with Display(sys.stderr) as display:
        counted = partial(display.count, "reading pages")
        corpus = export(opts.paths, opts.output, kind, options, counted)
    write_json(opts.json, corpus.as_dict())
    if opts.card is not None:
        command = shlex.join(["langfocus", *sys.argv[1:]])
        opts.card.write_text(card_of(corpus, opts.output, command, date.today()), encoding="utf-8")
    if opts.output is not None:
        _print(corpus)
    if not corpus.pages:
        raise CrawlError("no texts: no page of the language with a text is kept there")


def _print(corpus: "CorpusSummary") -> None:
    """Print the corpus figures, and the skipped pages by reason."""
    from langfocus.crawler.report.formatting import language_name
    from langfocus.crawler.report.table import Printer, Table, counts_table

    rate = corpus.as_dict()["words_per_megabyte"]
    rows = [
        ("pages", corpus.pages),
        ("words", corpus.words),
        ("words per downloaded MB", None if rate is None else round(rate)),
        ("copies of other pages", corpus.copies),
        ("lines that hosts repeat", corpus.repeated_lines),
        ("extractor", corpus.extractor),
    ]
    named = {language_name(code): number for code, number in corpus.languages.items()}
    paragraphs, reasons = ("language", "paragraphs"), ("reason", "pages")
    printer = Printer()
    printer.table(Table("Corpus", ("figure", "value"), rows))
    printer.table(counts_table("Languages of paragraphs", paragraphs, named, 10))
    printer.table(counts_table("Pages that were left out", reasons, +corpus.left_out, 10))
