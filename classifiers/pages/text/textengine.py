"""The default reader of texts: n-grams that are more likely in a language than in its script.

For each script there is a table of its languages. A value is the logarithm of
P(n-gram | language) / P(n-gram | script), where the probability in a script is the mean of its
languages: multinomial naive Bayes with Dirichlet smoothing toward the script. The sum over a text
is the evidence for a language in nats. Divided by the number of n-grams it also tells whether the
text is in any of the languages: a text in an unknown language is no more likely than its script.
The size of a language's Web is the prior. The probabilities are right on texts of all lengths
(`langfocus evaluate`, docs/research/page-identification.md).

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
"""Languages whose texts can hardly be told apart in the Latin script."""
HAN_LANGUAGES: Final = frozenset({"ja", "yue", "zh"})
_SMALLER_TWINS: Final = {"bs": 0.7, "ms": 1.8, "nn": 1.0, "sr": 0.3}
"""Twins with the smaller Web in Latin letters -> nats against them."""
_TRANSFER: Final = 0.35
"""Factor of the log-odds that a text is in a known language: pages of the Web differ more from the
learned texts than these differ from each other."""
_WEB: Final = 3.9
"""Log-odds by which texts in known languages are more frequent on the Web than in the training."""
_BY_LETTERS: Final = 3.0
"""Log-odds that a text is in the one language of its script, if the model lacks the script."""
_BY_WORDS: Final = frozenset({"bs", "hr", "sr"})
_NATS_OF_WORD: Final = 3.0
"""Nats of a word for each of these languages that has it."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_CANTONESE: Final = "嘅咗喺哋啲咁嘢畀"
"""Signs of written Cantonese that Standard Chinese hardly uses, and Gan and Hakka neither."""
_CANTONESE_SHARE: Final = 0.01
"""Share of these signs in a text from which it is Cantonese."""

_AGAIN: Final = 0.1
"""Share of the main text after its beginning that may be in the language of the beginning."""

_ADDRESS: Final = re.compile(
    r"https?://[-_.?&~;+=/#0-9A-Za-z]{1,2076}|[-_.0-9A-Za-z]{1,64}@[-_.0-9A-Za-z]{1,255}"
)

FORMAT: Final = 3
"""Increased when the features or the values change."""
SHIPPED: Final = arrayfile.MODELS / "text-v3.npz"
N_TYPICALITY: Final = 6
"""Coefficients of the probability that a text is in a known language."""
MAX_LEAD: Final = 0.7
"""Lead over the second language, in nats of an n-gram, that counts at most."""
MAX_DEFICIT: Final = 4.0
"""Nats of an n-gram below a typical text that count at most."""

_PARTS: Final = ("tags", "codes", "scale", "floors", "typical")


def language_of(tag: str) -> str:
    """The language of a column: `zh` of `zh-Hant`."""
    return tag.partition("-")[0]


@dataclass
class ScriptModel:
    """The languages of one script."""

    script: str
    """The winner of a vote; `Hani` for Chinese and Japanese."""
    tags: tuple[str, ...]
    """The columns: codes of languages, some with a variety (`zh-Hant`)."""
    codes: Codes
    """Roots of the values beyond the floor, (n_buckets, n_tags)."""
    scale: float
    """Nats of a squared code."""
    floors: Floats
    """Nats of an n-gram that a language does not have, (n_tags,)."""
    typical: Floats
    """Mean nats of an n-gram in texts of the language, (n_tags,)."""

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Return the language of each column."""
        return tuple(map(language_of, self.tags))

    @cached_property
    def table(self) -> Codes:
        """The table that `classifiers.weights.sum_rows` reads; in memory once, with the codes."""
        table = table_of(self.codes.T)
        self.codes = table[:-1, : self.codes.shape[1]]
        return table

    @property
    def bits(self) -> int:
        """Return the binary logarithm of the number of buckets."""
        return len(self.codes).bit_length() - 1


@dataclass(frozen=True)
class TextModel:
    """The models of all scripts."""

    scripts: Mapping[str, ScriptModel]
    typicality: Values
    """Coefficients of `typicality_facts`, (N_TYPICALITY,)."""
    facts: dict[str, Any] = field(default_factory=dict)
    """About the training; `languages` maps each code to the facts about it."""

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Return the codes of all languages, sorted."""
        found = {code for model in self.scripts.values() for code in model.languages}
        return tuple(sorted(found))

    def save(self, path: Path) -> None:
        """Write the file; the same model gives the same bytes."""
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
    """What tells whether texts are in a known language at all, (n_texts, N_TYPICALITY).

    `deficit` is how many nats an n-gram in the third of a text that is most like its first language
    lacks compared with typical texts of it, `lead` how many an n-gram of the whole text has more
    for the first language than for the second, (n_texts,) each. A text in an unknown language,
    program code or random letters lacks the nats, the lead or both; of a text in a known language
    names and foreign words fill two thirds at most. A logistic regression on cross-validated texts
    weighs these facts.
    """
    size = np.log(np.maximum(n_features, 1))
    lacking = np.clip(deficit, -MAX_DEFICIT, MAX_DEFICIT)
    ahead = np.minimum(lead, MAX_LEAD)
    return np.stack((np.ones_like(size), lacking, ahead, size, lacking * size, ahead * size), 1)


