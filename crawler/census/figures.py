"""Census figures: servers by country, pages by language (Cai 2009, chapter 5).

Runs and WARC files are merged in a temporary database on disk. Memory is therefore small for any
number of servers, and a page in two sources is counted once.
"""

import json
import logging
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final, Literal, NamedTuple

from langfocus.classifiers.geoip import CountryLookup
from langfocus.classifiers.pages.method import PageLanguage, PageMethod, Surroundings, answers_of
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.crawler.corpus.sources import page_in
from langfocus.crawler.errors import ArchiveError
from langfocus.crawler.frontier.base import PAGE, REDIRECT
from langfocus.crawler.reading.page import leads_to
from langfocus.crawler.reading.time_limit import UnreadError, identified_in_time
from langfocus.crawler.report.formatting import falling, iso_time
from langfocus.crawler.run.folder import kind_of, reading, sessions_of
from langfocus.crawler.sources.archive import ArchivedAnswer, answers, unusual_records
from langfocus.crawler.sources.warc_reader import Damage
from langfocus.crawler.url import fingerprint, host_of, normalise

_log = logging.getLogger(__name__)

ABSENT: Final = frozenset(
    "dns timeout refused unreachable private_address robots_unreachable tls "
    "not_archived address_full origins_full error".split()
)
"""Outcomes without evidence of a server."""

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
    """The facts about a source."""

    name: str
    is_census: bool = False  # the pages are portal pages of listed hosts
    started_at: str | None = None  # first fetch, ISO 8601 in UTC
    ended_at: str | None = None
    rows: int = 0
    damaged: int = 0
    lack: str = ""  # content of a source without an answer

    def include(self, *times: float) -> None:
        """Extend the period to some times, unix seconds."""
        known = sorted(filter(None, (self.started_at, self.ended_at, *map(iso_time, times))))
        self.started_at, self.ended_at = known[0], known[-1]


def _of_run(path: Path, source: Source) -> Iterator[Fact]:
    with reading(path) as connection:
        source.is_census = kind_of(connection) == "census"
        for session in sessions_of(connection):
            source.include(session.started_at, session.ended_at)
        for row in connection.execute(
            "SELECT fingerprint, url, host, outcome, status, language, method, charset, address,"
            " country, NULL FROM pages ORDER BY id"
        ):
            page, url, host, outcome, status, *rest = row
            is_portal = outcome == PAGE and (source.is_census or _is_portal_url(url))
            is_present = status is not None or outcome not in ABSENT
            yield Fact(page, host, is_portal, is_present, outcome, status, *rest)


def _is_portal_url(url: str) -> bool:
    """Return True for a host's portal page: the path `/` without a query."""
    return url.count("/") == 3 and url.endswith("/")


def _of_archive(path: Path, source: Source, method: PageMethod) -> Iterator[Fact]:
    seen: Counter[str] = Counter()
    for found in answers(path, seen):
        if isinstance(found, Damage):
            source.damaged += 1
            continue
        if found.answer.source is not None:
            source.include(found.answer.source.began_at)
        if (fact := _of_answer(found, method)) is not None:
            yield fact
    if not source.rows:
        source.lack = f"{path}: no answer of a server in it{unusual_records(seen)}"


def _of_answer(found: ArchivedAnswer, method: PageMethod) -> Fact | None:
    """Return the row of an archived answer; None for a robots.txt or an invalid URL."""
    url, answer = normalise(found.url), found.answer
    if url is None or url.endswith("/robots.txt"):
        return None
    outcome = PAGE
    page: ParsedPage | None = None
    identified: PageLanguage | None = None
    download = page_in(found)
    if not isinstance(download, str):
        try:
            page, identified = identified_in_time(download, method)
        except UnreadError as error:
            outcome = error.outcome
        if page and identified and leads_to(download, page, identified):
            outcome, page = REDIRECT, None
    elif 300 <= answer.status < 400 and answer.header("Location"):
        outcome = REDIRECT
    elif 200 <= answer.status < 300:
        outcome = "media"
    return Fact(
        page=fingerprint(url),
        host=host_of(url),
        is_portal=outcome == PAGE and _is_portal_url(url),
        is_present=True,
        outcome=outcome,
        status=answer.status,
        language=identified.language if identified and page else None,
        method=identified.method if identified and page else None,
        charset=page.charset if page else None,
        address=answer.ip,
        country=None,
        answers=json.dumps(answers_of(method, page, Surroundings(url))) if page else None,
    )


# --- Figures

Pages = Literal["portals", "all"]

UNKNOWN: Final = "unknown"
"""Country of a server without a known address, and language of an unidentified page."""

_COUNTED: Final = """
CREATE TABLE counted AS
SELECT host, COALESCE(language, 'unknown') AS language, method, charset,
    COALESCE(country, 'unknown') AS country, answers
FROM facts WHERE outcome = 'page' AND status BETWEEN 200 AND 299"""
# URL variants of a page, such as http and https, are one portal page: the first.
_ONLY_PORTALS: Final = """
 AND is_portal AND place = (
    SELECT MIN(other.place) FROM facts AS other WHERE other.host = facts.host
    AND other.is_portal AND other.status BETWEEN 200 AND 299)"""
# Where a server is: the address of its portal page, else that of its first other page.
_SERVERS: Final = """
CREATE TABLE servers AS
SELECT present.host, COALESCE(located.country, 'unknown') AS country, located.address
FROM (SELECT host FROM facts GROUP BY host HAVING MAX(is_present)) AS present
LEFT JOIN (
    SELECT host, country, address, MIN(place - (is_portal << 60)) FROM facts
    WHERE address IS NOT NULL OR country IS NOT NULL GROUP BY host) AS located
ON located.host = present.host"""

