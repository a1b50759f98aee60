"""A labelled URL, the base of all readers of labelled data, and tab-separated tables."""

from __future__ import annotations

import gzip
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Final, Generic, NamedTuple, TypeVar

from classifiers.errors import DatasetError
from classifiers.languages import canonical

Row_co = TypeVar("Row_co", covariant=True)

_LONGEST_LINE: Final = 1 << 20

COLUMNS: Final = ("url", "lang", "label_kind", "source")
"""Columns of a table of labelled URLs."""


class LabelledUrl(NamedTuple):
    """One URL with the language of its page, labelled by a person or from the page itself."""

    url: str
    language: str
    """A code of the project."""
    label_kind: str
    """Origin of the label: document, content, editor, site-list, outlink, country."""
    source: str
    """The source of the row."""


@dataclass
class Dataset(ABC, Generic[Row_co]):
    """Labelled rows of a file or folder, read anew by each iteration and never all in memory.

    Unusable rows are left out and counted. DatasetError with the place if the data are missing or
    damaged.
    """

    path: Path
    reasons: Counter[str] = field(default_factory=Counter, init=False)
    """Reason -> rows that were left out, in the latest iteration so far."""

    @property
    def skipped(self) -> int:
        """How many rows the latest iteration left out."""
        return self.reasons.total()

    def __iter__(self) -> Iterator[Row_co]:
        """Yield the rows that can be used, in the order of the data."""
        self.reasons = Counter()
        return self._rows()

    @abstractmethod
    def _rows(self) -> Iterator[Row_co]:
        """Yield the usable rows, and count the others in `reasons`."""


def opened(path: Path) -> IO[bytes] | gzip.GzipFile:
    """The bytes of a file, unpacked if its name ends in .gz."""
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")


def unreadable(place: str, error: Exception) -> DatasetError:
    """The error of one line with the reason and the place that reading had reached."""
    reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return DatasetError(f"{place}: cannot be read ({reason or type(error).__name__})")


def left_out(reasons: Counter[str]) -> str:
    """The number of rows left out, and of each reason, the most frequent reason first."""
    counts = [f"{reason} {count}" for reason, count in reasons.most_common()]
    return f"{reasons.total()} rows left out" + (f" ({', '.join(counts)})" if counts else "")


@lru_cache(maxsize=4096)
def code_of(tag: str) -> str | None:
    """The code of the project; None if the language is not known."""
    return canonical(tag)


@dataclass
class LabelledUrls(Dataset[LabelledUrl]):
    """The rows of a .tsv or .tsv.gz file with the columns of COLUMNS, in any order.

    A row that is cut short, has no URL or an unknown language is skipped and counted. DatasetError
    with file and line if the file lacks a column, is damaged or is not UTF-8.
    """

    def _rows(self) -> Iterator[LabelledUrl]:
        for url, lang, label_kind, source in cells_of(self.path, COLUMNS, self.reasons):
            language = code_of(lang)
            if not url:
                self.reasons["no URL"] += 1
            elif language is None:
                self.reasons["unknown language"] += 1
            else:
                yield LabelledUrl(url, language, label_kind, source)


def cells_of(
    path: Path, columns: Sequence[str], reasons: Counter[str], others: Sequence[str] = ()
) -> Iterator[list[str]]:
    """Yield the cells of each row in the order of `columns`, without white space around them.

    After them those of `others`, columns that the table may lack, '' without a cell. A row that is
    cut short is counted in `reasons`; DatasetError as for `LabelledUrls`.
    """
    line = 1
    try:
        with opened(path) as file:
            names = _names(file.readline(_LONGEST_LINE), columns, path)
            order = [names.index(name) for name in columns]
            further = [names.index(name) if name in names else -1 for name in others]
            blank = [""] * len(names)
            while raw := file.readline(_LONGEST_LINE):
                line += 1
                if len(raw) == _LONGEST_LINE:
                    raise DatasetError(f"{path}:{line}: a line of {_LONGEST_LINE} bytes or more")
                cells = raw.decode("utf-8").rstrip("\r\n").split("\t")
                if len(cells) <= max(order):
                    reasons["cut short"] += 1
                else:
                    cells = [*cells[: len(names)], *blank]
                    yield [cells[at].strip() for at in (*order, *further)]
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(f"{path}:{line}", error) from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}:{line}: not UTF-8; convert the file") from error


def _names(header: bytes, columns: Sequence[str], path: Path) -> list[str]:
    """The columns of a table; DatasetError without one of `columns`."""
    names = header.decode("utf-8-sig").rstrip("\r\n").split("\t")
    missing = [name for name in columns if name not in names]
    if missing:
        raise DatasetError(
            f"{path}:1: no column {', '.join(missing)}; expected {', '.join(columns)}"
            " with tabs between"
        )
    return names
