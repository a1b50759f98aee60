"""A harvest rate checked by hand: sampled pages, labels, and the estimate from labels.

The sample is stratified by the identifier's answer, the target language or another; pages without
an answer are in no harvest rate and not in the sample. The estimator sums stratum size times
labelled share (Cochran 1977, Sampling Techniques, 5.3). Its usual variance is 0 for a stratum with
uniform labels, a frequent case. So the interval is from the distribution of the unlabelled pages:
in each stratum, the number of relevant pages is beta-binomial, with Jeffreys' prior for the share
(Brown, Cai and DasGupta 2001, Interval Estimation for a Binomial Proportion, 4).
"""

import csv
import io
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import numpy as np

from langfocus.crawler.corpus.item import safe_cell
from langfocus.crawler.errors import RunFolderError, SettingError
from langfocus.crawler.report.formatting import Cell, language_name, share_of
from langfocus.crawler.report.table import Table
from langfocus.crawler.run.folder import reading
from langfocus.crawler.run.target import in_target
from langfocus.crawler.run.whole_file import read_regular, write_whole

COLUMNS: Final = ("page", "url", "sampled_until", "label")

_SIZES: Final = f"""\
SELECT {in_target()}, count(*) FROM pages
WHERE outcome = 'page' AND language IS NOT NULL AND id <= ? GROUP BY 1 ORDER BY 1"""  # noqa: S608
_PAGES: Final = f"""\
SELECT id, url FROM pages
WHERE outcome = 'page' AND ({in_target()}) = ? AND id <= ? ORDER BY id"""  # noqa: S608
_PAGE: Final = f"SELECT url, {in_target()} FROM pages WHERE outcome = 'page' AND id = ?"  # noqa: S608

_FEWEST: Final = 5
"""Least pages sampled per stratum, or all pages of a smaller stratum."""
_ANSWERS: Final = {"yes": True, "no": False, "": None, "?": None}
_MOST_BYTES: Final = 64 * 1024 * 1024
_DRAWS: Final = 20_000
_MISSING: Final = (None, None, None)


class Sample(NamedTuple):
    """Ids and URLs of a run's pages in random order, from the pages with an id up to `until`."""

    pages: Sequence[tuple[int, str]]
    until: int
    of: int
    """Number of pages in the sampled population."""


def language_of(connection: sqlite3.Connection) -> str:
    """Return the target language of a run; RunFolderError if unset."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
    if row is None or not row[0]:
        raise RunFolderError("run.db has no language")
    return str(row[0])


def draw_sample(
    connection: sqlite3.Connection, lang: str, number: int, random_state: int
) -> Sample:
    """Return about `number` pages of a run, determined by the random state.

    Each stratum has a simple random sample, proportional to its size but at least five pages, or
    all pages of a smaller stratum.
    """
    random = Random(random_state)
    until = connection.execute("SELECT max(id) FROM pages").fetchone()[0] or 0
    sizes = dict(connection.execute(_SIZES, (lang, until)))
    drawn: list[tuple[int, str]] = []
    for answer, size in sizes.items():
        wanted = max(min(_FEWEST, number // 2), round(number * size / sum(sizes.values())))
        places = set(random.sample(range(size), min(size, wanted)))
        rows = enumerate(connection.execute(_PAGES, (lang, answer, until)))
        drawn += [row for place, row in rows if place in places]
    # Shuffled, so that the row position does not reveal the identifier's answer.
    random.shuffle(drawn)
    return Sample(drawn, until, sum(sizes.values()))


def write_sample(path: Path, sample: Sample) -> Path:
    """Write a sample as CSV in UTF-8 with a byte order mark and an empty column `label`.

    Formula prefixes are escaped, so that no URL runs as a formula in a spreadsheet program.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((page, safe_cell(url), sample.until, "") for page, url in sample.pages)
    return write_whole(path, f"\ufeff{text.getvalue()}")


class Label(NamedTuple):
    """A person's label of a page; `is_relevant` is None for undecided."""

    url: str
    until: int
    is_relevant: bool | None


