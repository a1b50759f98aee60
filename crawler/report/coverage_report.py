"""The coverage of crawls without ground truth, from the relevant pages and hosts they share."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crawler.errors import RunFolderError, SettingError
from crawler.report.formatting import NOTHING, language_name, percent
from crawler.report.recapture import Members, Recapture, recapture
from crawler.report.table import Table
from crawler.run_reader import reading
from crawler.url import fingerprint


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """Estimates for the relevant pages of some runs, and for the hosts that have such pages."""

    lang: str
    names: tuple[str, ...]
    pages: Recapture
    hosts: Recapture

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON types."""
        return {
            "lang": self.lang,
            "runs": list(self.names),
            "pages": _json(self.pages),
            "hosts": _json(self.hosts),
        }

    def table(self) -> Table:
        """Return the coverage of each run and of all together."""
        rows = []
        for what, found in (("pages", self.pages), ("hosts", self.hosts)):
            for name, number in (*zip(self.names, found.found, strict=True), *_together(found)):
                rows.append((name, what, f"{number:,}", *_shares(found, number)))
            rows.append(("estimated to exist", what, *_population(found)))
        return Table(
            f"Coverage of {language_name(self.lang)} ({self.lang}) by capture and recapture",
            ("run", "relevant", "found", "coverage", "from", "to"),
            rows,
            notes=_notes(self.pages, len(self.names)),
            text_columns=2,
        )


def coverage_report(folders: Sequence[Path]) -> CoverageReport:
    """Return the estimates from two runs or more of one language.

    Raises SettingError for fewer runs, for one that is named twice, and for runs of different
    languages; RunFolderError for a folder without a run or without a relevant page.
    """
    if len(folders) < 2:
        raise SettingError("name two runs or more: langfocus coverage RUN_FOLDER RUN_FOLDER")
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise SettingError("a run is named twice; it shares all pages with itself")
    runs = [_relevant(folder) for folder in folders]
    lang = runs[0].lang
    for folder, run in zip(folders, runs, strict=True):
        if run.lang != lang:
            raise SettingError(f"{folder}: a crawl for {run.lang}, not for {lang}")
    return CoverageReport(
        lang,
        tuple(folder.resolve().name for folder in folders),
        recapture([run.pages for run in runs]),
        recapture([run.hosts for run in runs]),
    )


class _Relevant(NamedTuple):
    """The fingerprints of a run's relevant pages and of the hosts that have them."""

    lang: str
    pages: Members
    hosts: Members


def _relevant(folder: Path) -> _Relevant:
    with reading(folder) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
        if row is None or not row[0]:
            raise RunFolderError(f"{folder}: its run.db has no language")
        where = "FROM pages WHERE outcome = 'page' AND language = ?"
        found = connection.execute(f"SELECT fingerprint {where}", row)
        pages = np.fromiter((number for (number,) in found), np.int64)
        hosts = connection.execute(f"SELECT DISTINCT host {where}", row)
        numbers = _numbers(host for (host,) in hosts)
    if not len(pages):
        raise RunFolderError(f"{folder}: no page of this run is in the language {row[0]}")
    return _Relevant(str(row[0]), pages, numbers)


def _numbers(hosts: Iterable[str]) -> Members:
    return np.fromiter((fingerprint(f"http://{host}/") for host in hosts), np.int64)


def _json(found: Recapture) -> dict[str, Any]:
    shares = [found.coverage(number) for number in (*found.found, found.together)]
    return {**asdict(found), "coverage": [share and list(share) for share in shares]}


def _together(found: Recapture) -> list[tuple[str, int]]:
    return [("all together", found.together)]


def _shares(found: Recapture, number: int) -> tuple[str, str, str]:
    shares = found.coverage(number)
    if shares is None:
        return (NOTHING, NOTHING, NOTHING)
    return (percent(shares[0]), percent(shares[1]), percent(shares[2]))


def _population(found: Recapture) -> tuple[str, str, str, str]:
    if found.population is None or found.low is None or found.high is None:
        return (NOTHING, "", NOTHING, NOTHING)
    return (f"{found.population:,.0f}", "", f"{found.low:,.0f}", f"{found.high:,.0f}")


def _notes(pages: Recapture, number: int) -> list[str]:
    by = "Chapman's estimator" if number == 2 else "Chao's lower bound"
    notes = [
        f"By {by}, from {pages.shared:,} pages that two runs or more share. It assumes that a page "
        "is found by one run independently of the others. Crawls are not independent: all find "
        "the pages with many links. So fewer pages are estimated than exist, and a coverage is "
        "mostly too high; the interval holds the error of chance only."
    ]
    if pages.population is None:
        notes.append("The runs share no page, so nothing can be estimated.")
    return notes
