"""The pages of a run by top-level domain, country of the server, media type and dates.

SQLite counts the rows, so memory does not grow with them.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from langfocus.crawler.report.formatting import iso_time, share_of
from langfocus.crawler.run.target import IS_RATED, is_wanted

ADDRESS: Final = "address"
UNKNOWN: Final = "unknown"

_DAY_S: Final = 86400
_MOST_TYPES: Final = 100
_MOST_LETTERS: Final = 60

_RELEVANT: Final = f"FILTER (WHERE {is_wanted(':lang')})"
_COUNTED: Final = f"""\
count(*), count(*) FILTER (WHERE {IS_RATED}), count(*) {_RELEVANT},
sum(bytes), coalesce(sum(bytes) {_RELEVANT}, 0)"""

_PAGES: Final = f"""\
SELECT substr(host, length(rtrim(host, replace(host, '.', ''))) + 1), country,
       CAST(fetched_at / {_DAY_S} AS INTEGER), {_COUNTED}
FROM pages WHERE outcome = 'page' GROUP BY 1, 2, 3"""  # noqa: S608
"""By the last label of the host."""

_TYPES: Final = f"""\
SELECT substr(mime, 1, {_MOST_LETTERS}), {_COUNTED.replace("(bytes)", "(length)")}
FROM archived AS a LEFT JOIN pages AS p ON p.fingerprint = a.fingerprint
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_MOST_TYPES}"""  # noqa: S608
"""All answers in WARC files: of robots.txt and embedded files too."""

_YEARS: Final = f"""\
SELECT substr(modified, 13, 4), {_COUNTED}
FROM visits AS v JOIN pages AS p ON p.id = v.page
WHERE outcome = 'page' AND modified GLOB '???, ?? ??? [12][0-9][0-9][0-9] *'
GROUP BY 1 ORDER BY 1 DESC"""  # noqa: S608
"""Dates in the one form that servers may send (RFC 9110, 5.6.7)."""
_STORED: Final = """\
SELECT coalesce(sum(most), 0) FROM (SELECT max(finish) AS most FROM archived GROUP BY file)"""


class Group(NamedTuple):
    """Counts of the pages with one value; by media type, of the answers in WARC files."""

    pages: int
    labelled: int
    relevant: int
    bytes: int  # of their bodies, as received; of their WARC records
    relevant_bytes: int  # of the relevant ones

    @property
    def harvest_rate(self) -> float | None:
        """Relevant pages per page with a label, or in the scope; `None` without such a page."""
        return share_of(self.relevant, self.labelled)

    def as_json(self) -> dict[str, Any]:
        """Return the counts and the harvest rate."""
        return {**self._asdict(), "harvest_rate": self.harvest_rate}


Groups = dict[str, Group]


def total(groups: Iterable[Group]) -> Group:
    """Return the sums of the counts, 0 without a group."""
    return Group(*map(sum, zip((0,) * len(Group._fields), *groups, strict=True)))


def by_month(days: Mapping[str, Group]) -> Groups:
    """Return groups by day as groups by month."""
    months: dict[str, list[Group]] = {}
    for day, group in days.items():
        months.setdefault(day[:7], []).append(group)
    return {month: total(groups) for month, groups in months.items()}


def breakdown(connection: sqlite3.Connection, lang: str) -> dict[str, Any]:
    """Return groups and bytes of a run under the names of the fields of `Summary`.

    Countries are empty unless the crawl had a database of networks, types without WARC files, years
    without servers that sent a date.
    """
    found: tuple[Groups, Groups, Groups] = {}, {}, {}
    for label, country, day, *counts in connection.execute(_PAGES, {"lang": lang}):
        # No top-level domain begins with a digit.
        domain = ADDRESS if label[:1].isdigit() or ":" in label else f".{label}"
        date = (iso_time(day * _DAY_S) or "")[:10]
        group = Group(*counts)
        for groups, key in zip(found, (domain, country or UNKNOWN, date), strict=True):
            groups[key] = total((group, groups[key])) if key in groups else group
    domains, countries, days = found
    pages = total(days.values())
    return {
        "top_level_domains": _falling(domains),
        "countries": _falling(countries) if countries.keys() - {UNKNOWN} else {},
        "types": _groups(connection, _TYPES, lang),
        "days": dict(sorted(days.items())),
        "modified_years": _groups(connection, _YEARS, lang),
        "page_bytes": pages.bytes,
        "relevant_bytes": pages.relevant_bytes,
        "stored_bytes": connection.execute(_STORED).fetchone()[0],
    }


def _groups(connection: sqlite3.Connection, query: str, lang: str) -> Groups:
    rows = connection.execute(query, {"lang": lang})
    return {str(key): Group(*counts) for key, *counts in rows}


def _falling(groups: Groups) -> Groups:
    return dict(sorted(groups.items(), key=lambda pair: (-pair[1].pages, pair[0])))
