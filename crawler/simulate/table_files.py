"""What a source of graphs gives, and plain tables of pages and links (TSV, packed or not).

`pages` has a URL and a language on each row, and the status of HTTP and a size in bytes if it is
known; `links` has the URL of a page and one that it links to, in the order of the page. A table
with a header may have its columns in any order and others beside them. A row of pages without a
status is a page that was downloaded, 0 says that it was not.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Final

from classifiers.datasets.rows import opened
from crawler.errors import GraphError
from crawler.reading import sift
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN
from crawler.url import normalise

ENDINGS: Final = (".tsv", ".tsv.gz")

_PAGE_COLUMNS: Final = ("url", "language", "status", "bytes")
_LINK_COLUMNS: Final = ("source", "target")
_NO_URL: Final = "rows with an invalid URL"
_LINKS_A_ROW: Final = 10_000
_LONGEST_LINE: Final = 1 << 16
_CODES: Final = 1000

Cells = tuple[int, list[str]]
"""The number of a row in its file, from 1 on, and its cells in the order of the columns."""


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A URL, normalised, and the facts that a source knows of it."""

    url: str
    status: int = UNKNOWN
    """One of `crawler.simulate.webgraph`; UNKNOWN: the source does not say."""
    language: str | None = None
    bytes: int = 0
    links: Sequence[str] | None = None
    """Normalised and as a crawl would queue them, in the order of the page; None: not known."""


@dataclass(frozen=True, slots=True)
class GraphSource:
    """Something that knows pages and links, and `seeds` where a crawl of it began.

    `rows` reads it from beginning to end, one row or more for each URL, and counts how many things
    of which kind are not among the rows.
    """

    name: str
    rows: Callable[[Counter[str]], Iterator[GraphRow]]
    seeds: Sequence[str] = ()


def count_ignored(left_out: Counter[str], ignored: Mapping[str, int]) -> None:
    """Count links that no crawl would queue, by the names of a crawl's counters."""
    left_out["links to files that are no pages"] += ignored["ignored_file"]
    left_out["links that are no URLs"] += ignored["ignored_url"]
    left_out["links that look endless"] += ignored["ignored_trap"]


def table_source(path: Path) -> GraphSource:
    """Return one table of pages or of links, as its header says, or its name without a header.

    Raises `GraphError` for a table that is neither, and with file and line when an invalid row is
    read.
    """
    with closing(_cells(path)) as cells:
        _columns(path, next(cells, None))
    return GraphSource(f"table {path}", lambda left_out: _rows(path, left_out))


def _rows(path: Path, left_out: Counter[str]) -> Iterator[GraphRow]:
    with closing(_cells(path)) as cells:
        first = next(cells, None)
        names, has_header = _columns(path, first)
        rows = cells if has_header or first is None else chain([first], cells)
        wanted = _LINK_COLUMNS if "target" in names else _PAGE_COLUMNS
        places = [names.index(name) if name in names else -1 for name in wanted]
        picked = _picked(path, rows, places, len(names), has_header=has_header)
        if "target" in names:
            yield from _link_rows(picked, left_out)
        else:
            yield from _page_rows(path, picked, left_out)


def _columns(path: Path, first: Cells | None) -> tuple[Sequence[str], bool]:
    """The names of the columns, and whether the first row has them."""
    if first is None:
        raise GraphError(f"{path}: the table is empty")
    names = [cell.strip().lower() for cell in first[1]]
    names = ["language" if name == "lang" else name for name in names]
    if {"url", "source"} & set(names):
        if not ({"url", "language"} <= set(names) or set(_LINK_COLUMNS) <= set(names)):
            raise GraphError(
                f"{path}: has the columns {', '.join(names[:12])}; a table of pages has url and "
                "language, one of links source and target"
            )
        return names, True
    for name, columns in (("pages", _PAGE_COLUMNS), ("links", _LINK_COLUMNS)):
        if path.name.startswith(name):
            return columns, False
    raise GraphError(
        f"{path}: a table without a header is called pages or links, which tells its kind"
    )


def _picked(
    path: Path, rows: Iterator[Cells], places: Sequence[int], width: int, *, has_header: bool
) -> Iterator[Cells]:
    """The cells of the columns that are wanted."""
    for number, row in rows:
        # Without a header columns that may be missing stand last.
        if len(row) != width and (has_header or not 2 <= len(row) < width):
            raise _fault(path, number, f"{len(row)} cells, not {width}")
        yield number, [row[at] if 0 <= at < len(row) else "" for at in places]


def _page_rows(path: Path, rows: Iterator[Cells], left_out: Counter[str]) -> Iterator[GraphRow]:
    for number, (written, language, code, size) in rows:
        url = normalise(written)
        status = _status(path, number, code) if url is not None else UNKNOWN
        if url is None:
            left_out[_NO_URL] += 1
        elif status == PAGE:
            n_bytes = _number(path, number, "bytes", size)
            yield GraphRow(url, status, language or None, n_bytes)
        else:
            yield GraphRow(url, status)


def _link_rows(rows: Iterator[Cells], left_out: Counter[str]) -> Iterator[GraphRow]:
    for written, of_page in groupby(rows, key=lambda row: row[1][0]):
        url = normalise(written)
        targets = (target for _, (_, target) in of_page)
        while some := list(islice(targets, _LINKS_A_ROW)):
            if url is None:
                left_out[_NO_URL] += len(some)
            else:
                sifted = sift(some)
                count_ignored(left_out, sifted.left_out)
                yield GraphRow(url, links=sifted.wanted)


def _status(path: Path, number: int, text: str) -> int:
    code = _number(path, number, "status", text) if text else 200
    if code >= _CODES:
        raise _fault(path, number, f"status {text!r} is no status of HTTP")
    return UNKNOWN if code == 0 else {2: PAGE, 3: REDIRECT}.get(code // 100, FAILED)


def _number(path: Path, number: int, column: str, text: str) -> int:
    if text and not (text.isascii() and text.isdigit()):
        raise _fault(path, number, f"{column} {text!r} is no whole number")
    return int(text or 0)


def _fault(path: Path, number: int, reason: str) -> GraphError:
    return GraphError(f"{path}:{number}: {reason}")


def _cells(path: Path) -> Generator[Cells, None, None]:
    """The rows of a table; the names of the columns come first where it has any."""
    number = 0
    try:
        with opened(path) as file:
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE:
                    raise _fault(path, number, f"a line of more than {_LONGEST_LINE} bytes")
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text:
                    yield number, text.split("\t")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _fault(path, number + 1, f"cannot be read ({reason})") from error
