"""Methods that read the visible text alone, each with one engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from classifiers.errors import ModelError
from classifiers.languages import canonical
from classifiers.pages.method import NOTHING, PageLanguage, Ranking, Surroundings, by_ranking
from classifiers.pages.parse import ParsedPage
from classifiers.pages.text.fasttextengine import VARIABLE, FasttextEngine, named_file
from classifiers.pages.text.textengine import shipped_engine


class TextEngine(Protocol):
    """A reader of texts; the same text always gets the same ranking."""

    @property
    def name(self) -> str:
        """The name of the method for pages that uses the engine."""

    @property
    def languages(self) -> frozenset[str]:
        """All languages that it can answer."""

    def rank(self, text: str) -> Ranking:
        """The languages that a text may be written in; empty without evidence. Never raises."""


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


class LangdetectEngine:
    """The package langdetect with seed 0; 3 to 4 ms for 2,000 characters."""

    name = "langdetect"

    @property
    def languages(self) -> frozenset[str]:
        """The languages of langdetect's profiles."""
        return frozenset(filter(None, map(canonical, self._factory.get_lang_list())))

    def rank(self, text: str) -> Ranking:
        """The languages to which langdetect gives more than a tenth of the probability."""
        from langdetect.lang_detect_exception import LangDetectException

        detector = self._factory.create()
        detector.append(text)
        try:
            found = detector.get_probabilities()
        except LangDetectException:
            return []
        return merged((each.lang, float(each.prob)) for each in found)

    @cached_property
    def _factory(self) -> Any:
        from langdetect import PROFILES_DIRECTORY, DetectorFactory

        factory = DetectorFactory()
        factory.load_profile(PROFILES_DIRECTORY)
        factory.seed = 0
        return factory


def merged(answers: Iterable[tuple[str, float]]) -> Ranking:
    """A ranking of pairs of tag and probability; varieties of one language are added up.

    Tags of no language and probabilities of 0 are left out.
    """
    total: dict[str, float] = {}
    for tag, value in answers:
        code = canonical(tag)
        if code and value > 0:
            total[code] = min(1.0, total.get(code, 0.0) + value)
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


def text() -> ByText:
    """The text model."""
    return ByText(shipped_engine())


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
