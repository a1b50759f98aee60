"""The URL model: one binary classifier for each language, and how one language is named.

Its file is plain arrays in one .npz, read without unpickling. A process scores its first URLs in
Python; then numba compiles the same code or reads it from its cache.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from langfocus.classifiers import arrayfile
from langfocus.classifiers.errors import LanguageError, ModelError
from langfocus.classifiers.urls.batch import encode, plain, unaddressed
from langfocus.classifiers.urls.posteriors import Evidence, Prior
from langfocus.classifiers.urls.scoring import Weights, best_of, score_many
from langfocus.classifiers.weights import table_of

FORMAT: Final = 3
"""Increased when the features change: weights of other features are meaningless."""
SHIPPED: Final = arrayfile.MODELS / "url-v3.npz"

_NAMES: Final = (
    "format languages weights scales intercepts facts"
    " named mixing evidence_intercepts clue_keys clue_nats"
).split()
_MIN_BITS, _MAX_BITS = 4, 24
_CHUNK: Final = 1024
"""URLs that are named at a time: their logits stay in the cache."""
_WORD: Final = re.compile(r"((?:[^\W\d_]|%[89A-Fa-f][0-9A-Fa-f])+)")
_NOTHING: Final = "0"
"""Stands for a word that is left out: not a letter, and not a sign around a word."""

Scores = npt.NDArray[np.float32]
Places = npt.NDArray[np.int16]


@dataclass(frozen=True)
class UrlLanguage:
    """The language that a URL suggests for its page."""

    language: str | None
    """The most probable language; None for a URL without any evidence."""
    confidence: float
    """Its probability under the prior; 0 if `language` is None."""
    scores: dict[str, float]
    """Decision value of every language's classifier; positive means Yes. Empty for an empty URL."""


@dataclass(frozen=True)
class Contribution:
    """The part of a language's decision value that a word of a URL makes."""

    text: str
    """In letters, also where the URL has them percent-encoded."""
    weight: float
    """The decision value, less that of the URL without the word wherever it stands."""


