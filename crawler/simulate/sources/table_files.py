"""Plain tables of pages and links, as TSV (packed or not) or Parquet, as sources of a graph.

`pages` has a URL and a language on each row, and the status of HTTP and a size in bytes if it is
known; `links` has the URL of a page and one that it links to, in the order of the page. A table
with a header may have its columns in any order and others beside them.
"""

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Final

from classifiers.datasets.rows import opened
from classifiers.errors import MissingPackageError
from crawler.errors import GraphError
from crawler.simulate.sources.source import GraphRow, queueable
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN
from crawler.url import normalise

PAGE_COLUMNS: Final = ("url", "language", "status", "bytes")
LINK_COLUMNS: Final = ("source", "target")
ENDINGS: Final = (".tsv", ".tsv.gz", ".parquet")

_NO_URL = "rows with an invalid URL"
_LINKS_A_ROW = 10_000
_ROWS_AT_A_TIME = 1 << 14
_LONGEST_LINE = 1 << 16
_CODES = 1000

Cells = tuple[int, list[str]]
"""The number of a row in its file, from 1 on, and its cells in the order of the columns."""


class TableSource:
    """One table of pages or of links, as its header says, or its name where it has no header.

    A row of pages without a status is a page that was downloaded, 0 says that it was not. Raises
    `GraphError` with file and line for an invalid row, `MissingPackageError` without pyarrow.
    """

    ordering = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = f"table {path}"
        self.left_out: Counter[str] = Counter()
        with ExitStack() as stack:
            self._columns, _ = self._opened(stack)

    @property
    def has_links(self) -> bool:
        """Whether it is a table of links."""
        return "target" in self._columns

    def seeds(self) -> list[str]:
        """Return none."""
        return []

    def rows(self) -> Iterator[GraphRow]:
        """Read the table."""
        with ExitStack() as stack:
            columns, cells = self._opened(stack)
            wanted = LINK_COLUMNS if self.has_links else PAGE_COLUMNS
            places = [columns.index(name) if name in columns else -1 for name in wanted]
            picked = self._picked(cells, places, len(columns))
            yield from self._link_rows(picked) if self.has_links else self._page_rows(picked)

    def _picked(self, cells: Iterator[Cells], places: list[int], width: int) -> Iterator[Cells]:
        for number, row in cells:
            # Columns that may be missing stand last.
            if len(row) != width and (len(row) < 2 or len(row) > width or self._has_header):
                raise self._fault(number, f"{len(row)} cells, not {width}")
            yield number, [row[at] if 0 <= at < len(row) else "" for at in places]

    def _page_rows(self, cells: Iterator[Cells]) -> Iterator[GraphRow]:
        for number, (written, language, code, size) in cells:
            url = normalise(written)
            if url is None:
                self.left_out[_NO_URL] += 1
                continue
            status = self._status(number, code)
            is_page = status == PAGE
            n_bytes = self._number(number, "bytes", size) if is_page else 0
            yield GraphRow(url, status, (language or None) if is_page else None, n_bytes)

    def _link_rows(self, cells: Iterator[Cells]) -> Iterator[GraphRow]:
        for written, rows in groupby(cells, key=lambda cell: cell[1][0]):
            url = normalise(written)
            targets = (target for _, (_, target) in rows)
            while some := list(islice(targets, _LINKS_A_ROW)):
                if url is None:
                    self.left_out[_NO_URL] += len(some)
                else:
                    yield GraphRow(url, links=queueable(some, self.left_out))

    def _status(self, number: int, text: str) -> int:
        code = self._number(number, "status", text) if text else 200
        if code >= _CODES:
            raise self._fault(number, f"status {text!r} is no status of HTTP")
        if code == 0:
            return UNKNOWN
        return {2: PAGE, 3: REDIRECT}.get(code // 100, FAILED)

    def _number(self, number: int, column: str, text: str) -> int:
        if text and not (text.isascii() and text.isdigit()):
            raise self._fault(number, f"{column} {text!r} is no whole number")
        return int(text or 0)

    def _fault(self, number: int, reason: str) -> GraphError:
        return GraphError(f"{self._path}:{number}: {reason}")

    # Reading.

    def _opened(self, stack: ExitStack) -> tuple[list[str], Iterator[Cells]]:
        """Return the names of the columns and the rows under them."""
        if self._path.suffix == ".parquet":
            table = _parquet(self._path, stack)
            names = list(table.schema_arrow.names)
            self._has_header = True
            self._check(names)
            return names, self._parquet_rows(table, names)
        lines = self._lines(stack)
        first = next(lines, None)
        if first is None:
            raise GraphError(f"{self._path}: the table is empty")
        names = [cell.strip().lower() for cell in first[1]]
        self._has_header = bool({"url", "source"} & set(names))
        if self._has_header:
            names = ["language" if name == "lang" else name for name in names]
            self._check(names)
            return names, lines
        return self._columns_by_name(), chain([first], lines)

    def _columns_by_name(self) -> list[str]:
        for name, columns in (("pages", PAGE_COLUMNS), ("links", LINK_COLUMNS)):
            if self._path.name.startswith(name):
                return list(columns)
        raise GraphError(
            f"{self._path}: a table without a header is called pages or links, which tells its kind"
        )

    def _check(self, names: Sequence[str]) -> None:
        if not ({"url", "language"} <= set(names) or set(LINK_COLUMNS) <= set(names)):
            raise GraphError(
                f"{self._path}: has the columns {', '.join(names[:12])}; a table of pages has url "
                "and language, one of links source and target"
            )

    def _lines(self, stack: ExitStack) -> Iterator[Cells]:
        number = 0
        try:
            file = opened(self._path)
            stack.callback(file.close)
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE:
                    raise self._fault(number, f"a line of more than {_LONGEST_LINE} bytes")
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text:
                    yield number, text.split("\t")
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise self._fault(number + 1, f"cannot be read ({reason})") from error

    def _parquet_rows(self, table: Any, names: Sequence[str]) -> Iterator[Cells]:
        import pyarrow  # type: ignore[import-untyped]  # it has no type information

        number = 0
        try:
            for batch in table.iter_batches(_ROWS_AT_A_TIME):
                columns = (batch.column(name).to_pylist() for name in names)
                for row in zip(*columns, strict=True):
                    number += 1
                    yield number, ["" if cell is None else str(cell) for cell in row]
        except (OSError, UnicodeDecodeError, pyarrow.ArrowException) as error:
            reason = str(error).partition("\n")[0]
            raise self._fault(number + 1, f"cannot be read ({reason})") from error


def _parquet(path: Path, stack: ExitStack) -> Any:
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]  # it has no type information
    except ImportError as error:
        raise MissingPackageError("pyarrow", "commoncrawl") from error
    try:
        return stack.enter_context(pyarrow.parquet.ParquetFile(path))
    except (OSError, pyarrow.ArrowException) as error:
        raise GraphError(f"{path}: cannot be read ({str(error).partition(chr(10))[0]})") from error
