"""Trains the text model on labelled texts.

One linear SVM for each language against all others, with balanced classes. Made-up phrases, drawn
by frequency from the word lists of the package wordfreq, are examples, too: they have words that
some hundred sentences of a language do not have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.errors import DatasetError
from classifiers.lab.datasets import LabelledText
from classifiers.lab.training import solver, wordlists
from classifiers.pages.text.textgrams import buckets
from classifiers.pages.text.textmodel import TextModel
from classifiers.weights import quantised, table_of

MIN_TEXTS: Final = 40
"""Least number of texts of a language that is learned."""
BUCKETS: Final = 1 << 17
PENALTY: Final = 0.3
"""C of LinearSVC."""
RARE_POWER: Final = 0.25
RARE_MOST: Final = 3.0
"""Weight of a text as a negative: this power of the ratio between the most frequent language and
its own, at most RARE_MOST.
"""
PHRASES: Final = 2000
"""Made-up phrases of each language that has a word list."""
PHRASE_WEIGHT: Final = 0.5
"""Weight of a made-up phrase relative to a text."""


@dataclass(frozen=True)
class _TextExamples:
    """Labelled texts, then the made-up phrases."""

    languages: tuple[str, ...]
    rows: list[LabelledText]
    """The labelled ones."""
    texts: list[str]
    columns: npt.NDArray[np.int64]
    """The language of each text, (n_texts,)."""

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """The weight of each text, (n_texts,)."""
        weights = np.full(len(self.texts), PHRASE_WEIGHT)
        weights[: len(self.rows)] = 1
        return weights


def train(
    rows: Iterable[LabelledText],
    *,
    n_buckets: int = BUCKETS,
    penalty: float = PENALTY,
    n_phrases: int = PHRASES,
    seed: int = 0,
) -> TextModel:
    """The model of all languages with MIN_TEXTS rows; the same rows give the same bytes.

    DatasetError without two such languages. `n_phrases` above 0 needs wordfreq.
    """
    examples = _collected(rows, n_phrases, seed)
    learned, intercepts = solver.fit(
        matrix(examples.texts, n_buckets),
        examples.columns,
        examples.weights,
        len(examples.languages),
        penalty,
        seed,
        rest_weights=examples.weights * _as_others(examples.columns)[examples.columns],
    )
    codes, scales = quantised(learned.T)
    facts = {**_facts(examples), "buckets": n_buckets, "penalty": penalty, "seed": seed}
    return TextModel(examples.languages, table_of(codes), scales, intercepts, facts)


def _collected(rows: Iterable[LabelledText], n_phrases: int, seed: int) -> _TextExamples:
    rows = list(rows)
    counts = Counter(row.language for row in rows)
    languages = tuple(sorted(code for code, n in counts.items() if n >= MIN_TEXTS))
    if len(languages) < 2:
        raise DatasetError(f"no two languages with {MIN_TEXTS} texts each: nothing to distinguish")
    column = {code: at for at, code in enumerate(languages)}
    kept = [row for row in rows if row.language in column]
    texts, columns = [row.text for row in kept], [column[row.language] for row in kept]
    for code in languages if n_phrases else ():
        phrases = wordlists.phrases(code, n_phrases, seed)
        texts += phrases
        columns += len(phrases) * [column[code]]
    return _TextExamples(languages, kept, texts, np.array(columns))


def _facts(examples: _TextExamples) -> dict[str, Any]:
    """The training data in numbers."""
    counts = Counter(row.language for row in examples.rows)
    return {
        "texts": len(examples.rows),
        "phrases": len(examples.texts) - len(examples.rows),
        "languages": {code: counts[code] for code in examples.languages},
        "kinds": dict(sorted(Counter(row.kind for row in examples.rows).items())),
    }


def _as_others(columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Weight of a text of each language as a negative of the others, (n_languages,).

    Texts of rare languages weigh more, so that Hebrew, for example, is distinguished from Yiddish.
    """
    counts = np.maximum(np.bincount(columns), 1)
    rarer: npt.NDArray[np.float64] = (counts.max() / counts) ** RARE_POWER
    return rarer.clip(1, RARE_MOST)


def matrix(texts: Sequence[str], n_buckets: int) -> Any:
    """The features of texts as a CSR matrix (n_texts, n_buckets).

    A row without repetitions has length 1.
    """
    from scipy.sparse import csr_matrix

    bits = n_buckets.bit_length() - 1
    columns: list[npt.NDArray[Any]] = []
    values: list[npt.NDArray[Any]] = []
    pointers = [0]
    for text in texts:
        found = buckets(text, bits)
        names, counts = np.unique(found, return_counts=True)
        columns.append(names.astype(np.int32))
        values.append((counts / math.sqrt(max(len(found), 1))).astype(np.float32))
        pointers.append(pointers[-1] + len(names))
    shape = (len(texts), n_buckets)
    return csr_matrix((np.concatenate(values), np.concatenate(columns), pointers), shape=shape)
