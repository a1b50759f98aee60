"""Advice at the end of a crawl: what it fetched for nothing."""

import sqlite3

from crawler.report.formatting import language_name, percent

_IDLE_PAGES = 200


def closing_advice(connection: sqlite3.Connection, lang: str) -> list[str]:
    """Sentences about what a next crawl for the language may do otherwise."""
    pages, last = connection.execute(
        """SELECT count(*), coalesce(max(number) FILTER (WHERE language = ? AND NOT is_copy), 0)
           FROM (SELECT row_number() OVER (ORDER BY id) AS number, language, is_copy
                 FROM pages WHERE outcome = 'page')""",
        (lang,),
    ).fetchone()
    if pages - last < _IDLE_PAGES:
        return []
    return [
        f"the last page in {language_name(lang)} was page {last:,} of {pages:,} "
        f"({percent((pages - last) / pages)} came after it): -a expected=only ends a crawl earlier"
    ]
