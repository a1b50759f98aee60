"""Default text engine: n-grams more likely in a language than in the language's script.

Each script has a table of languages. A value is the logarithm of P(n-gram | language) / P(n-gram |
script), where the script's probability is the mean over the script's languages: multinomial naive
Bayes with Dirichlet smoothing toward the script. The sum over a text is a language's evidence in
nats. The mean per n-gram also indicates an unknown language: text in an unknown language is no more
likely than the script. The prior is the size of a language's Web. Probabilities are calibrated for
texts of any length (`langfocus evaluate`, docs/research/page-identification.md).

Values have one byte. `classifiers.training.texts` trains the model.
"""

import json
import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from langfocus.classifiers import arrayfile
from langfocus.classifiers.errors import ModelError
from langfocus.classifiers.pages.method import Ranking, RankingMethod, merged
from langfocus.classifiers.pages.text import textgrams
from langfocus.classifiers.pages.text.scripts import SINGLE_SCRIPTS, ScriptVote, vote
from langfocus.classifiers.pages.text.textgrams import Flags, Sums, Table, Units, Values
from langfocus.classifiers.tables import rows
from langfocus.classifiers.weights import Codes, Floats, table_of

_RARE: Final = 1.0
"""Nats against a language with a small Web."""
COMMON: Final = frozenset(SINGLE_SCRIPTS.values()) - {"mni"} | frozenset(
    (
        "af ar az be bg bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu id is it kk ky"
        " lt lv mk mn mr ms ne nl no pl pt ro ru sk sl so sq sr sv sw th tl tr uk ur uz vi"
    ).split()
)
"""Languages whose Web is not small."""
TWINS: Final = (frozenset({"bs", "hr", "sr"}), frozenset({"nn", "no"}), frozenset({"id", "ms"}))
"""Languages hardly distinguishable in the Latin script."""
HAN_LANGUAGES: Final = frozenset({"ja", "yue", "zh"})
_SMALLER_TWINS: Final = {"bs": 0.7, "ms": 1.8, "nn": 1.0, "sr": 0.3}
"""Twins with the smaller Web in Latin letters -> nats against the twin."""
_TRANSFER: Final = 0.35
"""Factor on the log-odds of a known language: Web pages differ more from the training texts than
the training texts from each other."""
_WEB: Final = 3.9
"""Log-odds by which texts in known languages are more frequent on the Web than in training."""
_BY_LETTERS: Final = 3.0
"""Log-odds of a single-script language, if the model lacks the script."""
_BY_WORDS: Final = frozenset({"bs", "hr", "sr"})
_NATS_OF_WORD: Final = 3.0
"""Nats per distinctive word, for each language in `_BY_WORDS` with the word."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_CANTONESE: Final = "嘅咗喺哋啲咁嘢畀"
"""Signs of written Cantonese that are rare in Standard Chinese, and in Gan and Hakka."""
_CANTONESE_SHARE: Final = 0.01
"""Least share of Cantonese signs in Cantonese text."""

_AGAIN: Final = 0.1
"""Share of the main text after the opening that may be in the opening's language."""

_ADDRESS: Final = re.compile(
    r"https?://[-_.?&~;+=/#0-9A-Za-z]{1,2076}|[-_.0-9A-Za-z]{1,64}@[-_.0-9A-Za-z]{1,255}"
)

FORMAT: Final = 3
"""Increased when the features or the values change."""
SHIPPED: Final = arrayfile.MODELS / "text-v3.npz"
N_TYPICALITY: Final = 6
"""Coefficients for the probability of a known language."""
MAX_LEAD: Final = 0.7
"""Largest lead over the second language that counts, in nats per n-gram."""
MAX_DEFICIT: Final = 4.0
"""Largest deficit against a typical text that counts, in nats per n-gram."""

_PARTS: Final = ("tags", "codes", "scale", "floors", "typical")


def language_of(tag: str) -> str:
    """Return the language of a column: `zh` for `zh-Hant`."""
    return tag.partition("-")[0]


