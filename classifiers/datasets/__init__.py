"""Readers of labelled URLs, texts and pages, and train/test splits."""

from pathlib import Path
from typing import Final

from langfocus.classifiers.datasets.odp import OdpUrls
from langfocus.classifiers.datasets.rows import Dataset, LabelledUrl, LabelledUrls
from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.tables import shipped_folder

_Reader = type[LabelledUrls] | type[OdpUrls]
FORMATS: Final[dict[str, _Reader]] = {"tsv": LabelledUrls, "rdf": OdpUrls, "u8": OdpUrls}
"""File name ending -> reader; `.gz` may follow each ending."""
SAMPLE: Final = "sample"
"""Name of the small table shipped with the package."""


def open_dataset(path: str | Path) -> Dataset[LabelledUrl]:
    """Return the labelled URLs of a file, in the format named by its ending; nothing is read yet.

    The path `sample` is the shipped table, unless a file has this path. DatasetError if the file is
    missing or no format has its ending.
    """
    path = Path(path)
    if path == Path(SAMPLE) and not path.exists():
        path = shipped_folder("data") / "sample-urls.tsv"
    if not path.is_file():
        raise DatasetError(f"{path}: no such file")
    reader = FORMATS.get(path.name.lower().removesuffix(".gz").rpartition(".")[2])
    if reader is None:
        raise DatasetError(f"{path}: no format has this name; expected *.tsv or *.rdf.u8, or .gz")
    return reader(path)
