"""The languages that the text model knows, and what it was trained and measured on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classifiers import arrayfile
from classifiers.languages import scripts
from classifiers.pages.text import profiles, textmodel
from classifiers.pages.text.ranking import SINGLE_SCRIPTS


@dataclass(frozen=True, slots=True)
class LanguageFacts:
    """Facts about one language of the text model.

    `sentences` is the number of texts that the model learned from, None for a language that is
    known by its script alone. `scripts` are the ISO 15924 codes of those texts. `sentence` and
    `page` are the percentages of right answers on single sentences and on pages of 20 sentences
    that were held back; None if that was not measured. `has_profile` is True if langdetect's
    profiles know the language too.
    """

    sentences: int | None
    scripts: tuple[str, ...]
    sentence: float | None
    page: float | None
    has_profile: bool


def known_languages(path: Path | None = None) -> dict[str, LanguageFacts]:
    """Return the facts of each language of a text model, or of the one that ships, by code.

    Languages with a script of their own are included. Raises `ModelError` if the model cannot be
    read.
    """
    model = textmodel.SHIPPED if path is None else path
    arrays = arrayfile.read_arrays(model, "languages", "facts")
    told = json.loads(str(arrays["facts"])).get("languages", {})
    with_profile = {code for codes in profiles.GROUPS.values() for code in codes}
    codes = {*map(str, arrays["languages"].ravel()), *SINGLE_SCRIPTS.values()}
    return {code: _facts(code, told.get(code), code in with_profile) for code in sorted(codes)}


def _facts(code: str, told: dict[str, Any] | int | None, has_profile: bool) -> LanguageFacts:
    """Return the facts of a model's file about a language; older models tell a number only."""
    facts: dict[str, Any] = told if isinstance(told, dict) else {"sentences": told}
    return LanguageFacts(
        facts.get("sentences"),
        tuple(facts.get("scripts") or sorted(scripts(code))),
        facts.get("sentence"),
        facts.get("page"),
        bool(facts.get("profile", has_profile)),
    )
