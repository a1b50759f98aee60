"""A stratified random sample of a run's pages, and the file in which a person labels them."""

import csv
import io
import sqlite3
from collections.abc import Iterator, Mapping
from enum import Enum
from math import sqrt
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from classifiers import languages
from crawler.errors import SettingError
from crawler.report.files import write_whole
from crawler.whole_file import read_regular

BANDS: Final = (0.5, 0.9)
"""The confidences at which a band of a stratum ends and the next begins."""


class Answer(Enum):
    """The identifier's answer about a page."""

    TARGET = "target"
    OTHER = "other"
    NONE = "none"


class Stratum(NamedTuple):
    """Pages with the same kind of answer and a confidence in the same band, from 0.

    Pages without an answer, or with one that has no confidence, are in band 0.
    """

    answer: Answer
    band: int


def strata_sql(lang: str) -> tuple[str, tuple[object, ...]]:
    """Return SQL for the answer and the band of a row of `pages`, and its parameters."""
    low, high = BANDS
    return (
        "CASE WHEN language IS NULL THEN 'none' WHEN language = ? THEN 'target' ELSE 'other' END,"
        " CASE WHEN language IS NULL THEN 0"
        " ELSE (coalesce(confidence, 0) >= ?) + (coalesce(confidence, 0) >= ?) END",
        (lang, low, high),
    )


def sizes_of(connection: sqlite3.Connection, lang: str, until: int) -> dict[Stratum, int]:
    """Return the pages of each stratum, of the pages with an id up to `until`."""
    sql, parameters = strata_sql(lang)
    rows = connection.execute(
        f"SELECT {sql}, count(*) FROM pages WHERE outcome = 'page' AND id <= ? GROUP BY 1, 2",  # noqa: S608  # written above
        (*parameters, until),
    )
    return {Stratum(Answer(answer), band): number for answer, band, number in rows}


def last_page(connection: sqlite3.Connection) -> int:
    """Return the id of the last page, 0 if there is none."""
    row = connection.execute("SELECT max(id) FROM pages WHERE outcome = 'page'").fetchone()
    return int(row[0] or 0)


# --- Drawing

_ERRORS: Final = {
    Answer.TARGET: (0.4, 0.2, 0.03),
    Answer.OTHER: (0.3, 0.15, 0.03),
    Answer.NONE: (0.3, 0.3, 0.3),
}
"""Shares of pages of each band that may be in the other class: a guess that decides only how many
pages of a stratum are drawn, not what is estimated."""

_FEWEST: Final = 5
"""Pages of a stratum that are drawn at least, if it has so many."""


class SampledPage(NamedTuple):
    """A page of the sample by its id in the run."""

    id: int
    url: str


class Sample(NamedTuple):
    """A sample in random order, drawn from the pages of a run with an id up to `until`."""

    pages: list[SampledPage]
    until: int


def draw_sample(
    connection: sqlite3.Connection, lang: str, number: int, random_state: int
) -> Sample:
    """Return about `number` pages of a run; the same random state gives the same pages.

    Each stratum has a simple random sample of its own, so its size in the sample is known and not
    left to chance (Cochran 1977, 5.1). All pages if there are not as many. Memory for the sample
    only.
    """
    until = last_page(connection)
    random = Random(random_state)
    wanted = allocation(sizes_of(connection, lang, until), number)
    drawn: dict[Stratum, list[SampledPage]] = {stratum: [] for stratum in wanted}
    seen = dict.fromkeys(wanted, 0)
    for stratum, page in _pages(connection, lang, until):
        kept, most = drawn[stratum], wanted[stratum]
        seen[stratum] += 1
        if len(kept) < most:
            kept.append(page)
        elif (place := random.randrange(seen[stratum])) < most:  # a reservoir
            kept[place] = page
    pages = [page for kept in drawn.values() for page in kept]
    # In random order the person who labels cannot tell the identifier's answer from the place.
    random.shuffle(pages)
    return Sample(pages, until)


