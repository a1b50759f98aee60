"""Engines that read the language of a text with langdetect's profiles.

Both engines of this module give the same answer for the same text each time.
"""

from functools import cached_property
from typing import Any, Protocol

from classifiers.languages import canonical
from classifiers.pages.text import profiles
from classifiers.pages.text.ranking import (
    SINGLE_SCRIPTS,
    Ranking,
    merged,
    softmax,
    without_addresses,
)
from classifiers.pages.text.scripts import utf16_units, vote


class TextEngine(Protocol):
    """A reader of texts."""

    @property
    def name(self) -> str:
        """The name of the method for pages that uses the engine."""

    @property
    def languages(self) -> frozenset[str]:
        """All languages that it can answer."""

    def rank(self, text: str) -> Ranking:
        """The languages that a text may be written in; empty without evidence. Never raises."""


class ArraysEngine:
    """Langdetect's profiles, evaluated exactly in array operations after a vote of the scripts.

    About 0.1 ms for 2,000 characters. The profiles of a script are read at its first text.
    """

    name = "langdetect-arrays"

    def __init__(self) -> None:
        grouped = (code for codes in profiles.GROUPS.values() for code in codes)
        self.languages = frozenset(grouped) | frozenset(SINGLE_SCRIPTS.values())

    def rank(self, text: str) -> Ranking:
        """The languages of the winning script by probability."""
        text = without_addresses(text)
        ballot = vote(utf16_units(text))
        if ballot.script is None:
            return []
        single = SINGLE_SCRIPTS.get(ballot.script)
        if single is not None:
            return [(single, ballot.share)]
        group = profiles.group(ballot.script)
        gains, _ = group.gains(text)
        return softmax(group.languages, gains, profiles.OVERLAP) if gains.any() else []


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
