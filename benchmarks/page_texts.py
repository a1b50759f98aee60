"""Accuracy of the language of short texts, on texts that no method was trained on.

    python -m benchmarks.page_texts TEXTS.tsv.gz [SIB200.tsv.gz] [--rivals] [--share 0.1]

Trains the text model without a fixed share of the texts. Then it tests the model, the composite
method, its parts and the rivals on that share. Accuracy is in % by length for sentences and
paragraphs, and for word pairs, single words and page titles, over the languages that most engines
know (`common`) and over all learned languages. Prints one JSON line, and a table on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import pagerivals
from classifiers.datasets import LabelledText, LabelledTexts, stable_share
from classifiers.errors import ClassifierError
from classifiers.lab.study.page_runs import text_page
from classifiers.pages.method import PageMethod
from classifiers.pages.methods.composite import Composite
from classifiers.pages.methods.text_only import ByText
from classifiers.pages.text.textengine import LangfocusEngine
from classifiers.training import texttraining

COMMON = (
    "af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja ko lt lv mk mr nl no"
    " pa pl pt ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh"
).split()
LENGTHS = ((0, 25), (25, 50), (50, 150), (150, 10**9))
KINDS = {
    "text": ("sentence", "udhr-paragraph"),
    "word pair": ("word-pair",),
    "single word": ("single-word",),
    "page title": ("page-title",),
}
RIVALS = ("langdetect", "cld2", "py3langid", "lingua")
EACH_FOR_RIVALS = 4
"""Slow rivals read only every N-th text."""
FEWEST = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", type=Path, nargs="+", help="the test texts are of the first")
    parser.add_argument("--share", type=float, default=0.1, help="share of the texts to hold out")
    parser.add_argument("--rivals", action="store_true")
    options = parser.parse_args()
    rows = list(LabelledTexts(options.texts[0]))
    more = [row for path in options.texts[1:] for row in LabelledTexts(path)]
    kept = [row for row in rows + more if stable_share(row.text, 0, "text") >= options.share]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.npz"
        texttraining.train(kept).save(path)
        engine = LangfocusEngine(path)
    test = [
        row
        for row in rows
        if stable_share(row.text, 0, "text") < options.share and row.language in engine.languages
    ]
    result = {
        "benchmark": "page_texts",
        "date": time.strftime("%Y-%m-%d"),
        "learned_from": len(kept),
        "held_out": len(test),
        "right": dict(compared(engine, test, options.rivals)),
    }
    print(json.dumps(result))
    return 0


def compared(
    engine: LangfocusEngine, test: Sequence[LabelledText], rivals: bool
) -> Iterator[tuple[str, Any]]:
    """Name and figures of each method, printed as they arrive."""
    yield shown("text", measured(ByText(engine), test))
    yield shown("composite", measured(Composite(engine), test))
    for name in RIVALS if rivals else ():
        try:
            yield shown(name, measured(pagerivals.method(name), test[::EACH_FOR_RIVALS]))
        except ClassifierError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)


def measured(method: PageMethod, rows: Sequence[LabelledText]) -> dict[str, Any]:
    """% right by kind and length, `common` and `all`, and CPU milliseconds a text."""
    cases = [(row, text_page(row.text)) for row in rows]
    method.identify(cases[0][1])
    start = time.process_time()
    right = [method.identify(page).language == row.language for row, page in cases]
    ms = 1000 * (time.process_time() - start) / len(cases)
    figures: dict[str, Any] = {"ms": round(ms, 3)}
    for kind, names in KINDS.items():
        for low, high in LENGTHS:
            found = [
                (is_right, row.language in COMMON)
                for is_right, row in zip(right, rows, strict=True)
                if row.kind in names and low <= len(row.text) < high
            ]
            common = [is_right for is_right, is_common in found if is_common]
            if len(common) >= FEWEST:
                every = [is_right for is_right, _ in found]
                figures[f"{kind} {low}"] = {
                    "n": len(common),
                    "common": round(100 * sum(common) / len(common), 2),
                    "all": round(100 * sum(every) / len(every), 2),
                }
    return figures


def shown(name: str, figures: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    cells = (
        f"{place} {cell['common']} ({cell['all']})"
        for place, cell in figures.items()
        if place != "ms"
    )
    print(f"{name}, {figures['ms']} ms: {', '.join(cells)}", file=sys.stderr)
    return name, figures


if __name__ == "__main__":
    raise SystemExit(main())
