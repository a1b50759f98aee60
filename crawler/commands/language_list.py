"""The lines of `langfocus identify languages`: what the parts of the project know of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from classifiers.pages.text.textengine import LanguageFacts
    from classifiers.urls.model import UrlModel

Record = dict[str, Any]


def language_records(fasttext: Path | None = None) -> list[Record]:
    """Return a record for each language that a part of the project knows, in order of the codes.

    With a model file of fastText its languages are among them, with their labels.
    """
    from classifiers import languages
    from classifiers.pages.text.textengine import known_languages
    from classifiers.urls.model import UrlModel

    url_model, texts, seeds = UrlModel.load(), known_languages(), _seeds()
    labels = _labels(fasttext)
    measured = url_model.parameters.facts.get("evaluation", {}).get("all", {}).get("languages", {})
    return [
        {
            "language": code,
            "name": languages.name(code),
            "scripts": sorted(languages.scripts(code)),
            "text": _of_texts(texts.get(code)),
            "url": _of_urls(url_model, code),
            "seeds": seeds.get(code, 0),
            "accuracy": {"text": _text_accuracy(texts.get(code)), "url": measured.get(code)},
        }
        | ({"fasttext": labels.get(code, [])} if fasttext else {})
        for code in sorted({*url_model.named_languages, *texts, *seeds, *labels})
    ]


def _labels(fasttext: Path | None) -> dict[str, list[str]]:
    """Return the labels of each language in a model file of fastText, by its code."""
    from classifiers.pages.text.fasttextengine import codes_of

    labels: dict[str, list[str]] = {}
    for label, code in codes_of(fasttext).items() if fasttext else ():
        labels.setdefault(code, []).append(label)
    return labels


def _of_texts(facts: LanguageFacts | None) -> Record | None:
    if facts is None:
        return None
    return {"sentences": facts.sentences, "profile": facts.has_profile}


def _text_accuracy(facts: LanguageFacts | None) -> Record | None:
    if facts is None or (facts.sentence is None and facts.page is None):
        return None
    return {name: value for name, value in asdict(facts).items() if name in ("sentence", "page")}


def _of_urls(model: UrlModel, code: str) -> Record | None:
    from classifiers.languages import tlds_of

    if code in model.languages:
        learned: Mapping[str, int] = model.parameters.facts.get("languages", {})
        return {"by": "model", "urls": learned.get(code)}
    domains = sorted(tlds_of(code))
    return {"by": "rules", "domains": domains} if code in model.named_languages else None


def _seeds() -> dict[str, int]:
    """Return the number of seeds of each language that has a list."""
    from crawler.config import SEED_FOLDER

    return {
        path.stem: _urls(path.read_text(encoding="utf-8").splitlines())
        for path in SEED_FOLDER.glob("*.txt")
    }


def _urls(lines: Iterable[str]) -> int:
    return sum(bool(line.strip()) and not line.startswith("#") for line in lines)
