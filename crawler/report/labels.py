"""A person's check of the harvest rate: pages to label, the labels, what they tell of the run.

The sample is stratified by the identifier's answer and its confidence; pages without an answer are
in no harvest rate and not in the sample. The estimator is that of a
stratified random sample: the sum over strata of their size times the labelled share (Cochran 1977,
Sampling Techniques, 5.3). Its usual variance is 0 for a stratum whose labels all agree, which is
frequent here. So the interval comes from the distribution of the pages that were not labelled: in
each stratum their number of relevant pages is beta-binomial, with Jeffreys' prior for the share
(Brown, Cai and DasGupta 2001, Interval Estimation for a Binomial Proportion, 4). A stratum that was
labelled completely adds nothing to the interval.
"""

import csv
import io
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import numpy as np

from classifiers import languages
from crawler.errors import RunFolderError, SettingError
from crawler.report.files import write_whole
from crawler.report.formatting import language_name, share_of
from crawler.report.table import Table
from crawler.run import reading
from crawler.whole_file import read_regular


class Stratum(NamedTuple):
    """Pages with a label, in the language of the crawl or another, and a confidence in one band.

    The bands are 0: below 0.5, 1: below 0.9, 2: above. No confidence is in band 0.
    """

    is_target: int
    band: int


_STRATUM: Final = """\
language = :lang, (coalesce(confidence, 0) >= 0.5) + (coalesce(confidence, 0) >= 0.9)"""
_PAGES: Final = "FROM pages WHERE outcome = 'page' AND language IS NOT NULL AND id <= :until"

_ERRORS: Final = ((0.3, 0.15, 0.03), (0.4, 0.2, 0.03))
"""Shares of pages of each band whose label may be wrong, for other languages and the target: a
guess that decides only how many pages of a stratum are drawn, not what is estimated."""
_FEWEST: Final = 5
"""Pages of a stratum that are drawn at least, if it has so many."""

COLUMNS: Final = ("page", "url", "sampled_until", "label")
_ANSWERS: Final = {
    **dict.fromkeys(("yes", "y", "true", "1"), True),
    **dict.fromkeys(("no", "n", "false", "0"), False),
    **dict.fromkeys(("", "?"), None),
}
_FORMULA: Final = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""The first letters of a cell that spreadsheet programs may take for a formula."""
_BOM: Final = "\ufeff"
_MOST_BYTES: Final = 64 * 1024 * 1024

_DRAWS: Final = 20_000
_PRIOR: Final = 0.5
_MISSING: Final = (None, None, None)


class Sample(NamedTuple):
    """Ids and URLs in random order, of pages of a run with an id up to `until`."""

    pages: Sequence[tuple[int, str]]
    until: int
    sizes: Mapping[Stratum, int]
    """The pages of each stratum in the run."""


def draw_sample(
    connection: sqlite3.Connection, lang: str, number: int, random_state: int
) -> Sample:
    """Return about `number` pages of a run; the same random state gives the same pages.

    Each stratum has a simple random sample of its own, so its size in the sample is known and not
    left to chance (Cochran 1977, 5.1). All pages if there are not as many. Memory for the sample
    only.
    """
    random = Random(random_state)
    until = _last_page(connection)
    sizes = _sizes_of(connection, lang, until)
    wanted = allocation(sizes, number)
    drawn: dict[Stratum, list[tuple[int, str]]] = {stratum: [] for stratum in wanted}
    seen = dict.fromkeys(wanted, 0)
    for is_target, band, page, url in connection.execute(
        f"SELECT {_STRATUM}, id, url {_PAGES} ORDER BY id", {"lang": lang, "until": until}
    ):
        stratum = Stratum(is_target, band)
        kept, most = drawn[stratum], wanted[stratum]
        seen[stratum] += 1
        if len(kept) < most:
            kept.append((page, url))
        elif (place := random.randrange(seen[stratum])) < most:  # a reservoir
            kept[place] = page, url
    pages = [page for kept in drawn.values() for page in kept]
    # In random order the person who labels cannot tell the identifier's answer from the place.
    random.shuffle(pages)
    return Sample(pages, until, sizes)


def allocation(sizes: Mapping[Stratum, int], number: int) -> dict[Stratum, int]:
    """Return how many pages of each stratum to draw, about `number` in all.

    In proportion to the size and the standard deviation of a stratum (Neyman's allocation, Cochran
    1977, 5.5), the latter from guessed errors; at least five pages of each.
    """
    weights = {}
    for stratum, size in sizes.items():
        error = _ERRORS[stratum.is_target][stratum.band]
        weights[stratum] = size * sqrt(error * (1 - error))
    total = sum(weights.values())
    floor = min(_FEWEST, max(1, number // max(1, len(weights))))
    return {
        stratum: min(sizes[stratum], max(floor, round(number * weight / total)))
        for stratum, weight in weights.items()
    }


def _last_page(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT max(id) FROM pages WHERE outcome = 'page'").fetchone()
    return int(row[0] or 0)


def _sizes_of(connection: sqlite3.Connection, lang: str, until: int) -> dict[Stratum, int]:
    rows = connection.execute(
        f"SELECT {_STRATUM}, count(*) {_PAGES} GROUP BY 1, 2", {"lang": lang, "until": until}
    )
    return {Stratum(is_target, band): number for is_target, band, number in rows}


def write_sample(path: Path, sample: Sample) -> Path:
    """Write a sample as tab-separated values, or with commas if the file's name ends in `.csv`.

    The column `label` is empty. No cell begins like a formula, so a URL from the Web runs nothing
    when a spreadsheet program opens the file. A `.csv` file begins with a byte order mark, without
    which such programs do not read UTF-8.
    """
    is_csv = path.suffix.lower() == ".csv"
    text = io.StringIO(_BOM if is_csv else "")
    text.seek(0, io.SEEK_END)
    writer = csv.writer(text, delimiter="," if is_csv else "\t", lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((page, safe_cell(url), sample.until, "") for page, url in sample.pages)
    return write_whole(path, text.getvalue())


def safe_cell(text: str) -> str:
    """Return a text that no spreadsheet program takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


