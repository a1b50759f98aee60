"""The orderings of a crawl by their names. The live crawl and the simulator both call them.

This code uses neither Scrapy nor a clock.
"""

from importlib import import_module
from pathlib import Path
from typing import Final, cast

from langfocus.crawler.strategies.orderings import Ordering

_MAKERS: Final = "langfocus.crawler.strategies.makers"

ORDERINGS: Final = ("random", "bfs", "soft", "cctld", "svm", "focus")
"""The names of the orderings; `makers` has a function of each name."""


def make_ordering(name: str, language: str, *, model: Path | None = None) -> Ordering:
    """Return the ordering with that name for a target language.

    `model` is the file of the URL model, None: the one that ships. Raises KeyError for a name not
    in `ORDERINGS`, `classifiers.errors.LanguageError` if the URL model lacks the language, and
    `classifiers.errors.ModelError` if it cannot be read.
    """
    if name not in ORDERINGS:
        raise KeyError(name)
    return cast(Ordering, getattr(import_module(_MAKERS), name)(language, model))