@dataclass
class ScriptModel:
    """The languages of a script."""

    script: str
    """Winning script of a vote; `Hani` for Chinese and Japanese."""
    tags: tuple[str, ...]
    """Columns: language codes, some with a variety (`zh-Hant`)."""
    codes: Codes
    """Roots of the values above the floor, (n_buckets, n_tags)."""
    scale: float
    """Nats per squared code."""
    floors: Floats
    """Nats of an n-gram absent from a language, (n_tags,)."""
    typical: Floats
    """Mean nats per n-gram in texts of the language, (n_tags,)."""

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Return the language per column."""
        return tuple(map(language_of, self.tags))

    @cached_property
    def table(self) -> Codes:
        """Return the table for `classifiers.weights.sum_rows`; in memory once, with the codes."""
        table = table_of(self.codes.T)
        self.codes = table[:-1, : self.codes.shape[1]]
        return table

    @property
    def bits(self) -> int:
        """Return the base-2 logarithm of `n_buckets`."""
        return len(self.codes).bit_length() - 1


@dataclass(frozen=True)
class TextModel:
    """Script models and the typicality regression."""

    scripts: Mapping[str, ScriptModel]
    typicality: Values
    """Coefficients of `typicality_facts`, (N_TYPICALITY,)."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Facts about the training; `languages` maps each code to the language's facts."""

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Return the language codes, sorted."""
        codes = {code for model in self.scripts.values() for code in model.languages}
        return tuple(sorted(codes))

    def save(self, path: Path) -> None:
        """Write the model file; equal models produce equal bytes."""
        arrays: dict[str, Any] = {}
        for script, model in sorted(self.scripts.items()):
            arrays[f"tags_{script}"] = np.array(model.tags)
            arrays[f"codes_{script}"] = np.ascontiguousarray(model.codes)
            arrays[f"scale_{script}"] = np.float64(model.scale)
            arrays[f"floors_{script}"] = model.floors
            arrays[f"typical_{script}"] = model.typical
        arrayfile.write_arrays(
            path,
            format=np.int64(FORMAT),
            scripts=np.array(sorted(self.scripts)),
            typicality=self.typicality,
            facts=np.array(json.dumps(self.facts, sort_keys=True)),
            **arrays,
        )


def typicality_facts(deficit: Values, lead: Values, n_features: Values) -> Values:
    """Return the evidence for a known language, (n_texts, N_TYPICALITY).

    `deficit`: nats per n-gram missing in the most similar third of a text, against typical texts of
    the first language. `lead`: nats per n-gram of the whole text by which the first language leads
    the second. Both are (n_texts,). A text in an unknown language, program code or random letters
    lacks the nats, the lead or both; in a known language, names and foreign words fill two thirds
    at most. A logistic regression on cross-validated texts weighs these facts.
    """
    size = np.log(np.maximum(n_features, 1))
    lacking = np.clip(deficit, -MAX_DEFICIT, MAX_DEFICIT)
    ahead = np.minimum(lead, MAX_LEAD)
    return np.stack((np.ones_like(size), lacking, ahead, size, lacking * size, ahead * size), 1)


def load(path: Path | None = None) -> TextModel:
    """Load a model file; None loads the shipped model. Raises ModelError for an unreadable file."""
    path = SHIPPED if path is None else Path(path)
    head = arrayfile.read_arrays(path, "format", "scripts", "typicality", "facts")
    if head["format"].shape != () or int(head["format"]) != FORMAT:
        version = head["format"]
        raise ModelError(f"{path}: model format {version}, this version reads {FORMAT}; train anew")
    names = [str(script) for script in head["scripts"].ravel()]
    arrays = arrayfile.read_arrays(path, *(f"{part}_{name}" for name in names for part in _PARTS))
    scripts = {}
    for name in names:
        tags, codes, scale, floors, typical = (arrays[f"{part}_{name}"] for part in _PARTS)
        nats = float(scale) if scale.shape == () else 0.0
        columns = tuple(map(str, tags.ravel()))
        scripts[name] = ScriptModel(name, columns, codes, nats, floors, typical)
    typicality = head["typicality"]
    if typicality.shape != (N_TYPICALITY,) or not all(map(_fits, scripts.values())):
        raise ModelError(f"{path}: not a text model: its arrays do not fit together")
    return TextModel(scripts, typicality.astype(np.float64), json.loads(str(head["facts"])))


def _fits(model: ScriptModel) -> bool:
    codes = model.codes
    n_buckets, n_tags = codes.shape if codes.ndim == 2 else (0, 0)
    columns = (model.floors, model.typical)
    return bool(
        codes.dtype == np.int8
        and 0 < n_tags == len(model.tags)
        and 1 << 4 <= n_buckets <= 1 << 24
        and n_buckets.bit_count() == 1
        and 0 < model.scale < np.inf
        and all(values.shape == (n_tags,) and values.dtype == np.float32 for values in columns)
        and all(np.isfinite(values).all() for values in columns)
    )


@dataclass(frozen=True)
class TextReading:
    """Evidence for the candidate languages of a text, best first."""

    ballot: ScriptVote
    codes: tuple[str, ...] = ()
    """Candidate languages; empty without evidence."""
    nats: Values = field(default_factory=lambda: np.zeros(0))
    """Evidence per candidate, (n_candidates,)."""
    known: float = 0.0
    """Log-odds that the text is in a known language."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Language -> main text share of the pieces in the language, if the pieces differ in language.
    """
    opening: tuple[str, float] = ("", 0.0)
    """Language and share of the main text's opening, if the rest is in another language."""

    @property
    def twins(self) -> frozenset[str]:
        """Return the languages hardly distinguishable from the first."""
        groups = (*TWINS, *([HAN_LANGUAGES] if self.ballot.is_open else []))
        first = self.codes[0] if self.codes else None
        return next((group - {first} for group in groups if first in group), frozenset())

    def behind(self, code: str) -> float:
        """Return the nats by which a language trails the first; 0 if not a candidate."""
        return float(self.nats[0] - self.nats[self.codes.index(code)]) if code in self.codes else 0


