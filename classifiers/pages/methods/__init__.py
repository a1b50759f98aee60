"""Page language identification methods, by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from langfocus.classifiers.errors import LanguageError, ModelError
from langfocus.classifiers.pages.method import (
    NOTHING,
    IdentifiesPages,
    PageLanguage,
    PageMethod,
    Surroundings,
)
from langfocus.classifiers.plugins import Plugin, Registry, object_at

if TYPE_CHECKING:
    from langfocus.classifiers.pages.parse import ParsedPage

DEFAULT_METHOD: Final = "composite"
FASTTEXT: Final = "fasttext"
FASTTEXT_FILE: Final = "LANGFOCUS_FASTTEXT_MODEL"
"""Environment variable, and crawl setting, with the path of a fastText model."""
NEIGHBOURLY: Final = ("inlinks", "outlinks")
"""Methods that read the languages of neighbouring pages."""

_COMPOSITE: Final = "langfocus.classifiers.pages.methods.composite"

METHODS: Final = Registry[Callable[..., IdentifiesPages]](
    "page method",
    "langfocus.page_methods",
    {
        "composite": f"{_COMPOSITE}:shipped",
        "text": "langfocus.classifiers.pages.text.textengine:shipped_engine",
        "langdetect": "langfocus.classifiers.pages.text.langdetectengine:LangdetectEngine",
        "cavnar-trenkle": "langfocus.classifiers.papers.hayati.base:load",
        "nfc": "langfocus.classifiers.papers.hayati.nfc:load",
        "top-level-domain": "langfocus.classifiers.papers.hayati.around:load",
        "inlinks": "langfocus.classifiers.papers.hayati.around:inlinks",
        "outlinks": "langfocus.classifiers.papers.hayati.around:outlinks",
        "tamura": "langfocus.classifiers.papers.tamura.method:shipped",
        "cai": "langfocus.classifiers.papers.cai.method:shipped",
        FASTTEXT: "langfocus.classifiers.pages.methods.fasttext:FasttextEngine",
    },
    ".npz",
)
"""Method factories by name, the default first; the fastText factory takes a model file."""


@dataclass(frozen=True, slots=True)
class _OfPlugin:
    """A method of a plug-in; its errors name the plug-in."""

    plugin: Plugin
    method: IdentifiesPages
    languages: frozenset[str]

    @property
    def name(self) -> str:
        return self.plugin.name

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        with self.plugin.blamed():
            found = self.method.identify(page, surroundings)
            language: Any = found.language
            if language is not None and not isinstance(language, str):
                raise TypeError(f"{language!r} is no code of a language")
            return PageLanguage(
                language, float(found.confidence), str(found.method), str(found.reason)
            )


def method(name: str = DEFAULT_METHOD, fasttext: Path | None = None) -> PageMethod:
    """Return the named method; one object per process.

    `fasttext`, a fastText model file, adds languages to the default method; the name of a text
    model file is the default method with that model. Raises LanguageError
    for an unknown name; MissingPackageError without the method's extra; ModelError for an
    unreadable file; PluginError.
    """
    if not METHODS.knows(name):
        known = ", ".join(METHODS.names())
        raise LanguageError(f"no method is called {name!r}; choose one of: {known}")
    return _made(name, {DEFAULT_METHOD: fasttext, FASTTEXT: fasttext_file(fasttext)}.get(name))


def fasttext_file(given: Path | str | None = None) -> Path | None:
    """Return the given model file, or the environment's; None without either."""
    named = given or os.environ.get(FASTTEXT_FILE)
    return Path(named) if named else None


@cache
def _made(name: str, fasttext: Path | None) -> PageMethod:
    if METHODS.is_file(name):
        return cast(PageMethod, object_at(f"{_COMPOSITE}:OwnComposite")(Path(name)))
    make, plugin = METHODS.load(name), METHODS.plugin(name)
    if plugin is not None:
        with plugin.blamed():
            made = make()
            return _OfPlugin(plugin, made, frozenset(made.languages))
    if name == FASTTEXT and fasttext is None:
        raise ModelError(f"no fastText model: set {FASTTEXT_FILE} to the path of lid.176.ftz")
    if name != FASTTEXT and fasttext is not None:
        make = import_module("langfocus.classifiers.pages.methods.fasttext").with_added
    return cast(PageMethod, make() if fasttext is None else make(fasttext))
