"""The figures of a run from a file of labels, as a table and as JSON."""

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crawler.errors import RunFolderError, SettingError
from crawler.report.formatting import NOTHING, language_name, percent
from crawler.report.label_estimate import Interval, LabelEstimate, Labelled, estimate_from_labels
from crawler.report.label_file import Label, read_labels
from crawler.report.strata import Answer, Stratum, last_page, sizes_of, strata_sql
from crawler.report.table import Table
from crawler.run_reader import reading


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
        figures = asdict(self.estimate)
        for name in ("harvest_rate", "relevant", "precision", "recall"):
            interval = getattr(self.estimate, name)
            figures[name] = None if interval is None else interval._asdict()
        return {
            **figures,
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
            ("harvest rate", percent(self.told), *_shares(found.harvest_rate)),
            (f"precision of the identifier for {language}", "", *_shares(found.precision)),
            (f"recall of the identifier for {language}", "", *_shares(found.recall)),
            (f"pages in {language}", "", *_counts(found.relevant)),
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


def _shares(interval: Interval | None) -> tuple[str, str, str]:
    if interval is None:
        return (NOTHING, NOTHING, NOTHING)
    return (percent(interval.value), percent(interval.low), percent(interval.high))


def _counts(interval: Interval | None) -> tuple[str, str, str]:
    if interval is None:
        return (NOTHING, NOTHING, NOTHING)
    return (f"{interval.value:,.0f}", f"{interval.low:,.0f}", f"{interval.high:,.0f}")
