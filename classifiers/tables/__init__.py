"""Fact files, and the location of shipped data.

The first line of every file names the source. `benchmarks.facts` writes the files extracted from
other collections.
"""

from importlib.resources import files
from pathlib import Path


def rows(name: str) -> dict[str, str]:
    """Return the lines `code: text` of a file in this folder, after the first, as code -> text."""
    _, *lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def shipped_folder(name: str) -> Path:
    """Return a data folder inside the package `langfocus`; in a checkout possibly a link."""
    return Path(str(files("langfocus") / name))
