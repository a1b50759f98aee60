"""`langfocus sample`: pages of a run for a person to label."""

import argparse
from pathlib import Path

from crawler.commands.base import Parser, positive
from crawler.errors import RunFolderError, SettingError

DESCRIPTION = (
    "Draws a random sample of the pages of a crawl and writes it into a file in which a person "
    "labels each page. The sample is stratified by the identifier's answer. FILE has tab-separated "
    "values, or commas if its name ends in .csv."
)

_NUMBER = 200
_RANDOM_STATE = 0

_MANUAL = """\
Open FILE in a spreadsheet program or an editor, open each URL, and write into the column `label`:

  yes or no        the page is in the language of the crawl, or not
  de, German, ...  the language of the page
  ?, or nothing    you cannot tell; the page is left out

The other columns stay as they are. Then `langfocus report RUN_FOLDER --labels FILE` tells the
harvest rate with an interval that includes the errors of the identifier.

examples:
  langfocus sample runs/FOLDER labels.csv
  langfocus sample runs/FOLDER labels.tsv --number 400
  langfocus report runs/FOLDER --labels labels.csv
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_argument("folder", metavar="RUN_FOLDER", type=Path, help="the folder of a crawl")
    parser.add_file("file", "a new file for the sample")
    parser.add_argument(
        "--number",
        metavar="N",
        type=positive,
        default=_NUMBER,
        help=f"pages to draw, about (default: {_NUMBER})",
    )


def run(opts: argparse.Namespace) -> None:
    """Draw the sample, write it, and print how many pages it has."""
    from crawler.report.labels import draw_sample, write_sample
    from crawler.run import reading

    if opts.file.exists():
        raise SettingError(f"{opts.file}: exists already, and may have labels; name another file")
    with reading(opts.folder) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
        if row is None or not row[0]:
            raise RunFolderError(f"{opts.folder}: its run.db has no language")
        sample = draw_sample(connection, row[0], opts.number, _RANDOM_STATE)
    if not sample.pages:
        raise RunFolderError(f"{opts.folder}: the run has no pages yet")
    write_sample(opts.file, sample)
    print(f"{opts.file}: {len(sample.pages):,} of {sample.of:,} pages")
