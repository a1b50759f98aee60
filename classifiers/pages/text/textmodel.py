"""The text model: how much more likely each hashed n-gram is in a language than in its script.

For each script there is a table of its languages. A value is the logarithm of
P(n-gram | language) / P(n-gram | script), where the probability in a script is the mean of its
languages: multinomial naive Bayes with Dirichlet smoothing toward the script. The sum over a text
is the evidence for a language in nats. Divided by the number of n-grams it also tells whether the
text is in any of the languages: a text in an unknown language is no more likely than its script.

Values have one byte. `classifiers.training.texts` trains the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers import arrayfile
from classifiers.errors import ModelError

FORMAT: Final = 2
"""Increased when the features or the values change."""
SHIPPED: Final = arrayfile.MODELS / "text-v2.npz"
N_TYPICALITY: Final = 6
"""Coefficients of the probability that a text is in a known language."""
MAX_LEAD: Final = 2.0
"""Lead over the second language, in nats of an n-gram, that counts at most."""
MAX_DEFICIT: Final = 4.0
"""Nats of an n-gram below a typical text that count at most."""

_PARTS: Final = ("tags", "codes", "scale", "floors", "typical")

Codes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]
Values = npt.NDArray[np.float64]


def language_of(tag: str) -> str:
    """The language of a column: `zh` of `zh-Hant`."""
    return tag.partition("-")[0]


@dataclass
class ScriptModel:
    """The languages of one script."""

    script: str
    """The winner of a vote; `Hani` for Chinese and Japanese."""
    tags: tuple[str, ...]
    """The columns: codes of languages, some with a variety (`zh-Hant`)."""
    codes: Codes
    """Roots of the values beyond the floor, (n_buckets, n_tags)."""
    scale: float
    """Nats of a squared code."""
    floors: Floats
    """Nats of an n-gram that a language does not have, (n_tags,)."""
    typical: Floats
    """Mean nats of an n-gram in texts of the language, (n_tags,)."""

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Return the language of each column."""
        return tuple(map(language_of, self.tags))

    @cached_property
    def table(self) -> Codes:
        """The table that `classifiers.weights.sum_rows` reads; in memory once, with the codes."""
        from classifiers.weights import table_of  # numba takes half a second

        table = table_of(self.codes.T)
        self.codes = table[:-1, : self.codes.shape[1]]
        return table

    @property
    def bits(self) -> int:
        """Return the binary logarithm of the number of buckets."""
        return len(self.codes).bit_length() - 1


@dataclass(frozen=True)
class TextModel:
    """The models of all scripts."""

    scripts: Mapping[str, ScriptModel]
    typicality: npt.NDArray[np.float64]
    """Coefficients of `typicality_facts`, (N_TYPICALITY,)."""
    facts: dict[str, Any] = field(default_factory=dict)
    """About the training; `languages` maps each code to the facts about it."""

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Return the codes of all languages, sorted."""
        found = {code for model in self.scripts.values() for code in model.languages}
        return tuple(sorted(found))

    def save(self, path: Path) -> None:
        """Write the file; the same model gives the same bytes."""
        arrays: dict[str, Any] = {}
        for script, model in sorted(self.scripts.items()):
            arrays[f"tags_{script}"] = np.array(model.tags)
            arrays[f"codes_{script}"] = np.ascontiguousarray(model.codes)
            arrays[f"scale_{script}"] = np.float64(model.scale)
            arrays[f"floors_{script}"] = model.floors
            arrays[f"typical_{script}"] = model.typical
        arrayfile.write_arrays(
            path,
            format=np.int64(FORMAT),
            scripts=np.array(sorted(self.scripts)),
            typicality=self.typicality,
            facts=np.array(json.dumps(self.facts, sort_keys=True)),
            **arrays,
        )


def typicality_facts(deficit: Values, lead: Values, n_features: Values) -> Values:
    """What tells whether texts are in a known language at all, (n_texts, N_TYPICALITY).

    `deficit` is how many nats an n-gram of a text lacks compared with typical texts of its first
    language, `lead` how many it has more for the first language than for the second, (n_texts,)
    each. A text in an unknown language, program code or random letters lacks the nats, the lead or
    both. A logistic regression on cross-validated texts weighs these facts.
    """
    size = np.log(np.maximum(n_features, 1))
    lacking = np.clip(deficit, -MAX_DEFICIT, MAX_DEFICIT)
    ahead = np.minimum(lead, MAX_LEAD)
    return np.stack((np.ones_like(size), lacking, ahead, size, lacking * size, ahead * size), 1)


def load(path: Path | None = None) -> TextModel:
    """The model in a file, or the one that ships; ModelError if it cannot be read."""
    path = SHIPPED if path is None else Path(path)
    head = arrayfile.read_arrays(path, "format", "scripts", "typicality", "facts")
    if head["format"].shape != () or int(head["format"]) != FORMAT:
        found = head["format"]
        raise ModelError(f"{path}: model format {found}, this version reads {FORMAT}; train anew")
    names = [str(script) for script in head["scripts"].ravel()]
    arrays = arrayfile.read_arrays(path, *(f"{part}_{each}" for each in names for part in _PARTS))
    scripts = {}
    for each in names:
        tags, codes, scale, floors, typical = (arrays[f"{part}_{each}"] for part in _PARTS)
        nats = float(scale) if scale.shape == () else 0.0
        columns = tuple(map(str, tags.ravel()))
        scripts[each] = ScriptModel(each, columns, codes, nats, floors, typical)
    typicality = head["typicality"]
    if typicality.shape != (N_TYPICALITY,) or not all(map(_fits, scripts.values())):
        raise ModelError(f"{path}: not a text model: its arrays do not fit together")
    return TextModel(scripts, typicality.astype(np.float64), json.loads(str(head["facts"])))


def _fits(model: ScriptModel) -> bool:
    codes = model.codes
    n_buckets, n_tags = codes.shape if codes.ndim == 2 else (0, 0)
    columns = (model.floors, model.typical)
    return bool(
        codes.dtype == np.int8
        and 0 < n_tags == len(model.tags)
        and 1 << 4 <= n_buckets <= 1 << 24
        and n_buckets.bit_count() == 1
        and 0 < model.scale < np.inf
        and all(each.shape == (n_tags,) and each.dtype == np.float32 for each in columns)
        and all(np.isfinite(each).all() for each in columns)
    )
