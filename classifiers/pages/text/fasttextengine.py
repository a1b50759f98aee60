"""Texts read by a model of fastText that the user has, such as lid.176.ftz or GlotLID.

The extra `fasttext` installs the packages. Labels are read as tags of languages: `is`, `isl`,
`isl_Latn`. A model may know languages that have no code of the project; their codes are those of
ISO 639-3.

fastText itself reads a file that was cut short without an error, and then gives answers of no
value or does not return. So the whole file is walked first, which also gives its labels. The
layout is that of fastText's `FastText::saveModel`, version 12: magic number and version, options,
dictionary, the matrix of words, the matrix of labels; each matrix plain or as a product quantiser.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from classifiers.errors import MissingPackageError, ModelError
from classifiers.languages import canonical, further
from classifiers.pages.method import Ranking, RankingMethod, merged

VARIABLE: Final = "LANGFOCUS_FASTTEXT_MODEL"
"""The environment variable, and the setting of a crawl, with the path of the model file."""

EXTRA: Final = "fasttext"
PACKAGE: Final = "fasttext-numpy2-wheel"

_LABEL: Final = "__label__"
_MAGIC: Final = 793712314
_VERSIONS: Final = (11, 12)
_CENTROIDS: Final = 256

_ANSWERS: Final = 5
"""Labels that are asked for; later ones have hardly any probability."""
_MOST_CHARACTERS: Final = 20_000
"""Characters of a text that are read: more cost time and do not change the answer."""
SHOWN: Final = 3
"""Labels that a message names."""

# Beyond the Basic Multilingual Plane the last two code points of each plane are no characters.
_PLANES = "".join(chr(plane * 0x10000 + last) for plane in range(1, 17) for last in (65534, 65535))
_UNSHOWN = re.compile(
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff{_PLANES}]"
)


class FasttextEngine(RankingMethod):
    """A language identification model of fastText: a local file, or the one the environment names.

    Raises MissingPackageError without the package, and ModelError if no file is named, if it is
    missing, damaged or cut short, is not a model of fastText, or no label of it names a language.
    """

    name = "fasttext"

    def __init__(self, path: Path | None = None) -> None:
        try:
            package = import_module("fasttext.FastText")
        except ImportError as error:
            raise MissingPackageError(PACKAGE, EXTRA) from error
        path = named_file(path)
        if path is None:
            raise ModelError(f"no fastText model: set {VARIABLE} to the path of lid.176.ftz")
        self.path, self.codes = path, codes_of(path)
        try:
            # `load_model` does the same with a warning on stderr.
            self._model = package._FastText(model_path=str(path))
        except (ValueError, RuntimeError, MemoryError) as error:
            raise ModelError(f"{path}: not a model of fastText ({error})") from error
        super().__init__(self.codes.values())

    def rank(self, text: str) -> Ranking:
        """Languages by probability, best first; empty for a text without words."""
        line = " ".join(without_unshown(text[:_MOST_CHARACTERS]).split())
        if not line:
            return []
        labels, values = self._model.predict(line, k=_ANSWERS)
        codes = (self.codes.get(label.removeprefix(_LABEL)) for label in labels)
        return merged(zip(codes, map(float, values), strict=True))


@cache
def codes_of(path: Path) -> dict[str, str]:
    """Return the label -> the code of its language, of all labels that name a language.

    The package is not needed. Raises ModelError if the file cannot be read or no label does.
    """
    labels = labels_of(path)
    codes = {label: code for label in labels if (code := canonical(label) or further(label))}
    if not codes:
        shown = ", ".join(labels[:SHOWN])
        raise ModelError(f"{path}: no label of this model names a language ({shown}, ...)")
    return codes


def unknown_labels(path: Path) -> Sequence[str]:
    """Return the labels of a model that name no language."""
    codes = codes_of(path)
    return [label for label in labels_of(path) if label not in codes]


def named_file(given: Path | None = None) -> Path | None:
    """Return the file that is given, or that the environment names; None without either."""
    named = os.environ.get(VARIABLE, "")
    return given or (Path(named) if named else None)


def without_unshown(text: str) -> str:
    """Return a text with spaces for control characters, lone surrogates and the like."""
    return _UNSHOWN.sub(" ", text)


def labels_of(path: Path) -> tuple[str, ...]:
    """Return the labels of a model file, without the prefix, in the file's order.

    Raises ModelError if the file is missing, of another kind, cut short, or without labels.
    """
    if not path.is_file():
        raise ModelError(f"{path}: no such model file of fastText")
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            labels = _walk(data)
            if data.tell() != len(data):
                raise ValueError(f"it has {len(data) - data.tell():,} bytes too many")
    except (ValueError, struct.error) as fault:
        raise ModelError(f"{path}: not a whole model of fastText ({fault})") from fault
    if not labels:
        raise ModelError(f"{path}: this model of fastText has no labels; it identifies nothing")
    return labels


def _walk(data: mmap.mmap) -> tuple[str, ...]:
    """Go through a whole file and return its labels; struct.error or ValueError if it ends."""
    magic, version = _numbers(data, "ii")
    if magic != _MAGIC or version not in _VERSIONS:
        raise ValueError("it begins otherwise")
    _numbers(data, "12id")
    n_entries, _, _, _, n_pruned = _numbers(data, "iiiqq")
    labels = []
    for _ in range(n_entries):
        word = data[data.tell() : data.find(b"\0", data.tell())]
        _skip(data, len(word) + 1)
        if _numbers(data, "qb")[1]:
            labels.append(word.decode("utf-8", "replace").removeprefix(_LABEL))
    _skip(data, 8 * max(n_pruned, 0))  # -1: nothing was pruned
    (is_quantised,) = _numbers(data, "?")
    _skip_matrix(data, is_quantised)
    (has_quantised_labels,) = _numbers(data, "?")
    _skip_matrix(data, is_quantised and has_quantised_labels)
    return tuple(labels)


def _numbers(data: mmap.mmap, kinds: str) -> tuple[Any, ...]:
    layout = struct.Struct(f"<{kinds}")
    return layout.unpack(data.read(layout.size))


def _skip(data: mmap.mmap, size: int) -> None:
    if size < 0:
        raise ValueError("a size below 0")
    data.seek(size, os.SEEK_CUR)


def _skip_matrix(data: mmap.mmap, is_quantised: bool) -> None:
    if not is_quantised:
        rows, columns = _numbers(data, "qq")
        _skip(data, 4 * rows * columns)
        return
    has_norms, rows, _, size = _numbers(data, "?qqi")
    _skip(data, size)
    _skip(data, 4 * _CENTROIDS * _numbers(data, "4i")[0])
    if has_norms:
        _skip(data, rows)
        _skip(data, 4 * _CENTROIDS * _numbers(data, "4i")[0])
