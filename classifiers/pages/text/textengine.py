"""The default reader of texts: the text model, the size of a language's Web, and typicality.

The script of the letters selects the candidates. The n-grams of a text overlap, so their nats are
divided by the square root of their number; that makes the probabilities right on texts of all
lengths (`langfocus evaluate`, docs/research/page-identification.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.pages.text import textmodel, typicality
from classifiers.pages.text.ranking import SINGLE_SCRIPTS, Ranking, without_addresses
from classifiers.pages.text.scripts import ScriptVote, utf16_units, vote
from classifiers.pages.text.textmodel import ScriptModel, TextModel, TextScores

NAME: Final = "text"

_RARE: Final = 1.0
"""Nats against a language with a small Web."""
WITH_PROFILE: Final = frozenset(
    (
        "af ar bg ca cs cy da de el en es et fa fi fr he hi hr hu id it lt lv mk mr ne nl no pl pt"
        " ro ru sk sl so sq sv sw th tl tr uk ur vi"
    ).split()
)
"""Languages with a profile of langdetect, in scripts of several languages or el, he and th."""
_SIZEABLE: Final = frozenset("az be bs eu ga gl is kk ky mn ms sr uz".split())
"""Languages without such a profile whose Web is not small."""
TWINS: Final = (frozenset({"bs", "hr", "sr"}), frozenset({"nn", "no"}), frozenset({"id", "ms"}))
"""Languages whose texts can hardly be told apart in the Latin script."""
_SMALLER_TWINS: Final = {"bs": 0.7, "ms": 1.8, "nn": 1.0, "sr": 0.3}
"""Twins with the smaller Web in Latin letters -> nats against them."""
_TRANSFER: Final = 0.4
"""Factor of the log-odds that a text is in a known language: pages of the Web differ more from the
learned texts than these differ from each other."""
_WEB: Final = 1.7
"""Log-odds by which texts in known languages are more frequent on the Web than in the training."""
_PIECE_LEAD: Final = 3.0
"""Nats by which another language leads in a piece of text from which the piece counts as it."""
_SHARE: Final = 0.05
"""Share of the letters from which another script of a text is read."""
_SURE_HAN: Final = 60
"""Letters (three per sign) from which a text in Han signs without kana is not Japanese."""
_CANTONESE: Final = "嘅唔咗喺哋啲冇嗰佢咁嘢攞畀"
"""Signs of written Cantonese that Standard Chinese hardly uses."""
_CANTONESE_SHARE: Final = 0.01
"""Share of these signs in a text from which it is Cantonese."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TextReading:
    """The evidence for the languages that a text may be in, best first."""

    ballot: ScriptVote
    codes: tuple[str, ...] = ()
    """The candidates; empty without evidence."""
    nats: Values = field(default_factory=lambda: np.zeros(0))
    """Their evidence, (n_candidates,)."""
    known: float = 0.0
    """Log-odds that the text is in a known language."""
    scores: TextScores | None = None
    """None without evidence."""

    def ranking(self) -> Ranking:
        """The candidates with their probabilities, best first.

        They sum to the probability that the text is in a known language. Empty if that is less
        than a half.
        """
        if not self.codes or self.known < 0:
            return []
        chances = np.exp(self.nats - self.nats[0])
        chances /= chances.sum() * (1 + math.exp(-self.known))
        return list(zip(self.codes, chances.tolist(), strict=True))

    def behind(self, code: str) -> float:
        """Nats by which a language is behind the first one; 0 if it is no candidate."""
        return float(self.nats[0] - self.nats[self.codes.index(code)]) if code in self.codes else 0


