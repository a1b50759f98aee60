"""Details of a crawl's page: yields, examples, seeds, and drops with advice."""

import csv
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from langfocus.crawler.report.breakdown import UNKNOWN, Group, by_month, total
from langfocus.crawler.report.formatting import country_name, language_name, share_of, size
from langfocus.crawler.report.harvest import Summary
from langfocus.crawler.report.table import Table
from langfocus.crawler.run.target import IS_RATED, is_wanted
from langfocus.crawler.url import domain_of, fingerprint

_MOST_SITES: Final = 10
_OF_TYPES: Final = "All answers in the WARC files, and the bytes of their records, compressed."
_MOST_DAYS: Final = 31
"""A longer crawl is shown by months."""
_MOST_SEEDS: Final = 50
_MOST_EXAMPLES: Final = 30
_MOST_LETTERS: Final = 150
"""A longer URL is cut."""

_SITES: Final = f"""\
WITH host AS MATERIALIZED (
    SELECT host AS site, count(*) AS pages, count(*) FILTER (WHERE {IS_RATED}) AS labelled,
           count(*) FILTER (WHERE {is_wanted(":lang")}) AS relevant
    FROM pages WHERE outcome = 'page' GROUP BY host),
domain AS MATERIALIZED (
    SELECT domain_of(site) AS site, sum(pages) AS pages, sum(labelled) AS labelled,
           sum(relevant) AS relevant FROM host GROUP BY 1)
SELECT * FROM (SELECT * FROM {{of}} WHERE relevant ORDER BY relevant DESC, pages, site LIMIT :most)
UNION ALL
SELECT * FROM (SELECT * FROM {{of}} WHERE NOT relevant ORDER BY pages DESC, site LIMIT 3)
UNION ALL
SELECT count(*), sum(pages), sum(labelled), (SELECT sum(relevant) FROM {{of}})
FROM {{of}} WHERE NOT relevant"""  # noqa: S608
"""The best sites, the largest without a relevant page, then the number of these and all pages."""

_EXAMPLES: Final = """\
SELECT language, number, url FROM pages JOIN (
    SELECT language, count(*) AS number, max(confidence), id FROM pages
    WHERE outcome = 'page' AND language IS NOT NULL GROUP BY language) USING (id, language)
ORDER BY number DESC, language LIMIT ?"""
_SEED: Final = "SELECT outcome, status, language FROM pages WHERE fingerprint = ?"
_IS_QUEUED: Final = "SELECT 1 FROM urls WHERE fingerprint = ? AND queued = 1"


class Reason(NamedTuple):
    """Meaning of a name, and advice; the advice is "" if nothing was lost."""

    kind: str
    name: str
    meaning: str
    advice: str


@cache
def reasons() -> Mapping[tuple[str, str], Reason]:
    """Return the texts of all outcomes and counters by kind and name.

    The kinds are `outcome` (of a settled URL), `link`, `queued` (of a queued URL), `page`
    and `file` (that a page embeds).
    """
    text = files("langfocus.crawler.report").joinpath("reasons.tsv").read_text(encoding="utf-8")
    rows = csv.reader(text.splitlines()[1:], delimiter="\t", quoting=csv.QUOTE_NONE)
    return {(row[0], row[1]): Reason(*row) for row in rows}


def meaning(outcome: str) -> str:
    """Return the meaning of an outcome; an unknown name with spaces for underscores."""
    reason = reasons().get(("outcome", outcome))
    return reason.meaning if reason else outcome.replace("_", " ")


def drops(
    outcomes: Mapping[str, int], counts: Mapping[str, int], files: Mapping[str, int]
) -> Table:
    """Return the URLs, links and embedded files that were left out, by reason, with advice."""
    numbers = {"outcome": outcomes, "file": files}
    rows = [
        (reason.name, f"{reason.meaning}. {reason.advice}", number)
        for (kind, name), reason in reasons().items()
        if (number := numbers.get(kind, counts).get(name)) and reason.advice
    ]
    rows.sort(key=lambda row: -row[-1])
    head = ("reason", "what it means, and what you can do", "number")
    return Table("Left out, by reason", head, rows, text_columns=2)


def sites(connection: sqlite3.Connection, lang: str) -> list[Table]:
    """Return the domains and the hosts with the most relevant pages; one table if equal."""
    connection.create_function("domain_of", 1, domain_of, deterministic=True)
    found = [_sites(connection, lang, of) for of in ("domain", "host")]
    return found[: 1 + (found[0].rows != found[1].rows)]


def _sites(connection: sqlite3.Connection, lang: str, of: str) -> Table:
    values = {"lang": lang, "most": _MOST_SITES}
    *found, (barren, wasted, _, every) = connection.execute(_SITES.format(of=of), values)
    worst = ", ".join(f"{site} ({pages:,})" for site, pages, _, relevant in found if not relevant)
    note = f"{barren:,} {of}s gave {wasted or 0:,} pages and none in the language; most: {worst}."
    return Table(
        f"{of.capitalize()}s by yield",
        (of, "pages", "relevant", "harvest rate", "share"),
        [
            (site, pages, relevant, share_of(relevant, labelled), relevant / every)
            for site, pages, labelled, relevant in found
            if relevant
        ],
        notes=[note] if barren else [],
    )


