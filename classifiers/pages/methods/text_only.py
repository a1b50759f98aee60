"""Methods that read the visible text alone, each with one engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from classifiers.errors import ModelError
from classifiers.pages.method import NOTHING, PageLanguage, Surroundings, by_ranking
from classifiers.pages.parse import ParsedPage
from classifiers.pages.text.engines import ArraysEngine, LangdetectEngine, TextEngine
from classifiers.pages.text.fasttextengine import VARIABLE, FasttextEngine, named_file
from classifiers.pages.text.textengine import shipped_engine


@dataclass(frozen=True)
class ByText:
    """The language that an engine reads from the visible text of a page."""

    engine: TextEngine

    @property
    def name(self) -> str:
        """Return the engine's name."""
        return self.engine.name

    @property
    def languages(self) -> frozenset[str]:
        """Return the engine's languages."""
        return self.engine.languages

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """The first language of the engine's ranking; None if the ranking is empty."""
        return by_ranking(self.engine.rank(page.text))


def text() -> ByText:
    """The text model and langdetect's profiles together."""
    return ByText(shipped_engine())


def arrays() -> ByText:
    """Langdetect's profiles in arrays."""
    return ByText(ArraysEngine())


def langdetect() -> ByText:
    """The package langdetect with a fixed seed."""
    return ByText(LangdetectEngine())


def fasttext() -> ByText:
    """The model of fastText that the environment names, alone.

    MissingPackageError if the package is not installed, ModelError if the variable is not set or
    does not name a model.
    """
    path = named_file()
    if path is None:
        raise ModelError(f"no fastText model: set {VARIABLE} to the path of lid.176.ftz or another")
    return fasttext_of(path)


def fasttext_of(path: Path) -> ByText:
    """The model of fastText in a file, alone; errors are those of FasttextEngine."""
    return ByText(FasttextEngine(path))
