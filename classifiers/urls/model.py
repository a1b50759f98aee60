"""URL model: a binary classifier per language, and the choice of a single language.

The model file is an .npz of plain arrays, read without unpickling. A process scores the first URLs
in Python; then numba compiles the same code or loads the cache.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from langfocus.classifiers import arrayfile
from langfocus.classifiers.errors import LanguageError, ModelError
from langfocus.classifiers.urls.batch import encode, plain, unaddressed
from langfocus.classifiers.urls.plugin_models import URL_MODELS, PluginModel
from langfocus.classifiers.urls.posteriors import NO_HOSTS, Evidence, Hosts, Prior
from langfocus.classifiers.urls.scoring import Weights, best_of, score_many
from langfocus.classifiers.weights import table_of

FORMAT: Final = 3
"""Increased when the features change: old weights do not fit new features."""
SHIPPED: Final = arrayfile.MODELS / "url-v3.npz"

_NAMES: Final = (
    "format languages weights scales intercepts facts"
    " named mixing evidence_intercepts clue_keys clue_nats"
).split()
_NO_HOSTS: Final[arrayfile.Arrays] = {
    f"host_{name}": empty for name, empty in NO_HOSTS._asdict().items()
}
"""Arrays that older models lack."""
_MIN_BITS, _MAX_BITS = 4, 24
_CHUNK: Final = 1024
"""URLs identified per batch, so that logits stay in the processor cache."""
_WORD: Final = re.compile(r"((?:[^\W\d_]|%[89A-Fa-f][0-9A-Fa-f])+)")
_NOTHING: Final = "0"
"""Stand-in for a removed word: neither a letter nor a sign around a word."""

Scores = npt.NDArray[np.float32]
Places = npt.NDArray[np.int16]


@dataclass(frozen=True)
class UrlLanguage:
    """The language that a URL suggests for the page."""

    language: str | None
    """The most probable language; None for a URL without evidence."""
    confidence: float
    """Probability of `language` under the prior; 0 if `language` is None."""
    scores: dict[str, float]
    """Decision value per language with a classifier; positive means Yes. Empty for an empty URL."""


@dataclass(frozen=True)
class Contribution:
    """A word's part in the decision value of a language."""

    text: str
    """The word in letters, percent-decoded."""
    weight: float
    """Decision value, minus the URL's decision value with every occurrence of the word removed."""


