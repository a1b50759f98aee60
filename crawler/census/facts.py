"""The rows that a census counts, from runs and WARC files, in a temporary database on disk.

So a census of any number of servers takes little memory, and a page that two sources have is
counted once.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from classifiers.geoip import CountryLookup
from classifiers.pages.method import PageMethod, Surroundings, answers_of
from crawler.errors import ArchiveError
from crawler.frontier.base import PAGE, REDIRECT
from crawler.reading import Download, identified, is_text
from crawler.run import reading
from crawler.sources.archive import ArchivedAnswer, answers
from crawler.sources.warc_reader import Damage
from crawler.url import fingerprint, host_of, normalise

ABSENT: Final = frozenset(
    "dns timeout refused unreachable private_address robots_unreachable tls "
    "not_archived address_full origins_full error".split()
)
"""Outcomes that do not show that there is a server."""

Progress = Callable[[str, int, int | None], None]


class Fact(NamedTuple):
    """A settled URL or an archived answer; the fields are columns of the table `facts`."""

    page: int  # fingerprint of the URL
    host: str
    is_portal: bool
    is_present: bool
    outcome: str
    status: int | None
    language: str | None
    method: str | None
    charset: str | None
    address: str | None
    country: str | None
    answers: str | None


_OTHERS: Final = Fact._fields[1:]
_TABLE: Final = f"""
CREATE TABLE facts(
    page INTEGER PRIMARY KEY, {", ".join(_OTHERS)},
    place INTEGER NOT NULL)  -- order among all rows"""
# A page counts more than a failure of the same URL in another source.
_INSERT: Final = f"""
INSERT INTO facts VALUES ({", ".join("?" * len(Fact._fields))}, ?)
ON CONFLICT(page) DO UPDATE SET
    ({", ".join(_OTHERS)}) = ({", ".join(f"excluded.{name}" for name in _OTHERS)})
WHERE facts.outcome <> 'page' AND excluded.outcome = 'page'"""  # noqa: S608  # our own names


@dataclass
class Source:
    """The facts about one source. `meta` is that of a run, {} for a WARC file."""

    name: str
    meta: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    damaged: int = 0

    @property
    def is_census(self) -> bool:
        """True if its pages are the portal pages of listed hosts."""
        return bool(self.meta.get("hosts"))


@contextmanager
def gathered(
    paths: Sequence[Path],
    method: Callable[[], PageMethod],
    country_of: CountryLookup | None = None,
    on_progress: Progress | None = None,
) -> Iterator[tuple[sqlite3.Connection, list[Source]]]:
    """Yield a database with the table `facts`, and its sources.

    `country_of` gives the countries of addresses; None: those that runs recorded. `method`
    identifies the pages of WARC files. Raises `CrawlError` for a path that is neither a run nor a
    WARC file.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as connection:
        connection.execute(_TABLE)
        sources: list[Source] = []
        place = count()
        for path in paths:
            source = Source(path.name or str(path))
            is_run = path.is_dir() or path.name == "run.db"
            rows = _of_run(path, source) if is_run else _of_archive(path, source, method())
            connection.execute("BEGIN")
            for row in rows:
                fact = row
                if country_of is not None and row.address is not None:
                    fact = row._replace(country=country_of(row.address))
                connection.execute(_INSERT, (*fact, next(place)))
                source.rows += 1
                if on_progress is not None and source.rows % 100 == 0:
                    on_progress(path.name, source.rows, None)
            connection.execute("COMMIT")
            sources.append(source)
        yield connection, sources


def _of_run(path: Path, source: Source) -> Iterator[Fact]:
    with reading(path) as connection:
        source.meta = dict(connection.execute("SELECT key, value FROM meta"))
        for row in connection.execute(
            "SELECT fingerprint, url, host, outcome, status, language, method, charset, address,"
            " country, NULL FROM pages ORDER BY id"
        ):
            page, url, host, outcome, status, *rest = row
            is_portal = outcome == PAGE and (source.is_census or _is_portal_url(url))
            is_present = status is not None or outcome not in ABSENT
            yield Fact(page, host, is_portal, is_present, outcome, status, *rest)


def _is_portal_url(url: str) -> bool:
    """Return True for the page that a host gives first: the path `/` without a query."""
    return url.count("/") == 3 and url.endswith("/")


def _of_archive(path: Path, source: Source, method: PageMethod) -> Iterator[Fact]:
    for found in answers(path):
        if isinstance(found, Damage):
            source.damaged += 1
        elif (fact := _of_answer(found, method)) is not None:
            yield fact
    if not source.rows:
        raise ArchiveError(f"{path}: no answer of a server in it; give a run or a WARC file")


def _of_answer(found: ArchivedAnswer, method: PageMethod) -> Fact | None:
    """Return the row of an archived answer; None for a robots.txt or an odd URL."""
    url, answer = normalise(found.url), found.answer
    if url is None or url.endswith("/robots.txt"):
        return None
    kind, outcome, page, told = answer.header("Content-Type"), PAGE, None, None
    if 300 <= answer.status < 400 and answer.header("Location"):
        outcome = REDIRECT
    elif 200 <= answer.status < 300 and not is_text(kind):
        outcome = "media"
    elif 200 <= answer.status < 300:
        language = answer.header("Content-Language")
        page, told = identified(Download(url, answer.status, answer.body, kind, language), method)
    return Fact(
        page=fingerprint(url),
        host=host_of(url),
        is_portal=outcome == PAGE and _is_portal_url(url),
        is_present=True,
        outcome=outcome,
        status=answer.status,
        language=told.language if told and page else None,
        method=told.method if told and page else None,
        charset=page.charset if page else None,
        address=answer.ip,
        country=None,
        answers=json.dumps(answers_of(method, page, Surroundings(url))) if page else None,
    )