class Label(NamedTuple):
    """A person's answer about a page; `is_relevant` None: the person could not tell."""

    page: int
    url: str
    until: int
    is_relevant: bool | None
    line: int


def read_labels(path: Path, lang: str) -> list[Label]:
    """Return the labels of a file, in its order.

    Tabs, commas or semicolons may separate the columns, because spreadsheet programs of some
    countries write semicolons. A label is yes or no, or a language (a code or a name); an empty one
    and `?` mean that the person could not tell. Raises SettingError with the line of the first
    mistake.
    """
    text = _text(path)
    head = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text), delimiter=max("\t,;", key=head.count))
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


def _labels(reader: "csv.DictReader[str]", path: Path, lang: str) -> Iterator[Label]:
    for row in reader:
        where = f"{path}:{reader.line_num}"
        cells = {name: (row[name] or "").strip() for name in COLUMNS}
        for name in ("page", "sampled_until"):
            if not (cells[name].isascii() and cells[name].isdigit()):
                raise SettingError(f"{where}: {name} {cells[name][:30]!r} is not a whole number")
        yield Label(
            int(cells["page"]),
            cells["url"],
            int(cells["sampled_until"]),
            _is_relevant(cells["label"], lang, where),
            reader.line_num,
        )


def _is_relevant(text: str, lang: str, where: str) -> bool | None:
    if text.casefold() in _ANSWERS:
        return _ANSWERS[text.casefold()]
    code = languages.canonical(text)
    if code is None:
        raise SettingError(f"{where}: label {text[:30]!r} is not yes, no or a language")
    return code == lang


class Labelled(NamedTuple):
    """The pages of a stratum, those with a person's label, and the relevant ones of these."""

    pages: int
    labelled: int
    relevant: int


