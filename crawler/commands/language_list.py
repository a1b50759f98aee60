"""The languages that at least one part of the project knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def language_records() -> list[dict[str, Any]]:
    """A record for each language that has a model or seeds, in the order of the codes."""
    from classifiers import arrayfile, languages
    from classifiers.pages.text import textmodel
    from classifiers.urls.model import UrlModel

    url_model = UrlModel.load()
    of_texts = arrayfile.read_arrays(textmodel.SHIPPED, "languages")["languages"].tolist()
    seeds = _seeds()
    evaluation = url_model.parameters.facts.get("evaluation", {})
    measured = evaluation.get("all", {}).get("languages", {})
    return [
        {
            "language": code,
            "name": languages.name(code),
            "scripts": sorted(languages.scripts(code)),
            "text": code in of_texts,
            "url": code in url_model.languages,
            "seeds": seeds.get(code, 0),
            "accuracy": measured.get(code),
        }
        for code in sorted({*url_model.languages, *of_texts, *seeds})
    ]


def _seeds() -> dict[str, int]:
    """The number of seeds of each language that has a list."""
    from crawler.options import SEED_FOLDER

    return {
        path.stem: _urls(path.read_text(encoding="utf-8").splitlines())
        for path in SEED_FOLDER.glob("*.txt")
    }


def _urls(lines: Iterable[str]) -> int:
    return sum(bool(line.strip()) and not line.startswith("#") for line in lines)
