"""Advice at the end of a crawl: what its limits hid, and what it fetched for nothing."""

import sqlite3
from typing import NamedTuple

from crawler.frontier import sketch
from crawler.report.formatting import language_name, percent

_TOLD_FROM = 0.1
"""Share of the relevant pages from which hidden links are told of."""
_SERVED = 0.9
"""Share of the hosts whose hidden links the advised cap admits."""
_IDLE_PAGES = 200
_STEPS = (1, 2, 5)


class HiddenLinks(NamedTuple):
    """What the host cap hid: about `links` links of `hosts` hosts, which a cap of `cap` admits.

    The links are those of relevant pages to their own host that the ordering expects in the
    language. `cap` is 0, no cap, if a host has more links than are counted.
    """

    hosts: int = 0
    links: int = 0
    cap: int = 0


def hidden_links(connection: sqlite3.Connection) -> HiddenLinks:
    """The links that the host cap of a run hid; none for a shared crawl, which does not count."""
    rows = connection.execute(
        "SELECT h.admitted, hidden.links FROM hidden JOIN hosts AS h ON h.id = hidden.host"
    )
    numbers = [(admitted, _number(text)) for admitted, text in rows]
    needed = sorted(admitted + links for admitted, links in numbers)
    if not needed:
        return HiddenLinks()
    enough = needed[min(len(needed) - 1, round(_SERVED * len(needed)))]
    cap = 0 if enough >= sketch.MOST else _rounded_up(enough)
    return HiddenLinks(len(numbers), sum(links for _, links in numbers), cap)


def _number(text: str) -> int:
    try:
        return sketch.number(text)
    except ValueError:  # a damaged row
        return 0


def _rounded_up(number: int) -> int:
    """The next of 10, 20, 50, 100, ..."""
    unit = 10
    while True:
        for step in _STEPS:
            if step * unit >= number:
                return step * unit
        unit *= 10


def closing_advice(
    connection: sqlite3.Connection, lang: str, *, host_cap: int | None, relevant: int
) -> list[str]:
    """Sentences about what a next crawl for the language may do otherwise."""
    found = [_of_cap(hidden_links(connection), lang, host_cap, relevant)]
    found.append(_of_idle_pages(connection, lang))
    return [text for text in found if text]


def _of_cap(hidden: HiddenLinks, lang: str, host_cap: int | None, relevant: int) -> str:
    if not host_cap or hidden.links < max(1, _TOLD_FROM * relevant):
        return ""
    hosts = "1 host" if hidden.hosts == 1 else f"{hidden.hosts:,} hosts"
    named = f"host_cap={hidden.cap} admits nearly all" if hidden.cap else "host_cap=0 has no cap"
    return (
        f"the host cap of {host_cap} hid about {hidden.links:,} links of {hosts} with pages in "
        f"{language_name(lang)}: in a new crawl -a {named}"
    )


def _of_idle_pages(connection: sqlite3.Connection, lang: str) -> str:
    pages, last = connection.execute(
        """SELECT count(*), coalesce(max(number) FILTER (WHERE language = ?), 0)
           FROM (SELECT row_number() OVER (ORDER BY id) AS number, language
                 FROM pages WHERE outcome = 'page')""",
        (lang,),
    ).fetchone()
    if pages - last < _IDLE_PAGES:
        return ""
    return (
        f"the last page in {language_name(lang)} was page {last:,} of {pages:,} "
        f"({percent((pages - last) / pages)} came after it): -a floor=0.2 or -a expected=only ends "
        "a crawl earlier"
    )
