"""Interface of page language identification methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from langfocus.classifiers.pages.parse import ParsedPage

MIN_REFERENCE_LENGTH: Final = 150
"""Least text characters for a page's language to count as a neighbour's (Hayati 2004, 5.4)."""

Ranking = list[tuple[str, float]]
"""Languages with probabilities, best first; empty without evidence."""


@dataclass(frozen=True, slots=True)
class PageLanguage:
    """The identified language of a page."""

    language: str | None
    """A code of `classifiers.languages`; None if unknown."""
    confidence: float
    """0..1."""
    method: str
    """The deciding evidence; `none` if the language is unknown."""
    reason: str
    """A short text about the evidence."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A page that links to another page, or is linked from another page."""

    language: str | None
    """Identified language; None if unknown."""
    characters: int
    """Length of the visible text."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Page facts other than the body."""

    url: str = ""
    """Page URL; empty if unknown."""
    inlinks: tuple[Neighbour, ...] = ()
    """Pages that link to the page."""
    outlinks: tuple[Neighbour, ...] = ()
    """Pages linked from the page."""


NOTHING = Surroundings()


class IdentifiesPages(Protocol):
    """The page method of a plug-in; the same page always gets the same answer."""

    @property
    def languages(self) -> frozenset[str]:
        """Return every possible answer; empty for a method without a fixed list."""

    def identify(self, page: ParsedPage, surroundings: Surroundings, /) -> PageLanguage:
        """Identify a page's language; never raises."""


class PageMethod(IdentifiesPages, Protocol):
    """A page language identification method."""

    @property
    def name(self) -> str:
        """Return the method's name in `methods.method`."""

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """Identify a page's language; never raises."""


def answers_of(
    method: PageMethod, page: ParsedPage, surroundings: Surroundings = NOTHING
) -> dict[str, str | None]:
    """Return each evidence kind's own answer, for counts such as Table 4-4 of Cai 2009.

    A method without evidence kinds returns a single answer under the method's name.
    """
    by_kind: Callable[[ParsedPage], dict[str, str | None]] | None = getattr(method, "answers", None)
    if by_kind is None:
        return {method.name: method.identify(page, surroundings).language}
    return by_kind(page)


class RankingMethod(ABC):
    """A method that answers the first language of `rank`; subclasses define `name` and `rank`."""

    name: str

    def __init__(self, languages: Iterable[str]) -> None:
        self._languages = tuple(languages)
        self.languages = frozenset(self._languages)

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """Identify the language of the visible text; None for an empty ranking."""
        return by_ranking(self.rank(page.text))

    @abstractmethod
    def rank(self, text: str) -> Ranking:
        """Rank the languages of a text by probability, best first; empty without evidence.

        The same text always gets the same ranking. Never raises.
        """


def merged(answers: Iterable[tuple[str | None, float]]) -> Ranking:
    """Rank (code, probability) pairs, with the probabilities summed per language.

    Answers without a code and zero probabilities are left out.
    """
    total: dict[str, float] = {}
    for code, value in answers:
        if code and value > 0:
            total[code] = min(1.0, total.get(code, 0.0) + value)
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


def unknown(reason: str) -> PageLanguage:
    """Return an answer without a language, for the given reason."""
    return PageLanguage(None, 0.0, "none", reason)


def by_ranking(ranking: Ranking) -> PageLanguage:
    """Return the first language in a text ranking; None for an empty ranking."""
    if not ranking:
        return unknown("no text with evidence")
    language, share = ranking[0][0], min(ranking[0][1], 1.0)
    against = f" against {ranking[1][0]} {ranking[1][1]:.2f}" if len(ranking) > 1 else ""
    return PageLanguage(language, share, "text", f"text: {language} {share:.2f}{against}")


def softmax(languages: tuple[str, ...], evidence: npt.NDArray[np.float64]) -> Ranking:
    """Rank the languages by probability; `evidence` is in nats, (n_languages,)."""
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    order = np.argsort(-evidence, kind="stable")
    return [(languages[at], float(weights[at])) for at in order]
