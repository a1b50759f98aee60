"""The figures of a census: servers by country, pages by language (Cai 2009, chapter 5)."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from crawler.census.facts import Source

Pages = Literal["portals", "all"]

UNKNOWN: Final = "unknown"
"""The country of a server without a known address, and the language of a page without one."""

_COUNTED: Final = """
CREATE TABLE counted AS
SELECT host, COALESCE(language, 'unknown') AS language, method, charset,
    COALESCE(country, 'unknown') AS country, answers
FROM facts WHERE outcome = 'page' AND status BETWEEN 200 AND 299"""
# Several addresses of a page, such as http and https, are one portal page: the first.
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

# The answer of each kind of evidence about each page; NULL: it knew none.
_TOLD: Final = """
CREATE VIEW told AS
SELECT counted.rowid AS page, answer.key AS kind, answer.value AS code, counted.language,
    answer.id AS place
FROM counted, json_each(counted.answers) AS answer"""


@dataclass(frozen=True, kw_only=True)
class MethodFigures:
    """How often one kind of evidence told a language (Cai 2009, Table 4-4).

    `identified` pages got an answer from it, `agreeing` of them the language of the page. `alone`
    has the pages that no other kind of evidence told, by the language of its answer.
    """

    name: str
    identified: int
    agreeing: int
    alone: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class CensusFigures:
    """The figures of a census. Every counter is in falling order of its counts.

    `pages` tells which pages are counted: the portal page of each server, or all. `servers` counts
    hosts that answered, by country, `addresses` the different IP addresses, and `hosts` all hosts
    that were asked. `by_country` is language -> country -> pages. `decided` counts the pages whose
    language each method decided. `methods` is () if no source kept all answers; `answered` counts
    the pages with answers. `by_encoding` counts the pages of a language whose encoding tells it.
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
    listed: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def all_servers(self) -> int:
        """The number of servers."""
        return sum(self.servers.values())

    @property
    def all_pages(self) -> int:
        """The number of pages that are counted."""
        return sum(self.languages.values())

    def countries_of(self, language: str) -> Mapping[str, int]:
        """Return the pages in a language by country (Table 5-6)."""
        return self.by_country.get(language, {})

    def languages_of(self, country: str) -> Mapping[str, int]:
        """Return the pages of a country by language (Table 5-5)."""
        found = {code: row[country] for code, row in self.by_country.items() if country in row}
        return falling(Counter(found))


def census_figures(
    connection: sqlite3.Connection, sources: Sequence[Source], pages: Pages | None = None
) -> CensusFigures:
    """Return the figures of gathered facts.

    `pages` None: portal pages if every source is a census, else all pages.
    """
    chosen: Pages = pages or ("portals" if all(one.is_census for one in sources) else "all")
    connection.execute(_COUNTED + (_ONLY_PORTALS if chosen == "portals" else ""))
    connection.execute(_SERVERS)
    matrix: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for language, country, number in connection.execute(
        "SELECT language, country, COUNT(*) FROM counted GROUP BY 1, 2"
    ):
        matrix[language][country] = number
    languages = falling(Counter({code: row.total() for code, row in matrix.items()}))
    connection.execute(_TOLD)
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
        listed=_listed(sources),
    )


def _methods(connection: sqlite3.Connection) -> Iterator[MethodFigures]:
    alone: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for kind, code, number in connection.execute(
        "SELECT kind, code, COUNT(*) FROM (SELECT kind, code FROM told WHERE code IS NOT NULL"
        " GROUP BY page HAVING COUNT(*) = 1) GROUP BY 1, 2"
    ):
        alone[kind][code] = number
    for kind, identified, agreeing in connection.execute(
        "SELECT kind, COUNT(code), TOTAL(code = language) FROM told GROUP BY 1 ORDER BY MIN(place)"
    ):
        yield MethodFigures(
            name=kind, identified=identified, agreeing=int(agreeing), alone=falling(alone[kind])
        )


def falling(counter: Counter[str]) -> dict[str, int]:
    """Return counts in falling order, equal ones by name; 0 is left out."""
    pairs = sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))
    return {name: number for name, number in pairs if number}


def _counts(connection: sqlite3.Connection, query: str) -> dict[str, int]:
    return falling(Counter(dict(connection.execute(query))))


def _number(connection: sqlite3.Connection, query: str) -> int:
    number: int = connection.execute(query).fetchone()[0]
    return number


def _listed(sources: Sequence[Source]) -> dict[str, int | str]:
    """Return the number of hosts in the lists; {} without a list."""
    lists = {one.meta["hosts"]: int(one.meta["hosts_number"]) for one in sources if one.is_census}
    return {"hosts in the lists": sum(lists.values())} if lists else {}
