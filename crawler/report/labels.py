"""A person's check of the harvest rate: pages to label, the labels, what they tell of the run.

The sample is stratified by the identifier's answer and its confidence. The estimator is that of a
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers import languages
from crawler.errors import RunFolderError, SettingError
from crawler.report.files import write_whole
from crawler.report.formatting import Cell, language_name, share_of
from crawler.report.table import Table
from crawler.run import reading
from crawler.whole_file import read_regular

TARGET, OTHER, NONE = "target", "other", "none"
"""The identifier's answer about a page: the language of the crawl, another one, or none."""


class Stratum(NamedTuple):
    """Pages with the same kind of answer and a confidence in the same band.

    The bands are 0: below 0.5, 1: below 0.9, 2: above. Pages without an answer, or with one that
    has no confidence, are in band 0.
    """

    answer: str
    band: int


_STRATUM: Final = """\
CASE WHEN language IS NULL THEN 'none' WHEN language = :lang THEN 'target' ELSE 'other' END,
CASE WHEN language IS NULL THEN 0
     ELSE (coalesce(confidence, 0) >= 0.5) + (coalesce(confidence, 0) >= 0.9) END"""
_PAGES: Final = "FROM pages WHERE outcome = 'page' AND id <= :until"

_ERRORS: Final = {TARGET: (0.4, 0.2, 0.03), OTHER: (0.3, 0.15, 0.03), NONE: (0.3, 0.3, 0.3)}
"""Shares of pages of each band that may be in the other class: a guess that decides only how many
pages of a stratum are drawn, not what is estimated."""
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
    for answer, band, *page in connection.execute(
        f"SELECT {_STRATUM}, id, url {_PAGES} ORDER BY id", {"lang": lang, "until": until}
    ):
        stratum = Stratum(answer, band)
        kept, most = drawn[stratum], wanted[stratum]
        seen[stratum] += 1
        if len(kept) < most:
            kept.append((page[0], page[1]))
        elif (place := random.randrange(seen[stratum])) < most:  # a reservoir
            kept[place] = page[0], page[1]
    pages = [page for kept in drawn.values() for page in kept]
    # In random order the person who labels cannot tell the identifier's answer from the place.
    random.shuffle(pages)
    return Sample(pages, until, sizes)


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


