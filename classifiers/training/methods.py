"""What learns from labelled texts or pages, by name: page methods, and the models that ship."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, cast

NAMES: Final = {
    "cavnar-trenkle": "classifiers.papers.hayati.base",
    "nfc": "classifiers.papers.hayati.nfc",
    "byte-ngrams": "classifiers.papers.cai.method",
    "top-level-domain": "classifiers.papers.hayati.top_level_domain",
    "text": "classifiers.training.texts",
    "letters": "classifiers.training.letters",
}
"""Name -> the module whose function `train` learns the method."""

FROM_ADDRESSES: Final = frozenset({"top-level-domain"})
"""Methods that learn from pairs of URL and language; the others learn from labelled texts."""
WITH_LEAST: Final = frozenset({"byte-ngrams"})
"""Methods whose training has the setting `least`: the least appearances of an n-gram."""


class Trained(Protocol):
    """A method that was learned, or the model of one."""

    @property
    def languages(self) -> Collection[str]:
        """All languages that it can answer; empty if it can answer any."""

    def save(self, path: Path) -> None:
        """Write the file of the model; the same model gives the same bytes."""


def trainer(name: str, **settings: int) -> Callable[[Iterable[Any]], Trained]:
    """The function that trains the method with that name (one of NAMES) from labelled rows.

    `settings` are those of the method, such as `least` of WITH_LEAST.
    """
    train = partial(import_module(NAMES[name]).train, **settings)
    return cast(Callable[[Iterable[Any]], Trained], train)
