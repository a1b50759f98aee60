"""Figures of the methods of Cai 2009 and Tamura 2007, compared with our methods on other pages.

    python -m benchmarks.page_methods_tamura_cai TEXTS.tsv.gz PAGES [--skip lingua] [--ship]

Prints one JSON line, all values in percent of pages. `cai`: right among the pages identified as one
of his seven languages (Table 5-1), by all evidence and by each kind alone, without unknown ones;
the share of all pages that each kind covers (Table 4-4, Figure 5-1); the share of a language's
pages that the encoding identifies (Table 5-2). `tamura`: pages decided by META and pages decided by
n-grams, by guessed and actual language (Tables 2 and 3). `methods`: accuracy without test files of
feed parsers, whose label is often wrong, in langdetect's languages and in all; coverage; CPU
milliseconds per page. Byte n-grams learn from the texts without titles, since titles may come from
the same pages. `missing` names the methods whose package or model is not installed.

`--ship` trains the file of classifiers/models on all texts instead.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import Any

from classifiers.errors import ClassifierError
from classifiers.lab.datasets.texts import LabelledPage, LabelledPages, LabelledTexts
from classifiers.lab.page_methods import cai, cai_models
from classifiers.lab.page_methods.cai import PRIORITY, Cai
from classifiers.lab.page_methods.tamura import NOISE, Tamura, by_meta
from classifiers.pages.method import PageLanguage, PageMethod
from classifiers.pages.methods import method
from classifiers.pages.parse import ParsedPage, parse_page

SEVEN = ("en", "zh", "ja", "de", "tr", "fr", "ko")
TARGETS = ("th", "ja", "ru", "ko", "zh", "el", "he")
"""Languages with encodings that no other language uses, as Thai in the paper."""
FEEDS = "feed-charset"
BASELINES = ("langdetect-arrays", "langdetect")
RIVALS = ("lingua", "py3langid", "cld2", "fasttext")

PAPER_CAI = {
    "right_of_identified": {
        "mean": 99.64,
        **dict(zip(SEVEN, (100.0, 99.5, 100.0, 99.5, 99.5, 99.0, 100.0), strict=True)),
    },
    "right_alone": {"encoding": 100.0, "declaration": 99.8, "text": 98.6},
    "coverage": {"encoding": 12.56, "declaration": 10.01, "text": 75.97, "all": 74.8},
    "encoding_covers": dict(zip(SEVEN, (0.37, 92.55, 52.29, 0.0, 99.06, 0.0, 95.91), strict=True)),
}
PAPER_TAMURA = {
    "meta": {"precision": 82.8, "recall": 98.3, "counts": [[57, 5], [59, 285]]},
    "n-grams": {"precision": 100.0, "recall": 97.0, "counts": [[363, 14], [0, 458]]},
}
"""Thai; rows are the guess, columns the actual language: another language, then Thai."""

Pages = Sequence[tuple[ParsedPage, LabelledPage]]
Answers = Sequence[str | None]


def percent(flags: Iterable[bool]) -> float | None:
    """The percentage of true flags; None if there are no flags."""
    every = list(flags)
    return round(100 * mean(every), 2) if every else None


def answers(found: Iterable[PageLanguage]) -> list[str | None]:
    """The languages of answers."""
    return [one.language for one in found]


def right_of_identified(found: Answers, pages: Pages) -> dict[str, Any]:
    """For each of the seven languages, the pages identified as it: the right share and the number.

    `mean` is over the languages with such pages, as the paper's 99.64.
    """
    table: dict[str, Any] = {}
    for code in SEVEN:
        right = [
            row.language == code for (_, row), one in zip(pages, found, strict=True) if one == code
        ]
        table[code] = [percent(right), len(right)]
    shares = [share for share, _ in table.values() if share is not None]
    told = [(row, one) for (_, row), one in zip(pages, found, strict=True) if one is not None]
    table["mean"] = round(mean(shares), 2) if shares else None
    table["all_languages"] = percent(row.language == one for row, one in told)
    return table


def of_cai(ours: Cai, pages: Pages) -> dict[str, Any]:
    """Counterparts of Tables 4-4, 5-1 and 5-2 and of Figure 5-1."""
    alone = {str(kind): answers(ours.by(kind, page) for page, _ in pages) for kind in PRIORITY}
    together = answers(ours.identify(page) for page, _ in pages)
    other = Cai(ours.models, priority=("encoding", "text", "declaration"))
    reordered = answers(other.identify(page) for page, _ in pages)
    coverage = {
        name: percent(one is not None for one in found)
        for name, found in {**alone, "all": together}.items()
    }
    return {
        "right_of_identified": right_of_identified(together, pages),
        "right_of_identified_text_before_declaration": right_of_identified(reordered, pages),
        "right_alone": {name: right_of_identified(found, pages) for name, found in alone.items()},
        "coverage": coverage,
        "encoding_covers": {
            code: percent(
                one is not None
                for one, all_evidence in zip(alone["encoding"], together, strict=True)
                if all_evidence == code
            )
            for code in SEVEN
        },
        "paper": PAPER_CAI,
    }


def of_tamura(ours: Tamura, pages: Pages) -> dict[str, Any]:
    """Counterparts of Tables 2 and 3 for each target, and both steps alone over all pages."""
    by_text = [(ours.by_text(page).language, row.language) for page, row in pages]
    meta = [(by_meta(page).language, row.language) for page, row in pages if _has_meta(page)]
    grams = [pair for pair, (page, _) in zip(by_text, pages, strict=True) if not _has_meta(page)]
    return {
        code: {
            "meta": verified(meta, code),
            "n-grams": verified(grams, code),
            "n-grams_on_all": verified(by_text, code),
        }
        for code in TARGETS
    } | {"paper_th": PAPER_TAMURA}


def _has_meta(page: ParsedPage) -> bool:
    """Whether META names an encoding that is neither noise nor used by every language."""
    return page.charset_source == "meta" and page.charset not in {NOISE, "utf-8"}


def verified(pairs: Iterable[tuple[str | None, str]], code: str) -> dict[str, Any]:
    """Counts of guessed and actual language, for one language; rows and columns as in the paper."""
    counts = Counter((guess == code, actual == code) for guess, actual in pairs)
    hits = counts[True, True]
    guessed, actual = hits + counts[True, False], hits + counts[False, True]
    return {
        "precision": round(100 * hits / guessed, 1) if guessed else None,
        "recall": round(100 * hits / actual, 1) if actual else None,
        "counts": [[counts[False, False], counts[False, True]], [counts[True, False], hits]],
    }


def of_method(one: PageMethod, pages: Pages) -> dict[str, Any]:
    """Accuracy, coverage and cost of a method on pages."""
    for page, _ in pages:
        one.identify(page)  # engines read parts of their models when a text first needs them
    start = time.process_time()
    found = answers(one.identify(page) for page, _ in pages)
    ms = (time.process_time() - start) * 1_000 / max(1, len(pages))
    known = method("langdetect").languages
    right = [
        (row.language == said, row.language in known)
        for (_, row), said in zip(pages, found, strict=True)
    ]
    return {
        "langdetects_languages": percent(is_right for is_right, is_known in right if is_known),
        "all_languages": percent(is_right for is_right, _ in right),
        "covered": percent(said is not None for said in found),
        "ms": round(ms, 3),
    }


def of_methods(own: Iterable[PageMethod], others: Iterable[str], pages: Pages) -> dict[str, Any]:
    """Each method by its name, and the methods that cannot run here."""
    kept = [(page, row) for page, row in pages if row.kind != FEEDS]
    found: dict[str, Any] = {one.name: of_method(one, kept) for one in own}
    missing: dict[str, str] = {}
    for name in others:
        try:
            found[name] = of_method(method(name), kept)
        except ClassifierError as error:
            missing[name] = str(error)
    return {"pages": len(kept), "methods": found, "missing": missing}


def measured(texts: Path, pages: Path, skipped: Sequence[str]) -> dict[str, Any]:
    """All tables, and the data that they were made from."""
    rows = list(LabelledPages(pages))
    untitled = [row for row in LabelledTexts(texts) if row.kind != "page-title"]
    serial = cai.train(untitled)
    tamura = Tamura(serial)
    parsed = [(parse_page(row.body, content_type=None, url=row.url), row) for row in rows]
    others = [name for name in (*BASELINES, *RIVALS) if name not in skipped]
    return {
        **_conditions(rows),
        "cai": of_cai(serial, parsed),
        "tamura": of_tamura(tamura, parsed),
        **of_methods([serial, Cai(serial.models, "parallel"), tamura], others, parsed),
    }


def _conditions(rows: Sequence[LabelledPage]) -> dict[str, Any]:
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "benchmark": "page_methods_tamura_cai",
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "corpus": hashlib.sha256(b"".join(row.body for row in rows)).hexdigest()[:16],
        "n": len(rows),
    }


def main() -> int:
    """Print the line, or write the models."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", type=Path, help="texts.tsv.gz")
    parser.add_argument("pages", type=Path, help="folder with pages.tsv and html.tar")
    parser.add_argument("--skip", nargs="*", default=[], choices=(*BASELINES, *RIVALS))
    parser.add_argument("--ship", action="store_true", help="write the models that ship")
    arguments = parser.parse_args()
    if arguments.ship:
        cai.train(LabelledTexts(arguments.texts)).save(cai_models.SHIPPED)
    else:
        print(json.dumps(measured(arguments.texts, arguments.pages, arguments.skip)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
