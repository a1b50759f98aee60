"""The hosts of runs by their yield: for other crawlers, and as seeds of later crawls."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from langfocus.crawler.run.folder import reading
from langfocus.crawler.run.target import in_target
from langfocus.crawler.run.whole_file import write_whole

# A column beside min() is taken from the row of the minimum (SQLite, "bare columns").
_HOSTS: Final = f"""\
SELECT host, sum(pages), sum(labelled), sum(relevant), sum(words), sum(bytes), max(url) FROM (
    SELECT host, count(*) AS pages, count(language) AS labelled, 0 AS relevant, 0 AS words,
           sum(bytes) AS bytes, '' AS url, 0
    FROM pages WHERE outcome = 'page' GROUP BY host
    UNION ALL
    SELECT host, 0, 0, count(*), sum(words_read), 0, url, min(length(url))
    FROM pages WHERE outcome = 'page' AND NOT is_copy AND {in_target()} GROUP BY host)
GROUP BY host HAVING sum(relevant)"""  # noqa: S608


class HostYield(NamedTuple):
    """A host with relevant pages; the fields are the columns of a host list."""

    host: str
    pages: int
    labelled: int
    relevant: int
    words: int  # in the identified text of the relevant pages, its first 2,000 characters
    bytes: int  # of all pages, as received
    url: str  # the shortest of a relevant page

    @property
    def harvest(self) -> float:
        """Relevant pages per page with a label."""
        return self.relevant / self.labelled

    def and_of(self, other: "HostYield") -> "HostYield":
        """Return the yield of the host in this run and another."""
        sums = [mine + its for mine, its in zip(self[1:-1], other[1:-1], strict=True)]
        return HostYield._make([self.host, *sums, min(self.url, other.url, key=len)])


COLUMNS: Final = ("host", "pages", "relevant", "harvest", "words", "bytes", "url")
"""The columns of a host list."""


def host_yields(runs: Iterable[Path], lang: str | None = None) -> list[HostYield]:
    """Return the hosts with pages in `lang`, None: each run's target, most relevant pages first.

    Raises `RunFolderError` for a folder without a run. Memory is about 300 bytes per host.
    """
    found: dict[str, HostYield] = {}
    for run in runs:
        with reading(run) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
            target = lang or (row[0] if row else "")
            for one in map(HostYield._make, connection.execute(_HOSTS, (target,))):
                found[one.host] = one.and_of(found[one.host]) if one.host in found else one
    return sorted(found.values(), key=lambda one: (-one.relevant, one.pages, one.host))


def write_hosts(runs: Sequence[Path], path: Path, lang: str | None = None) -> int:
    """Write a host list, tab-separated with a head; return its number of hosts."""
    hosts = host_yields(runs, lang)
    rows = [COLUMNS, *([_cell(getattr(one, name)) for name in COLUMNS] for one in hosts)]
    write_whole(path, "".join("\t".join(row) + "\n" for row in rows))
    return len(hosts)


def _cell(value: str | float) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
