"""`langfocus warc`: the index of a run's WARC files, and all of it as one package."""

import argparse
from collections import Counter
from pathlib import Path

from crawler.commands.base import Parser
from crawler.errors import CrawlError

DESCRIPTION = (
    "Counts the answers in the WARC files of a crawl and writes index.cdxj into its folder. "
    "With --wacz it packs files, index and a list of pages into one file instead."
)

_EXAMPLES = """\
A crawl with -s LANGFOCUS_WARC=True writes WARC files and, at its end, index.cdxj into its folder.
This command writes the index of a crawl that is still running or was killed. The WACZ file has the
WARC files, the index and a list of the pages with their languages.

examples:
  langfocus warc runs/FOLDER
  langfocus warc runs/FOLDER --wacz pages.wacz
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _EXAMPLES
    parser.add_argument("folder", metavar="RUN_FOLDER", type=Path, help="the folder of a crawl")
    parser.add_file("--wacz", "pack everything into FILE (WACZ)")


def run(opts: argparse.Namespace) -> None:
    """Write the files and print the figures."""
    from crawler.outputs.cdxj import INDEX, write_index
    from crawler.outputs.wacz import write_wacz
    from crawler.report.printer import Printer
    from crawler.report.table import Table
    from crawler.settings import BOT_NAME, VERSION

    rows = _figures(opts.folder)
    if opts.wacz:
        write_wacz(opts.folder, opts.wacz, f"{BOT_NAME} {VERSION}")
    else:
        write_index(opts.folder)
    Printer().table(Table(f"WARC files of {opts.folder}", ("", "Run"), rows))
    print(opts.wacz or opts.folder / INDEX)


def _figures(folder: Path) -> list[tuple[str, str]]:
    from crawler.outputs.archived import settled, settled_files
    from crawler.report.formatting import size
    from crawler.run import reading

    kinds: Counter[str] = Counter()
    with reading(folder) as run:
        files = settled_files(run, folder)
        for row in settled(run):
            kinds["revisits" if row.is_revisit else "responses"] += 1
            kinds["of pages"] += row.fingerprint is not None
    if not files:
        raise CrawlError(f"{folder}: the run has no WARC files; crawl with LANGFOCUS_WARC=True")
    return [
        ("files", f"{len(files):,}"),
        ("bytes", size(sum(files.values()))),
        ("responses", f"{kinds['responses']:,}"),
        ("revisits", f"{kinds['revisits']:,}"),
        ("exchanges of settled URLs", f"{kinds['of pages']:,}"),
    ]