class LangfocusEngine(RankingMethod):
    """The text model with priors, deterministic; 0.15 ms for 2,000 characters."""

    name = "text"

    def __init__(self, model: TextModel | Path | None = None) -> None:
        self.model = model if isinstance(model, TextModel) else load(model)
        self._tables: dict[str, Table] = {}
        super().__init__((*self.model.languages, "yue"))

    def read(self, text: str, prose: str = "", only: str = "", without: str = "") -> TextReading:
        """Return a text's candidates with evidence; never raises.

        `prose` are the lines of the main text. Surrounding text in another language counts a fifth.
        `only` leaves out main text and surrounding text identified as another language; `without`
        leaves out text identified as the given language.
        """
        rest = _units(_without(text, prose) if prose else "")
        main = _units(prose or text)
        ballot = vote(main, rest)
        model = self.model.scripts.get(model_script(ballot.script or ""))
        if model is None:
            own = SINGLE_SCRIPTS.get(ballot.script or "")
            return (
                TextReading(ballot, (own,), np.zeros(1), _BY_LETTERS)
                if own
                else TextReading(ballot)
            )
        is_read = np.ones(len(model.tags), np.bool_)
        if only or without:
            is_read[:] = [only in {"", code} and code != without for code in model.languages]
        sums = textgrams.read(main, rest, self._table(model), _candidates(model, ballot), is_read)
        if not sums.n_features or not len(sums.order):
            return TextReading(ballot)
        codes = tuple(map(model.languages.__getitem__, sums.order.tolist()))
        known, nats = self._known(float(model.typical[sums.order[0]]), sums), sums.nats[sums.order]
        if codes[0] == "zh" and _is_cantonese(text):
            codes = ("yue", *codes[1:])
        elif codes[0] in _BY_WORDS and ballot.script == "Latn":
            codes, nats = _by_words(prose or text, codes, nats)
        named = list(map(model.languages.__getitem__, sums.parts.tolist()))
        parts = merged(zip(named, sums.shares.tolist(), strict=True))
        opening = _opening(named[: sums.n_main], sums.shares.tolist())
        return TextReading(ballot, codes, nats, known, dict(parts), opening)

    def rank(self, text: str) -> Ranking:
        """Rank the candidates by probability, best first.

        The probabilities sum to the probability of a known language. Empty below one half.
        """
        reading = self.read(text)
        if not reading.codes or reading.known < 0:
            return []
        chances = np.exp(reading.nats - reading.nats[0])
        chances /= chances.sum() * (1 + math.exp(-reading.known))
        return list(zip(reading.codes, chances.tolist(), strict=True))

    def _known(self, typical: float, sums: Sums) -> float:
        """Return the log-odds that the first language is right; its n-grams have `typical` nats."""
        whole, n_features = sums.whole[sums.order[:2]].tolist(), sums.n_features
        lead = (whole[0] - whole[1]) / n_features if len(whole) > 1 else MAX_LEAD
        lacking = max(-MAX_DEFICIT, min(typical - sums.best, MAX_DEFICIT))
        ahead, size = min(lead, MAX_LEAD), math.log(n_features)
        row = (1.0, lacking, ahead, size, lacking * size, ahead * size)  # `typicality_facts`
        odds = math.fsum(map(operator.mul, row, self.model.typicality.tolist()))
        return _TRANSFER * (odds + _WEB)

    def _table(self, model: ScriptModel) -> Table:
        """Return a script model in the layout of the compiled code, with a prior by Web size."""
        if model.script not in self._tables:
            twins = _SMALLER_TWINS if model.script == "Latn" else {}
            codes = model.languages
            prior = [-_RARE * (code not in COMMON) - twins.get(code, 0.0) for code in codes]
            self._tables[model.script] = Table(
                textgrams.kinds(model.script),
                model.bits,
                model.table,
                model.scale,
                model.floors,
                np.array(prior, np.float64),
                np.array([codes.index(code) for code in codes], np.int32),
            )
        return self._tables[model.script]


