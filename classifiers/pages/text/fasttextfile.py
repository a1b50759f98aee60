"""The structure of a model file of fastText: its labels, and whether it is whole.

fastText itself reads a file that was cut short without an error, and then gives answers of no
value or does not return. The layout is that of fastText's `FastText::saveModel`, version 12: magic
number and version, options, dictionary, the matrix of words, the matrix of labels; each matrix
plain or as a product quantiser.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from struct import Struct, error
from typing import Final

from classifiers.errors import ModelError

LABEL: Final = "__label__"

_MAGIC: Final = 793712314
_VERSIONS: Final = (11, 12)
_OPTIONS: Final = Struct("<12id")
_COUNTS: Final = Struct("<iiiqq")
_ENTRY: Final = Struct("<qb")
_INT, _INTS, _LONGS, _FLAG = Struct("<i"), Struct("<ii"), Struct("<qq"), Struct("<?")
_QUANTISER: Final = Struct("<4i")
_CENTROIDS: Final = 256
_FLOAT_BYTES: Final = 4
_IS_LABEL: Final = 1


def labels_of(path: Path) -> tuple[str, ...]:
    """Return the labels of a model file, without the prefix, in the file's order.

    Raises ModelError if the file is missing, of another kind, cut short, or without labels.
    """
    if not path.is_file():
        raise ModelError(f"{path}: no such model file of fastText")
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            reader = _Reader(data)
            labels = _walk(reader)
            size, end = len(data), reader.at
    except (ValueError, error) as fault:
        raise ModelError(f"{path}: not a whole model of fastText ({fault})") from fault
    if end != size:
        raise ModelError(f"{path}: not a whole model of fastText ({size:,} of {end:,} bytes)")
    if not labels:
        raise ModelError(f"{path}: this model of fastText has no labels; it identifies nothing")
    return labels


class _Reader:
    """Reads numbers one after the other; `at` is the place of the next one."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 0

    def numbers(self, kind: Struct) -> tuple[int, ...]:
        """Return the next numbers; raises struct.error if the file ends before them."""
        found = kind.unpack_from(self.data, self.at)
        self.at += kind.size
        return found

    def skip(self, size: int) -> None:
        """Go on by a number of bytes; raises ValueError for one below 0."""
        if size < 0:
            raise ValueError("a size below 0")
        self.at += size

    def word(self) -> bytes:
        """Return the bytes before the next 0; raises ValueError without one."""
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise ValueError("a word without an end")
        found = self.data[self.at : end]
        self.at = end + 1
        return found


def _walk(reader: _Reader) -> tuple[str, ...]:
    """Go through the whole file and return its labels."""
    magic, version = reader.numbers(_INTS)
    if magic != _MAGIC or version not in _VERSIONS:
        raise ValueError("it begins otherwise")
    reader.numbers(_OPTIONS)
    labels = _dictionary(reader)
    (is_quantised,) = reader.numbers(_FLAG)
    _matrix(reader, is_quantised=bool(is_quantised))
    (has_quantised_labels,) = reader.numbers(_FLAG)
    _matrix(reader, is_quantised=bool(is_quantised and has_quantised_labels))
    return labels


def _dictionary(reader: _Reader) -> tuple[str, ...]:
    n_entries, _, _, _, n_pruned = reader.numbers(_COUNTS)
    labels = []
    for _ in range(n_entries):
        word = reader.word()
        if reader.numbers(_ENTRY)[1] == _IS_LABEL:
            labels.append(word.decode("utf-8", "replace").removeprefix(LABEL))
    reader.skip(max(n_pruned, 0) * _INTS.size)  # -1: nothing was pruned
    return tuple(labels)


def _matrix(reader: _Reader, *, is_quantised: bool) -> None:
    if not is_quantised:
        rows, columns = reader.numbers(_LONGS)
        reader.skip(rows * columns * _FLOAT_BYTES)
        return
    (has_norms,) = reader.numbers(_FLAG)
    rows, _ = reader.numbers(_LONGS)
    reader.skip(reader.numbers(_INT)[0])
    _quantiser(reader)
    if has_norms:
        reader.skip(rows)
        _quantiser(reader)


def _quantiser(reader: _Reader) -> None:
    reader.skip(reader.numbers(_QUANTISER)[0] * _CENTROIDS * _FLOAT_BYTES)
