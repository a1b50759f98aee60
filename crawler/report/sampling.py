"""A stratified random sample of a run's pages, for a person to label."""

import sqlite3
from collections.abc import Iterator, Mapping
from math import sqrt
from random import Random
from typing import Final, NamedTuple

from crawler.report.strata import Answer, Stratum, last_page, sizes_of, strata_sql

_ERRORS: Final = {
    Answer.TARGET: (0.4, 0.2, 0.03),
    Answer.OTHER: (0.3, 0.15, 0.03),
    Answer.NONE: (0.3, 0.3, 0.3),
}
"""Shares of pages of each band that may be in the other class: a guess that decides only how many
pages of a stratum are drawn, not what is estimated."""

_FEWEST: Final = 5
"""Pages of a stratum that are drawn at least, if it has so many."""


class SampledPage(NamedTuple):
    """A page of the sample by its id in the run."""

    id: int
    url: str


class Sample(NamedTuple):
    """A sample in random order, drawn from the pages of a run with an id up to `until`."""

    pages: list[SampledPage]
    until: int


def draw_sample(
    connection: sqlite3.Connection, lang: str, number: int, random_state: int
) -> Sample:
    """Return about `number` pages of a run; the same random state gives the same pages.

    Each stratum has a simple random sample of its own, so its size in the sample is known and not
    left to chance (Cochran 1977, 5.1). All pages if there are not as many. Memory for the sample
    only.
    """
    until = last_page(connection)
    random = Random(random_state)
    wanted = allocation(sizes_of(connection, lang, until), number)
    drawn: dict[Stratum, list[SampledPage]] = {stratum: [] for stratum in wanted}
    seen = dict.fromkeys(wanted, 0)
    for stratum, page in _pages(connection, lang, until):
        kept, most = drawn[stratum], wanted[stratum]
        seen[stratum] += 1
        if len(kept) < most:
            kept.append(page)
        elif (place := random.randrange(seen[stratum])) < most:  # a reservoir
            kept[place] = page
    pages = [page for kept in drawn.values() for page in kept]
    # In random order the person who labels cannot tell the identifier's answer from the place.
    random.shuffle(pages)
    return Sample(pages, until)


def allocation(sizes: Mapping[Stratum, int], number: int) -> dict[Stratum, int]:
    """Return how many pages of each stratum to draw, about `number` in all.

    In proportion to the size and the standard deviation of a stratum (Neyman's allocation, Cochran
    1977, 5.5), the latter from guessed errors; at least five pages of each.
    """
    weights = {stratum: size * _deviation(stratum) for stratum, size in sizes.items() if size}
    total = sum(weights.values())
    floor = min(_FEWEST, max(1, number // max(1, len(weights))))
    return {
        stratum: min(sizes[stratum], max(floor, round(number * weight / total)))
        for stratum, weight in weights.items()
    }


def _deviation(stratum: Stratum) -> float:
    share = _ERRORS[stratum.answer][stratum.band]
    return sqrt(share * (1 - share))


def _pages(
    connection: sqlite3.Connection, lang: str, until: int
) -> Iterator[tuple[Stratum, SampledPage]]:
    sql, parameters = strata_sql(lang)
    rows = connection.execute(
        f"SELECT {sql}, id, url FROM pages WHERE outcome = 'page' AND id <= ? ORDER BY id",  # noqa: S608  # written in `strata`
        (*parameters, until),
    )
    for answer, band, page, url in rows:
        yield Stratum(Answer(answer), band), SampledPage(page, url)