def _opening(named: Sequence[str], shares: Sequence[float]) -> tuple[str, float]:
    """Return language and share of the first pieces, if hardly any later piece agrees."""
    length = next((at for at, code in enumerate(named) if code != named[0]), len(named))
    again = math.fsum(
        share
        for code, share in zip(named[length:], shares[length:], strict=False)
        if code == named[0]
    )
    share, whole = math.fsum(shares[:length]), math.fsum(shares[: len(named)])
    if length == len(named) or again > _AGAIN * (whole - share):
        return "", 0.0
    return named[0], share / whole


def model_script(script: str) -> str:
    """Return the script of the model for a script; Chinese and Japanese share a model."""
    return "Hani" if script == "Jpan" else script


def _candidates(model: ScriptModel, ballot: ScriptVote) -> Flags:
    """Return for each column whether the language is a candidate, (n_tags,)."""
    if not ballot.own_signs:
        return np.ones(len(model.tags), np.bool_)
    return np.array([(code == "ja") == (ballot.script == "Jpan") for code in model.languages])


def _units(text: str) -> Units:
    """Return the text's code units without addresses, which are in no language."""
    if "@" in text or "://" in text:
        text = _ADDRESS.sub(" ", text)
    return textgrams.units(text)


def _without(text: str, lines: str) -> str:
    """Remove lines from a text."""
    for line in lines.split("\n"):
        text = text.replace(line, " ", 1)
    return text


@cache
def _words_of_twins() -> dict[str, str]:
    """Return word -> languages in `_BY_WORDS` with the word."""
    table = rows("twin-words.txt")
    return {word: codes for codes, words in table.items() for word in words.split()}


def _by_words(text: str, codes: tuple[str, ...], nats: Values) -> tuple[tuple[str, ...], Values]:
    """Add the evidence of words that only some twin languages use, and rank the candidates anew."""
    table = _words_of_twins()
    own = [table[word] for word in {*_WORD.findall(text.lower())} if word in table]
    if not own:
        return codes, nats
    added = [_NATS_OF_WORD * sum(code in users.split() for users in own) for code in codes]
    total = nats + np.array(added)
    order = np.argsort(-total, kind="stable")
    return tuple(codes[at] for at in order), total[order] - (total[order[0]] - nats[0])


def _is_cantonese(text: str) -> bool:
    counts = [text.count(sign) for sign in _CANTONESE]
    return sum(counts) > max(2, _CANTONESE_SHARE * len(text)) and counts.count(0) < len(counts) - 1


@cache
def shipped_engine() -> LangfocusEngine:
    """Return the engine with the shipped model; one per process."""
    return LangfocusEngine()


def known_languages(path: Path = SHIPPED) -> dict[str, dict[str, Any]]:
    """Return training and test facts of a text model, by language code.

    `sentences` is the number of training texts, 0 for Cantonese, which is identified by distinctive
    signs; `scripts` are the scripts of the texts. `sentence` and `page` are the percentages of
    right answers on single unseen sentences and on unseen pages of 20 sentences, None if
    unmeasured. Raises ModelError for a damaged file.
    """
    facts = json.loads(str(arrayfile.read_arrays(path, "facts")["facts"]))["languages"]
    cantonese = {"sentences": 0, "scripts": ["Hani"], "sentence": None, "page": None}
    return dict(sorted(facts.items())) | {"yue": cantonese}
