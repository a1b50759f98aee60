"""A labelled URL, and the base of all readers of labelled data."""

from __future__ import annotations

import gzip
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Generic, NamedTuple, TypeVar

from classifiers.errors import DatasetError
from classifiers.languages import canonical

Row_co = TypeVar("Row_co", covariant=True)


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


@lru_cache(maxsize=4096)
def code_of(tag: str) -> str | None:
    """The code of the project; None if the language is not known."""
    return canonical(tag)
