"""The model file: plain arrays in one .npz, read without unpickling.

Arrays: `format` (int), `languages` (codes), `weights` (int8, n_languages x n_buckets), `scales` and
`intercepts` (float32, n_languages), `facts` (JSON text about the training), and those of
:class:`classifiers.urls.posteriors.Evidence`. A weight is code * |code| * scale with an int8 as
code. The weights of top-level domains are many times the others; with even steps the others would
be rounded to 0.
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
from classifiers.urls.posteriors import Evidence

FORMAT: Final = 3
"""Increased when the features change: weights of other features are meaningless."""
SHIPPED: Final = arrayfile.MODELS / "url-v3.npz"

_NAMES = (
    "format languages weights scales intercepts facts"
    " named mixing evidence_intercepts clue_keys clue_nats"
).split()
_MIN_BITS, _MAX_BITS = 4, 24


@dataclass(frozen=True)
class Parameters:
    """The arrays and numbers of a model file."""

    languages: tuple[str, ...]
    weights: npt.NDArray[np.int8]
    """(n_languages, n_buckets); n_buckets is a power of two."""
    scales: npt.NDArray[np.float32]
    intercepts: npt.NDArray[np.float32]
    evidence: Evidence
    """How one language is named from all decision values and the clues of a URL."""
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
        for numbers in (self.scales, self.intercepts, self.evidence.mixing, self.evidence.nats):
            digest.update(numbers.tobytes())
        return f"{FORMAT}-{digest.hexdigest()}"


def write(parameters: Parameters, path: Path) -> None:
    """Write the file; the same parameters give the same bytes."""
    arrayfile.write_arrays(
        path,
        format=np.int64(FORMAT),
        languages=np.array(parameters.languages),
        weights=np.ascontiguousarray(parameters.weights),
        scales=parameters.scales,
        intercepts=parameters.intercepts,
        facts=np.array(json.dumps(parameters.facts, sort_keys=True)),
        named=np.array(parameters.evidence.languages),
        mixing=parameters.evidence.mixing,
        evidence_intercepts=parameters.evidence.intercepts,
        clue_keys=parameters.evidence.keys,
        clue_nats=parameters.evidence.nats,
    )


def read(path: Path) -> Parameters:
    """The parameters in a file; ModelError if it is missing, damaged or of another format."""
    arrays = arrayfile.read_arrays(path, *_NAMES)
    try:
        return _parameters(arrays, path)
    except (ValueError, TypeError) as error:
        raise arrayfile.unreadable(path, error) from error


def _parameters(arrays: arrayfile.Arrays, path: Path) -> Parameters:
    found = arrays["format"]
    if found.shape != () or found.dtype.kind != "i" or int(found) != FORMAT:
        raise ModelError(f"{path}: model format {found}, this version reads {FORMAT}; train anew")
    languages, named = (
        tuple(str(code) for code in arrays[name].ravel()) for name in ("languages", "named")
    )
    keys, nats = arrays["clue_keys"], arrays["clue_nats"]
    bits = arrays["weights"].shape[-1].bit_length() - 1 if arrays["weights"].ndim else 0
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
    evidence = Evidence(named, arrays["mixing"], arrays["evidence_intercepts"], keys, nats)
    facts = json.loads(str(arrays["facts"]))
    weights, scales, intercepts = (arrays[name] for name in ("weights", "scales", "intercepts"))
    return Parameters(languages, weights, scales, intercepts, evidence, facts)
