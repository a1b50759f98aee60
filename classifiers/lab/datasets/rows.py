"""A labelled URL, and what all sources of labelled rows have in common."""

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
    """One URL and the language that somebody, or its page, says it leads to."""

    url: str
    language: str
    """A code of the project."""
    label_kind: str
    """How the label arose: document, content, editor, site-list, outlink, country."""
    source: str
    """Where the row is from."""


@dataclass
class Dataset(ABC, Generic[Row_co]):
    """Labelled rows of a file or folder, read anew by each iteration and never held as a whole.

    What cannot be used is left out and counted; DatasetError means that the data are missing or
    damaged, and says where.
    """

    path: Path
    reasons: Counter[str] = field(default_factory=Counter, init=False)
    """Why rows were left out, and how many, in the latest iteration as far as it came."""

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
        """Yield what can be used, and count the rest in `reasons`."""


def opened(path: Path) -> IO[bytes] | gzip.GzipFile:
    """The bytes of a file, unpacked if it is called .gz, however many members it has."""
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")


def unreadable(place: str, error: Exception) -> DatasetError:
    """The error of one line that says where reading ended and why."""
    reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return DatasetError(f"{place}: cannot be read ({reason or type(error).__name__})")


@lru_cache(maxsize=4096)
def code_of(tag: str) -> str | None:
    """The code of the project, or None where the language is not known."""
    return canonical(tag)
