"""The ways to tell the language of a page, by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final, cast

from classifiers.errors import LanguageError
from classifiers.pages.method import PageMethod

DEFAULT_METHOD: Final = "composite"

_BUILDERS: Final[dict[str, str]] = {
    "composite": "composite:shipped",
    "text": "engines:text",
    "langdetect-arrays": "engines:arrays",
    "langdetect": "engines:langdetect",
    "cavnar-trenkle": "cavnar_trenkle:shipped",
    "nfc": "nfc:shipped",
    "top-level-domain": "top_level_domain:shipped",
    "inlinks": "neighbours:inlinks",
    "outlinks": "neighbours:outlinks",
    "tamura": "tamura:shipped",
    "cai": "cai:serial",
    "cai-parallel": "cai:parallel",
    "lingua": "rivals:lingua",
    "py3langid": "rivals:py3langid",
    "cld2": "rivals:cld2",
    "fasttext": "rivals:fasttext",
}
"""Name -> module of this package and what in it makes the method."""


def names() -> tuple[str, ...]:
    """The names that `method` knows, the default first."""
    return tuple(_BUILDERS)


@cache
def method(name: str = DEFAULT_METHOD) -> PageMethod:
    """The method of that name; one object per process.

    LanguageError for an unknown name, MissingPackageError where its extra is not installed,
    ModelError where its file cannot be read.
    """
    if name not in _BUILDERS:
        raise LanguageError(f"no method is called {name!r}; choose one of: {', '.join(_BUILDERS)}")
    module, _, builder = _BUILDERS[name].partition(":")
    return cast(PageMethod, getattr(import_module(f"{__name__}.{module}"), builder)())
