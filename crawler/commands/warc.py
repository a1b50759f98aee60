"""`langfocus warc`: the index of a run's WARC files, and all of it as one package."""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from crawler.command import LangfocusCommand
from crawler.errors import CrawlError, SettingError

_EXAMPLES = """\
A crawl with -s LANGFOCUS_WARC=True writes WARC files and, at its end, index.cdxj into its folder.
This command writes the index of a crawl that is still running or was killed. The WACZ file has the
WARC files, the index and a list of the pages with their languages.

examples:
  langfocus warc runs/FOLDER
  langfocus warc runs/FOLDER --wacz pages.wacz
"""


class WarcCommand(LangfocusCommand):
    """Writes the index of a run's WARC files and, if asked to, a WACZ file."""

    usage = "RUN_FOLDER [--wacz FILE] [--json FILE]"
    summary = "Write the CDXJ index of a crawl's WARC files, and pack them as WACZ"
    description = (
        "Counts the answers in the WARC files of a crawl and writes index.cdxj into its folder. "
        "With --wacz it also packs files, index and a list of pages into one file."
    )
    json_help = "also write the figures to FILE, as JSON"

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _EXAMPLES

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        super().add_options(parser)
        parser.add_argument("--wacz", metavar="FILE", help="also pack everything into FILE (WACZ)")

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Write the files and print the figures."""
        from crawler.outputs.cdxj import INDEX, write_index
        from crawler.outputs.wacz import write_wacz
        from crawler.report.formatting import size
        from crawler.report.printer import Printer
        from crawler.report.table import Table
        from crawler.settings import BOT_NAME, VERSION

        if len(args) != 1:
            raise SettingError("name one folder of a crawl: langfocus warc RUN_FOLDER")
        folder = Path(args[0])
        figures = _figures(folder)
        if opts.wacz:
            write_wacz(folder, Path(opts.wacz), f"{BOT_NAME} {VERSION}")
        else:
            write_index(folder)
        rows = [
            (name, size(number) if name == "bytes" else f"{number:,}")
            for name, number in figures.items()
        ]
        Printer().table(Table(f"WARC files of {folder}", ("", "Run"), rows))
        self.write_json(opts, figures)
        print(opts.wacz or folder / INDEX)


def _figures(folder: Path) -> dict[str, Any]:
    from crawler.outputs.kept import kept_exchanges

    kinds: Counter[str] = Counter()
    with kept_exchanges(folder) as kept:
        files = kept.files()
        for row in kept.rows():
            kinds["revisits" if row.is_revisit else "responses"] += 1
            kinds["of pages"] += row.fingerprint is not None
    if not files:
        raise CrawlError(f"{folder}: the run has no WARC files; crawl with LANGFOCUS_WARC=True")
    return {
        "files": len(files),
        "bytes": sum(file.size for file in files),
        "responses": kinds["responses"],
        "revisits": kinds["revisits"],
        "exchanges of settled URLs": kinds["of pages"],
    }
