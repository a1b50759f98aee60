"""Make the pictures of the README from a real crawl: `python docs/pictures.py`.

The crawl is one of the built-in sample web. `panel.svg` shows the panel of a terminal while it
runs, `report.png` the top of its report. The second needs Chromium (`--chromium PROGRAM`).
"""

import argparse
import io
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console

from langfocus.crawler.report.live import Snapshot, decoded
from langfocus.crawler.report.progress import MARK, PASSED_ON, panel

FOLDER: Final = Path(__file__).parent / "pictures"
CRAWL: Final = ("-a", "lang=de", "-a", "web=sample", "-a", "pages=1300")
COLUMNS: Final = 80
ROWS: Final = 24
MIDDLE: Final = 600
"""The pages of the crawl when its panel is drawn."""
# That of Rich names fonts that a reader would have to fetch.
_SVG: Final = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>The panel of a crawl in a terminal</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px monospace; white-space: pre }}
.{unique_id}-title {{ font: bold 18px sans-serif }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def crawl(run: Path) -> Snapshot:
    """Crawl into the folder `run`, and return a snapshot from the middle of the crawl."""
    command = [sys.executable, "-m", "langfocus", "crawl", *CRAWL, "-s", f"JOBDIR={run}"]
    variables = {**os.environ, PASSED_ON: "1"}
    done = subprocess.run(command, check=True, env=variables, capture_output=True)  # noqa: S603
    lines = done.stderr.decode().split("\n")
    snapshots = [decoded(line.removeprefix(MARK)) for line in lines if line.startswith(MARK)]
    return next(each for each in snapshots if each.pages >= MIDDLE)


def panel_svg(snapshot: Snapshot) -> str:
    """Draw the panel as a terminal of `COLUMNS` by `ROWS` shows it."""
    console = Console(record=True, width=COLUMNS, height=ROWS, file=io.StringIO())
    console.print(panel(snapshot, COLUMNS, ROWS))
    command = " ".join(("langfocus crawl", *CRAWL))
    return console.export_svg(title=command, code_format=_SVG, unique_id="panel")


def main() -> None:
    """Make both pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chromium", default="chromium", metavar="PROGRAM")
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        (FOLDER / "panel.svg").write_text(panel_svg(crawl(run)), encoding="utf-8")
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1100,920")
        picture = f"--screenshot={FOLDER / 'report.png'}"
        command = [given.chromium, *options, picture, (run / "report.html").as_uri()]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    main()
