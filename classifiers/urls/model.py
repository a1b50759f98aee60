"""The URL model: one binary classifier for each language.

Loading reads arrays. At the first scores numba compiles its code or reads it from its cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from classifiers.errors import LanguageError
from classifiers.urls import modelfile
from classifiers.urls.batch import Batch, encode, unaddressed
from classifiers.urls.posteriors import Prior

if TYPE_CHECKING:
    from classifiers.urls.scoring import Weights

Scores = npt.NDArray[np.float32]

_CHUNK = 1024
"""URLs that are named at a time: their logits stay in the cache."""
_LEAST = 1e-13
"""The least probability that counts as evidence."""


@dataclass(frozen=True)
class UrlLanguage:
    """The language that a URL suggests for its page."""

    language: str | None
    """The most probable language; None for a URL without any evidence."""
    confidence: float
    """Its probability under the prior; 0 if `language` is None."""
    scores: dict[str, float]
    """Decision value of every language's classifier; positive means Yes. Empty for an empty URL."""


class UrlModel:
    """Linear one-vs-rest classifiers over hashed n-grams (Baykan 2013, 2.1 and 2.2)."""

    def __init__(self, parameters: modelfile.Parameters) -> None:
        self.parameters = parameters

    @classmethod
    def load(cls, path: Path | None = None) -> UrlModel:
        """The model in a file, or the one that ships; ModelError if it cannot be read."""
        return cls(modelfile.read(modelfile.SHIPPED if path is None else Path(path)))

    def save(self, path: Path) -> None:
        """Write the model's file; the same model gives the same bytes."""
        modelfile.write(self.parameters, path)

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the codes of the languages, in the order of the columns of `scores`."""
        return self.parameters.languages

    @cached_property
    def version(self) -> str:
        """Return the format and a digest of the weights."""
        return self.parameters.version

    @cached_property
    def weights(self) -> Weights:
        """The weights of all classifiers, as the compiled code reads them; in memory once."""
        from classifiers.urls.scoring import Weights  # numba takes half a second
        from classifiers.weights import table_of

        model, table = self.parameters, table_of(self.parameters.weights)
        self.parameters = replace(model, weights=table[:-1, : len(model.languages)].T)
        return Weights(model.bits, table, model.scales, model.intercepts)

    def scores(self, urls: Sequence[str]) -> Scores:
        """Decision values, (n_urls, n_languages); positive means Yes. Any text is a URL."""
        return self._scores(encode(urls))

    def score(self, urls: Sequence[str], language: str) -> Scores:
        """Decision values of one language, (n_urls,); LanguageError if it is not in the model."""
        if language not in self.languages:
            raise LanguageError(
                f"the URL model does not know {language!r}; it knows {', '.join(self.languages)}"
            )
        return self.scores(urls)[:, self.languages.index(language)]

    @property
    def named_languages(self) -> tuple[str, ...]:
        """Return all languages that can be named: those of `languages` come first."""
        return self.parameters.evidence.languages

    def identify(self, url: str, prior: Prior | None = None) -> UrlLanguage:
        """The language of one URL; for many URLs `identify_many` is far cheaper."""
        return next(self.identify_many([url], prior))

    def identify_many(
        self, urls: Sequence[str], prior: Prior | None = None
    ) -> Iterator[UrlLanguage]:
        """The language of each URL, in order; None is the default prior."""
        batch = encode(urls)
        scores = self._scores(batch)
        codes, confidences = self._named(batch, scores, prior)
        for row, at in enumerate(codes.tolist()):
            named = dict(zip(self.languages, scores[row].tolist(), strict=True))
            if at < 0:
                yield UrlLanguage(None, 0.0, named if urls[row].strip() else {})
            else:
                yield UrlLanguage(self.named_languages[at], float(confidences[row]), named)

    def name(
        self, urls: Sequence[str], prior: Prior | None = None
    ) -> tuple[npt.NDArray[np.int16], Scores]:
        """Places in `named_languages`, -1 for no language, and confidences, (n_urls,) each.

        The same answers as those of `identify_many`, without Python objects for each URL.
        """
        codes, confidences = np.empty(len(urls), np.int16), np.empty(len(urls), np.float32)
        for first in range(0, len(urls), _CHUNK):
            rows = slice(first, first + _CHUNK)
            batch = encode(urls[rows])
            codes[rows], confidences[rows] = self._named(batch, self._scores(batch), prior)
        return codes, confidences

    def shares(self, urls: Sequence[str], prior: Prior | None = None) -> Scores:
        """The probability of each of `named_languages`, (n_urls, n_named); rows sum to 1."""
        batch = encode(urls)
        logits, _ = self._logits(batch, self._scores(batch), prior)
        return _softmax(logits[:, : len(self.named_languages)])

    def evidence(self, urls: Sequence[str]) -> Scores:
        """Log-likelihood ratios in nats for `named_languages`, (n_urls, n_named).

        0 is the evidence of a URL that says nothing. The softmax of their sum with the logarithms
        of any prior are the probabilities under this prior.
        """
        shares = self.shares(urls, Prior.uniform())
        result: Scores = np.log(np.maximum(shares, _LEAST)) + np.log(shares.shape[1])
        return result

    def _scores(self, batch: Batch) -> Scores:
        from classifiers.urls.scoring import score_many

        return score_many(batch.buffer, len(batch), self.weights)

    def _logits(
        self, batch: Batch, scores: Scores, prior: Prior | None
    ) -> tuple[Scores, npt.NDArray[np.bool_]]:
        """Log-likelihood ratios and log-prior, and which URLs have a clue."""
        prior = Prior.evened() if prior is None else prior
        return self.parameters.evidence.logits(scores, batch.buffer, prior)

    def _named(
        self, batch: Batch, scores: Scores, prior: Prior | None
    ) -> tuple[npt.NDArray[np.int16], Scores]:
        """The place of the language of each URL, or -1, and its probability."""
        from classifiers.urls.scoring import best_of

        logits, has_evidence = self._logits(batch, scores, prior)
        places, shares = best_of(logits)
        # Without features a decision value is the intercept, exactly.
        has_evidence |= (scores != self.parameters.intercepts).any(axis=1)
        has_evidence[unaddressed(batch)] = False
        places[~has_evidence], shares[~has_evidence] = -1, 0
        return places, shares


def _softmax(values: Scores) -> Scores:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    result: Scores = powers / powers.sum(axis=1, keepdims=True)
    return result
