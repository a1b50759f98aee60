"""Readers of labelled URLs, texts and pages, and splits of the data."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from classifiers.datasets.commoncrawl import CdxUrls, ColumnarUrls, files_called
from classifiers.datasets.odp import OdpUrls
from classifiers.datasets.rows import COLUMNS, Dataset, LabelledUrl, LabelledUrls
from classifiers.datasets.splits import distinct, domain_reader, split, stable_share
from classifiers.datasets.texts import LabelledPage, LabelledPages, LabelledText, LabelledTexts
from classifiers.errors import DatasetError
from classifiers.shipped import shipped_folder

__all__ = [
    "COLUMNS",
    "FORMATS",
    "CdxUrls",
    "ColumnarUrls",
    "Dataset",
    "LabelledPage",
    "LabelledPages",
    "LabelledText",
    "LabelledTexts",
    "LabelledUrl",
    "LabelledUrls",
    "OdpUrls",
    "distinct",
    "domain_reader",
    "open_dataset",
    "split",
    "stable_share",
]

FORMATS: Final[dict[str, Callable[[Path], Dataset[LabelledUrl]]]] = {
    "tsv": LabelledUrls,
    "odp": OdpUrls,
    "parquet": ColumnarUrls,
    "cdxj": CdxUrls,
}
"""Name of a format -> its reader."""

_NAMES: Final = {
    "tsv": re.compile(r".*\.tsv(\.gz)?"),
    "odp": re.compile(r".*\.(rdf|u8)(\.gz)?"),
    "parquet": re.compile(r".*\.parquet"),
    "cdxj": re.compile(r"cdx-\d+(\.gz)?|.*\.cdxj?(\.gz)?"),
}
SAMPLE: Final = "sample"
"""The name of the small table that ships."""
_SAMPLE_TABLE: Final = shipped_folder("data", "langfocus/data") / "sample-urls.tsv"

_EXPECTED: Final = "*.tsv, *.rdf.u8, *.parquet, *.cdxj or cdx-00000, each also .gz but Parquet"


def open_dataset(path: str | Path) -> Dataset[LabelledUrl]:
    """The labelled URLs of a file or folder, in the format of its name.

    The path `sample` is the table that ships, unless there is such a file. Nothing is read yet.
    DatasetError if there is no such file, or if no format has its name.
    """
    path = Path(path)
    if path == Path(SAMPLE) and not path.exists():
        path = _SAMPLE_TABLE
    if not path.exists():
        raise DatasetError(f"{path}: no such file or folder")
    return FORMATS[_format_of(path)](path)


def _format_of(path: Path) -> str:
    if path.is_dir():
        return _format_of_folder(path)
    for name, pattern in _NAMES.items():
        if pattern.fullmatch(path.name.lower()):
            return name
    raise DatasetError(f"{path}: no format has this name; expected {_EXPECTED}")


def _format_of_folder(folder: Path) -> str:
    readers = {"parquet": ColumnarUrls, "cdxj": CdxUrls}
    found = [name for name, reader in readers.items() if files_called(folder, reader.names)]
    if len(found) != 1:
        held = "both kinds" if found else "none"
        raise DatasetError(f"{folder}: expected Parquet files or CDXJ files in it, found {held}")
    return found[0]
