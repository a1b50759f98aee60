"""Readers of labelled URLs, texts and pages, and splits of the data."""

from pathlib import Path
from typing import Final

from langfocus.classifiers.datasets.odp import OdpUrls
from langfocus.classifiers.datasets.rows import Dataset, LabelledUrl, LabelledUrls
from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.tables import shipped_folder

_Reader = type[LabelledUrls] | type[OdpUrls]
FORMATS: Final[dict[str, _Reader]] = {"tsv": LabelledUrls, "rdf": OdpUrls, "u8": OdpUrls}
"""Ending of a file's name -> its reader; each may be followed by .gz."""
SAMPLE: Final = "sample"
"""The name of the small table that ships."""


def open_dataset(path: str | Path) -> Dataset[LabelledUrl]:
    """The labelled URLs of a file, in the format of its name; nothing is read yet.

    The path `sample` is the table that ships, unless there is such a file. DatasetError if there is
    no such file, or if no format has its name.
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