def load(path: Path | None = None) -> TextModel:
    """The model in a file, or the one that ships; ModelError if it cannot be read."""
    path = SHIPPED if path is None else Path(path)
    head = arrayfile.read_arrays(path, "format", "scripts", "typicality", "facts")
    if head["format"].shape != () or int(head["format"]) != FORMAT:
        found = head["format"]
        raise ModelError(f"{path}: model format {found}, this version reads {FORMAT}; train anew")
    names = [str(script) for script in head["scripts"].ravel()]
    arrays = arrayfile.read_arrays(path, *(f"{part}_{each}" for each in names for part in _PARTS))
    scripts = {}
    for each in names:
        tags, codes, scale, floors, typical = (arrays[f"{part}_{each}"] for part in _PARTS)
        nats = float(scale) if scale.shape == () else 0.0
        columns = tuple(map(str, tags.ravel()))
        scripts[each] = ScriptModel(each, columns, codes, nats, floors, typical)
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
        and all(each.shape == (n_tags,) and each.dtype == np.float32 for each in columns)
        and all(np.isfinite(each).all() for each in columns)
    )


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
    parts: Mapping[str, float] = field(default_factory=dict)
    """Language -> share of the main text whose pieces name it, if the pieces name several."""
    opening: tuple[str, float] = ("", 0.0)
    """The language of the beginning of the main text and its share, if the rest is in another."""

    @property
    def twins(self) -> frozenset[str]:
        """The languages that can hardly be told from the first one."""
        groups = (*TWINS, *([HAN_LANGUAGES] if self.ballot.is_open else []))
        first = self.codes[0] if self.codes else None
        return next((group - {first} for group in groups if first in group), frozenset())

    def behind(self, code: str) -> float:
        """Nats by which a language is behind the first one; 0 if it is no candidate."""
        return float(self.nats[0] - self.nats[self.codes.index(code)]) if code in self.codes else 0


