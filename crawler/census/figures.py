"""The figures of a census: servers by country, pages by language (Cai 2009, chapter 5)."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
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
    methods = _Methods(connection)
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
        methods=methods.figures(),
        answered=methods.answered,
        by_encoding=falling(methods.by_encoding),
        listed=_listed(sources),
    )


class _Methods:
    """Counts the answers of each kind of evidence."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.answered = 0
        self.by_encoding: Counter[str] = Counter()
        self._identified: Counter[str] = Counter()
        self._agreeing: Counter[str] = Counter()
        self._alone: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for answers, language, method, number in connection.execute(
            "SELECT answers, language, method, COUNT(*) FROM counted GROUP BY 1, 2, 3"
        ):
            if answers is not None:
                self._count(json.loads(answers), language, number)
            elif method == "encoding":
                self.by_encoding[language] += number

    def _count(self, answers: Mapping[str, str | None], language: str, number: int) -> None:
        told = {kind: code for kind, code in answers.items() if code is not None}
        self.answered += number
        for kind in answers:
            self._identified[kind] += number if kind in told else 0
            self._agreeing[kind] += number if told.get(kind) == language else 0
        if len(told) == 1:
            ((kind, code),) = told.items()
            self._alone[kind][code] += number
        if told.get("encoding") == language:
            self.by_encoding[language] += number

    def figures(self) -> tuple[MethodFigures, ...]:
        return tuple(
            MethodFigures(
                name=kind,
                identified=number,
                agreeing=self._agreeing[kind],
                alone=falling(self._alone[kind]),
            )
            for kind, number in self._identified.items()
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
    """Return the size of the list of hosts and the ranges that were taken; {} without a list."""
    lists = {one.meta["hosts"]: one.meta for one in sources if one.is_census}
    if len(lists) != 1:
        return {}
    (meta,) = lists.values()
    ranges = ", ".join(one.meta["range"] for one in sources if one.is_census)
    return {"hosts in the list": int(meta["hosts_number"]), "positions": ranges}
