"""Labelled URLs: the base of all readers, tab-separated tables, and splits by registered domain."""

import gzip
import hashlib
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Final, Generic, NamedTuple, TypeVar

from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.languages import canonical
from langfocus.classifiers.tables.suffixes import suffix_reader
from langfocus.classifiers.urls.cctld import host_of

Row_co = TypeVar("Row_co", covariant=True)

_LONGEST_LINE: Final = 1 << 20

COLUMNS: Final = ("url", "lang", "label_kind", "source")
"""Columns of a labelled URL table."""


class LabelledUrl(NamedTuple):
    """A URL and its page language, labelled by a person or from the page content."""

    url: str
    language: str
    """Language code of the project."""
    label_kind: str
    """Origin of the label: document, content, editor, site-list, outlink, country."""
    source: str
    """Source name."""


@dataclass
class Dataset(ABC, Generic[Row_co]):
    """Labelled rows of a file or folder, read again by every iteration and never all in memory.

    Unusable rows are skipped and counted. DatasetError with the place if the data are missing or
    damaged.
    """

    path: Path
    reasons: Counter[str] = field(default_factory=Counter, init=False)
    """Reason -> rows skipped by the latest iteration so far."""

    @property
    def skipped(self) -> int:
        """How many rows the latest iteration left out."""
        return self.reasons.total()

    def __iter__(self) -> Iterator[Row_co]:
        """Yield the usable rows in data order."""
        self.reasons = Counter()
        return self._rows()

    @abstractmethod
    def _rows(self) -> Iterator[Row_co]:
        """Yield the usable rows; count skipped rows in `reasons`."""


def opened(path: Path) -> IO[bytes] | gzip.GzipFile:
    """Open a file for reading bytes, unpacked if its name ends in .gz."""
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")


def unreadable(place: str, error: Exception) -> DatasetError:
    """Return a one-line error with the reason and the place of the failed read."""
    reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return DatasetError(f"{place}: cannot be read ({reason or type(error).__name__})")


def left_out(reasons: Counter[str]) -> str:
    """Return the number of skipped rows, in total and by reason, the most frequent reason first."""
    counts = [f"{reason} {count}" for reason, count in reasons.most_common()]
    return f"{reasons.total()} rows left out" + (f" ({', '.join(counts)})" if counts else "")


@dataclass
class LabelledUrls(Dataset[LabelledUrl]):
    """The rows of a .tsv or .tsv.gz file with the columns of COLUMNS, in any order.

    A row is skipped and counted if it is cut short, without URL or in an unknown language.
    DatasetError with file and line if the file lacks a column, is damaged or is not UTF-8.
    """

    def _rows(self) -> Iterator[LabelledUrl]:
        for url, lang, label_kind, source in cells_of(self.path, COLUMNS, self.reasons):
            language = canonical(lang)
            if not url:
                self.reasons["no URL"] += 1
            elif language is None:
                self.reasons["unknown language"] += 1
            else:
                yield LabelledUrl(url, language, label_kind, source)


def cells_of(
    path: Path, columns: Sequence[str], reasons: Counter[str], others: Sequence[str] = ()
) -> Iterator[list[str]]:
    """Yield the cells of each row in the order of `columns`, stripped of white space.

    The cells of the optional columns `others` follow, '' for a missing column or cell. A row that
    is cut short is counted in `reasons`; DatasetError as for `LabelledUrls`.
    """
    line = 1
    try:
        with opened(path) as file:
            names = file.readline(_LONGEST_LINE).decode("utf-8-sig").rstrip("\r\n").split("\t")
            if missing := [name for name in columns if name not in names]:
                raise DatasetError(
                    f"{path}:1: no column {', '.join(missing)}; expected {', '.join(columns)}"
                    " with tabs between"
                )
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


@lru_cache(maxsize=1)
def domain_reader() -> Callable[[str], str]:
    """Return a function from a URL to its registered domain (`bbc.co.uk`), else to its host."""
    extract = suffix_reader(has_platforms=False)

    @lru_cache(maxsize=1 << 18)
    def of_host(host: str) -> str:
        parts = extract(host)
        return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else host

    return lambda url: of_host(host_of(url))


def distinct(rows: Iterable[LabelledUrl]) -> list[LabelledUrl]:
    """Return each URL once, without URLs listed under two languages (Baykan 2013, 3.1)."""
    first: dict[str, LabelledUrl] = {}
    ambiguous: set[str] = set()
    for row in rows:
        if first.setdefault(row.url, row).language != row.language:
            ambiguous.add(row.url)
    return [row for url, row in first.items() if url not in ambiguous]


def stable_share(text: str, seed: int, purpose: str = "split") -> float:
    """Return a number in [0, 1) that depends only on the arguments."""
    key = f"{purpose}:{seed}:{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=7).digest(), "big") / 2**56


def split(
    rows: Iterable[LabelledUrl], *, test_share: float = 0.1, seed: int = 0
) -> tuple[list[LabelledUrl], list[LabelledUrl]]:
    """Return training and test rows without a common registered domain.

    A domain's part depends only on a hash of its name and the seed, whatever the other rows.
    """
    if not 0 <= test_share <= 1:
        raise ValueError(f"test_share is a share between 0 and 1, not {test_share}")
    domain = domain_reader()
    parts: tuple[list[LabelledUrl], list[LabelledUrl]] = [], []
    for row in rows:
        parts[stable_share(domain(row.url), seed) < test_share].append(row)
    return parts
