"""`langfocus export`: the texts of the pages of runs and archives as a file."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TextIO, cast

from crawler.command import LangfocusCommand, language_code, natural
from crawler.errors import CrawlError, SettingError

_MANUAL = """\
A PATH is the folder of a run, a WARC file, a WACZ package, or a folder of these or of HTML files.
The texts come from the bytes of the pages: a run must keep WARC files (LANGFOCUS_WARC), and pages
without a run are identified here.

jsonl has one page in each line, parquet one in each row, with these fields: url, parent, status,
language, confidence, method, is_relevant, charset, country, directives, robots_txt, bytes, score,
depth, fetched_at, title, text, words, other_paragraphs, repeated, duplicate_of, links (with
LANGFOCUS_LINKS). txt has only the text: a paragraph in each line, an empty line after each page. A
jsonl or txt file whose name ends in .gz is compressed.

Lines that a host repeats on three pages or more are left out, and so are pages with nearly the text
of a page that was fetched before. The same pages give the same file, with any number of processes.
The folder FILE.parts keeps what an interrupted export has done; the same command goes on there.

examples:
  langfocus export runs/FOLDER --output corpus.txt
  langfocus export runs/1 runs/2 --min-words 50 --output corpus.parquet
  langfocus export crawl.warc.gz --lang is --keep-copies --output pages.jsonl
  langfocus export runs/FOLDER | head -1
"""


class ExportCommand(LangfocusCommand):
    """Makes texts of the pages that runs and archives keep."""

    usage = "PATH... [--output FILE] [--format jsonl|parquet|txt] [--lang CODE] [--json FILE] ..."
    summary = "Write the texts of a crawl as JSON lines, Parquet or plain text"
    description = (
        "Makes the texts of the pages of runs and WARC files: the main text of each page in the "
        "language, without repeated lines and near-duplicates. The crawl may still be running."
    )
    json_help = "also write the figures of the corpus to FILE, as JSON"
    files = ("json", "output")

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _MANUAL

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        from crawler.corpus.export import FORMATS
        from crawler.corpus.extraction import EXTRACTORS

        super().add_options(parser)
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE",
            help="the file to write; without it, standard output",
        )
        parser.add_argument(
            "--format", choices=FORMATS, help="default: by the name of the file, else jsonl"
        )
        parser.add_argument(
            "--lang",
            metavar="CODE",
            help="the language of the pages, or all (default: that of the run; all without a run)",
        )
        parser.add_argument(
            "--extractor",
            choices=EXTRACTORS,
            default=EXTRACTORS[0],
            help="finds the main text; resiliparse takes a fifth of the time and finds less",
        )
        parser.add_argument(
            "--min-words",
            type=natural,
            default=1,
            metavar="N",
            help="leave out texts with fewer words",
        )
        parser.add_argument(
            "--keep-copies",
            action="store_true",
            help="keep near-duplicates; their duplicate_of is the URL of the first page",
        )
        parser.add_argument(
            "--keep-repeated",
            action="store_true",
            help="keep lines that a host repeats; the field repeated has their numbers",
        )
        parser.add_argument(
            "--processes",
            type=natural,
            default=0,
            metavar="N",
            help="processes that read pages (default: one for each core)",
        )

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Export the pages of the given paths."""
        from crawler.corpus.building import TextOptions
        from crawler.corpus.export import export, format_of
        from crawler.corpus.sources import ALL_LANGUAGES
        from crawler.report.corpus_tables import print_corpus
        from crawler.report.printer import PrintableStream

        if not args:
            raise SettingError("name the folder of a crawl: langfocus export RUN_FOLDER")
        lang = opts.lang
        if lang not in (None, ALL_LANGUAGES):
            lang = language_code(lang, "--lang")
        options = TextOptions(
            opts.extractor,
            lang,
            opts.min_words,
            keeps_copies=opts.keep_copies,
            keeps_repeated=opts.keep_repeated,
            processes=opts.processes,
        )
        kind = format_of(opts.output, opts.format)
        stdout = cast(TextIO, PrintableStream(sys.stdout))
        with _progress() as on_progress, redirect_stdout(stdout):
            told = export([Path(arg) for arg in args], opts.output, kind, options, on_progress)
        self.write_json(opts, told.as_dict())
        if opts.output is not None:
            print_corpus(told)
        if not told.pages:
            raise CrawlError("no texts: no page of the language with a text is kept there")


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows a bar and the time left on a terminal, and nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True)
    columns = TextColumn("reading pages"), BarColumn(), MofNCompleteColumn(), TimeLeft()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
