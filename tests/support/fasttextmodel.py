"""Writes a small model of fastText: each label has words of its own, and nothing is trained."""

import struct
from collections.abc import Mapping
from pathlib import Path

_MAGIC, _VERSION = 793712314, 12
_SOFTMAX, _SUPERVISED = 3, 3
_WORD, _LABEL = 0, 1
_STEP = 20.0


def write_model(path: Path, words: Mapping[str, str], *, is_quantised: bool = False) -> Path:
    """Write a model that answers a label of `words` for a text with most of its words.

    A quantised one has the layout of fastText's, but its codes and centroids are zeros.
    """
    labels, vocabulary = list(words), [each for text in words.values() for each in text.split()]
    size = len(labels)
    parts = [
        struct.pack("<2i", _MAGIC, _VERSION),
        # dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate
        struct.pack("<12id", size, 5, 1, 1, 5, 1, _SOFTMAX, _SUPERVISED, 0, 0, 0, 100, 1e-4),
        struct.pack("<iiiqq", len(vocabulary) + size, len(vocabulary), size, len(vocabulary), -1),
        *(word.encode() + b"\0" + struct.pack("<qb", 1, _WORD) for word in vocabulary),
        *(f"__label__{label}".encode() + b"\0" + struct.pack("<qb", 1, _LABEL) for label in labels),
        struct.pack("<?", is_quantised),
        *(_quantised(len(vocabulary), size) if is_quantised else _plain(words)),
        struct.pack("<?", False),
        struct.pack("<qq", size, size),
        *(_row(size, at) for at in range(size)),
    ]
    path.write_bytes(b"".join(parts))
    return path


def _plain(words: Mapping[str, str]) -> list[bytes]:
    rows = [at for at, text in enumerate(words.values()) for _ in text.split()]
    size = len(words)
    return [struct.pack("<qq", len(rows), size), *(_row(size, at) for at in rows)]


def _quantised(rows: int, size: int) -> list[bytes]:
    norms = bytes(rows) + struct.pack("<4i", 1, 1, 1, 1) + bytes(4 * 256)
    codes = struct.pack("<?qqi", True, rows, size, rows * size) + bytes(rows * size)
    return [codes, struct.pack("<4i", size, size, 1, 1) + bytes(4 * 256 * size), norms]


def _row(size: int, at: int) -> bytes:
    return struct.pack(f"<{size}f", *(_STEP * (at == column) for column in range(size)))
