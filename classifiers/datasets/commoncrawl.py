"""Labelled URLs from the two indexes of Common Crawl, whose languages CLD2 read from the pages."""

from __future__ import annotations

import json
import re
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from classifiers.datasets.rows import Dataset, LabelledUrl, code_of, opened, unreadable
from classifiers.errors import DatasetError, MissingPackageError

_ROWS_AT_A_TIME: Final = 1 << 14
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass
class _IndexedUrls(Dataset[LabelledUrl]):
    """Captures of status 200 whose text is in one language.

    `path` is a file, or a folder whose files are read in the order of their names. CLD2 lists up to
    three languages, the one with most of the text first. A page with several languages is left out.
    """

    names: ClassVar[tuple[str, ...]]
    """Glob patterns of the files that are read in a folder."""

    def _rows(self) -> Iterator[LabelledUrl]:
        for file in self._files():
            yield from self._rows_of(file)

    def _files(self) -> list[Path]:
        if not self.path.is_dir():
            return [self.path]
        files = files_called(self.path, self.names)
        if not files:
            raise DatasetError(f"{self.path}: no file called {' or '.join(self.names)} in it")
        return files

    @abstractmethod
    def _rows_of(self, file: Path) -> Iterator[LabelledUrl]:
        """Yield the usable rows of one file."""

    def _row(self, url: object, status: object, languages: object) -> LabelledUrl | None:
        """The row of one capture; None if it was left out and counted."""
        codes = languages.split(",") if isinstance(languages, str) and languages else []
        language = code_of(codes[0]) if codes else None
        if not _is_url(url):
            self.reasons["no URL"] += 1
        elif str(status) != "200":
            self.reasons["status other than 200"] += 1
        elif not codes:
            self.reasons["no language"] += 1
        elif len(codes) > 1:
            self.reasons["several languages"] += 1
        elif language is None:
            self.reasons["unknown language"] += 1
        else:
            return LabelledUrl(str(url), language, "content", "commoncrawl")
        return None


@dataclass
class ColumnarUrls(_IndexedUrls):
    """The rows of the columnar index (`cc-index/table`), from three columns of its Parquet files.

    Memory holds these columns of one row group. DatasetError with file and row if a file is damaged
    or lacks a column; MissingPackageError without pyarrow.
    """

    names: ClassVar[tuple[str, ...]] = ("*.parquet",)
    columns: ClassVar[tuple[str, ...]] = ("url", "fetch_status", "content_languages")

    def _rows_of(self, file: Path) -> Iterator[LabelledUrl]:
        arrow = _pyarrow()
        done = 0
        try:
            with arrow.parquet.ParquetFile(file) as table:
                self._check(file, table.schema_arrow.names)
                for batch in table.iter_batches(_ROWS_AT_A_TIME, columns=list(self.columns)):
                    cells = (batch.column(name).to_pylist() for name in self.columns)
                    for url, status, languages in zip(*cells, strict=True):
                        row = self._row(url, status, languages)
                        if row is not None:
                            yield row
                    done += batch.num_rows
        except (OSError, UnicodeDecodeError, arrow.ArrowException) as error:
            raise unreadable(f"{file}: row {done + 1}", error) from error

    def _check(self, file: Path, names: list[str]) -> None:
        missing = [name for name in self.columns if name not in names]
        if missing:
            raise DatasetError(
                f"{file}: no column {', '.join(missing)}; is it of Common Crawl's columnar index, "
                "CC-MAIN-2018-39 or later?"
            )


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]  # it has no type information
    except ImportError as error:
        raise MissingPackageError("pyarrow", "commoncrawl") from error
    return pyarrow


@dataclass
class CdxUrls(_IndexedUrls):
    """The rows of the CDXJ index (`cdx-00000.gz`): a sort key, a time and JSON on each line.

    Lines of JSON alone, which the index server sends, are read too. Other lines are counted as
    malformed. DatasetError with file and line if a file cannot be unpacked.
    """

    names: ClassVar[tuple[str, ...]] = ("cdx-*", "*.cdxj", "*.cdxj.gz", "*.cdx", "*.cdx.gz")

    def _rows_of(self, file: Path) -> Iterator[LabelledUrl]:
        line = 0
        try:
            with opened(file) as lines:
                for raw in lines:
                    line += 1
                    row = self._row_of(raw)
                    if row is not None:
                        yield row
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(f"{file}:{line + 1}", error) from error

    def _row_of(self, line: bytes) -> LabelledUrl | None:
        fields = _fields(line)
        if fields is None:
            self.reasons["malformed line"] += 1
            return None
        return self._row(fields.get("url"), fields.get("status"), fields.get("languages"))


def _fields(line: bytes) -> dict[str, object] | None:
    start = 0 if line.startswith(b"{") else line.find(b" {") + 1
    try:
        fields = json.loads(line[start:].decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _is_url(value: object) -> bool:
    """Whether a value is a URL that can be written in UTF-8; JSON allows lone surrogates."""
    if not isinstance(value, str) or not value:
        return False
    return value.isascii() or not _SURROGATE.search(value)


def files_called(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """The files in a folder and its subfolders whose names match one of the patterns, sorted."""
    found = {file for name in names for file in folder.rglob(name) if file.is_file()}
    return sorted(found)
