"""The languages that the text model knows, and what it was trained and measured on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classifiers import arrayfile
from classifiers.pages.text import textmodel
from classifiers.pages.text.textengine import WITH_PROFILE


@dataclass(frozen=True, slots=True)
class LanguageFacts:
    """Facts about one language of the text model.

    `sentences` is the number of texts that the model learned from, 0 for Cantonese, which is known
    by its own signs. `scripts` are the ISO 15924 codes of those texts. `sentence` and
    `page` are the percentages of right answers on single sentences and on pages of 20 sentences
    that a model had not learned (cross-validation); None if that was not measured. `has_profile` is
    True if langdetect's profiles know the language too.
    """

    sentences: int
    scripts: tuple[str, ...]
    sentence: float | None
    page: float | None
    has_profile: bool


def known_languages(path: Path | None = None) -> dict[str, LanguageFacts]:
    """Return the facts of each language of a text model, or of the one that ships, by code.

    Raises `ModelError` if the model cannot be read.
    """
    model = textmodel.SHIPPED if path is None else path
    arrays = arrayfile.read_arrays(model, "facts")
    told = json.loads(str(arrays["facts"])).get("languages", {})
    known = {code: _facts(told[code], code in WITH_PROFILE) for code in sorted(told)}
    return known | {"yue": LanguageFacts(0, ("Hani",), None, None, False)}


def _facts(told: dict[str, Any], has_profile: bool) -> LanguageFacts:
    return LanguageFacts(
        told["sentences"], tuple(told["scripts"]), told["sentence"], told["page"], has_profile
    )
