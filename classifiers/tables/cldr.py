"""Unicode CLDR's languages, territories and scripts, from the `cldr-*.txt` files in this folder.

`python -m benchmarks.facts` compares the files with an installed Babel.
"""

from functools import cache
from typing import NamedTuple

from langfocus.classifiers.tables import rows


class Spoken(NamedTuple):
    """A language spoken in a territory."""

    tag: str
    """Language, or language and script (`uz_Cyrl`)."""
    percent: float
    """Share of speakers in the population."""
    status: str
    """`official`, `de_facto_official`, `official_regional`, or ''."""


@cache
def english_names() -> dict[str, str]:
    """Return language tag -> English name."""
    return rows("cldr-languages.txt")


@cache
def territory_names() -> dict[str, str]:
    """Return territory code -> English name."""
    return rows("cldr-territories.txt")


@cache
def aliases() -> dict[str, str]:
    """Return language code -> preferred tag, for codes with an alias."""
    return rows("cldr-aliases.txt")


@cache
def spoken_in() -> dict[str, list[Spoken]]:
    """Return territory code -> spoken languages, the most spoken first."""
    return {
        territory: [_spoken(*part.split(" ")) for part in text.split(", ")]
        for territory, text in rows("cldr-speakers.txt").items()
    }


def official_in(territory: str) -> list[str]:
    """Return the tags of the official languages, also de facto, the most spoken first."""
    official = {"official", "de_facto_official"}
    return [spoken.tag for spoken in spoken_in().get(territory, ()) if spoken.status in official]


@cache
def scripts() -> dict[str, frozenset[str]]:
    """Return language code -> scripts: likely, used in a territory, or localised."""
    by_code: dict[str, set[str]] = {}
    for script, codes in rows("cldr-scripts.txt").items():
        for code in codes.split():
            by_code.setdefault(code, set()).add(script)
    return {code: frozenset(names) for code, names in by_code.items()}


def _spoken(tag: str, percent: str, status: str = "") -> Spoken:
    return Spoken(tag, float(percent), status)