# The language of each page by each kind of evidence; NULL: none.
_EVIDENCE: Final = """
CREATE VIEW evidence AS
SELECT counted.rowid AS page, answer.key AS kind, answer.value AS code, counted.language,
    answer.id AS place
FROM counted, json_each(counted.answers) AS answer"""


@dataclass(frozen=True, kw_only=True)
class MethodFigures:
    """Pages identified by a kind of evidence (Cai 2009, Table 4-4).

    `identified` counts the pages identified by this evidence, `agreeing` the pages where it matches
    the page language. `alone` counts, by language, the pages that no other evidence identified.
    """

    name: str
    identified: int
    agreeing: int
    alone: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class CensusFigures:
    """The figures of a census. Every counter is in falling order of its counts.

    `pages` selects the counted pages: the portal page of each server, or all. `servers` counts
    answering hosts by country, `addresses` distinct IP addresses, and `hosts` all requested hosts.
    `by_country` is language -> country -> pages. `decided` counts pages by deciding method.
    `methods` is () if no source kept all answers; `answered` counts pages with answers.
    `by_encoding` counts, by language, pages whose encoding determines the language.
    """

    sources: Sequence[Source]
    pages: Pages
    hosts: int
    servers: Mapping[str, int]
    addresses: Mapping[str, int]
    outcomes: Mapping[str, int]
    languages: Mapping[str, int]
    by_country: Mapping[str, Mapping[str, int]]
    decided: Mapping[str, int]
    methods: Sequence[MethodFigures] = ()
    answered: int = 0
    by_encoding: Mapping[str, int] = field(default_factory=dict)

    @property
    def all_servers(self) -> int:
        """Number of servers."""
        return sum(self.servers.values())

    @property
    def all_pages(self) -> int:
        """Number of counted pages."""
        return sum(self.languages.values())

    def languages_of(self, country: str) -> Mapping[str, int]:
        """Return the pages of a country by language (Table 5-5)."""
        by_country = self.by_country.items()
        return falling({code: row[country] for code, row in by_country if country in row})


def census_figures(
    paths: Sequence[Path],
    method: Callable[[], PageMethod],
    country_of: CountryLookup | None = None,
    on_progress: Progress | None = None,
    pages: Pages | None = None,
) -> CensusFigures:
    """Return the figures of runs and WARC files.

    `country_of` maps IP addresses to countries; None: the countries recorded by the runs. `method`
    identifies the pages of WARC files. `pages` None: portal pages if every source is a census, else
    all pages. A source without an answer is logged. Raises `CrawlError` for a path that is neither
    a run nor a WARC file, and if no source has an answer.
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
        lacks = [source.lack for source in sources if source.lack]
        if len(lacks) == len(sources):
            raise ArchiveError(f"{lacks[0]}; give a run or a WARC file")
        for lack in lacks:
            _log.warning("%s", lack)
        only_portals = all(source.is_census for source in sources)
        return _figures(connection, sources, pages or ("portals" if only_portals else "all"))


def _figures(
    connection: sqlite3.Connection, sources: Sequence[Source], chosen: Pages
) -> CensusFigures:
    connection.execute(_COUNTED + (_ONLY_PORTALS if chosen == "portals" else ""))
    connection.execute(_SERVERS)
    matrix: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for language, country, number in connection.execute(
        "SELECT language, country, COUNT(*) FROM counted GROUP BY 1, 2"
    ):
        matrix[language][country] = number
    languages = falling({code: row.total() for code, row in matrix.items()})
    connection.execute(_EVIDENCE)
    return CensusFigures(
        sources=sources,
        pages=chosen,
        hosts=_number(connection, "SELECT COUNT(DISTINCT host) FROM facts"),
        servers=_counts(connection, "SELECT country, COUNT(*) FROM servers GROUP BY 1"),
        addresses=_counts(
            connection, "SELECT country, COUNT(DISTINCT address) FROM servers GROUP BY 1"
        ),
        outcomes=_counts(connection, "SELECT outcome, COUNT(*) FROM facts GROUP BY 1"),
        languages=languages,
        by_country={code: falling(matrix[code]) for code in languages},
        decided=_counts(
            connection,
            "SELECT COALESCE(method, 'none'), COUNT(*) FROM counted"
            " WHERE language <> 'unknown' GROUP BY 1",
        ),
        methods=tuple(_methods(connection)),
        answered=_number(connection, "SELECT COUNT(answers) FROM counted"),
        by_encoding=_counts(
            connection,
            "SELECT language, COUNT(*) FROM counted WHERE language ="
            " CASE WHEN answers IS NOT NULL THEN json_extract(answers, '$.encoding')"
            " WHEN method = 'encoding' THEN language END GROUP BY 1",
        ),
    )


def _methods(connection: sqlite3.Connection) -> Iterator[MethodFigures]:
    alone: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for kind, code, number in connection.execute(
        "SELECT kind, code, COUNT(*) FROM (SELECT kind, code FROM evidence WHERE code IS NOT NULL"
        " GROUP BY page HAVING COUNT(*) = 1) GROUP BY 1, 2"
    ):
        alone[kind][code] = number
    for kind, pages, agreeing in connection.execute(
        "SELECT kind, COUNT(code), TOTAL(code = language) FROM evidence"
        " GROUP BY 1 ORDER BY MIN(place)"
    ):
        yield MethodFigures(
            name=kind, identified=pages, agreeing=int(agreeing), alone=falling(alone[kind])
        )


def _counts(connection: sqlite3.Connection, query: str) -> dict[str, int]:
    return falling(+Counter(dict(connection.execute(query))))


def _number(connection: sqlite3.Connection, query: str) -> int:
    number: int = connection.execute(query).fetchone()[0]
    return number
