"""Engines that read the language of a text from the text alone.

`langdetect-arrays` evaluates langdetect's profiles exactly and in array operations after a vote
of the scripts; `langdetect` is the package itself with a fixed seed. Both give the same answer
for the same text each time.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from classifiers.errors import LanguageError
from classifiers.languages import canonical
from classifiers.pages.text import profiles
from classifiers.pages.text.ranking import SINGLE_SCRIPTS, Ranking, without_addresses
from classifiers.pages.text.scripts import utf16_units, vote

DEFAULT_ENGINE = "text"


class TextEngine(Protocol):
    """What identification asks of an engine."""

    @property
    def name(self) -> str:
        """The name by which `engine` finds it."""

    @property
    def languages(self) -> frozenset[str]:
        """All languages that it can answer."""

    def rank(self, text: str) -> Ranking:
        """The languages that a text may be written in; never raises."""

    def identify(self, text: str) -> tuple[str | None, float]:
        """The most probable language and its probability; None and 0.0 without evidence."""


class ArraysEngine:
    """langdetect's profiles in arrays, after a vote of the scripts.

    About 0.1 ms for 2,000 characters; a script's profiles are read at its first text.
    """

    name = "langdetect-arrays"

    def __init__(self) -> None:
        grouped = (code for codes in profiles.GROUPS.values() for code in codes)
        self.languages = frozenset(grouped) | frozenset(SINGLE_SCRIPTS.values())

    def rank(self, text: str) -> Ranking:
        """Languages by probability; only those of the winning script."""
        text = without_addresses(text)
        ballot = vote(utf16_units(text))
        if ballot.script is None:
            return []
        single = SINGLE_SCRIPTS.get(ballot.script)
        if single is not None:
            return [(single, ballot.share)]
        group = profiles.group(ballot.script)
        gains, _ = group.gains(text)
        return _softmax(group.languages, gains) if gains.any() else []

    def identify(self, text: str) -> tuple[str | None, float]:
        """The first of `rank`."""
        return _first(self.rank(text))


class LangdetectEngine:
    """The package langdetect with seed 0; 3 to 4 ms for 2,000 characters."""

    name = "langdetect"

    def __init__(self) -> None:
        self._factory: Any = None

    @property
    def languages(self) -> frozenset[str]:
        """The languages of langdetect's profiles."""
        return frozenset(_code(name) for name in self._loaded().get_lang_list())

    def rank(self, text: str) -> Ranking:
        """Languages that langdetect gives more than a tenth of the probability."""
        from langdetect.lang_detect_exception import LangDetectException

        detector = self._loaded().create()
        detector.append(text)
        try:
            found = detector.get_probabilities()
        except LangDetectException:
            return []
        return _merged((_code(x.lang), float(x.prob)) for x in found)

    def identify(self, text: str) -> tuple[str | None, float]:
        """The first of `rank`."""
        return _first(self.rank(text))

    def _loaded(self) -> Any:
        if self._factory is None:
            from langdetect import PROFILES_DIRECTORY, DetectorFactory

            factory = DetectorFactory()
            factory.load_profile(PROFILES_DIRECTORY)
            factory.seed = 0
            self._factory = factory
        return self._factory


def _langfocus() -> TextEngine:
    from classifiers.pages.text.textengine import shipped_engine

    return shipped_engine()


_ENGINES: dict[str, Callable[[], TextEngine]] = {
    "text": _langfocus,
    ArraysEngine.name: ArraysEngine,
    LangdetectEngine.name: LangdetectEngine,
}


def engine_names() -> tuple[str, ...]:
    """The names that `engine` knows, the default first."""
    return tuple(_ENGINES)


@cache
def engine(name: str = DEFAULT_ENGINE) -> TextEngine:
    """The engine of that name; one object per process. LanguageError for an unknown name."""
    if name not in _ENGINES:
        known = ", ".join(_ENGINES)
        message = f"no text engine is called {name!r}; choose one of: {known}"
        raise LanguageError(message)
    return _ENGINES[name]()


def _first(ranking: Ranking) -> tuple[str | None, float]:
    return ranking[0] if ranking else (None, 0.0)


def _softmax(languages: tuple[str, ...], gains: NDArray[np.float64]) -> Ranking:
    weights = np.exp((gains - gains.max()) / profiles.OVERLAP)
    weights /= weights.sum()
    order = np.argsort(-weights, kind="stable")
    return [(languages[i], float(weights[i])) for i in order]


def _merged(pairs: Any) -> Ranking:
    """Pairs with the two Chinese profiles as one language, best first."""
    total: dict[str, float] = {}
    for code, probability in pairs:
        total[code] = min(1.0, total.get(code, 0.0) + probability)
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


def _code(name: str) -> str:
    return canonical(name) or name
