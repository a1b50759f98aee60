"""A user's fastText model, such as lid.176.ftz or GlotLID: alone, or as an addition.

The extra `fasttext` installs the packages. Labels are parsed as language tags: `is`, `isl`,
`isl_Latn`. Languages beyond the project codes have ISO 639-3 codes.

fastText itself loads a truncated file without an error, and then returns worthless answers or
hangs. So the whole file is walked first, which also extracts the labels. The layout follows
fastText's `FastText::saveModel`, version 12: magic number and version, options, dictionary, word
matrix, label matrix; each matrix plain or as a product quantiser.
"""

import mmap
import os
import re
import struct
from functools import cache
from pathlib import Path
from typing import Any, Final

from langfocus.classifiers.errors import ModelError, optional
from langfocus.classifiers.languages import canonical, further, scripts
from langfocus.classifiers.pages.method import (
    NOTHING,
    PageLanguage,
    Ranking,
    RankingMethod,
    Surroundings,
    merged,
)
from langfocus.classifiers.pages.methods.composite import Composite
from langfocus.classifiers.pages.parse import ParsedPage
from langfocus.classifiers.pages.text.scripts import fits, utf16_units, vote
from langfocus.classifiers.pages.text.textengine import known_languages, shipped_engine

KIND: Final = "fasttext"
"""Method name, and evidence kind of a fastText answer beside the text model."""
LEAST_SHARE: Final = 0.5
"""Least probability of an accepted fastText answer: more than every other label together."""
LEAST_LETTERS: Final = 50
"""Least letters for a fastText prediction; on shorter text, fastText predicts rare languages for
menus and addresses."""

_LABEL: Final = "__label__"
_MAGIC: Final = 793712314
_VERSIONS: Final = (11, 12)
_CENTROIDS: Final = 256

_ANSWERS: Final = 5
"""Labels predicted per text; later labels have hardly any probability."""
_MOST_CHARACTERS: Final = 20_000
"""Characters read per text: more characters cost time without changing the answer."""

# The last two code points of each supplementary plane are noncharacters.
_PLANES = "".join(chr(plane * 0x10000 + last) for plane in range(1, 17) for last in (65534, 65535))
_UNSHOWN = re.compile(
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff{_PLANES}]"
)


class FasttextEngine(RankingMethod):
    """A fastText language identification model.

    Raises MissingPackageError without the package, and ModelError if the file is missing, damaged
    or truncated, is not a fastText model, or has no label of a language.
    """

    name = KIND

    def __init__(self, path: Path) -> None:
        package = optional("fasttext.FastText", "fasttext-numpy2-wheel")
        self.codes = codes_of(path)
        try:
            # `load_model` also prints a warning on stderr.
            self._model = package._FastText(model_path=str(path))
        except (ValueError, RuntimeError, MemoryError) as error:
            raise ModelError(f"{path}: not a model of fastText ({error})") from error
        super().__init__(self.codes.values())

    def rank(self, text: str) -> Ranking:
        """Rank the languages by probability, best first; empty for a text without words."""
        line = " ".join(without_unshown(text[:_MOST_CHARACTERS]).split())
        if not line:
            return []
        labels, values = self._model.predict(line, k=_ANSWERS)
        codes = (self.codes.get(label.removeprefix(_LABEL)) for label in labels)
        return merged(zip(codes, map(float, values), strict=True))


class WithAdded(Composite):
    """The default method, with fastText for languages missing from the text model.

    If fastText predicts an added language for a text, the prediction is the answer, since the text
    model has no such candidate. Any other answer equals the default method's.
    """

    name = "composite with fasttext"

    def __init__(self, fasttext: FasttextEngine) -> None:
        super().__init__(shipped_engine())
        self._fasttext = fasttext
        self.added = fasttext.languages - set(known_languages())

    def answers(self, page: ParsedPage) -> dict[str, str | None]:
        """Return the language by each evidence kind alone; None without evidence."""
        by_model = next((code for code, _ in self._fasttext.rank(page.text)), None)
        return super().answers(page) | {KIND: by_model}

    def identify(self, page: ParsedPage, surroundings: Surroundings = NOTHING) -> PageLanguage:
        """Identify the language of a page; never raises."""
        ballot = vote(utf16_units(page.text))
        if ballot.letters >= LEAST_LETTERS:
            for code, share in self._fasttext.rank(page.text)[:1]:
                is_fit = not scripts(code) or fits(code, ballot)  # some have no known script
                if code in self.added and share >= LEAST_SHARE and is_fit:
                    return PageLanguage(code, share, KIND, f"fastText: {code} {share:.2f}")
        return super().identify(page)


def without_unshown(text: str) -> str:
    """Replace control characters, lone surrogates and noncharacters by spaces."""
    return _UNSHOWN.sub(" ", text)


@cache
def codes_of(path: Path) -> dict[str, str]:
    """Return label -> language code, for every language label.

    The package is not needed. Raises ModelError if the file is missing, truncated or another kind,
    or has no language label.
    """
    if not path.is_file():
        raise ModelError(f"{path}: no such model file of fastText")
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            labels = _walk(data)
            if data.tell() != len(data):
                raise ValueError(f"{len(data) - data.tell():,} bytes too many")
    except (ValueError, OverflowError, struct.error) as fault:
        raise ModelError(f"{path}: not a whole model of fastText ({fault})") from fault
    codes = {label: code for label in labels if (code := canonical(label) or further(label))}
    if not codes:
        shown = ", ".join(labels[:3])
        raise ModelError(f"{path}: no label of this model names a language ({shown}, ...)")
    return codes


def _walk(data: mmap.mmap) -> list[str]:
    """Walk a whole file and return the labels; struct.error or ValueError if truncated."""
    magic, version = _numbers(data, "ii")
    if magic != _MAGIC or version not in _VERSIONS:
        raise ValueError("no magic number of fastText at the start")
    _numbers(data, "12id")
    n_entries, _, _, _, n_pruned = _numbers(data, "iiiqq")
    labels = []
    for _ in range(n_entries):
        word = data[data.tell() : data.find(b"\0", data.tell())]
        data.seek(len(word) + 1, os.SEEK_CUR)
        if _numbers(data, "qb")[1]:
            labels.append(word.decode("utf-8", "replace").removeprefix(_LABEL))
    data.seek(8 * max(n_pruned, 0), os.SEEK_CUR)  # -1: nothing was pruned
    (is_quantised,) = _numbers(data, "?")
    _skip_matrix(data, is_quantised)
    (has_quantised_labels,) = _numbers(data, "?")
    _skip_matrix(data, is_quantised and has_quantised_labels)
    return labels


def _numbers(data: mmap.mmap, kinds: str) -> tuple[Any, ...]:
    layout = struct.Struct(f"<{kinds}")
    return layout.unpack(data.read(layout.size))


def _skip_matrix(data: mmap.mmap, is_quantised: bool) -> None:
    if not is_quantised:
        rows, columns = _numbers(data, "qq")
        data.seek(4 * rows * columns, os.SEEK_CUR)
        return
    has_norms, rows, _, size = _numbers(data, "?qqi")
    data.seek(size, os.SEEK_CUR)
    data.seek(4 * _CENTROIDS * _numbers(data, "4i")[0], os.SEEK_CUR)
    if has_norms:
        data.seek(rows, os.SEEK_CUR)
        data.seek(4 * _CENTROIDS * _numbers(data, "4i")[0], os.SEEK_CUR)


def with_added(path: Path) -> WithAdded:
    """Return the default method with added languages from a fastText model file."""
    return WithAdded(FasttextEngine(path))
