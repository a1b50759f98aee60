"""The model file: plain arrays in one .npz, read without unpickling.

Arrays: `format` (int), `languages` (codes), `weights` (int8, n_languages x n_buckets), `scales`,
`intercepts` and `offsets` (float32, n_languages), `temperature` (float32) and `facts` (JSON text
about the training). A weight is code * |code| * scale with an int8 as code. The weights of
top-level domains are many times the others; with even steps the others would be rounded to 0.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers import arrayfile
from classifiers.errors import ModelError

FORMAT: Final = 2
"""Increased when the features change: weights of other features are meaningless."""
SHIPPED: Final = arrayfile.MODELS / "url-v2.npz"

_NAMES = "format languages weights scales intercepts offsets temperature facts".split()
_MIN_BITS, _MAX_BITS = 4, 24


@dataclass(frozen=True)
class Parameters:
    """The arrays and numbers of a model file."""

    languages: tuple[str, ...]
    weights: npt.NDArray[np.int8]
    """(n_languages, n_buckets); n_buckets is a power of two."""
    scales: npt.NDArray[np.float32]
    intercepts: npt.NDArray[np.float32]
    offsets: npt.NDArray[np.float32]
    """Added to the decision values when one language is named; lower for rare languages."""
    temperature: float = 1.0
    """Temperature of the softmax that turns decision values into a confidence."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Rows, sources and figures of the training."""

    @property
    def bits(self) -> int:
        """Return the binary logarithm of the number of buckets."""
        return int(self.weights.shape[1]).bit_length() - 1

    @property
    def version(self) -> str:
        """Return the format and a digest of the weights."""
        digest = hashlib.blake2b(self.weights.tobytes(), digest_size=4)
        for numbers in (self.scales, self.intercepts, self.offsets):
            digest.update(numbers.tobytes())
        return f"{FORMAT}-{digest.hexdigest()}"


def write(parameters: Parameters, path: Path) -> None:
    """Write the file; the same parameters give the same bytes."""
    arrayfile.write_arrays(
        path,
        format=np.int64(FORMAT),
        languages=np.array(parameters.languages),
        weights=parameters.weights,
        scales=parameters.scales,
        intercepts=parameters.intercepts,
        offsets=parameters.offsets,
        temperature=np.float32(parameters.temperature),
        facts=np.array(json.dumps(parameters.facts, sort_keys=True)),
    )


def read(path: Path) -> Parameters:
    """The parameters in a file; ModelError if it is missing, damaged or of another format."""
    arrays = arrayfile.read_arrays(path, *_NAMES)
    try:
        return _parameters(arrays, path)
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split())[:120]
        raise ModelError(f"{path}: the model file cannot be read ({reason})") from error


def _parameters(arrays: dict[str, npt.NDArray[Any]], path: Path) -> Parameters:
    found = arrays["format"]
    if found.shape != () or found.dtype.kind != "i" or int(found) != FORMAT:
        raise ModelError(f"{path}: model format {found}, this version reads {FORMAT}; train anew")
    weights = arrays["weights"]
    numbers = [arrays[name] for name in ("scales", "intercepts", "offsets")]
    languages = tuple(str(code) for code in arrays["languages"].ravel())
    _check_shapes(len(languages), weights, numbers)
    temperature = float(arrays["temperature"])
    if not (all(np.isfinite(each).all() for each in numbers) and 0 < temperature < 1e6):
        raise ValueError("some numbers are not finite")
    facts = json.loads(str(arrays["facts"]))
    scales, intercepts, offsets = numbers
    return Parameters(languages, weights, scales, intercepts, offsets, temperature, facts)


def _check_shapes(
    n_languages: int, weights: npt.NDArray[Any], numbers: list[npt.NDArray[Any]]
) -> None:
    shape = weights.shape
    if weights.dtype != np.int8 or any(each.dtype != np.float32 for each in numbers):
        raise ValueError("its arrays have unexpected types")
    if not n_languages or len(shape) != 2 or shape[0] != n_languages:
        raise ValueError(f"{n_languages} languages, but weights of shape {shape}")
    if any(each.shape != (n_languages,) for each in numbers):
        raise ValueError(f"{n_languages} languages, but {[len(each) for each in numbers]} numbers")
    bits = int(shape[1]).bit_length() - 1
    if shape[1] != 1 << bits or not _MIN_BITS <= bits <= _MAX_BITS:
        raise ValueError(f"{shape[1]} buckets, not a power of two")