class LangfocusEngine:
    """The text model with priors, deterministic; 0.2 ms for 2,000 characters."""

    name = NAME

    def __init__(self, model: TextModel | Path | None = None) -> None:
        self.model = model if isinstance(model, TextModel) else textmodel.load(model)
        self._priors: dict[str, Values] = {}

    @cached_property
    def languages(self) -> frozenset[str]:
        """Return the languages of the model."""
        return frozenset({*self.model.languages, "yue"})

    def read(self, text: str) -> TextReading:
        """The candidates of a text with the evidence for them; never raises."""
        text = without_addresses(text)
        return self._read(text, vote(utf16_units(text)))

    def _read(self, text: str, ballot: ScriptVote) -> TextReading:
        model = self.model.scripts.get(model_script(ballot.script or ""))
        if model is None:
            return TextReading(ballot)
        scores = model.scores(text)
        columns = _candidates(model, ballot)
        if not scores.n_features or not len(columns):
            return TextReading(ballot)
        raw = scores.whole.astype(np.float64)
        nats = raw / math.sqrt(scores.n_features) + self._prior(model)
        order = columns[np.argsort(-nats[columns], kind="stable")].tolist()
        if len(model.columns) < len(model.tags):
            firsts = {model.languages[at]: at for at in reversed(order)}
            order = [at for at in order if firsts[model.languages[at]] == at]
        codes = tuple(map(model.languages.__getitem__, order))
        known = self._known(model.typical[order[0]], raw[order[:2]], scores.n_features)
        if codes[0] == "zh" and _is_cantonese(text):
            codes = ("yue", *codes[1:])
        return TextReading(ballot, codes, nats[order], known, scores)

    def rank(self, text: str) -> Ranking:
        """The languages of the winning script by probability; empty if none is known."""
        return self.read(text).ranking()

    def shares(self, text: str, main: str) -> tuple[tuple[str, float], ...]:
        """The parts of a text's letters in each language, the largest first; they sum to 1.

        A piece without clear evidence for another language counts as the main one. Of another
        script each part counts as its first language. Empty without evidence.
        """
        reading = self.read(text)
        ballot = reading.ballot
        if not reading.codes:
            return ()
        found: dict[str, float] = {}
        for code, share in self._shares(reading, main):
            found[code] = found.get(code, 0.0) + share * ballot.share
        for script, letters in ballot.others:
            if letters >= _SHARE * ballot.letters:
                share = letters / ballot.letters
                other = self._read(without_addresses(text), ScriptVote(script, share, letters))
                code = other.codes[0] if other.codes and other.known > 0 else main
                found[code] = found.get(code, 0.0) + share
        total = sum(found.values()) or 1.0
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return tuple((code, share / total) for code, share in ordered)

    def _shares(self, reading: TextReading, main: str) -> Iterator[tuple[str, float]]:
        """The parts of the letters of the winning script."""
        scores, model = reading.scores, self._model(reading)
        if scores is None or model is None or main not in model.languages:
            yield main, 1.0
            return
        lengths = np.sqrt(np.maximum(scores.features, 1))[:, None]
        values = scores.pieces / lengths + self._prior(model)
        leads = values.max(axis=1) - values[:, model.columns[main]].max(axis=1)
        total = max(int(scores.letters.sum()), 1)
        foreign = np.flatnonzero(leads > _PIECE_LEAD)
        for at, best in zip(foreign, values[foreign].argmax(axis=1), strict=True):
            yield model.languages[best], int(scores.letters[at]) / total
        yield main, (total - int(scores.letters[foreign].sum())) / total

    def _model(self, reading: TextReading) -> ScriptModel | None:
        return self.model.scripts.get(model_script(reading.ballot.script or ""))

    def _known(self, typical: float, raw: Values, n_features: int) -> float:
        """Log-odds that the first of two languages is right, from the nats of both."""
        lead = (raw[0] - raw[1]) / n_features if len(raw) > 1 else typicality.MAX_LEAD
        deficit = float(typical) - raw[0] / n_features
        odds = typicality.log_odds(self.model.typicality, deficit, float(lead), n_features)
        return _TRANSFER * (odds + _WEB)

    def _prior(self, model: ScriptModel) -> Values:
        """Nats for each column of a script by the size of its Web, (n_tags,)."""
        if model.script not in self._priors:
            twins = _SMALLER_TWINS if model.script == "Latn" else {}
            self._priors[model.script] = np.array(
                [-_RARE * is_rare(code) - twins.get(code, 0.0) for code in model.languages]
            )
        return self._priors[model.script]


def model_script(script: str) -> str:
    """The script of the model that reads a script; Chinese and Japanese are read by one."""
    return "Hani" if script == "Jpan" else script


def _candidates(model: ScriptModel, ballot: ScriptVote) -> npt.NDArray[np.intp]:
    """The columns of the languages that a text may be in."""
    if ballot.script == "Jpan":
        return np.array(model.columns.get("ja", []), np.intp)
    if ballot.script == "Hani" and ballot.letters >= _SURE_HAN:
        return np.array([at for at, code in enumerate(model.languages) if code != "ja"], np.intp)
    return np.arange(len(model.tags))


def _is_cantonese(text: str) -> bool:
    found = sum(text.count(sign) for sign in _CANTONESE)
    return found > max(2, _CANTONESE_SHARE * len(text))


def is_rare(language: str) -> bool:
    """Whether a language has a small Web."""
    return language not in _common()


@cache
def _common() -> frozenset[str]:
    return WITH_PROFILE | _SIZEABLE | frozenset(SINGLE_SCRIPTS.values())


@cache
def shipped_engine() -> LangfocusEngine:
    """The engine with the model that ships; one for each process."""
    return LangfocusEngine()
