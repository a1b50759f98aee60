"""The default method with a model of fastText for the languages that the text model lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from classifiers import languages
from classifiers.pages.method import NOTHING, PageLanguage, Surroundings
from classifiers.pages.methods.composite import Composite
from classifiers.pages.parse import ParsedPage
from classifiers.pages.text.fasttextengine import (
    SHOWN,
    FasttextEngine,
    codes_of,
    unknown_labels,
)
from classifiers.pages.text.scripts import ScriptVote, fits, utf16_units, vote
from classifiers.pages.text.textengine import known_languages, shipped_engine

KIND: Final = "fasttext"
"""The evidence of an answer of the model."""
LEAST_SHARE: Final = 0.5
"""Probability from which the model's answer counts: more likely than all other labels together."""
LEAST_LETTERS: Final = 50
"""Letters of a text from which the model is asked; on shorter ones it names rare languages for
menus and addresses."""


def added_languages(path: Path) -> frozenset[str]:
    """Return the languages that a model file adds: those that the text model lacks.

    The package of fastText is not needed. Raises ModelError if the file cannot be read.
    """
    return frozenset(codes_of(path).values()) - set(known_languages())


class WithAdded(Composite):
    """The default method; for languages that its text model lacks, a model of fastText.

    Where the model names such a language for a text, that is the answer, since the text model
    does not have it among its candidates. All other answers are those of the default method.
    """

    name = "composite with fasttext"

    def __init__(self, fasttext: FasttextEngine) -> None:
        super().__init__(shipped_engine())
        self._fasttext = fasttext
        self.added = added_languages(fasttext.path)
        self.note = _note(fasttext.path)
        """A sentence about labels that name no language; "" without such labels."""

    def answers(self, page: ParsedPage) -> dict[str, str | None]:
        """The language by each kind of evidence alone; None of one that tells none."""
        by_model = next((code for code, _ in self._fasttext.rank(page.text)), None)
        return super().answers(page) | {KIND: by_model}

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """The language of a page; never raises."""
        ballot = vote(utf16_units(page.text))
        if ballot.letters >= LEAST_LETTERS:
            for code, share in self._fasttext.rank(page.text)[:1]:
                if code in self.added and share >= LEAST_SHARE and _may_be(code, ballot):
                    return PageLanguage(code, share, KIND, f"fastText: {code} {share:.2f}")
        return super().identify(page)


def _may_be(code: str, ballot: ScriptVote) -> bool:
    """Whether a language may be written in the script that won; of some no script is known."""
    return not languages.scripts(code) or fits(code, ballot)


def _note(path: Path) -> str:
    labels = unknown_labels(path)
    if not labels:
        return ""
    more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
    return f"labels of {path.name} that name no language: {', '.join(labels[:SHOWN])}{more}"
