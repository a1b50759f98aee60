"""What a run found of the pages of an earlier run."""

import sqlite3
from dataclasses import dataclass

_STATES = """\
SELECT CASE
    WHEN e.url IS NULL THEN 'new'
    WHEN v.digest = e.digest THEN 'stayed'
    WHEN v.digest IS NOT NULL THEN 'changed'
    WHEN p.status IN (404, 410) THEN 'vanished'
    WHEN p.outcome = 'redirect' THEN 'moved'
    ELSE 'failed' END, COUNT(*)
FROM pages AS p LEFT JOIN earlier AS e ON e.url = p.url LEFT JOIN visits AS v ON v.page = p.id
WHERE e.url IS NOT NULL OR v.page IS NOT NULL GROUP BY 1"""
_EARLIER = "SELECT COUNT(*) FROM earlier"
_NOT_MODIFIED = "SELECT COUNT(*) FROM pages WHERE outcome = 'unchanged'"


@dataclass(frozen=True, slots=True)
class Changes:
    """The numbers of pages by what became of them since the earlier run, and of `new` pages.

    Of those that `stayed`, the server said it of `not_modified` (status 304); the others had the
    same body. `vanished` are answers 404 and 410, `moved` redirects, `failed` all other URLs
    without a page. `not_asked` pages were not reached before the crawl ended.
    """

    earlier: int
    changed: int
    stayed: int
    not_modified: int
    vanished: int
    moved: int
    failed: int
    not_asked: int
    new: int


def changes_of(connection: sqlite3.Connection) -> Changes | None:
    """Return the changes that a run found; None if it asked for no pages of an earlier run."""
    earlier = connection.execute(_EARLIER).fetchone()[0]
    if not earlier:
        return None
    states = dict(connection.execute(_STATES))
    names = ("changed", "stayed", "vanished", "moved", "failed")
    asked = {name: states.get(name, 0) for name in names}
    return Changes(
        earlier=earlier,
        **asked,
        not_modified=connection.execute(_NOT_MODIFIED).fetchone()[0],
        not_asked=earlier - sum(asked.values()),
        new=states.get("new", 0),
    )
