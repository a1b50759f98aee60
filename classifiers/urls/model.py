"""The URL model: one binary classifier for each language.

Loading reads arrays. At the first scores numba compiles its code or reads it from its cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from classifiers.errors import LanguageError
from classifiers.urls import modelfile
from classifiers.urls.batch import encode

Scores = npt.NDArray[np.float32]

_MAX_TABLES = 4
"""Selections of languages whose weight tables are kept."""
_ALL: tuple[int, ...] = (-1,)
_Table = npt.NDArray[np.int8]


@dataclass(frozen=True)
class UrlLanguage:
    """The language that a URL suggests for its page."""

    language: str | None
    """None if no classifier says Yes."""
    confidence: float
    """Share of the language in the softmax of all decision values; 0 if `language` is None."""
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
            columns, scales, intercepts = _ALL, model.scales, model.intercepts
        else:
            columns = tuple(map(self._column, languages))
            scales, intercepts = model.scales[list(columns)], model.intercepts[list(columns)]
        result: Scores = scoring.score_many(
            batch.buffer, len(batch), model.bits, self._table(columns), scales, intercepts
        )
        return result

    def score(self, urls: Sequence[str], language: str) -> Scores:
        """Decision values of one language, (n_urls,); LanguageError if it is not in the model."""
        from classifiers.urls import scoring

        at = self._column(language)
        batch, model = encode(urls), self.parameters
        scale, intercept = float(model.scales[at]), float(model.intercepts[at])
        result: Scores = scoring.score_one(
            batch.buffer, len(batch), model.bits, model.weights[at], scale, intercept
        )
        return result

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

    def identify(self, url: str) -> UrlLanguage:
        """The language of one URL; for many URLs `identify_many` is far cheaper."""
        return next(self.identify_many([url]))

    def shares(self, urls: Sequence[str]) -> Scores:
        """The probability of each language, (n_urls, n_languages); rows sum to 1."""
        return self._shares(self.scores(urls) + self.parameters.offsets)

    def _shares(self, likely: Scores) -> Scores:
        return _softmax(likely / np.float32(self.parameters.temperature))

    def identify_many(self, urls: Sequence[str]) -> Iterator[UrlLanguage]:
        """The language of each URL, in order."""
        scores = self.scores(urls)
        likely = scores + self.parameters.offsets
        shares = self._shares(likely)
        best = np.where(scores > 0, likely, -np.inf).argmax(axis=1)
        for row, url in enumerate(urls):
            at = best[row]
            yield self._answer(url, scores[row], int(at), float(shares[row, at]))

    def _answer(self, url: str, scores: Scores, best: int, share: float) -> UrlLanguage:
        if not url.strip():
            return UrlLanguage(None, 0.0, {})
        named = dict(zip(self.languages, scores.tolist(), strict=True))
        if scores[best] <= 0:
            return UrlLanguage(None, 0.0, named)
        return UrlLanguage(self.languages[best], share, named)


def _softmax(values: Scores) -> Scores:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    result: Scores = powers / powers.sum(axis=1, keepdims=True)
    return result
