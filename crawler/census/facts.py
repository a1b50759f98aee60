"""The rows that a census counts, from runs and WARC files, in a temporary database on disk.

So a census of any number of servers takes little memory, and a page that two sources have is
counted once.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
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

_TABLE: Final = """
CREATE TABLE facts(
    page INTEGER PRIMARY KEY,             -- fingerprint of the URL
    place INTEGER NOT NULL,               -- order among all rows
    host TEXT NOT NULL, is_portal INTEGER NOT NULL, is_present INTEGER NOT NULL,
    outcome TEXT NOT NULL, status INTEGER, language TEXT, method TEXT,
    charset TEXT, address TEXT, country TEXT, answers TEXT)"""
# A page counts more than a failure of the same URL in another source.
_INSERT: Final = """
INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT(page) DO UPDATE SET
    is_portal = excluded.is_portal, is_present = excluded.is_present, outcome = excluded.outcome,
    status = excluded.status, language = excluded.language, method = excluded.method,
    charset = excluded.charset, address = excluded.address, country = excluded.country,
    answers = excluded.answers
WHERE facts.outcome <> 'page' AND excluded.outcome = 'page'"""

Progress = Callable[[str, int, int | None], None]


class Fact(NamedTuple):
    """A settled URL or an archived answer; the fields are columns of the table `facts`."""

    page: int
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


@dataclass(frozen=True)
class Reading:
    """How sources are read.

    `country_of` gives the countries of addresses; None: those that runs recorded. `address_of` has
    the addresses of hosts whose own are not known. `method` identifies the pages of WARC files.
    """

    method: Callable[[], PageMethod]
    country_of: CountryLookup | None = None
    address_of: Mapping[str, str] = field(default_factory=dict)
    on_progress: Progress | None = None


@contextmanager
def gathered(
    paths: Sequence[Path], how: Reading
) -> Iterator[tuple[sqlite3.Connection, list[Source]]]:
    """Yield a database with the table `facts`, and its sources.

    Raises `CrawlError` for a path that is neither a run nor a WARC file.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as connection:
        connection.execute(_TABLE)
        sources: list[Source] = []
        places = 0
        for path in paths:
            source = Source(path.name or str(path))
            is_run = path.is_dir() or path.name == "run.db"
            rows = _of_run(path, source) if is_run else _of_archive(path, source, how)
            _store(connection, (_located(row, how) for row in rows), source, places)
            sources.append(source)
            places += source.rows
        yield connection, sources


def _store(
    connection: sqlite3.Connection, rows: Iterable[Fact], source: Source, places: int
) -> None:
    connection.execute("BEGIN")
    for place, row in enumerate(rows, start=places):
        connection.execute(_INSERT, (row[0], place, *row[1:]))
        source.rows += 1
    connection.execute("COMMIT")


def _located(row: Fact, how: Reading) -> Fact:
    """Return a row with the address and the country that are known from outside of it."""
    address = row.address or how.address_of.get(row.host)
    if how.country_of is None or address is None:
        return row._replace(address=address)
    return row._replace(address=address, country=how.country_of(address))


def _of_run(path: Path, source: Source) -> Iterator[Fact]:
    with reading(path) as connection:
        source.meta = dict(connection.execute("SELECT key, value FROM meta"))
        for row in connection.execute(
            "SELECT fingerprint, url, host, outcome, status, language, method, charset, address,"
            " country, NULL FROM pages ORDER BY id"
        ):
            page, url, host, outcome, status, *rest = row
            is_portal = outcome == PAGE and (source.is_census or is_portal_url(url))
            is_present = status is not None or outcome not in ABSENT
            yield Fact(page, host, is_portal, is_present, outcome, status, *rest)


def is_portal_url(url: str) -> bool:
    """Return True for the page that a host gives first: the path `/` without a query."""
    return url.count("/") == 3 and url.endswith("/")


def _of_archive(path: Path, source: Source, how: Reading) -> Iterator[Fact]:
    method = how.method()
    for number, found in enumerate(answers(path)):
        if isinstance(found, Damage):
            source.damaged += 1
        elif (fact := _of_answer(found, method)) is not None:
            yield fact
        if how.on_progress is not None and number % 100 == 0:
            how.on_progress(path.name, number, None)
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
    elif is_success(answer.status) and not is_text(kind):
        outcome = "media"
    elif is_success(answer.status):
        language = answer.header("Content-Language")
        page, told = identified(Download(url, answer.status, answer.body, kind, language), method)
    return Fact(
        page=fingerprint(url),
        host=host_of(url),
        is_portal=outcome == PAGE and is_portal_url(url),
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


def is_success(status: int | None) -> bool:
    """Return True for a status whose page counts (Cai 2009, 3.2.2: 200)."""
    return status is not None and 200 <= status < 300
