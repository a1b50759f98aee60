"""Methods that read the visible text alone, each with one engine."""

from __future__ import annotations

from dataclasses import dataclass

from classifiers.pages.method import NOTHING, PageLanguage, Surroundings, by_ranking
from classifiers.pages.parse import ParsedPage
from classifiers.pages.text.engines import ArraysEngine, LangdetectEngine, TextEngine
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
