"""Languages beyond the codes of the project, which a model of fastText may add.

Their codes are those of ISO 639-3. CLDR names about 270 of them; the package python-iso639 (extra
`fasttext`) names all. Everything else of the project uses `classifiers.languages`.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Final

from babel import localedata

_NO_LANGUAGE: Final = frozenset({"mis", "mul", "und", "zxx"})
_LETTERS: Final = 3


@lru_cache(maxsize=1)
def further_names() -> dict[str, str]:
    """Return ISO 639-3 code -> English name, with CLDR's name where it has one.

    Codes of languages that the project knows under another code are among them.
    """
    listed = _listed() | localedata.load("en")["languages"]
    return {
        code: str(name)
        for code, name in listed.items()
        if len(code) == _LETTERS and code not in _NO_LANGUAGE
    }


def _listed() -> dict[str, str]:
    """Return the names of the package, {} if it is not installed."""
    try:
        iso639 = import_module("iso639")
    except ImportError:
        return {}
    return {each.part3: each.name for each in iso639.ALL_LANGUAGES if each.scope == "I"}
