"""Downloads that a crawl spends until it has found most of the reachable relevant pages.

A harvest rate at a budget cannot tell strategies apart where each of them finds nearly all pages
within it.
"""

import heapq
from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import Final

from langfocus.crawler.report.formatting import Cell
from langfocus.crawler.run.folder import reading
from langfocus.crawler.run.target import is_wanted

SHARES: Final = (50, 80, 90, 95)
"""Percent of the reachable relevant pages."""

HEAD: Final = (*(f"to {share} %" for share in SHARES), "area")
MEANING: Final = (
    "to n %: downloads per relevant page until n % of all that can be reached are found, - if they "
    "are not. area: the mean of the found share"
)

_PAGES: Final = "SELECT count(*) FROM pages WHERE outcome = 'page'"
_PLACES: Final = f"""\
SELECT number FROM (
    SELECT row_number() OVER (ORDER BY id) AS number, language, is_copy, in_scope
    FROM pages WHERE outcome = 'page') WHERE {is_wanted()} ORDER BY number"""  # noqa: S608
_FOUND: Final = f"""\
SELECT fingerprint FROM pages WHERE outcome = 'page' AND {is_wanted()}
ORDER BY fingerprint"""  # noqa: S608


@dataclass(frozen=True)
class Effort:
    """The effort of a crawl for shares of the reachable relevant pages."""

    reachable: int  # relevant pages
    downloads_for_each: Mapping[str, float | None]  # by share; None: the share was not found
    area: float  # under the curve of the found share, at most 1

    @property
    def cells(self) -> list[Cell]:
        """The cells below `HEAD`."""
        each = [one and f"{one:.2f}" for one in self.downloads_for_each.values()]
        return [*each, f"{self.area:.3f}"]


def effort(places: Sequence[int], reachable: int, downloads: int) -> Effort:
    """Return the effort of a crawl; its downloads `places` (rising, from 1) are relevant.

    The area is over the first `downloads` downloads.
    """
    needed = {share: max(1, ceil(reachable * share / 100)) for share in SHARES}
    within = places[: bisect_right(places, downloads)]
    found = len(within) * (downloads + 1) - sum(within)
    return Effort(
        reachable,
        {
            str(share): places[number - 1] / number if number <= len(places) else None
            for share, number in needed.items()
        },
        found / max(1, reachable * downloads),
    )


def efforts(folders: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], Effort]:
    """Return the effort of each run, by language and strategy as its folder is.

    Reachable are the pages that any of a language's runs found, and the area is over the downloads
    of its longest run.
    """
    found = {}
    for lang in dict.fromkeys(lang for lang, _ in folders):
        with ExitStack() as stack:
            runs = {
                key: stack.enter_context(reading(Path(folder)))
                for key, folder in folders.items()
                if key[0] == lang
            }
            union = heapq.merge(*(run.execute(_FOUND, (lang,)) for run in runs.values()))
            reachable = sum(1 for _ in groupby(union))
            downloads = max(run.execute(_PAGES).fetchone()[0] for run in runs.values())
            for key, run in runs.items():
                places = array("q", (place for (place,) in run.execute(_PLACES, (lang,))))
                found[key] = effort(places, reachable, downloads)
    return found
