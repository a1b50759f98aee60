"""`langfocus sample`: pages of a run for a person to label."""

import argparse
from pathlib import Path

from crawler.command import LangfocusCommand, natural, positive
from crawler.errors import RunFolderError, SettingError

_NUMBER = 200

_MANUAL = """\
Open FILE in a spreadsheet program or an editor, open each URL, and write into the column `label`:

  yes or no        the page is in the language of the crawl, or not
  de, German, ...  the language of the page
  ?, or nothing    you cannot tell; the page is left out

The other columns stay as they are. Then `langfocus report RUN_FOLDER --labels FILE` tells the
harvest rate with an interval that includes the errors of the identifier.

examples:
  langfocus sample runs/FOLDER labels.csv
  langfocus sample runs/FOLDER labels.tsv --number 400 --random-state 1
  langfocus report runs/FOLDER --labels labels.csv
"""


class SampleCommand(LangfocusCommand):
    """Draws a stratified sample of a run's pages and writes it into a file."""

    usage = "RUN_FOLDER FILE [--number N] [--random-state N] [--json FILE]"
    summary = "Draw pages of a crawl for a person to label"
    description = (
        "Draws a random sample of the pages of a crawl and writes it into a file in which a person "
        "labels each page. The sample is stratified by the identifier's answer and its confidence: "
        "more pages are drawn where the identifier may be wrong. FILE has tab-separated values, or "
        "commas if its name ends in .csv."
    )
    json_help = "write the number of pages of each stratum to FILE, as JSON"

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _MANUAL

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        super().add_options(parser)
        parser.add_argument(
            "--number",
            metavar="N",
            type=positive,
            default=_NUMBER,
            help=f"pages to draw, about (default: {_NUMBER})",
        )
        parser.add_argument(
            "--random-state",
            metavar="N",
            type=natural,
            default=0,
            help="another number draws other pages (default: 0)",
        )

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Draw the sample, write it, and print how many pages it has."""
        from crawler.report.files import check_places
        from crawler.report.sample import allocation, draw_sample, sizes_of, write_sample
        from crawler.run import reading

        if len(args) != 2:
            raise SettingError("name a folder and a file: langfocus sample RUN_FOLDER FILE")
        folder, path = Path(args[0]), Path(args[1])
        check_places(path)
        if path.exists():
            raise SettingError(f"{path}: exists already, and may have labels; name another file")
        with reading(folder) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
            if row is None or not row[0]:
                raise RunFolderError(f"{folder}: its run.db has no language")
            sample = draw_sample(connection, row[0], opts.number, opts.random_state)
            sizes = sizes_of(connection, row[0], sample.until)
        if not sample.pages:
            raise RunFolderError(f"{folder}: the run has no pages yet")
        write_sample(path, sample)
        drawn = allocation(sizes, opts.number)
        strata = [
            {
                "answer": key.answer.value,
                "band": key.band,
                "pages": sizes[key],
                "drawn": number,
            }
            for key, number in drawn.items()
        ]
        content = {"pages": len(sample.pages), "sampled_until": sample.until, "strata": strata}
        self.write_json(opts, content)
        print(f"{path}: {len(sample.pages):,} of {sum(sizes.values()):,} pages")
