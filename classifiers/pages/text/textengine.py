"""The default reader of texts: the text model together with langdetect's profiles.

The script of the letters selects the candidates. The text model was learned from sentences, words
and word lists of many languages, the profiles from encyclopedias in 55; both decide together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.languages import scripts
from classifiers.pages.text import profiles, textmodel
from classifiers.pages.text.ranking import SINGLE_SCRIPTS, Ranking, without_addresses
from classifiers.pages.text.scripts import PARTS, ScriptVote, utf16_units, vote
from classifiers.pages.text.textmodel import TextModel, TextScores

NAME: Final = "text"

PROFILE_WEIGHT: Final = 0.06
"""Weight of one nat of langdetect's profiles beside the text model's decision values."""
_WORST: Final = 30.0
"""Nats behind the best profile that count at most."""
_RARE: Final = 0.36
"""Lead that a language without a profile needs over one with a profile: its Web is smaller."""
TWINS: Final[dict[str, float]] = {"bs": 0.3, "nn": 0.3}
"""Languages that are hard to distinguish from a neighbour with a larger Web (Croatian, Bokmål) ->
the lead that they need, on top of _RARE.
"""
SHARPNESS: Final = 3.0
"""Factor of the decision values in the softmax that makes them probabilities."""
_SERBIAN: Final = 0.5
"""Distance of Serbian in Latin letters behind Croatian."""
_PIECE_LEAD: Final = 0.4
"""Lead of another language from which a piece of text counts as that language."""

SURE_LEAD: Final = 1.2
"""Lead of the first language from which the profiles are not used; they cost as much as all the
rest."""
MAX_PROFILED: Final = 1_000
"""Characters of a text that are compared with the profiles."""
_SURE_HAN: Final = 60
"""Letters (three per sign) from which a text in Han signs without kana is not Japanese."""
_NEVER_ALONE: Final = frozenset({("Hani", "ko")})
"""Scripts that a language uses only together with its own."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TextReading:
    """The decision values of the languages that a text may be in, best first."""

    ballot: ScriptVote
    codes: tuple[str, ...] = ()
    """The candidates; empty without evidence."""
    values: Values = field(default_factory=lambda: np.zeros(0))
    """Their decision values, (n_candidates,)."""
    scores: TextScores | None = None
    """None if the script alone decided."""

    def ranking(self, sharpness: float = SHARPNESS) -> Ranking:
        """The candidates with their probabilities, best first."""
        if not self.codes:
            return []
        chances = np.exp(sharpness * (self.values - self.values[0]))
        return list(zip(self.codes, (chances / chances.sum()).tolist(), strict=True))

    def behind(self, code: str) -> float:
        """Nats by which a language is behind the first one; 0 if it is no candidate."""
        if code not in self.codes:
            return 0.0
        return SHARPNESS * float(self.values[0] - self.values[self.codes.index(code)])


