"""The common base of all methods that rank the languages of a text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from classifiers.pages.method import NOTHING, PageLanguage, Surroundings, by_ranking
from classifiers.pages.parse import ParsedPage
from classifiers.pages.text.ranking import Ranking


class RankingMethod(ABC):
    """A method that returns the first language of its ranking; a subclass has `name` and `rank`."""

    name: str

    def __init__(self, languages: Iterable[str]) -> None:
        self._languages = tuple(languages)

    @property
    def languages(self) -> frozenset[str]:
        """The languages that were learned."""
        return frozenset(self._languages)

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """The language of the visible text; None if the ranking is empty."""
        return by_ranking(self.rank(page.text))

    @abstractmethod
    def rank(self, text: str) -> Ranking:
        """The languages of a text with probabilities, best first; empty without evidence."""