def allocation(sizes: Mapping[Stratum, int], number: int) -> dict[Stratum, int]:
    """Return how many pages of each stratum to draw, about `number` in all.

    In proportion to the size and the standard deviation of a stratum (Neyman's allocation, Cochran
    1977, 5.5), the latter from guessed errors; at least five pages of each.
    """
    weights = {stratum: size * _deviation(stratum) for stratum, size in sizes.items() if size}
    total = sum(weights.values())
    floor = min(_FEWEST, max(1, number // max(1, len(weights))))
    return {
        stratum: min(sizes[stratum], max(floor, round(number * weight / total)))
        for stratum, weight in weights.items()
    }


def _deviation(stratum: Stratum) -> float:
    share = _ERRORS[stratum.answer][stratum.band]
    return sqrt(share * (1 - share))


def _pages(
    connection: sqlite3.Connection, lang: str, until: int
) -> Iterator[tuple[Stratum, SampledPage]]:
    sql, parameters = strata_sql(lang)
    rows = connection.execute(
        f"SELECT {sql}, id, url FROM pages WHERE outcome = 'page' AND id <= ? ORDER BY id",  # noqa: S608  # written in `strata`
        (*parameters, until),
    )
    for answer, band, page, url in rows:
        yield Stratum(Answer(answer), band), SampledPage(page, url)


# --- The file

COLUMNS: Final = ("page", "url", "sampled_until", "label")
_YES: Final = frozenset({"yes", "y", "true", "1"})
_NO: Final = frozenset({"no", "n", "false", "0"})
_UNKNOWN: Final = frozenset({"", "?"})
_FORMULA: Final = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""The first letters of a cell that spreadsheet programs may take for a formula."""
_BOM: Final = "\ufeff"
_MOST_BYTES: Final = 64 * 1024 * 1024


class Label(NamedTuple):
    """A person's answer about a page; `is_relevant` None: the person could not tell."""

    page: int
    url: str
    until: int
    is_relevant: bool | None
    line: int


def write_sample(path: Path, sample: Sample) -> Path:
    """Write a sample as tab-separated values, or with commas if the file's name ends in `.csv`.

    The column `label` is empty. No cell begins like a formula, so a URL from the Web runs nothing
    when a spreadsheet program opens the file. A `.csv` file begins with a byte order mark, without
    which such programs do not read UTF-8.
    """
    is_csv = path.suffix.lower() == ".csv"
    text = io.StringIO()
    writer = csv.writer(text, delimiter="," if is_csv else "\t", lineterminator="\n")
    writer.writerow(COLUMNS)
    for page in sample.pages:
        writer.writerow((page.id, safe_cell(page.url), sample.until, ""))
    return write_whole(path, (_BOM if is_csv else "") + text.getvalue())


def safe_cell(text: str) -> str:
    """Return a text that no spreadsheet program takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def read_labels(path: Path, lang: str) -> list[Label]:
    """Return the labels of a file, in its order.

    Tabs, commas or semicolons may separate the columns, because spreadsheet programs of some
    countries write semicolons. A label is yes or no, or a language (a code or a name); an empty one
    and `?` mean that the person could not tell. Raises SettingError with the line of the first
    mistake.
    """
    reader = csv.DictReader(io.StringIO(text := _text(path)), delimiter=_delimiter(text))
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise SettingError(f"{path}: has no column {missing[0]!r}; langfocus sample writes it")
    found: dict[int, Label] = {}
    try:
        for label in _labels(reader, path, lang):
            if label.page in found:
                raise SettingError(f"{path}:{label.line}: page {label.page} is there twice")
            found[label.page] = label
    except csv.Error as error:
        raise SettingError(f"{path}:{reader.line_num}: {error}") from None
    return list(found.values())


def _labels(reader: "csv.DictReader[str]", path: Path, lang: str) -> Iterator[Label]:
    for row in reader:
        where = f"{path}:{reader.line_num}"
        is_relevant = _is_relevant(_cell(row, "label"), lang, where)
        page, until = (_whole(_cell(row, name), name, where) for name in ("page", "sampled_until"))
        yield Label(page, _cell(row, "url"), until, is_relevant, reader.line_num)


def _text(path: Path) -> str:
    try:
        content = read_regular(path, _MOST_BYTES)
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror}") from error
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise SettingError(f"{path}: is not in UTF-8; save it as CSV in UTF-8") from None


def _delimiter(text: str) -> str:
    head = text.partition("\n")[0]
    return max("\t,;", key=head.count)


def _cell(row: Mapping[str, str | None], name: str) -> str:
    return (row[name] or "").strip()


def _whole(text: str, name: str, where: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise SettingError(f"{where}: {name} {text[:30]!r} is not a whole number")
    return int(text)


def _is_relevant(text: str, lang: str, where: str) -> bool | None:
    word = text.casefold()
    if word in _UNKNOWN:
        return None
    if word in _YES or word in _NO:
        return word in _YES
    code = languages.canonical(text)
    if code is None:
        raise SettingError(f"{where}: label {text[:30]!r} is not yes, no or a language")
    return code == lang
