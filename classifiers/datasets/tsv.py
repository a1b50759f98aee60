"""Labelled URLs in tab-separated files."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from classifiers.datasets.rows import Dataset, LabelledUrl, code_of, opened, unreadable
from classifiers.errors import DatasetError

COLUMNS = ("url", "lang", "label_kind", "source")


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


def cells_of(path: Path, columns: Sequence[str], reasons: Counter[str]) -> Iterator[list[str]]:
    """Yield the cells of each row in the order of `columns`, without white space around them.

    A row that is cut short is counted in `reasons`; DatasetError as for `LabelledUrls`.
    """
    line = 1
    try:
        with opened(path) as file:
            order = _order(next(file, b""), columns, path)
            for raw in file:
                line += 1
                cells = raw.decode("utf-8").rstrip("\r\n").split("\t")
                if len(cells) <= max(order):
                    reasons["cut short"] += 1
                else:
                    yield [cells[at].strip() for at in order]
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(f"{path}:{line}", error) from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}:{line}: not UTF-8; convert the file") from error


def _order(header: bytes, columns: Sequence[str], path: Path) -> list[int]:
    names = header.decode("utf-8").rstrip("\r\n").split("\t")
    missing = [name for name in columns if name not in names]
    if missing:
        raise DatasetError(
            f"{path}:1: no column {', '.join(missing)}; expected {', '.join(columns)}"
            " with tabs between"
        )
    return [names.index(name) for name in columns]