def breakdown_tables(summary: Summary) -> list[Table]:
    """Return the pages and bytes of a crawl by what they are; empty tables are hidden."""
    days, years = summary.days, summary.modified_years
    is_long = len(days) > _MOST_DAYS
    countries = {
        code if code == UNKNOWN else f"{country_name(code)} ({code})": group
        for code, group in summary.countries.items()
    }
    undated = summary.pages - total(years.values()).pages
    note = f"What servers say; they gave {undated:,} pages no date."
    return [
        _groups_table("Top-level domains", ("domain", "pages"), summary.top_level_domains),
        _groups_table("Countries of servers", ("country", "pages"), countries),
        _groups_table("MIME types", ("type", "answers"), summary.types, notes=[_OF_TYPES]),
        _bytes_table(summary),
        _groups_table(
            f"Pages by {'month' if is_long else 'day'}",
            ("month" if is_long else "day", "pages"),
            by_month(days) if is_long else days,
            _MOST_DAYS,
        ),
        _groups_table("Last-Modified by year", ("year", "pages"), years, notes=[note]),
    ]


def _groups_table(
    title: str,
    head: tuple[str, str],
    groups: Mapping[str, Group],
    most: int = _MOST_SITES,
    notes: Sequence[str] = (),
) -> Table:
    """Return the first `most` groups; one row sums the rest."""
    named = list(groups.items())
    if rest := named[most:]:
        others = total(group for _, group in rest)
        named[most:] = [(f"{len(rest):,} others", others)]
    return Table(
        title,
        (*head, "relevant", "harvest rate", "bytes"),
        [(key, one.pages, one.relevant, one.harvest_rate, size(one.bytes)) for key, one in named],
        notes=notes,
    )


def _bytes_table(summary: Summary) -> Table:
    """Return the bytes that were received, by their use, and those that are kept."""
    pages, relevant = summary.page_bytes, summary.relevant_bytes
    urls, files = (sum(numbers.values()) for numbers in (summary.outcomes, summary.embeds))
    every = summary.bytes + summary.embed_bytes
    rows = (
        ("relevant pages", summary.relevant, relevant),
        ("other pages", summary.pages - summary.relevant, pages - relevant),
        ("other answers", urls - summary.pages, summary.bytes - pages),
        *([("embedded files", files, summary.embed_bytes)] if files else []),
        ("all, as received", urls + files, every),
    )
    notes = []
    if summary.stored_bytes:
        kept = f"The WARC files have {size(summary.stored_bytes)}, compressed, with the requests"
        gain = (
            f"; {size(summary.revisit_bytes)} are not kept again" if summary.revisit_bytes else ""
        )
        notes.append(f"{kept}{gain}.")
    if summary.relevant:
        notes.append(f"A relevant page took {size(every // summary.relevant)} of traffic.")
    return Table(
        "Bytes",
        ("", "URLs", "bytes", "share"),
        [(name, number, size(count), share_of(count, every)) for name, number, count in rows]
        if every
        else [],
        notes=notes,
    )


def examples(connection: sqlite3.Connection, lang: str) -> Table:
    """Return the page with the highest confidence per language."""
    return Table(
        "A page of each language",
        ("language", "address"),
        [
            (f"{language_name(code)} ({code})", _cut(url))
            for code, _, url in connection.execute(_EXAMPLES, (_MOST_EXAMPLES,))
        ],
        notes=["The page of which the identifier is surest. No page is loaded from here."],
        text_columns=2,
        marked=f"{language_name(lang)} ({lang})",
    )


def seed_table(connection: sqlite3.Connection, seeds: Sequence[str]) -> Table:
    """Return the first seeds with their outcomes."""
    more = len(seeds) - _MOST_SEEDS
    return Table(
        f"Seeds ({len(seeds):,})",
        ("seed", "what became of it"),
        [(_cut(seed), _fate(connection, fingerprint(seed))) for seed in seeds[:_MOST_SEEDS]],
        notes=[f"And {more:,} more."] if more > 0 else [],
        text_columns=2,
    )


def _fate(connection: sqlite3.Connection, key: int) -> str:
    """Return the outcome of a URL in words."""
    row = connection.execute(_SEED, (key,)).fetchone()
    if row is None:
        is_queued = connection.execute(_IS_QUEUED, (key,)).fetchone()
        return "queued" if is_queued else "not fetched"
    outcome, status, language = row
    if language is not None:
        return f"{outcome} in {language_name(language)}"
    reason = reasons().get(("outcome", outcome))
    text = f"{outcome}, {reason.meaning}" if reason and reason.advice else outcome
    return f"{text}, status {status}" if status and status != 200 else text


def _cut(url: str) -> str:
    return url if len(url) <= _MOST_LETTERS else f"{url[:_MOST_LETTERS]}..."
