"""Facts in text files, and the place of the data that ship.

The first line of each file names its source. `benchmarks.facts` makes those that are
parts of other collections.
"""

from importlib.resources import files
from pathlib import Path


def rows(name: str) -> dict[str, str]:
    """Return the lines `code: text` of a file in this folder after the first, as code -> text."""
    _, *lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def shipped_folder(name: str) -> Path:
    """Return a folder of data inside the package `langfocus`; in a checkout it may be a link."""
    return Path(str(files("langfocus") / name))
