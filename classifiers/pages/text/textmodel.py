"""The text model: a linear classifier for each language against all others, over hashed n-grams.

Weights have one byte, as in the URL model. `classifiers.lab.training.texttraining` trains it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers import arrayfile
from classifiers.errors import ModelError

FORMAT: Final = 1
"""Increased when the features change."""
SHIPPED: Final = arrayfile.MODELS / "text-v1.npz"

Codes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TextScores:
    """The decision values of one text."""

    whole: Floats
    """Of the whole text, (n_languages,); positive means Yes. Zeros without a letter."""
    pieces: Floats
    """Of each piece of the text in order, (n_pieces, n_languages)."""
    letters: npt.NDArray[np.int64]
    """Letters of each piece, (n_pieces,)."""


@dataclass(frozen=True)
class TextModel:
    """A table of `classifiers.weights`, with scales and intercepts (n_languages,)."""

    languages: tuple[str, ...]
    table: Codes
    scales: Floats
    intercepts: Floats
    facts: dict[str, Any] = field(default_factory=dict)
    """About the training."""

    def scores(self, text: str, max_pieces: int = 16) -> TextScores:
        """The decision values of a text's first pieces; 0.1 ms for 2,000 characters."""
        from classifiers.pages.text import textgrams

        totals, counts = textgrams.sums(
            textgrams.units(text), textgrams.kinds(), self.bits, self.table, max_pieces
        )
        n_languages = len(self.languages)
        values = (totals[:, :n_languages] * self.scales).astype(np.float32)
        features, letters = counts[:, 0].astype(np.float32), counts[:, 1].astype(np.int64)
        if not letters.sum():
            return TextScores(np.zeros(n_languages, np.float32), values[:0], letters[:0])
        whole: Floats = (values.sum(axis=0) / np.sqrt(features.sum())).astype(np.float32)
        lengths = np.sqrt(np.maximum(features, 1))[:, None]
        pieces: Floats = (values / lengths).astype(np.float32)
        return TextScores(whole + self.intercepts, pieces + self.intercepts, letters)

    @property
    def codes(self) -> Codes:
        """Return the weights as their codes, (n_languages, n_buckets)."""
        return self.table[:-1, : len(self.languages)].T

    @property
    def bits(self) -> int:
        """Return the binary logarithm of the number of buckets."""
        return (len(self.table) - 1).bit_length() - 1

    @cached_property
    def version(self) -> str:
        """Return the format and a digest of the weights."""
        digest = hashlib.blake2b(self.codes.tobytes(), digest_size=4)
        digest.update(self.scales.tobytes() + self.intercepts.tobytes())
        return f"{FORMAT}-{digest.hexdigest()}"

    def save(self, path: Path) -> None:
        """Write the file; the same model gives the same bytes."""
        arrayfile.write_arrays(
            path,
            format=np.int64(FORMAT),
            languages=np.array(self.languages),
            codes=np.ascontiguousarray(self.codes),
            scales=self.scales,
            intercepts=self.intercepts,
            facts=np.array(json.dumps(self.facts, sort_keys=True)),
        )


def load(path: Path | None = None) -> TextModel:
    """The model in a file, or the one that ships; ModelError if it cannot be read."""
    from classifiers.weights import table_of  # numba takes half a second

    path = SHIPPED if path is None else Path(path)
    names = ("format", "languages", "codes", "scales", "intercepts", "facts")
    arrays = arrayfile.read_arrays(path, *names)
    if arrays["format"].shape != () or int(arrays["format"]) != FORMAT:
        found = arrays["format"]
        raise ModelError(f"{path}: model format {found}, this version reads {FORMAT}; train anew")
    languages = tuple(str(code) for code in arrays["languages"].ravel())
    codes, scales, intercepts = arrays["codes"], arrays["scales"], arrays["intercepts"]
    n = len(languages)
    n_buckets = codes.shape[1] if codes.ndim == 2 else 0
    if (
        codes.dtype != np.int8
        or len(codes) != n
        or not 1 << 4 <= n_buckets <= 1 << 24
        or n_buckets & (n_buckets - 1)
        or any(each.shape != (n,) or each.dtype != np.float32 for each in (scales, intercepts))
        or not np.isfinite(scales).all()
        or not np.isfinite(intercepts).all()
    ):
        raise ModelError(f"{path}: not a text model: its arrays do not fit together")
    facts = json.loads(str(arrays["facts"]))
    return TextModel(languages, table_of(codes), scales, intercepts, facts)
