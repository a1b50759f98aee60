"""Page language identification methods, by name."""

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
"""Environment variable, and crawl setting, with the path of a fastText model."""
NEIGHBOURLY: Final = ("inlinks", "outlinks")
"""Methods that read the languages of neighbouring pages."""

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
"""Name -> module and factory for the method."""


def names() -> tuple[str, ...]:
    """Return the method names, the default first."""
    return *_BUILDERS, FASTTEXT


def method(name: str = DEFAULT_METHOD, fasttext: Path | None = None) -> PageMethod:
    """Return the named method; one object per process.

    `fasttext`, a fastText model file, adds languages to the default method. Raises LanguageError
    for an unknown name; MissingPackageError without the method's extra; ModelError for an
    unreadable file.
    """
    if name not in names():
        raise LanguageError(f"no method is called {name!r}; choose one of: {', '.join(names())}")
    return _made(name, {DEFAULT_METHOD: fasttext, FASTTEXT: fasttext_file(fasttext)}.get(name))


def fasttext_file(given: Path | str | None = None) -> Path | None:
    """Return the given model file, or the environment's; None without either."""
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