@dataclass
class UrlModel:
    """Linear one-vs-rest classifiers over hashed n-grams (Baykan 2013, 2.1 and 2.2)."""

    languages: tuple[str, ...]
    """Language codes, in the column order of `scores`."""
    codes: npt.NDArray[np.int8]
    """(n_languages, n_buckets), a power of two; a weight is code * abs(code) * scale.

    The weights of top-level domains are many times larger than the rest; even steps would round
    small weights to 0.
    """
    scales: Scores
    intercepts: Scores
    posterior: Evidence
    """Log-likelihood ratios from decision values and clues, for the choice of a single language."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Rows, sources and figures of the training."""

    @classmethod
    def load(cls, path: Path | None = None) -> UrlModel:
        """Load a model file; None loads the shipped model.

        Raises ModelError if the file is missing, damaged or of another format.
        """
        path = SHIPPED if path is None else Path(path)
        arrays = arrayfile.read_arrays(path, *_NAMES, optional=tuple(_NO_HOSTS))
        try:
            return _checked(arrays, path)
        except (ValueError, TypeError) as error:
            raise arrayfile.unreadable(path, error) from error

    def save(self, path: Path) -> None:
        """Write the model file; equal models produce equal bytes."""
        evidence = self.posterior
        width = len(evidence.languages) - evidence.n_added
        arrayfile.write_arrays(
            path,
            format=np.int64(FORMAT),
            languages=np.array(self.languages),
            weights=np.ascontiguousarray(self.codes),
            scales=self.scales,
            intercepts=self.intercepts,
            facts=np.array(json.dumps(self.facts, sort_keys=True)),
            named=np.array(evidence.languages[:width]),
            mixing=evidence.mixing[:, :width],
            evidence_intercepts=evidence.intercepts[:width],
            clue_keys=evidence.keys,
            clue_nats=evidence.nats[:, :width],
            **dict(zip(_NO_HOSTS, evidence.hosts, strict=True)),
        )

    @property
    def bits(self) -> int:
        """Return the base-2 logarithm of `n_buckets`."""
        return int(self.codes.shape[1]).bit_length() - 1

    @cached_property
    def version(self) -> str:
        """Return the format and a digest of the weights."""
        digest = hashlib.blake2b(self.codes.tobytes(), digest_size=4)
        evidence = self.posterior.mixing, self.posterior.nats, *self.posterior.hosts
        for numbers in (self.scales, self.intercepts, *evidence):
            digest.update(numbers.tobytes())
        return f"{FORMAT}-{digest.hexdigest()}"

    @property
    def named_languages(self) -> tuple[str, ...]:
        """Return every language the model can identify; `languages` come first."""
        return self.posterior.languages

    @cached_property
    def weights(self) -> Weights:
        """Return the classifier weights in the layout of the compiled code; in memory once."""
        bits, table = self.bits, table_of(self.codes)
        self.codes = table[:-1, : len(self.languages)].T
        return Weights(bits, table, self.scales, self.intercepts)

    def scores(self, urls: Sequence[str]) -> Scores:
        """Return decision values, (n_urls, n_languages); positive means Yes. Any text is a URL."""
        return score_many(encode(urls), len(urls), self.weights)

    def score(self, urls: Sequence[str], language: str) -> Scores:
        """Return decision values for a language, (n_urls,); LanguageError without a classifier."""
        if language not in self.languages:
            raise LanguageError(
                f"the URL model does not know {language!r}; it knows {', '.join(self.languages)}"
            )
        return self.scores(urls)[:, self.languages.index(language)]

    def identify(self, url: str, prior: Prior | None = None) -> UrlLanguage:
        """Identify the language of a URL; `identify_many` is far cheaper for many URLs."""
        return next(self.identify_many([url], prior))

    def identify_many(
        self, urls: Sequence[str], prior: Prior | None = None
    ) -> Iterator[UrlLanguage]:
        """Yield the language of each URL, in order; None is the default prior."""
        codes, confidences, scores = self._named(urls, prior)
        for row, at in enumerate(codes.tolist()):
            named = dict(zip(self.languages, scores[row].tolist(), strict=True))
            if at < 0:
                yield UrlLanguage(None, 0.0, named if urls[row].strip() else {})
            else:
                yield UrlLanguage(self.named_languages[at], float(confidences[row]), named)

    def name(self, urls: Sequence[str], prior: Prior | None = None) -> tuple[Places, Scores]:
        """Return indices into `named_languages`, -1 for none, and confidences, (n_urls,) each.

        The answers equal `identify_many`, without Python objects per URL.
        """
        codes, confidences = np.empty(len(urls), np.int16), np.empty(len(urls), np.float32)
        for first in range(0, len(urls), _CHUNK):
            rows = slice(first, first + _CHUNK)
            codes[rows], confidences[rows], _ = self._named(urls[rows], prior)
        return codes, confidences

    def shares(self, urls: Sequence[str], prior: Prior | None = None) -> Scores:
        """Return probabilities over `named_languages`, (n_urls, n_named); rows sum to 1."""
        logits, _ = self.posterior.logits(self.scores(urls), encode(urls), prior)
        logits = logits[:, : len(self.named_languages)]
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: Scores = powers / powers.sum(axis=1, keepdims=True)
        return result

    def explain(self, url: str, language: str | None = None, top: int = 10) -> list[Contribution]:
        """Return the words with the largest effect on a language's decision value.

        Each word is removed and the URL scored anew, so features need no names. The default
        language is the language with the highest score. A language without a classifier, identified
        by domains and codes alone, has no contributions.
        """
        if language is None:
            language = self.languages[int(self.scores([url])[0].argmax())]
        if language in self.named_languages and language not in self.languages:
            return []
        parts = _WORD.split(plain(url))
        words = list(dict.fromkeys(parts[1::2]))
        without = ["".join(_NOTHING if part == word else part for part in parts) for word in words]
        whole, *others = self.score(["".join(parts), *without], language).tolist()
        contributions = [
            Contribution(unquote(word, errors="replace"), whole - other)
            for word, other in zip(words, others, strict=True)
            if other != whole
        ]
        return sorted(contributions, key=lambda word: (-abs(word.weight), word.text))[:top]

    def _named(self, urls: Sequence[str], prior: Prior | None) -> tuple[Places, Scores, Scores]:
        """Return each URL's language index, or -1, the probability, and the decision values."""
        points = encode(urls)
        scores = score_many(points, len(urls), self.weights)
        logits, has_evidence = self.posterior.logits(scores, points, prior)
        places, shares = best_of(logits)
        # Without features a decision value is the intercept, exactly.
        has_evidence |= (scores != self.intercepts).any(axis=1)
        has_evidence[unaddressed(urls)] = False
        places[~has_evidence], shares[~has_evidence] = -1, 0
        return places, shares, scores


