"""What a source of graphs gives, and tables of pages and links (TSV, packed or not) as sources.

A table begins with the names of its columns. One of pages has `url` and `language`, and may have
`status` (of HTTP; empty is 200, 0 is a URL that was never fetched) and `bytes`; one of links has
`source` and `target`, in the order of the page. Rows that say nothing are left out and counted.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Final

from classifiers.datasets.rows import cells_of, opened
from classifiers.errors import DatasetError
from crawler.errors import GraphError
from crawler.reading import sift
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN
from crawler.url import normalise

ENDINGS: Final = (".tsv", ".tsv.gz")

_LINK_COLUMNS: Final = ("source", "target")
_NO_URL: Final = "rows with an invalid URL"
_NO_NUMBER: Final = "rows with an invalid status or size"
_LINKS_A_ROW: Final = 10_000
_LONGEST_LINE: Final = 1 << 16
_MOST_DIGITS: Final = 15


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
    """Return one table of pages or of links, as its header says.

    Raises `GraphError` for a table that is neither, and with file and line where it is damaged.
    """
    try:
        with opened(path) as file:
            header = file.readline(_LONGEST_LINE).decode("utf-8-sig").rstrip("\r\n").split("\t")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise GraphError(f"{path}:1: cannot be read ({error})") from error
    language = "lang" if "lang" in header else "language"
    columns = ["url", language, *(name for name in ("status", "bytes") if name in header)]
    read = _page_rows
    if set(_LINK_COLUMNS) <= set(header):
        columns, read = [*_LINK_COLUMNS], _link_rows
    elif not {"url", language} <= set(header):
        raise GraphError(
            f"{path}: has the columns {', '.join(header)[:200]}; a table of pages has url and "
            "language, one of links source and target"
        )

    def rows(left_out: Counter[str]) -> Iterator[GraphRow]:
        try:
            yield from read(cells_of(path, columns, left_out), columns, left_out)
        except DatasetError as error:
            raise GraphError(str(error)) from error

    return GraphSource(f"table {path}", rows)


def _page_rows(
    rows: Iterator[list[str]], columns: Sequence[str], left_out: Counter[str]
) -> Iterator[GraphRow]:
    for cells in rows:
        url = normalise(cells[0])
        told = dict(zip(columns, cells, strict=True))
        code, size = told.get("status") or "200", told.get("bytes") or "0"
        if url is None:
            left_out[_NO_URL] += 1
        elif not (code + size).isdecimal() or len(code) > 3 or len(size) > _MOST_DIGITS:
            left_out[_NO_NUMBER] += 1
        else:
            first = int(code) // 100
            status = {2: PAGE, 3: REDIRECT}.get(first, FAILED) if int(code) else UNKNOWN
            if status == PAGE:
                yield GraphRow(url, status, cells[1] or None, int(size))
            else:
                yield GraphRow(url, status)


def _link_rows(
    rows: Iterator[list[str]], columns: Sequence[str], left_out: Counter[str]
) -> Iterator[GraphRow]:
    for written, of_page in groupby(rows, key=lambda cells: cells[0]):
        url = normalise(written)
        targets = (target for _, target in of_page)
        while some := list(islice(targets, _LINKS_A_ROW)):
            if url is None:
                left_out[_NO_URL] += len(some)
            else:
                sifted = sift(some)
                count_ignored(left_out, sifted.left_out)
                yield GraphRow(url, links=sifted.wanted)