def read_labels(path: Path) -> dict[int, Label]:
    """Return the labels of a file by page, in file order.

    Columns are separated by commas or semicolons: spreadsheet programs of some countries write
    semicolons. A label is yes or no; empty or `?` for undecided. Raises SettingError with the line
    of the first error.
    """
    try:
        text = read_regular(path, _MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise SettingError(f"{path}: is not in UTF-8; save it as CSV in UTF-8") from None
    reader = csv.DictReader(
        io.StringIO(text), delimiter=max(",;", key=text.partition("\n")[0].count)
    )
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise SettingError(
            f"{path}: has no column {missing[0]!r}; langfocus report --sample writes it"
        )
    found: dict[int, Label] = {}
    try:
        for row in reader:
            page, url, until, answer = ((row[name] or "").strip() for name in COLUMNS)
            if answer.casefold() not in _ANSWERS:
                raise ValueError(f"label {answer[:30]!r} is not yes, no or ?")
            if int(page) in found:
                raise ValueError(f"page {page} is there twice")
            found[int(page)] = Label(url, int(until), _ANSWERS[answer.casefold()])
    except (csv.Error, ValueError) as error:
        raise SettingError(f"{path}:{reader.line_num}: {error}") from None
    return found


class Labelled(NamedTuple):
    """Counts of pages with an answer, of labelled pages, and of pages labelled as relevant."""

    pages: int
    labelled: int
    relevant: int


def relevant_share(
    strata: Sequence[Labelled], random_state: int = 0, draws: int = _DRAWS
) -> tuple[float, float, float] | None:
    """Estimate the share of relevant pages from a stratified sample, with its 95 % interval.

    The interval ends are quantiles of `draws` random numbers. None without pages, or if a stratum
    has no label.
    """
    total = sum(part.pages for part in strata)
    if not total or not all(part.labelled for part in strata):
        return None
    chance = np.random.default_rng(random_state)
    estimated, drawn = 0.0, np.zeros(draws)
    for pages, labelled, relevant in strata:
        estimated += pages * relevant / labelled  # Cochran 1977, (5.1)
        share = chance.beta(relevant + 0.5, labelled - relevant + 0.5, size=draws)
        drawn += relevant + chance.binomial(pages - labelled, share)
    low, high = np.percentile(drawn, (2.5, 97.5)) / total
    value = estimated / total
    return value, min(float(low), value), max(float(high), value)


def label_table(folder: Path, path: Path) -> Table:
    """Return the harvest rate of a run by the labels in a file of `report --sample`.

    The table also has the precision for the target language. Raises SettingError for an unusable
    file, or the file of another run.
    """
    with reading(folder) as connection:
        lang, labels = language_of(connection), read_labels(path)
        known = sum(label.is_relevant is not None for label in labels.values())
        if not known:
            raise SettingError(f"{path}: no page has a label")
        until, *others = {label.until for label in labels.values()}
        if others:
            raise SettingError(f"{path}: the column sampled_until has several values")
        sizes = dict(connection.execute(_SIZES, (lang, until)))
        strata = _counted(connection, lang, labels, sizes, path)
    pages = sum(sizes.values())
    note = (
        f"From {known:,} labels of {pages:,} pages with an answer of the identifier. The interval "
        "holds the true value in 95 of 100 samples; it includes the identifier's errors and those "
        "of sampling, and no errors of the person. A missing figure needs a label of each kind of "
        "answer."
    )
    precision = f"precision of the identifier for {language_name(lang)}"
    of_target = [strata[1]] if 1 in strata else []
    by_identifier = share_of(sizes.get(1, 0), pages)
    rows: list[tuple[Cell, ...]] = [
        ("harvest rate", by_identifier, *(relevant_share(list(strata.values())) or _MISSING)),
        (precision, "", *(relevant_share(of_target) or _MISSING)),
    ]
    head = ("", "by the identifier", "by labels", "from", "to")
    return Table("Harvest rate with the identifier's errors", head, rows, notes=[note])


def _counted(
    connection: sqlite3.Connection,
    lang: str,
    labels: Mapping[int, Label],
    sizes: Mapping[int, int],
    path: Path,
) -> dict[int, Labelled]:
    """Return label counts per stratum: 1 for answers in the target language, 0 for others."""
    found = 0
    counts = {answer: Labelled(size, 0, 0) for answer, size in sizes.items()}
    for page, (url, _, is_relevant) in labels.items():
        row = connection.execute(_PAGE, (lang, page)).fetchone()
        if row is None or row[1] not in counts or url not in (row[0], safe_cell(row[0])):
            continue
        found += 1
        size, labelled, relevant = counts[row[1]]
        is_known = is_relevant is not None
        counts[row[1]] = Labelled(size, labelled + is_known, relevant + (is_relevant is True))
    if found < len(labels):
        raise SettingError(
            f"{path}: was drawn from another run; this one has {found:,} of its {len(labels):,} "
            "pages"
        )
    return counts
