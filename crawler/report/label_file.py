"""The file of a sample that a person labels, in a spreadsheet program or an editor."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from classifiers import languages
from crawler.errors import SettingError
from crawler.report.files import write_whole
from crawler.report.sampling import Sample
from crawler.whole_file import read_regular

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
