"""The orderings of a crawl by their names. The live crawl and the simulator both call them.

This code uses neither Scrapy nor a clock.
"""

from pathlib import Path
from typing import Final, cast

from langfocus.classifiers.languages import codes_of
from langfocus.classifiers.plugins import Registry
from langfocus.crawler.strategies.orderings import MakesOrdering, Ordering, either, of_plugin

_MAKERS: Final = "langfocus.crawler.strategies.makers"

ORDERINGS: Final = Registry[MakesOrdering](
    "ordering",
    "langfocus.orderings",
    {name: f"{_MAKERS}:{name}" for name in ("random", "bfs", "soft", "cctld", "svm", "focus")},
)
"""Ordering makers by name."""


def make_ordering(name: str, language: str, *, model: Path | None = None) -> Ordering:
    """Return the ordering with that name for a target, one language or several.

    `model` is the file of the URL model, None: the one that ships. Raises KeyError for a name not
    in `ORDERINGS`, `classifiers.errors.LanguageError` if the URL model lacks the language,
    `classifiers.errors.ModelError` if it cannot be read, and `classifiers.errors.PluginError`.
    """
    plugin, make = ORDERINGS.plugin(name), ORDERINGS.load(name)

    def made(code: str) -> Ordering:
        if plugin is not None:
            return of_plugin(plugin, make, code, model)
        return cast(Ordering, make(code, model))

    return either(list(map(made, codes_of(language) or [language])))
