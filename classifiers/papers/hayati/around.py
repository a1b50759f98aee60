"""The languages of the pages around a short page (Hayati 2004, 5.3 and 5.4).

Pages mostly link to pages in their own language: 95 % of 799 links did (5.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from classifiers.pages.method import (
    MIN_REFERENCE_LENGTH,
    NOTHING,
    Neighbour,
    PageLanguage,
    PageMethod,
    Surroundings,
)
from classifiers.pages.methods import method
from classifiers.pages.parse import ParsedPage
from classifiers.papers.hayati.letters import letters

MIN_LENGTH: Final = 50
"""Characters of cleaned text above which only the page itself counts: the longest short pages of
the paper (Table 5.1) have fewer."""
MAX_INLINKS: Final = 10
"""Inlinks that count (0.10)."""


@dataclass(frozen=True)
class Inlinks:
    """The majority of the pages that link to a short page and of its own text (Algorithm 5.5).

    The confidence is Laplace's rule of succession: 0.67 for one vote of one, 0.92 for ten of ten.

    `text` identifies pages by their text. `min_length` and `min_reference_length` are characters
    of text; of the inlinks that are long enough the first `max_inlinks` count.
    """

    text: PageMethod
    min_length: int = MIN_LENGTH
    max_inlinks: int = MAX_INLINKS
    min_reference_length: int = MIN_REFERENCE_LENGTH
    name: str = field(default="inlinks", init=False)
    languages: frozenset[str] = field(default=frozenset(), init=False)
    """Empty: neighbours may be in any language."""

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """The text's answer for a long page, else the majority; in a tie the page's language."""
        own = self.text.identify(page, surroundings)
        if len(letters(page.text)) > self.min_length:
            return own
        long = [x for x in surroundings.inlinks if x.characters >= self.min_reference_length]
        votes = _languages(long)[: self.max_inlinks]
        if not votes:
            return own
        ballot = votes if own.language is None else [*votes, own.language]
        return _majority(ballot, own.language, self.name)


@dataclass(frozen=True)
class Outlinks:
    """The majority of the pages that a short page links to (5.3); its own text has no vote.

    `text` identifies pages by their text, `min_length` is in characters of text.
    """

    text: PageMethod
    min_length: int = MIN_LENGTH
    name: str = field(default="outlinks", init=False)
    languages: frozenset[str] = field(default=frozenset(), init=False)
    """Empty: neighbours may be in any language."""

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """The text's answer for a long page or without outlinks, else the outlinks' majority."""
        own = self.text.identify(page, surroundings)
        votes = _languages(surroundings.outlinks)
        if len(letters(page.text)) > self.min_length or not votes:
            return own
        return _majority(votes, own.language, self.name)


def inlinks() -> Inlinks:
    """Return the method of the paper, with NFC."""
    return Inlinks(method("nfc"))


def outlinks() -> Outlinks:
    """Return the method of the paper, with NFC."""
    return Outlinks(method("nfc"))


def _languages(pages: Sequence[Neighbour]) -> list[str]:
    return [page.language for page in pages if page.language is not None]


def _majority(ballot: Sequence[str], own: str | None, name: str) -> PageLanguage:
    """The most common language; in a tie the page's own one, else the first."""
    votes = Counter(ballot)
    most = max(votes.values())
    language = own if own is not None and votes[own] == most else votes.most_common(1)[0][0]
    reason = f"{name}: {language} has {most} of {len(ballot)} votes"
    return PageLanguage(language, (most + 1) / (len(ballot) + 2), name, reason)
