"""`langfocus export`: the texts of the pages of a run as a file."""

import argparse
import sys
from pathlib import Path

from crawler.command import LangfocusCommand
from crawler.errors import CrawlError, SettingError

_MANUAL = """\
A crawl keeps the title and the main text of the pages in its language, unless LANGFOCUS_TEXT says
otherwise. jsonl has one page in each line, parquet one in each row, with these fields: url, parent,
status, language, confidence, method, is_relevant, charset, country, bytes, score, depth,
fetched_at, title, text, words, other_paragraphs, duplicate_of, links (with LANGFOCUS_LINKS). txt
has only the text: a paragraph in each line, an empty line after each page, and no near-duplicates.
A jsonl or txt file whose name ends in .gz is compressed.

examples:
  langfocus export runs/FOLDER --output pages.jsonl
  langfocus export runs/FOLDER --output corpus.txt
  langfocus export runs/FOLDER --clean --output corpus.parquet
  langfocus export runs/FOLDER | head -1
"""


class ExportCommand(LangfocusCommand):
    """Writes the pages whose text a run keeps, any time after or during the crawl."""

    usage = "RUN_FOLDER... [--output FILE] [--format jsonl|parquet|txt] [--clean] [--json FILE]"
    summary = "Write the texts of a crawl as JSON lines, Parquet or plain text"
    description = (
        "Writes the pages of a run whose text it keeps: title, main text, language, and whether a "
        "page is a near-duplicate of an earlier one. The crawl may still be running."
    )
    json_help = "also write the numbers of pages, words and duplicates to FILE, as JSON"
    files = ("json", "output")

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _MANUAL

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        from crawler.outputs.export import FORMATS

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
            "--clean",
            action="store_true",
            help="leave out near-duplicates and pages without words (txt always does)",
        )

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Export the given runs."""
        from dataclasses import asdict

        from crawler.outputs.export import export, format_of

        if not args:
            raise SettingError("name the folder of a crawl: langfocus export RUN_FOLDER")
        kind = format_of(opts.output, opts.format)
        told = export([Path(arg) for arg in args], opts.output, kind, is_clean=opts.clean)
        self.write_json(opts, asdict(told))
        if opts.output is not None:
            copies = f"{told.duplicates:,} near-duplicates found"
            print(f"{opts.output}: {told.pages:,} pages, {told.words:,} words, {copies}")
        if told.damaged:
            print(f"{told.damaged:,} damaged texts were left out", file=sys.stderr)
        if not told.pages:
            raise CrawlError("no texts: the run kept none (LANGFOCUS_TEXT)")