def _last_page(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT max(id) FROM pages WHERE outcome = 'page'").fetchone()
    return int(row[0] or 0)


def _sizes_of(connection: sqlite3.Connection, lang: str, until: int) -> dict[Stratum, int]:
    rows = connection.execute(
        f"SELECT {_STRATUM}, count(*) {_PAGES} GROUP BY 1, 2", {"lang": lang, "until": until}
    )
    return {Stratum(answer, band): number for answer, band, number in rows}


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


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class LabelEstimate:
    """The figures that labels give; None where no page of a kind is labelled."""

    labels: int
    pages: int
    harvest_rate: Interval | None
    """The share of relevant pages among those with an answer of the identifier."""
    relevant: Interval | None
    """Their number among all pages, also those without an answer."""
    precision: Interval | None
    recall: Interval | None
    """Of the identifier for the target language on the pages of the run."""


Count = tuple[float, npt.NDArray[np.int64]]
"""The number of relevant pages, and draws of it that agree with the labels."""


def estimate_from_labels(
    strata: Mapping[Stratum, Labelled], random_state: int = 0, draws: int = _DRAWS
) -> LabelEstimate:
    """Return the figures of a run from the labels of a stratified sample of its pages.

    The ends of an interval are quantiles of `draws` random numbers.
    """
    chance = np.random.default_rng(random_state)
    kinds = (TARGET, OTHER, NONE)
    target, other, none = (
        None if (parts := collapsed(strata, kind)) is None else _count(parts, chance, draws)
        for kind in kinds
    )
    sizes = {
        kind: sum(s.pages for key, s in strata.items() if key.answer == kind) for kind in kinds
    }
    answered = _sum(target, other)
    everything = _sum(answered, none)
    return LabelEstimate(
        labels=sum(stratum.labelled for stratum in strata.values()),
        pages=sum(sizes.values()),
        harvest_rate=_interval(answered, sizes[TARGET] + sizes[OTHER]),
        relevant=_interval(everything, 1),
        precision=_interval(target, sizes[TARGET]),
        recall=None if everything is None else _interval(target, *everything),
    )


def collapsed(strata: Mapping[Stratum, Labelled], kind: str) -> list[Labelled] | None:
    """Return the strata of a kind of answer, those without labels joined to the next band.

    None if pages of the kind exist and none is labelled (Cochran 1977, 5A.12, on collapsed strata).
    """
    found: list[Labelled] = []
    waiting = 0
    for _, part in sorted(
        ((key.band, part) for key, part in strata.items() if key.answer == kind and part.pages)
    ):
        if part.labelled:
            found.append(part._replace(pages=part.pages + waiting))
            waiting = 0
        else:
            waiting += part.pages
    if waiting and found:
        found[-1] = found[-1]._replace(pages=found[-1].pages + waiting)
    return None if waiting and not found else found


def _count(parts: Iterable[Labelled], chance: np.random.Generator, draws: int) -> Count:
    """The number of relevant pages: Cochran 1977, (5.1) times the number of pages."""
    estimated, drawn = 0.0, np.zeros(draws, np.int64)
    for pages, labelled, relevant in parts:
        estimated += pages * relevant / labelled
        share = chance.beta(relevant + _PRIOR, labelled - relevant + _PRIOR, size=draws)
        drawn += relevant + chance.binomial(pages - labelled, share)
    return estimated, drawn


def _sum(one: Count | None, other: Count | None) -> Count | None:
    return None if one is None or other is None else (one[0] + other[0], one[1] + other[1])


def _interval(
    count: Count | None, of: float, draws_of: npt.NDArray[np.int64] | None = None
) -> Interval | None:
    """The share that a count is of a number, whose draws are given if it is not exact."""
    if count is None or not of:
        return None
    whole = of if draws_of is None else np.maximum(draws_of, 1)
    low, high = np.percentile(count[1] / whole, (2.5, 97.5))
    value = count[0] / of
    return Interval(value, min(float(low), value), max(float(high), value))


@dataclass(frozen=True, slots=True)
class LabelReport:
    """The estimate from the labels of a file."""

    lang: str
    estimate: LabelEstimate
    unknown: int
    """Labels that were left out, because the person could not tell."""
    until: int
    """The sample was drawn from the pages up to this id."""
    later: int
    """Pages that came after it and are not estimated."""
    told: float | None
    """The harvest rate of the same pages by the identifier; None without a page with a label."""

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON types."""
        return {
            **asdict(self.estimate),
            "unknown": self.unknown,
            "sampled_until": self.until,
            "later_pages": self.later,
            "harvest_rate_told": self.told,
        }

    def table(self) -> Table:
        """Return the table of the figures and their intervals."""
        found = self.estimate
        language = language_name(self.lang)
        rows = (
            ("harvest rate", self.told, *_cells(found.harvest_rate)),
            (f"precision of the identifier for {language}", "", *_cells(found.precision)),
            (f"recall of the identifier for {language}", "", *_cells(found.recall)),
            (f"pages in {language}", "", *_cells(found.relevant, round)),
        )
        notes = [
            f"From {found.labels:,} labelled pages of {found.pages:,}. The interval holds the "
            "true value in 95 of 100 samples; it includes the identifier's errors and those of "
            "sampling, and no errors of the person. Pages that the identifier gave no label count "
            "in the last two rows only."
        ]
        if self.unknown:
            notes.append(f"{self.unknown:,} pages without an answer of the person are left out.")
        if self.later:
            notes.append(f"{self.later:,} pages came after the sample was drawn and are left out.")
        if None in (found.harvest_rate, found.relevant):
            notes.append("A missing figure needs a label of each kind of answer.")
        head = ("", "by the identifier", "by labels", "from", "to")
        return Table("Harvest rate with the identifier's errors", head, rows, notes=notes)


def label_report(folder: Path, path: Path) -> LabelReport:
    """Return the figures of a run from a file of labels that `langfocus sample` began.

    Raises SettingError for a file that cannot be used, or that belongs to another run.
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
        (later,) = connection.execute(
            "SELECT count(*) FROM pages WHERE outcome = 'page' AND id > ?", (until,)
        ).fetchone()
    by_answer = {
        kind: sum(size for key, size in sizes.items() if key.answer == kind)
        for kind in (TARGET, OTHER)
    }
    return LabelReport(
        lang,
        estimate_from_labels({key: Labelled(size, *counted[key]) for key, size in sizes.items()}),
        sum(label.is_relevant is None for label in labels),
        until,
        later,
        share_of(by_answer[TARGET], sum(by_answer.values())),
    )


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


def _cells(interval: Interval | None, shown: Callable[[float], Cell] = float) -> list[Cell]:
    if interval is None:
        return [None, None, None]
    return [shown(interval.value), shown(interval.low), shown(interval.high)]
