"""The harvest rate of a run from a person's labels, with an interval for the identifier's errors.

The estimator is that of a stratified random sample: the sum over strata of their size times the
labelled share (Cochran 1977, Sampling Techniques, 5.3). Its usual variance is 0 for a stratum whose
labels all agree, which is frequent here. So the interval comes from the distribution of the pages
that were not labelled: in each stratum their number of relevant pages is beta-binomial, with
Jeffreys' prior for the share (Brown, Cai and DasGupta 2001, Interval Estimation for a Binomial
Proportion, 4). A stratum that was labelled completely adds nothing to the interval.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crawler.errors import RunFolderError, SettingError
from crawler.report.formatting import NOTHING, language_name, percent
from crawler.report.sample import (
    Answer,
    Label,
    Stratum,
    last_page,
    read_labels,
    sizes_of,
    strata_sql,
)
from crawler.report.table import Table
from crawler.run import reading

_DRAWS: Final = 20_000
_LEVELS: Final = (2.5, 97.5)
_PRIOR: Final = 0.5

Draws = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


class Labelled(NamedTuple):
    """The pages of a stratum, those with a person's label, and the relevant ones of these."""

    pages: int
    labelled: int
    relevant: int


@dataclass(frozen=True, slots=True)
class LabelEstimate:
    """The figures that labels give; None where no page of a kind is labelled.

    `harvest_rate` is the share of relevant pages among those with an answer of the identifier.
    `relevant` is their number among all pages, also those without an answer. `precision` and
    `recall` are those of the identifier for the target language on the pages of the run.
    """

    labels: int
    pages: int
    harvest_rate: Interval | None
    relevant: Interval | None
    precision: Interval | None
    recall: Interval | None


def estimate_from_labels(
    strata: Mapping[Stratum, Labelled], random_state: int = 0, draws: int = _DRAWS
) -> LabelEstimate:
    """Return the figures of a run from the labels of a stratified sample of its pages.

    The ends of an interval are quantiles of `draws` random numbers.
    """
    kinds = {kind: collapsed(strata, kind) for kind in Answer}
    chance = np.random.default_rng(random_state)
    counts = {
        kind: None if parts is None else (_estimated(parts), _drawn(parts, chance, draws))
        for kind, parts in kinds.items()
    }
    sizes = {
        kind: sum(s.pages for key, s in strata.items() if key.answer is kind) for kind in kinds
    }
    target, other, none = (counts[kind] for kind in Answer)
    answered = sizes[Answer.TARGET] + sizes[Answer.OTHER]
    labelled = None if target is None or other is None else _sum(target, other)
    everything = None if labelled is None or none is None else _sum(labelled, none)
    return LabelEstimate(
        labels=sum(stratum.labelled for stratum in strata.values()),
        pages=sum(sizes.values()),
        harvest_rate=_ratio(labelled, answered),
        relevant=_ratio(everything, 1),
        precision=_ratio(target, sizes[Answer.TARGET]),
        recall=None if target is None or everything is None else _share(target, everything),
    )


def collapsed(strata: Mapping[Stratum, Labelled], kind: Answer) -> list[Labelled] | None:
    """Return the strata of a kind of answer, those without labels joined to the next band.

    None if pages of the kind exist and none is labelled (Cochran 1977, 5A.12, on collapsed strata).
    """
    found: list[Labelled] = []
    waiting = 0
    for _, part in sorted(
        ((key.band, part) for key, part in strata.items() if key.answer is kind and part.pages)
    ):
        if part.labelled:
            found.append(part._replace(pages=part.pages + waiting))
            waiting = 0
        else:
            waiting += part.pages
    if waiting and found:
        found[-1] = found[-1]._replace(pages=found[-1].pages + waiting)
    return None if waiting and not found else found


def _estimated(parts: Iterable[Labelled]) -> float:
    """The number of relevant pages: Cochran 1977, (5.1) times the number of pages."""
    return float(sum(part.pages * part.relevant / part.labelled for part in parts))


