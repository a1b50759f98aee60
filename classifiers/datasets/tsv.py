"""Labelled URLs in tab-separated files."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from classifiers.datasets.rows import Dataset, LabelledUrl, code_of, opened, unreadable
from classifiers.errors import DatasetError

COLUMNS = ("url", "lang", "label_kind", "source")


@dataclass
class LabelledUrls(Dataset):
    """The rows of a .tsv or .tsv.gz file with the columns of COLUMNS, in any order.

    A row that is cut short, without URL or in a language that is not known is skipped and counted;
    a file without the columns, damaged or not UTF-8 raises DatasetError with file and line.
    """

    def _rows(self) -> Iterator[LabelledUrl]:
        line = 1
        try:
            with opened(self.path) as file:
                order = self._order(next(file, b""))
                for raw in file:
                    line += 1
                    row = self._row(raw.decode("utf-8").rstrip("\r\n").split("\t"), order)
                    if row is not None:
                        yield row
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(f"{self.path}:{line}", error) from error
        except UnicodeDecodeError as error:
            raise DatasetError(f"{self.path}:{line}: not UTF-8; convert the file") from error

    def _order(self, header: bytes) -> list[int]:
        names = header.decode("utf-8").rstrip("\r\n").split("\t")
        missing = [name for name in COLUMNS if name not in names]
        if missing:
            raise DatasetError(
                f"{self.path}:1: no column {', '.join(missing)}; expected {', '.join(COLUMNS)}"
                " with tabs between"
            )
        return [names.index(name) for name in COLUMNS]

    def _row(self, cells: list[str], order: list[int]) -> LabelledUrl | None:
        if len(cells) <= max(order):
            self.reasons["cut short"] += 1
            return None
        url, lang, label_kind, source = (cells[at].strip() for at in order)
        language = code_of(lang)
        if not url:
            self.reasons["no URL"] += 1
        elif language is None:
            self.reasons["unknown language"] += 1
        else:
            return LabelledUrl(url, language, label_kind, source)
        return None