class LangfocusEngine:
    """The text model and langdetect's profiles, deterministic; 0.2 ms for 2,000 characters."""

    name = NAME

    def __init__(self, path: Path | None = None) -> None:
        self.model: TextModel = textmodel.load(path)

    @cached_property
    def languages(self) -> frozenset[str]:
        """Return the languages of the model and those of the scripts of one language."""
        return frozenset(self.model.languages) | frozenset(SINGLE_SCRIPTS.values())

    def read(self, text: str) -> TextReading:
        """The candidates of a text with their decision values; never raises."""
        text = without_addresses(text)
        ballot = vote(utf16_units(text))
        columns = self._candidates(ballot.script) if ballot.script else ()
        is_chinese = ballot.script == "Hani" and ballot.letters >= _SURE_HAN
        if len(columns) < 2 or is_chinese:
            only = self._only(ballot.script, () if is_chinese else columns)
            return TextReading(ballot, (only,), np.zeros(1)) if only else TextReading(ballot)
        scores = self.model.scores(text)
        values = scores.whole[list(columns)] + self._priors(ballot.script)
        if _lead(values) < SURE_LEAD:
            values = values + PROFILE_WEIGHT * self._by_profiles(ballot.script, columns, text)
        self._add_serbian(ballot.script, columns, values)
        order = np.argsort(-values, kind="stable")
        codes = tuple(self.model.languages[columns[at]] for at in order)
        return TextReading(ballot, codes, values[order], scores)

    def rank(self, text: str) -> Ranking:
        """The languages of the winning script by probability."""
        return self.read(text).ranking()

    def shares(self, scores: TextScores, main: str) -> tuple[tuple[str, float], ...]:
        """The parts of a text's letters in each language, the largest first; they sum to 1.

        A piece without clear evidence for another language counts as the main one.
        """
        if main not in self.model.languages or not len(scores.letters):
            return ((main, 1.0),)
        values = scores.pieces + self._all_priors
        own = values[:, self.model.languages.index(main)]
        best = values.argmax(axis=1)
        led = values.max(axis=1) - own
        found: dict[str, int] = {}
        for at, letters in enumerate(scores.letters):
            code = self.model.languages[best[at]] if led[at] > _PIECE_LEAD else main
            found[code] = found.get(code, 0) + int(letters)
        total = max(sum(found.values()), 1)
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return tuple((code, n / total) for code, n in ordered)

    def _only(self, script: str | None, columns: tuple[int, ...]) -> str | None:
        if columns:
            return self.model.languages[columns[0]]
        return SINGLE_SCRIPTS.get(script or "")

    @cached_property
    def _by_script(self) -> dict[str, tuple[int, ...]]:
        return {}

    def _candidates(self, script: str) -> tuple[int, ...]:
        """The columns of the model's languages that are written in a script."""
        if script not in self._by_script:
            wanted = PARTS.get(script, {script})
            self._by_script[script] = tuple(
                at
                for at, code in enumerate(self.model.languages)
                if scripts(code) & wanted and (script, code) not in _NEVER_ALONE
            )
        return self._by_script[script]

    def _add_serbian(self, script: str | None, columns: tuple[int, ...], values: Values) -> None:
        """Give Serbian in Latin letters the value of Croatian, less _SERBIAN."""
        codes = [self.model.languages[at] for at in columns]
        if script == "Latn" and {"sr", "hr"} <= set(codes):
            values[codes.index("sr")] = values[codes.index("hr")] - _SERBIAN

    def _priors(self, script: str | None) -> Values:
        columns = self._candidates(script or "")
        return self._all_priors[list(columns)]

    @cached_property
    def _all_priors(self) -> Values:
        known = {code for codes in profiles.GROUPS.values() for code in codes}
        known |= set(SINGLE_SCRIPTS.values())
        return np.array(
            [-_RARE * (code not in known) - TWINS.get(code, 0.0) for code in self.model.languages]
        )

    def _by_profiles(self, script: str | None, columns: tuple[int, ...], text: str) -> Values:
        """Nats behind the best profile, at most _WORST; 0 for a language without a profile."""
        behind = np.zeros(len(columns))
        if script not in profiles.GROUPS or len(profiles.GROUPS[script]) < 2:
            return behind
        group = profiles.group(script)
        gains, _ = group.gains(text[:MAX_PROFILED])
        if not gains.any():
            return behind
        nats = np.maximum((gains - gains.max()) / profiles.OVERLAP, -_WORST)
        by_code = dict(zip(group.languages, nats, strict=True))
        return np.array([by_code.get(self.model.languages[at], 0.0) for at in columns])


def _lead(values: Values) -> float:
    second, first = np.partition(values, -2)[-2:]
    return float(first - second)


def is_rare(language: str, ballot: ScriptVote) -> bool:
    """Whether a language has no profile for letters of that script."""
    known = profiles.GROUPS.get(ballot.script or "", ())
    return language not in known and SINGLE_SCRIPTS.get(ballot.script or "") != language


@cache
def shipped_engine() -> LangfocusEngine:
    """The engine with the model that ships; one for each process."""
    return LangfocusEngine()