class Interval(NamedTuple):
    """An estimate with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def relevant_share(
    strata: Mapping[Stratum, Labelled], random_state: int = 0, draws: int = _DRAWS
) -> Interval | None:
    """Return the share of relevant pages from the labels of a stratified sample.

    None if one of the two answers has pages and no label. The ends of the interval are quantiles of
    `draws` random numbers.
    """
    chance = np.random.default_rng(random_state)
    estimated, drawn = 0.0, np.zeros(draws)
    for is_target in (1, 0):
        parts = collapsed(strata, is_target)
        if parts is None:
            return None
        for pages, labelled, relevant in parts:
            estimated += pages * relevant / labelled  # Cochran 1977, (5.1)
            share = chance.beta(relevant + _PRIOR, labelled - relevant + _PRIOR, size=draws)
            drawn += relevant + chance.binomial(pages - labelled, share)
    total = sum(part.pages for part in strata.values())
    if not total:
        return None
    low, high = np.percentile(drawn, (2.5, 97.5)) / total
    value = estimated / total
    return Interval(value, min(float(low), value), max(float(high), value))


def collapsed(strata: Mapping[Stratum, Labelled], is_target: int) -> list[Labelled] | None:
    """Return the strata of an answer, those without labels joined to the next band.

    None if pages of the answer exist and none is labelled (Cochran 1977, 5A.12, on collapsed
    strata).
    """
    found: list[Labelled] = []
    waiting = 0
    for stratum in sorted(strata):
        part = strata[stratum]
        if stratum.is_target != is_target:
            continue
        waiting += part.pages
        if part.labelled:
            found.append(part._replace(pages=waiting))
            waiting = 0
    if waiting and found:
        found[-1] = found[-1]._replace(pages=found[-1].pages + waiting)
    return None if waiting and not found else found


def label_table(folder: Path, path: Path) -> Table:
    """Return the harvest rate of a run from a file of labels that `langfocus sample` began.

    The table also has the share of right answers among those for the language. Raises SettingError
    for a file that cannot be used, or that belongs to another run.
    """
    with reading(folder) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
        if row is None:
            raise RunFolderError(f"{folder}: its run.db has no language")
        lang = str(row[0])
        labels = read_labels(path, lang)
        until = _until(labels, path, connection)
        sizes = _sizes_of(connection, lang, until)
        counted = {stratum: [0, 0] for stratum in sizes}
        for label in labels:
            stratum = _stratum_of(label, lang, path, connection)
            if label.is_relevant is not None:
                counted[stratum][0] += 1
                counted[stratum][1] += label.is_relevant
        later = sum(_sizes_of(connection, lang, _last_page(connection)).values())
    strata = {key: Labelled(size, *counted[key]) for key, size in sizes.items()}
    of_target = {key: part for key, part in strata.items() if key.is_target}
    pages = sum(sizes.values())
    told = share_of(sum(part.pages for part in of_target.values()), pages)
    unknown = sum(label.is_relevant is None for label in labels)
    return Table(
        "Harvest rate with the identifier's errors",
        ("", "by the identifier", "by labels", "from", "to"),
        [
            ("harvest rate", told, *(relevant_share(strata) or _MISSING)),
            (
                f"precision of the identifier for {language_name(lang)}",
                "",
                *(relevant_share(of_target) or _MISSING),
            ),
        ],
        notes=list(_notes(len(labels) - unknown, pages, unknown, later - pages)),
    )


def _notes(labels: int, pages: int, unknown: int, later: int) -> Iterator[str]:
    yield (
        f"From {labels:,} labels of {pages:,} pages with an answer of the identifier. The interval "
        "holds the true value in 95 of 100 samples; it includes the identifier's errors and those "
        "of sampling, and no errors of the person. A missing figure needs a label of each kind of "
        "answer."
    )
    if unknown:
        yield f"{unknown:,} pages without an answer of the person are left out."
    if later:
        yield f"{later:,} pages came after the sample was drawn and are left out."


def _until(labels: Sequence[Label], path: Path, connection: sqlite3.Connection) -> int:
    found = {label.until for label in labels}
    if not any(label.is_relevant is not None for label in labels):
        raise SettingError(f"{path}: no page has a label")
    if len(found) > 1:
        raise SettingError(f"{path}: the column sampled_until has several values")
    until = found.pop()
    if until > _last_page(connection):
        raise SettingError(f"{path}: was drawn from another run; this one has fewer pages")
    return until


def _stratum_of(label: Label, lang: str, path: Path, connection: sqlite3.Connection) -> Stratum:
    row = connection.execute(
        f"SELECT {_STRATUM}, url {_PAGES} AND id = :page",
        {"lang": lang, "until": label.until, "page": label.page},
    ).fetchone()
    if row is None or row[2] != label.url:
        raise SettingError(
            f"{path}:{label.line}: page {label.page} of the run is not {label.url[:80]!r}"
        )
    return Stratum(row[0], row[1])