@dataclass
class UrlModel:
    """Linear one-vs-rest classifiers over hashed n-grams (Baykan 2013, 2.1 and 2.2)."""

    languages: tuple[str, ...]
    """The codes of the languages, in the order of the columns of `scores`."""
    codes: npt.NDArray[np.int8]
    """(n_languages, n_buckets), a power of two; a weight is code * abs(code) * scale.

    The weights of top-level domains are many times the others; with even steps the others would be
    rounded to 0.
    """
    scales: Scores
    intercepts: Scores
    posterior: Evidence
    """How one language is named from all decision values and the clues of a URL."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Rows, sources and figures of the training."""

    @classmethod
    def load(cls, path: Path | None = None) -> UrlModel:
        """The model in a file, or the one that ships.

        ModelError if the file is missing, damaged or of another format.
        """
        path = SHIPPED if path is None else Path(path)
        arrays = arrayfile.read_arrays(path, *_NAMES)
        try:
            return _checked(arrays, path)
        except (ValueError, TypeError) as error:
            raise arrayfile.unreadable(path, error) from error

    def save(self, path: Path) -> None:
        """Write the model's file; the same model gives the same bytes."""
        arrayfile.write_arrays(
            path,
            format=np.int64(FORMAT),
            languages=np.array(self.languages),
            weights=np.ascontiguousarray(self.codes),
            scales=self.scales,
            intercepts=self.intercepts,
            facts=np.array(json.dumps(self.facts, sort_keys=True)),
            named=np.array(self.named_languages),
            mixing=self.posterior.mixing,
            evidence_intercepts=self.posterior.intercepts,
            clue_keys=self.posterior.keys,
            clue_nats=self.posterior.nats,
        )

    @property
    def bits(self) -> int:
        """Return the binary logarithm of the number of buckets."""
        return int(self.codes.shape[1]).bit_length() - 1

    @cached_property
    def version(self) -> str:
        """Return the format and a digest of the weights."""
        digest = hashlib.blake2b(self.codes.tobytes(), digest_size=4)
        for numbers in (self.scales, self.intercepts, self.posterior.mixing, self.posterior.nats):
            digest.update(numbers.tobytes())
        return f"{FORMAT}-{digest.hexdigest()}"

    @property
    def named_languages(self) -> tuple[str, ...]:
        """Return all languages that can be named: those of `languages` come first."""
        return self.posterior.languages

    @cached_property
    def weights(self) -> Weights:
        """The weights of all classifiers, as the compiled code reads them; in memory once."""
        bits, table = self.bits, table_of(self.codes)
        self.codes = table[:-1, : len(self.languages)].T
        return Weights(bits, table, self.scales, self.intercepts)

    def scores(self, urls: Sequence[str]) -> Scores:
        """Decision values, (n_urls, n_languages); positive means Yes. Any text is a URL."""
        return score_many(encode(urls), len(urls), self.weights)

    def score(self, urls: Sequence[str], language: str) -> Scores:
        """Decision values of one language, (n_urls,); LanguageError if it is not in the model."""
        if language not in self.languages:
            raise LanguageError(
                f"the URL model does not know {language!r}; it knows {', '.join(self.languages)}"
            )
        return self.scores(urls)[:, self.languages.index(language)]

    def identify(self, url: str, prior: Prior | None = None) -> UrlLanguage:
        """The language of one URL; for many URLs `identify_many` is far cheaper."""
        return next(self.identify_many([url], prior))

    def identify_many(
        self, urls: Sequence[str], prior: Prior | None = None
    ) -> Iterator[UrlLanguage]:
        """The language of each URL, in order; None is the default prior."""
        codes, confidences, scores = self._named(urls, prior)
        for row, at in enumerate(codes.tolist()):
            named = dict(zip(self.languages, scores[row].tolist(), strict=True))
            if at < 0:
                yield UrlLanguage(None, 0.0, named if urls[row].strip() else {})
            else:
                yield UrlLanguage(self.named_languages[at], float(confidences[row]), named)

    def name(self, urls: Sequence[str], prior: Prior | None = None) -> tuple[Places, Scores]:
        """Places in `named_languages`, -1 for no language, and confidences, (n_urls,) each.

        The same answers as those of `identify_many`, without Python objects for each URL.
        """
        codes, confidences = np.empty(len(urls), np.int16), np.empty(len(urls), np.float32)
        for first in range(0, len(urls), _CHUNK):
            rows = slice(first, first + _CHUNK)
            codes[rows], confidences[rows], _ = self._named(urls[rows], prior)
        return codes, confidences

    def shares(self, urls: Sequence[str], prior: Prior | None = None) -> Scores:
        """The probability of each of `named_languages`, (n_urls, n_named); rows sum to 1."""
        logits, _ = self.posterior.logits(self.scores(urls), encode(urls), prior)
        logits = logits[:, : len(self.named_languages)]
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: Scores = powers / powers.sum(axis=1, keepdims=True)
        return result

    def explain(self, url: str, language: str | None = None, top: int = 10) -> list[Contribution]:
        """The words of a URL that change the decision value of a language most.

        A word is left out, and the URL is scored again: no feature needs a name. Without a
        language, the one with the highest score. A language that has no classifier, and is named by
        its domains and codes alone, has no contributions.
        """
        if language is None:
            language = self.languages[int(self.scores([url])[0].argmax())]
        if language in self.named_languages and language not in self.languages:
            return []
        parts = _WORD.split(plain(url))
        words = list(dict.fromkeys(parts[1::2]))
        without = ["".join(_NOTHING if part == word else part for part in parts) for word in words]
        whole, *others = self.score(["".join(parts), *without], language).tolist()
        found = [
            Contribution(unquote(word, errors="replace"), whole - other)
            for word, other in zip(words, others, strict=True)
            if other != whole
        ]
        return sorted(found, key=lambda each: (-abs(each.weight), each.text))[:top]

    def _named(self, urls: Sequence[str], prior: Prior | None) -> tuple[Places, Scores, Scores]:
        """The place of the language of each URL, or -1, its probability, and all scores."""
        points = encode(urls)
        scores = score_many(points, len(urls), self.weights)
        logits, has_evidence = self.posterior.logits(scores, points, prior)
        places, shares = best_of(logits)
        # Without features a decision value is the intercept, exactly.
        has_evidence |= (scores != self.intercepts).any(axis=1)
        has_evidence[unaddressed(urls)] = False
        places[~has_evidence], shares[~has_evidence] = -1, 0
        return places, shares, scores


def _checked(arrays: arrayfile.Arrays, path: Path) -> UrlModel:
    """The model of some arrays; ValueError if they do not fit together."""
    found = arrays["format"]
    if found.shape != () or found.dtype.kind != "i" or int(found) != FORMAT:
        raise ModelError(f"{path}: model format {found}, this version reads {FORMAT}; train anew")
    languages, named = (
        tuple(str(code) for code in arrays[name].ravel()) for name in ("languages", "named")
    )
    codes, keys, nats = (arrays[name] for name in ("weights", "clue_keys", "clue_nats"))
    bits = codes.shape[-1].bit_length() - 1 if codes.ndim else 0
    shapes: dict[str, tuple[type[np.generic], tuple[int, ...]]] = {
        "weights": (np.int8, (len(languages), 1 << min(max(bits, _MIN_BITS), _MAX_BITS))),
        "scales": (np.float32, (len(languages),)),
        "intercepts": (np.float32, (len(languages),)),
        "mixing": (np.float32, (len(languages), len(named))),
        "evidence_intercepts": (np.float32, (len(named),)),
        "clue_keys": (np.uint64, (keys.size,)),
        "clue_nats": (np.float16, (keys.size, len(named))),
    }
    for name, (kind, shape) in shapes.items():
        array = arrays[name]
        if array.dtype != kind or array.shape != shape:
            raise ValueError(f"{name}: {array.dtype} {array.shape} for {kind.__name__} {shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: some numbers are not finite")
    if not languages or named[: len(languages)] != languages:
        raise ValueError("the named languages do not begin with those of the classifiers")
    if not (keys[1:] > keys[:-1]).all():
        raise ValueError("its clues are not sorted")
    posterior = Evidence(named, arrays["mixing"], arrays["evidence_intercepts"], keys, nats)
    facts = json.loads(str(arrays["facts"]))
    return UrlModel(languages, codes, arrays["scales"], arrays["intercepts"], posterior, facts)
