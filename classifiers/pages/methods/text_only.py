"""Methods that read the text alone, with one of the engines."""

from __future__ import annotations

from dataclasses import dataclass

from classifiers.languages import canonical
from classifiers.pages.method import NOTHING, PageLanguage, Surroundings
from classifiers.pages.parse import ParsedPage
from classifiers.pages.text.engines import TextEngine, engine


@dataclass(frozen=True)
class ByText:
    """The language of a page's visible text, as an engine reads it."""

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
        """The first of the engine's ranking; None where the text says nothing."""
        ranking = self.engine.rank(page.text)
        language = canonical(ranking[0][0]) if ranking else None
        if language is None:
            return PageLanguage(None, 0.0, "none", "no text that says anything")
        share = min(ranking[0][1], 1.0)
        against = f" against {ranking[1][0]} {ranking[1][1]:.2f}" if len(ranking) > 1 else ""
        return PageLanguage(language, share, "text", f"text: {language} {share:.2f}{against}")


def text() -> ByText:
    """The text model and langdetect's profiles together."""
    return ByText(engine("text"))


def arrays() -> ByText:
    """Langdetect's profiles in arrays."""
    return ByText(engine("langdetect-arrays"))


def langdetect() -> ByText:
    """The package langdetect with a fixed seed."""
    return ByText(engine("langdetect"))
