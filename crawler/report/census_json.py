"""The figures of a census as JSON types."""

from collections.abc import Mapping
from typing import Any

from crawler.census.figures import UNKNOWN, CensusFigures
from crawler.report.census_tables import by_encoding
from crawler.report.country_names import country_name
from crawler.report.formatting import language_name, share_of


def census_json(figures: CensusFigures) -> dict[str, Any]:
    """All figures of a census; the tables and the map show parts of them.

    `languages_by_country` has every language and country: language -> country -> pages.
    """
    return {
        "sources": [
            {"name": one.name, "rows": one.rows, "damaged": one.damaged} for one in figures.sources
        ],
        **counted_json(figures),
    }


def counted_json(figures: CensusFigures) -> dict[str, Any]:
    """The figures without the names of their sources: equal for a census that was split."""
    return {
        "counted": "portal pages" if figures.pages == "portals" else "all pages",
        "hosts": figures.hosts,
        "servers": figures.all_servers,
        "addresses": sum(figures.addresses.values()),
        "pages": figures.all_pages,
        "outcomes": dict(figures.outcomes),
        "methods": _methods(figures),
        "encodings": [
            {"language": code, "by_encoding": number, "pages": pages, "share": number / pages}
            for code, number, pages in by_encoding(figures)
        ],
        "servers_by_country": [
            {**row, "addresses": figures.addresses.get(row["country"], 0)}
            for row in _rows(figures.servers, "country", "servers")
        ],
        "pages_by_language": _rows(figures.languages, "language", "pages"),
        "languages_by_country": {code: dict(row) for code, row in figures.by_country.items()},
    }


def _methods(figures: CensusFigures) -> dict[str, Any]:
    return {
        "decided": dict(figures.decided),
        "pages_with_answers": figures.answered,
        "evidence": [
            {
                "name": one.name,
                "identified": one.identified,
                "coverage": share_of(one.identified, figures.answered),
                "agreeing": one.agreeing,
                "alone": sum(one.alone.values()),
                "alone_by_language": dict(one.alone),
            }
            for one in figures.methods
        ],
    }


def _rows(counts: Mapping[str, int], what: str, things: str) -> list[dict[str, Any]]:
    named = country_name if what == "country" else language_name
    total = sum(counts.values())
    return [
        {
            what: code,
            "name": UNKNOWN if code == UNKNOWN else named(code),
            things: number,
            "share": share_of(number, total),
        }
        for code, number in counts.items()
    ]
