"""The contract of all methods that identify the language of a page."""

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
"""Characters of text from which a page's language counts for its neighbours (Hayati 2004, 5.4)."""

Ranking = list[tuple[str, float]]
"""Languages with probabilities, best first; empty if a text has no evidence."""


@dataclass(frozen=True, slots=True)
class PageLanguage:
    """The language of a page.

    `language` is a code of `classifiers.languages`; None if it is unknown. `confidence` is 0..1.
    `method` names the evidence that decided (`none` if the language is unknown), and `reason` is a
    short text about it.
    """

    language: str | None
    confidence: float
    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A page that links to another one or is linked from it."""

    language: str | None
    """The language it was identified as; None if it is unknown."""
    characters: int
    """Length of its visible text."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Facts about a page other than its bytes."""

    url: str = ""
    """Its address; empty if it has none."""
    inlinks: tuple[Neighbour, ...] = ()
    """Pages that link to it."""
    outlinks: tuple[Neighbour, ...] = ()
    """Pages that it links to."""


NOTHING = Surroundings()


class PageMethod(Protocol):
    """A way to identify the language of a page; the same page always gets the same answer."""

    @property
    def name(self) -> str:
        """The name by which `methods.method` finds it."""

    @property
    def languages(self) -> frozenset[str]:
        """All languages that it can answer; empty if it can answer any."""

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """The language of a page; never raises."""


def answers_of(
    method: PageMethod, page: ParsedPage, surroundings: Surroundings = NOTHING
) -> dict[str, str | None]:
    """Return the answer of each kind of evidence alone, for counts such as Table 4-4 of Cai 2009.

    A method without kinds of evidence has its own answer.
    """
    by_kind: Callable[[ParsedPage], dict[str, str | None]] | None = getattr(method, "answers", None)
    if by_kind is None:
        return {method.name: method.identify(page, surroundings).language}
    return by_kind(page)


class RankingMethod(ABC):
    """A method that returns the first language of its ranking; a subclass has `name` and `rank`."""

    name: str

    def __init__(self, languages: Iterable[str]) -> None:
        self._languages = tuple(languages)
        self.languages = frozenset(self._languages)

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """The language of the visible text; None if the ranking is empty."""
        return by_ranking(self.rank(page.text))

    @abstractmethod
    def rank(self, text: str) -> Ranking:
        """The languages of a text with probabilities, best first; empty without evidence.

        The same text always gets the same ranking. Never raises.
        """


def merged(answers: Iterable[tuple[str | None, float]]) -> Ranking:
    """A ranking of pairs of code and probability; those of one language are added up.

    Answers without a code and probabilities of 0 are left out.
    """
    total: dict[str, float] = {}
    for code, value in answers:
        if code and value > 0:
            total[code] = min(1.0, total.get(code, 0.0) + value)
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


def unknown(reason: str) -> PageLanguage:
    """The answer without a language, for that reason."""
    return PageLanguage(None, 0.0, "none", reason)


def by_ranking(ranking: Ranking) -> PageLanguage:
    """The first language of a ranking by text; None if the ranking is empty."""
    if not ranking:
        return unknown("no text with evidence")
    language, share = ranking[0][0], min(ranking[0][1], 1.0)
    against = f" against {ranking[1][0]} {ranking[1][1]:.2f}" if len(ranking) > 1 else ""
    return PageLanguage(language, share, "text", f"text: {language} {share:.2f}{against}")


def softmax(
    languages: tuple[str, ...], evidence: npt.NDArray[np.float64], temperature: float = 1.0
) -> Ranking:
    """The languages by probability; `evidence` is in nats, (n_languages,)."""
    weights = np.exp((evidence - evidence.max()) / temperature)
    weights /= weights.sum()
    order = np.argsort(-evidence, kind="stable")
    return [(languages[at], float(weights[at])) for at in order]