def _drawn(parts: Iterable[Labelled], chance: np.random.Generator, draws: int) -> Draws:
    """Numbers of relevant pages that agree with the labels."""
    total = np.zeros(draws, np.int64)
    for part in parts:
        share = chance.beta(
            part.relevant + _PRIOR, part.labelled - part.relevant + _PRIOR, size=draws
        )
        total += part.relevant + chance.binomial(part.pages - part.labelled, share)
    return total


Count = tuple[float, Draws]


def _sum(one: Count, other: Count) -> Count:
    return one[0] + other[0], one[1] + other[1]


def _ratio(count: Count | None, of: int) -> Interval | None:
    if count is None or not of:
        return None
    low, high = np.percentile(count[1], _LEVELS) / of
    value = count[0] / of
    return Interval(value, min(float(low), value), max(float(high), value))


def _share(part: Count, whole: Count) -> Interval | None:
    if not whole[0]:
        return None
    low, high = np.percentile(part[1] / np.maximum(whole[1], 1), _LEVELS)
    value = part[0] / whole[0]
    return Interval(value, min(float(low), value), max(float(high), value))


@dataclass(frozen=True, slots=True)
class LabelReport:
    """The estimate from the labels of a file.

    `unknown` labels were left out, because the person could not tell. The sample was drawn from the
    pages up to the id `until`; `later` pages came after it and are not estimated. `told` is the
    harvest rate of the same pages by the identifier, None without a page that has a label.
    """

    lang: str
    estimate: LabelEstimate
    unknown: int
    until: int
    later: int
    told: float | None

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
            ("harvest rate", percent(self.told), *_shown(found.harvest_rate, percent)),
            (f"precision of the identifier for {language}", "", *_shown(found.precision, percent)),
            (f"recall of the identifier for {language}", "", *_shown(found.recall, percent)),
            (f"pages in {language}", "", *_shown(found.relevant, "{:,.0f}".format)),
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
        sizes = sizes_of(connection, lang, until)
        counted = {stratum: [0, 0] for stratum in sizes}
        for label in labels:
            stratum = _stratum_of(label, lang, path, connection)
            if label.is_relevant is not None:
                counted[stratum][0] += 1
                counted[stratum][1] += label.is_relevant
        later = connection.execute(
            "SELECT count(*) FROM pages WHERE outcome = 'page' AND id > ?", (until,)
        ).fetchone()[0]
    strata = {key: Labelled(size, *counted[key]) for key, size in sizes.items()}
    return LabelReport(
        lang,
        estimate_from_labels(strata),
        sum(label.is_relevant is None for label in labels),
        until,
        later,
        _told(sizes),
    )


def _until(labels: Sequence[Label], path: Path, connection: sqlite3.Connection) -> int:
    found = {label.until for label in labels}
    if not any(label.is_relevant is not None for label in labels):
        raise SettingError(f"{path}: no page has a label")
    if len(found) > 1:
        raise SettingError(f"{path}: the column sampled_until has several values")
    until = found.pop()
    if until > last_page(connection):
        raise SettingError(f"{path}: was drawn from another run; this one has fewer pages")
    return until


def _stratum_of(label: Label, lang: str, path: Path, connection: sqlite3.Connection) -> Stratum:
    sql, parameters = strata_sql(lang)
    row = connection.execute(
        f"SELECT {sql}, url FROM pages WHERE id = ? AND outcome = 'page' AND id <= ?",  # noqa: S608  # written in `strata`
        (*parameters, label.page, label.until),
    ).fetchone()
    if row is None or row[2] != label.url:
        raise SettingError(
            f"{path}:{label.line}: page {label.page} of the run is not {label.url[:80]!r}"
        )
    return Stratum(Answer(row[0]), row[1])


def _told(sizes: dict[Stratum, int]) -> float | None:
    answered = sum(size for key, size in sizes.items() if key.answer is not Answer.NONE)
    relevant = sum(size for key, size in sizes.items() if key.answer is Answer.TARGET)
    return relevant / answered if answered else None


def _shown(interval: Interval | None, show: Callable[[float], str]) -> tuple[str, str, str]:
    if interval is None:
        return (NOTHING, NOTHING, NOTHING)
    return (show(interval.value), show(interval.low), show(interval.high))
