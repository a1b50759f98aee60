"""The methods that identify the language of a page, by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from classifiers.errors import LanguageError
from classifiers.pages.method import NOTHING, PageLanguage, PageMethod, Surroundings

if TYPE_CHECKING:
    from classifiers.pages.parse import ParsedPage

DEFAULT_METHOD: Final = "composite"
FASTTEXT: Final = "fasttext"
NEIGHBOURLY: Final = ("inlinks", "outlinks")
"""The methods that read the languages of the pages around a page."""

_BUILDERS: Final[dict[str, str]] = {
    "composite": "classifiers.pages.methods.composite:shipped",
    "text": "classifiers.pages.text.textengine:shipped_engine",
    "langdetect": "classifiers.pages.text.langdetectengine:LangdetectEngine",
    "cavnar-trenkle": "classifiers.papers.hayati.base:load",
    "nfc": "classifiers.papers.hayati.nfc:load",
    "top-level-domain": "classifiers.papers.hayati.top_level_domain:load",
    "inlinks": "classifiers.papers.hayati.around:inlinks",
    "outlinks": "classifiers.papers.hayati.around:outlinks",
    "tamura": "classifiers.papers.tamura.method:shipped",
    "cai": "classifiers.papers.cai.method:load",
    FASTTEXT: "classifiers.pages.text.fasttextengine:FasttextEngine",
}
"""Name -> module, and what in it makes the method."""


def names() -> tuple[str, ...]:
    """The names that `method` knows, the default first."""
    return tuple(_BUILDERS)


@cache
def method(name: str = DEFAULT_METHOD) -> PageMethod:
    """The method of that name; one object per process.

    LanguageError for an unknown name; MissingPackageError if its extra is not installed;
    ModelError if its file cannot be read.
    """
    if name not in _BUILDERS:
        raise LanguageError(f"no method is called {name!r}; choose one of: {', '.join(_BUILDERS)}")
    module, _, builder = _BUILDERS[name].partition(":")
    return cast(PageMethod, getattr(import_module(module), builder)())


@cache
def method_with(name: str, fasttext: Path | None) -> PageMethod:
    """The method of that name; a model file of fastText adds its languages to the default method.

    The errors are those of `method`, and ModelError if the model file cannot be read.
    """
    if fasttext is None or name not in (DEFAULT_METHOD, FASTTEXT):
        return method(name)
    from classifiers.pages.methods.added import WithAdded
    from classifiers.pages.text.fasttextengine import FasttextEngine

    engine = FasttextEngine(fasttext)
    return engine if name == FASTTEXT else WithAdded(engine)


def identify(
    page: ParsedPage,
    surroundings: Surroundings = NOTHING,
    *,
    by: PageMethod | str = DEFAULT_METHOD,
) -> PageLanguage:
    """The language that a page is written in; the same page always gets the same answer.

    `by` is a method or its name; the errors are those of `method`.
    """
    chosen = method(by) if isinstance(by, str) else by
    return chosen.identify(page, surroundings)
