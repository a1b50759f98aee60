"""The methods that identify the language of a page, by name."""

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from langfocus.classifiers.errors import LanguageError, ModelError
from langfocus.classifiers.pages.method import PageMethod

DEFAULT_METHOD: Final = "composite"
FASTTEXT: Final = "fasttext"
FASTTEXT_FILE: Final = "LANGFOCUS_FASTTEXT_MODEL"
"""The environment variable, and the setting of a crawl, with the path of a model of fastText."""
NEIGHBOURLY: Final = ("inlinks", "outlinks")
"""The methods that read the languages of the pages around a page."""

_BUILDERS: Final[dict[str, str]] = {
    "composite": "langfocus.classifiers.pages.methods.composite:shipped",
    "text": "langfocus.classifiers.pages.text.textengine:shipped_engine",
    "langdetect": "langfocus.classifiers.pages.text.langdetectengine:LangdetectEngine",
    "cavnar-trenkle": "langfocus.classifiers.papers.hayati.base:load",
    "nfc": "langfocus.classifiers.papers.hayati.nfc:load",
    "top-level-domain": "langfocus.classifiers.papers.hayati.around:load",
    "inlinks": "langfocus.classifiers.papers.hayati.around:inlinks",
    "outlinks": "langfocus.classifiers.papers.hayati.around:outlinks",
    "tamura": "langfocus.classifiers.papers.tamura.method:shipped",
    "cai": "langfocus.classifiers.papers.cai.method:shipped",
}
"""Name -> module, and what in it makes the method."""


def names() -> tuple[str, ...]:
    """The names that `method` knows, the default first."""
    return *_BUILDERS, FASTTEXT


def method(name: str = DEFAULT_METHOD, fasttext: Path | None = None) -> PageMethod:
    """The method of that name; one object per process.

    The model file of fastText of `fasttext` adds its languages to the default method. LanguageError
    for an unknown name; MissingPackageError if its extra is not installed; ModelError if its file
    cannot be read.
    """
    if name not in names():
        raise LanguageError(f"no method is called {name!r}; choose one of: {', '.join(names())}")
    return _made(name, {DEFAULT_METHOD: fasttext, FASTTEXT: fasttext_file(fasttext)}.get(name))


def fasttext_file(given: Path | str | None = None) -> Path | None:
    """Return the model file that is given, or that the environment names; None without either."""
    named = given or os.environ.get(FASTTEXT_FILE)
    return Path(named) if named else None


@cache
def _made(name: str, fasttext: Path | None) -> PageMethod:
    if fasttext is None:
        if name == FASTTEXT:
            raise ModelError(f"no fastText model: set {FASTTEXT_FILE} to the path of lid.176.ftz")
        module, _, builder = _BUILDERS[name].partition(":")
        return cast(PageMethod, getattr(import_module(module), builder)())
    kind = "FasttextEngine" if name == FASTTEXT else "with_added"
    added = import_module("langfocus.classifiers.pages.methods.fasttext")
    return cast(PageMethod, getattr(added, kind)(fasttext))
