"""The printed figures of Baykan 2013, 4 and 5, and of the slides of 2008, beside ours.

`figures.tsv` has them by table, language and classifier, in our names; `*` marks a classifier that
the paper calls significantly better than the others of the table. They were measured on 1.25
million URLs of the Open Directory and of a search engine, 250,000 of each language, in ten folds.
All but numbers of URLs are percentages. Four figures are P, R, p(-|-) and F1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

Figures = tuple[float | None, ...]
_FILE: Final = Path(__file__).with_name("figures.tsv")


def printed(*tables: str) -> Mapping[tuple[str, str], Figures]:
    """Return language and classifier -> the figures of some tables; a later table wins."""
    return {
        (language, name.rstrip("*")): tuple(map(_number, cells))
        for table in tables
        for language, name, *cells in _rows().get(table, ())
    }


def marked(table: str) -> Mapping[str, str]:
    """Return language -> the classifier that the paper marks in a table."""
    found = _rows().get(table, ())
    return {language: name[:-1] for language, name, *_ in found if name.endswith("*")}


def _number(cell: str) -> float | None:
    return None if cell == "-" else float(cell)


@lru_cache(maxsize=1)
def _rows() -> Mapping[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines()[1:]:
        table, *row = line.split("\t")
        found.setdefault(table, []).append(row)
    return found