class LangfocusEngine(RankingMethod):
    """The text model with priors, deterministic; 0.15 ms for 2,000 characters."""

    name = "text"

    def __init__(self, model: TextModel | Path | None = None) -> None:
        self.model = model if isinstance(model, TextModel) else load(model)
        self._tables: dict[str, Table] = {}
        super().__init__((*self.model.languages, "yue"))

    def read(self, text: str, prose: str = "", only: str = "", without: str = "") -> TextReading:
        """The candidates of a text with the evidence for them; never raises.

        `prose` are the lines of the text that are its main text. Where the text around it is in
        another language, it counts for a fifth. With `only`, the main text that names another
        language and the text around it are left out; with `without`, those that name this one.
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
        known, nats = self._known(float(model.typical[sums.order[0]]), sums), sums.nats
        if codes[0] == "zh" and _is_cantonese(text):
            codes = ("yue", *codes[1:])
        elif codes[0] in _BY_WORDS and ballot.script == "Latn":
            codes, nats = _by_words(prose or text, codes, nats)
        named = list(map(model.languages.__getitem__, sums.parts.tolist()))
        parts = merged(zip(named, sums.shares.tolist(), strict=True))
        opening = _opening(named[: sums.n_main], sums.shares.tolist())
        return TextReading(ballot, codes, nats, known, dict(parts), opening)

    def rank(self, text: str) -> Ranking:
        """The candidates of a text with their probabilities, best first.

        They sum to the probability that the text is in a known language. Empty if that is less
        than a half.
        """
        reading = self.read(text)
        if not reading.codes or reading.known < 0:
            return []
        chances = np.exp(reading.nats - reading.nats[0])
        chances /= chances.sum() * (1 + math.exp(-reading.known))
        return list(zip(reading.codes, chances.tolist(), strict=True))

    def _known(self, typical: float, sums: Sums) -> float:
        """Log-odds that the first language is right, whose n-grams have `typical` nats."""
        whole, n_features = sums.whole.tolist(), sums.n_features
        lead = (whole[0] - whole[1]) / n_features if len(whole) > 1 else MAX_LEAD
        lacking = max(-MAX_DEFICIT, min(typical - sums.best, MAX_DEFICIT))
        ahead, size = min(lead, MAX_LEAD), math.log(n_features)
        row = (1.0, lacking, ahead, size, lacking * size, ahead * size)  # `typicality_facts`
        odds = math.fsum(map(operator.mul, row, self.model.typicality.tolist()))
        return _TRANSFER * (odds + _WEB)

    def _table(self, model: ScriptModel) -> Table:
        """A script as the compiled code reads it, with nats by the size of a language's Web."""
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
    """The language of the first pieces, if hardly a later one is in it, and their share of all."""
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
    """The script of the model that reads a script; Chinese and Japanese are read by one."""
    return "Hani" if script == "Jpan" else script


def _candidates(model: ScriptModel, ballot: ScriptVote) -> Flags:
    """Whether each column is a language that a text may be in, (n_tags,)."""
    if not ballot.own_signs:
        return np.ones(len(model.tags), np.bool_)
    return np.array([(code == "ja") == (ballot.script == "Jpan") for code in model.languages])


def _units(text: str) -> Units:
    """A text as the model reads it, without addresses, which are in no language."""
    if "@" in text or "://" in text:
        text = _ADDRESS.sub(" ", text)
    return textgrams.units(text)


def _without(text: str, lines: str) -> str:
    """A text without some of its lines."""
    for line in lines.split("\n"):
        text = text.replace(line, " ", 1)
    return text


@cache
def _words_of_twins() -> dict[str, str]:
    """Word -> the languages, of those in `_BY_WORDS`, that have it."""
    table = rows("twin-words.txt")
    return {word: codes for codes, words in table.items() for word in words.split()}


def _by_words(text: str, codes: tuple[str, ...], nats: Values) -> tuple[tuple[str, ...], Values]:
    """The candidates with the evidence of words that one or two of some near languages have."""
    table = _words_of_twins()
    own = [table[word] for word in {*_WORD.findall(text.lower())} if word in table]
    if not own:
        return codes, nats
    added = [_NATS_OF_WORD * sum(code in each.split() for each in own) for code in codes]
    total = nats + np.array(added)
    order = np.argsort(-total, kind="stable")
    return tuple(codes[at] for at in order), total[order] - (total[order[0]] - nats[0])


def _is_cantonese(text: str) -> bool:
    found = [text.count(sign) for sign in _CANTONESE]
    return sum(found) > max(2, _CANTONESE_SHARE * len(text)) and found.count(0) < len(found) - 1


@cache
def shipped_engine() -> LangfocusEngine:
    """The engine with the model that ships; one for each process."""
    return LangfocusEngine()


def known_languages(path: Path = SHIPPED) -> dict[str, dict[str, Any]]:
    """What a text model was trained and measured on, by the code of each language.

    `sentences` is the number of texts that it learned from, 0 for Cantonese, which is known by its
    own signs; `scripts` are those of the texts. `sentence` and `page` are the percentages of right
    answers on single sentences and on pages of 20 sentences that a model had not learned, None if
    that was not measured. Raises ModelError for a file that is damaged.
    """
    facts = json.loads(str(arrayfile.read_arrays(path, "facts")["facts"]))["languages"]
    cantonese = {"sentences": 0, "scripts": ["Hani"], "sentence": None, "page": None}
    return dict(sorted(facts.items())) | {"yue": cantonese}
