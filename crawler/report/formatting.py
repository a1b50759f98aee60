"""Figures and names as texts: the same in a terminal, in a live line and in a report."""

import json
import math
import time
import unicodedata
from collections.abc import Mapping
from typing import Any

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.languages import name
from langfocus.classifiers.tables.cldr import territory_names

NOTHING = "-"
"""Shown in place of a missing figure."""

Cell = str | int | float | None
"""A text, a count, a fraction, or a missing figure."""


def shown(cell: Cell) -> str:
    """Return a table cell as text: `1,041`, `96.4 %` for the fraction 0.964, `-` for None."""
    if isinstance(cell, float):
        return percent(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return NOTHING if cell is None else cell


def share_of(part: int, whole: int) -> float | None:
    """Return the fraction; None if the whole is 0."""
    return part / whole if whole else None


def percent(fraction: float | None) -> str:
    """`96.4 %` for 0.964."""
    return NOTHING if fraction is None else f"{100 * fraction:.1f} %"


def number(value: float | None) -> str:
    """`1,041.3`."""
    return NOTHING if value is None else f"{value:,.1f}"


def duration(seconds: float) -> str:
    """`8.2 s`, `12 min 5 s` or `3 h 20 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def size(count: int) -> str:
    """`812 B`, `4.1 kB`, `3.0 GB`; powers of a thousand."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:,.0f} B" if unit == "B" else f"{amount:,.1f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} TB"


def falling(counts: Mapping[str, int]) -> dict[str, int]:
    """Sort counts in falling order, equal counts by name."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def iso_time(at: float | None) -> str | None:
    """`2026-11-23T22:55:01Z` for unix seconds: ISO 8601 in UTC."""
    return None if at is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def language_name(code: str) -> str:
    """Return the English name of a language; its code without a name. Several have commas."""
    if "," in code:
        return " and ".join(map(language_name, code.split(",")))
    try:
        return name(code)
    except LanguageError:
        return code


def country_name(code: str) -> str:
    """Return the English name of a country by its ISO 3166-1 code; the code without a name."""
    return territory_names().get(code, code)


def printable(text: str) -> str:
    """`text` with `?` for control characters and invisible letters.

    Texts from the Web can contain them, and a terminal could read them as commands.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def printable_lines(text: str) -> str:
    """`text` with printable lines; later lines are indented, so that no line can be forged."""
    return "\n    ".join(map(printable, text.split("\n")))


def in_ascii(text: str) -> str:
    """`text` in ASCII: accents are dropped, `±` becomes `+-`, other letters become `?`."""
    text = text.replace("±", "+-")
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return plain.encode("ascii", "replace").decode("ascii")


def json_text(content: Mapping[str, Any]) -> str:
    """Return the text of a JSON file; figures that are not a number are null."""
    return json.dumps(_defined(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _defined(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _defined(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value