@cache
def _shipped() -> UrlModel:
    return UrlModel.load()


def load_model(path: Path | None = None) -> UrlModel | PluginModel:
    """Return the URL model of a file or a plug-in's name, None: that which ships.

    Raises ModelError as `UrlModel.load`, and PluginError.
    """
    if path is None:
        return _shipped()
    if (plugin := URL_MODELS.plugin(str(path))) is None:
        return UrlModel.load(path)
    return PluginModel(plugin, URL_MODELS.load(plugin.name))


def _checked(arrays: arrayfile.Arrays, path: Path) -> UrlModel:
    """Build a model from arrays; ValueError for inconsistent arrays."""
    version = arrays["format"]
    if version.shape != () or version.dtype.kind != "i" or int(version) != FORMAT:
        raise ModelError(f"{path}: model format {version}, this version reads {FORMAT}; train anew")
    languages, named = (
        tuple(str(code) for code in arrays[name].ravel()) for name in ("languages", "named")
    )
    codes, keys, nats = (arrays[name] for name in ("weights", "clue_keys", "clue_nats"))
    arrays = _NO_HOSTS | arrays
    hosts = Hosts(*(arrays[name] for name in _NO_HOSTS))
    bits = codes.shape[-1].bit_length() - 1 if codes.ndim else 0
    shapes: dict[str, tuple[type[np.generic], tuple[int, ...]]] = {
        "weights": (np.int8, (len(languages), 1 << min(max(bits, _MIN_BITS), _MAX_BITS))),
        "scales": (np.float32, (len(languages),)),
        "intercepts": (np.float32, (len(languages),)),
        "mixing": (np.float32, (len(languages), len(named))),
        "evidence_intercepts": (np.float32, (len(named),)),
        "clue_keys": (np.uint64, (keys.size,)),
        "clue_nats": (np.float16, (keys.size, len(named))),
        "host_keys": (np.uint32, (hosts.keys.size,)),
        "host_languages": (np.uint8, (hosts.keys.size,)),
        "host_nats": (np.float16, (hosts.keys.size,)),
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
        raise ValueError("the clues are not sorted")
    if not (hosts.keys[1:] >= hosts.keys[:-1]).all() or hosts.keys.max(initial=0) >= 1 << 31:
        raise ValueError("the hosts are not sorted keys of 31 bits")
    posterior = Evidence(named, arrays["mixing"], arrays["evidence_intercepts"], keys, nats, hosts)
    posterior = posterior.widened()
    if hosts.languages.max(initial=0) >= len(posterior.languages):
        raise ValueError("a host is in a language that the model cannot name")
    facts = json.loads(str(arrays["facts"]))
    numbers = codes, arrays["scales"], arrays["intercepts"]
    return UrlModel(languages, *numbers, posterior, facts)
