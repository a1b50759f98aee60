"""Labelled texts in tab-separated files, and labelled pages in folders."""

import gzip
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from langfocus.classifiers.datasets.rows import (
    COLUMNS,
    Dataset,
    LabelledUrl,
    cells_of,
    opened,
    stable_share,
    unreadable,
)
from langfocus.classifiers.languages import canonical

TEXT_COLUMNS = ("text", "lang", "kind", "source")
SIB_COLUMNS = ("text", "flores_code", "split")
"""Columns of SIB-200: the same news in many languages, each named by language and script."""
NEWS = "news"
"""Kind of SIB-200 texts."""
PAGE_COLUMNS = ("id", "lang")
MORE_PAGE_COLUMNS = ("url", "kind")
PAGE_TABLE, PAGE_ARCHIVE = "pages.tsv", "html.tar"

_HEADER_BYTES = 4096


class LabelledText(NamedTuple):
    """A text and its language."""

    text: str
    language: str
    """Language code of the project."""
    kind: str
    """sentence, word-pair, single-word, udhr-paragraph, page-title or news."""
    source: str
    """Source name."""


class LabelledPage(NamedTuple):
    """A page as sent by its server, and its language."""

    name: str
    """Number in the table."""
    url: str
    """URL; empty if unknown."""
    language: str
    """Language code of the project."""
    kind: str
    """Page source: web, docs, feed-charset, html-charset."""
    body: bytes


@dataclass
class LabelledTexts(Dataset[LabelledText]):
    """The rows of a .tsv or .tsv.gz file with the columns of TEXT_COLUMNS, in any order.

    A file with the columns of SIB_COLUMNS is parsed too; its texts have the kind NEWS and a FLORES
    code (`zho_Hant`) as source. A row is skipped and counted if it is cut short, empty or in an
    unknown language. DatasetError with the line if the file lacks a column, is damaged or is not
    UTF-8.
    """

    def _rows(self) -> Iterator[LabelledText]:
        for text, lang, kind, source in self._cells():
            language = canonical(lang)
            if not text:
                self.reasons["no text"] += 1
            elif language is None:
                self.reasons["unknown language"] += 1
            else:
                yield LabelledText(text, language, kind, source)

    def _cells(self) -> Iterator[list[str]]:
        if _header(self.path).issuperset(SIB_COLUMNS):
            for text, code, _ in cells_of(self.path, SIB_COLUMNS, self.reasons):
                yield [text, code, NEWS, code]
        else:
            yield from cells_of(self.path, TEXT_COLUMNS, self.reasons)


@dataclass
class LabelledPages(Dataset[LabelledPage]):
    """The pages of a folder with `pages.tsv` and `html.tar`, in archive order.

    The table has the columns id and lang, and optionally url and kind. The archive has one file
    `ID.html.gz` or `ID.html` for each row. Files without a row, repeated or damaged files, rows
    without a file, and unknown languages are skipped and counted. DatasetError if the table or the
    archive is missing or damaged.
    """

    def _rows(self) -> Iterator[LabelledPage]:
        table = {name: row for name, *row in self._table() if name}
        archive = Path(self.path) / PAGE_ARCHIVE
        seen: set[str] = set()
        try:
            with tarfile.open(archive) as files:
                for member in files:
                    content = files.extractfile(member) if member.isfile() else None
                    if content is not None:
                        yield from self._page(table, seen, Path(member.name).name, content.read())
        except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
            raise unreadable(str(archive), error) from error
        if absent := len(table.keys() - seen):
            self.reasons["not in the archive"] += absent

    def _table(self) -> Iterator[list[str]]:
        path = Path(self.path) / PAGE_TABLE
        return cells_of(path, PAGE_COLUMNS, self.reasons, MORE_PAGE_COLUMNS)

    def _page(
        self, table: Mapping[str, Sequence[str]], seen: set[str], file: str, content: bytes
    ) -> Iterator[LabelledPage]:
        name = file.removesuffix(".gz").removesuffix(".html")
        lang, url, kind = table.get(name, ("", "", ""))
        language = canonical(lang)
        if name not in table:
            self.reasons["not in the table"] += 1
        elif name in seen:
            self.reasons["twice in the archive"] += 1
        elif language is None:
            self.reasons["unknown language"] += 1
        else:
            try:
                body = gzip.decompress(content) if file.endswith(".gz") else content
                yield LabelledPage(name, url, language, kind, body)
            except (OSError, EOFError, zlib.error):
                self.reasons["damaged"] += 1
        seen.add(name)


def texts_by_language(rows: Iterable[LabelledText]) -> dict[str, list[str]]:
    """Return language -> its texts, sorted by language."""
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        texts[row.language].append(row.text)
    return dict(sorted(texts.items()))


def is_held_out(row: LabelledText | LabelledPage | LabelledUrl, share: float) -> bool:
    """Return True for a row of the held-out share, used for evaluation.

    A hash of the text, the host, or the page name without a URL decides: equal texts, and all pages
    of a host, stay together.
    """
    if isinstance(row, LabelledText):
        return stable_share(row.text, 0) < share
    host = row.url.partition("://")[2].partition("/")[0].lower()
    name = row.name if isinstance(row, LabelledPage) else row.url
    return stable_share(host or name, 0) < share


def recognised(path: Path) -> LabelledTexts | LabelledPages | None:
    """Return the reader of labelled texts or pages for a file or folder, or None.

    Pages are in a folder with `pages.tsv` or `html.tar`. Texts are in a table with a text column
    and not all columns of labelled URLs.
    """
    if path.is_dir():
        is_pages = (path / PAGE_TABLE).exists() or (path / PAGE_ARCHIVE).exists()
        return LabelledPages(path) if is_pages else None
    columns = _header(path)
    is_texts = "text" in columns and not columns.issuperset(COLUMNS)
    return LabelledTexts(path) if is_texts else None


def _header(path: Path) -> frozenset[str]:
    """Return the column names in the first line; empty if unreadable."""
    try:
        with opened(path) as file:
            line = file.readline(_HEADER_BYTES)
    except (OSError, EOFError, zlib.error):
        return frozenset()
    return frozenset(line.decode("utf-8", "replace").rstrip("\r\n").split("\t"))
