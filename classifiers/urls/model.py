"""The URL model: one binary classifier for each language.

Loading reads arrays. At the first scores numba compiles its code or reads it from its cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from classifiers.errors import LanguageError
from classifiers.urls import modelfile
from classifiers.urls.batch import Batch, encode, encode_lines, unaddressed
from classifiers.urls.posteriors import Prior

if TYPE_CHECKING:
    from classifiers.urls.scoring import Weights

Scores = npt.NDArray[np.float32]

_MAX_TABLES = 4
"""Selections of languages whose weight tables are kept."""
_CHUNK = 1024
"""URLs that are named at a time: their logits stay in the cache."""
_LEAST = 1e-13
"""The least probability that counts as evidence."""
_ALL: tuple[int, ...] = (-1,)
_Table = npt.NDArray[np.int8]


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
        self._index = {code: at for at, code in enumerate(parameters.languages)}

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
    def _tables(self) -> dict[tuple[int, ...], _Table]:
        """The weight tables of some selections of languages, the most recently used last."""
        return {}

    def scores(self, urls: Sequence[str], languages: Sequence[str] | None = None) -> Scores:
        """Decision values, (n_urls, n_languages); positive means Yes. Any text is a URL.

        With `languages`, only their columns, in their order; a few columns cost less than all.
        LanguageError if a language is not in the model.
        """
        from classifiers.urls import scoring  # numba takes half a second

        batch, model = encode(urls), self.parameters
        if isinstance(languages, str):
            raise TypeError("expected a sequence of languages, not one string")
        if languages is None:
            return self._all_scores(batch)
        columns = tuple(map(self._column, languages))
        scales, intercepts = model.scales[list(columns)], model.intercepts[list(columns)]
        weights = scoring.Weights(model.bits, self._table(columns), scales, intercepts)
        result: Scores = scoring.score_many(batch.buffer, len(batch), weights)
        return result

    def score(self, urls: Sequence[str], language: str) -> Scores:
        """Decision values of one language, (n_urls,); LanguageError if it is not in the model."""
        return self.scores(urls, [language])[:, 0]

    def weights_of(self, language: str) -> Scores:
        """The weights of a language, (n_buckets,); LanguageError if it is not in the model."""
        codes = self.parameters.weights[self._column(language)].astype(np.int32)
        weights: Scores = (codes * np.abs(codes)) * self.parameters.scales[self._column(language)]
        return weights

    def _column(self, language: str) -> int:
        at = self._index.get(language)
        if at is None:
            raise LanguageError(
                f"the URL model does not know {language!r}; it knows {', '.join(self.languages)}"
            )
        return at

    def _table(self, columns: tuple[int, ...]) -> _Table:
        """The weights of some columns in the order in which scoring reads them."""
        from classifiers.weights import table_of

        found = self._tables.pop(columns, None)
        if found is None:
            chosen = slice(None) if columns == _ALL else list(columns)
            found = table_of(self.parameters.weights[chosen])
            while len(self._tables) >= _MAX_TABLES:
                self._tables.pop(next(iter(self._tables)), None)  # another thread may have built it
        self._tables[columns] = found
        return found

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
        scores = self._all_scores(batch)
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
        return self._names(encode(urls), prior)

    def name_lines(
        self, block: bytes, prior: Prior | None = None
    ) -> tuple[npt.NDArray[np.int16], Scores]:
        """As `name`, for each line of a block of bytes, which has no line end at its end."""
        return self._names(encode_lines(block), prior)

    def shares(self, urls: Sequence[str], prior: Prior | None = None) -> Scores:
        """The probability of each of `named_languages`, (n_urls, n_named); rows sum to 1."""
        batch = encode(urls)
        logits, _ = self._logits(batch, self._all_scores(batch), prior)
        return _softmax(logits[:, : len(self.named_languages)])

    def evidence(self, urls: Sequence[str]) -> Scores:
        """Log-likelihood ratios in nats for `named_languages`, (n_urls, n_named).

        0 is the evidence of a URL that says nothing. The softmax of their sum with the logarithms
        of any prior are the probabilities under this prior.
        """
        shares = self.shares(urls, Prior.uniform())
        result: Scores = np.log(np.maximum(shares, _LEAST)) + np.log(shares.shape[1])
        return result

    def _all_scores(self, batch: Batch) -> Scores:
        from classifiers.urls import scoring

        result: Scores = scoring.score_many(batch.buffer, len(batch), self.weights())
        return result

    def weights(self) -> Weights:
        """The weights of all classifiers, as the compiled code reads them."""
        from classifiers.urls.scoring import Weights

        model = self.parameters
        return Weights(model.bits, self._table(_ALL), model.scales, model.intercepts)

    def _logits(
        self, batch: Batch, scores: Scores, prior: Prior | None
    ) -> tuple[Scores, npt.NDArray[np.bool_]]:
        """Log-likelihood ratios and log-prior, and which URLs have a clue."""
        prior = Prior.evened() if prior is None else prior
        return self.parameters.evidence.logits(scores, batch.buffer, prior)

    def _names(self, batch: Batch, prior: Prior | None) -> tuple[npt.NDArray[np.int16], Scores]:
        """The answers of `name`, computed for some URLs at a time."""
        codes = np.empty(len(batch), np.int16)
        confidences = np.empty(len(batch), np.float32)
        done = 0
        for part in batch.parts(_CHUNK):
            rows = slice(done, done + len(part))
            codes[rows], confidences[rows] = self._named(part, self._all_scores(part), prior)
            done += len(part)
        return codes, confidences

    def _named(
        self, batch: Batch, scores: Scores, prior: Prior | None
    ) -> tuple[npt.NDArray[np.int16], Scores]:
        """The place of the language of each URL, or -1, and its probability."""
        from classifiers.urls.naming import best_of

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
