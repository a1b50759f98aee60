"""Languages, territories and scripts of Unicode CLDR, from the `cldr-*.txt` files of this folder.

`python -m benchmarks.facts` compares the files with an installed Babel.
"""

from functools import cache
from typing import NamedTuple

from langfocus.classifiers.tables import rows


class Spoken(NamedTuple):
    """A language of a territory."""

    tag: str
    """Language, or language and script (`uz_Cyrl`)."""
    percent: float
    """Share of the population that speaks it."""
    status: str
    """`official`, `de_facto_official`, `official_regional`, or ''."""


@cache
def english_names() -> dict[str, str]:
    """Tag of a language -> its English name."""
    return rows("cldr-languages.txt")


@cache
def territory_names() -> dict[str, str]:
    """Code of a territory -> its English name."""
    return rows("cldr-territories.txt")


@cache
def aliases() -> dict[str, str]:
    """Code of a language that has another one -> that tag."""
    return rows("cldr-aliases.txt")


@cache
def spoken_in() -> dict[str, list[Spoken]]:
    """Code of a territory -> its languages, the most spoken first."""
    return {
        territory: [_spoken(*part.split(" ")) for part in text.split(", ")]
        for territory, text in rows("cldr-speakers.txt").items()
    }


def official_in(territory: str) -> list[str]:
    """Return the tags of the official languages, also de facto, the most spoken first."""
    official = {"official", "de_facto_official"}
    return [each.tag for each in spoken_in().get(territory, ()) if each.status in official]


@cache
def scripts() -> dict[str, frozenset[str]]:
    """Code of a language -> its scripts: likely, used in a territory, or localised."""
    found: dict[str, set[str]] = {}
    for script, codes in rows("cldr-scripts.txt").items():
        for code in codes.split():
            found.setdefault(code, set()).add(script)
    return {code: frozenset(names) for code, names in found.items()}


def _spoken(tag: str, percent: str, status: str = "") -> Spoken:
    return Spoken(tag, float(percent), status)
