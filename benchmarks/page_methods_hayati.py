"""Figures of Hayati 2004's methods, compared with our methods on other pages.

    python -m benchmarks.page_methods_hayati TEXTS.tsv.gz PAGES [--ship]

Prints one JSON line. Accuracy is in percent in the eleven languages of the paper: BASE and NFC on
real pages (4.6) and on held-out texts, the top-level domain alone (5.1; five folds by host), and
INLINKS on short texts (Table 5.1). Short texts replace short pages. Each gets 0 to 10 inlinks, with
equal probability. The inlinks are real pages, 95 % of them in its language (the share that 5.3
counted). BASE and NFC learn from the texts alone, without titles, since titles may come from the
same pages.

`--ship` trains the files of classifiers/models on all texts and pages instead.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import Any
from urllib.parse import urlsplit

from classifiers.lab.datasets.splits import stable_share
from classifiers.lab.datasets.texts import LabelledPage, LabelledPages, LabelledText, LabelledTexts
from classifiers.lab.page_methods import cavnar_trenkle, nfc, top_level_domain
from classifiers.lab.page_methods.grams import letters
from classifiers.lab.page_methods.neighbours import MAX_INLINKS, MIN_LENGTH, Inlinks
from classifiers.pages.method import NOTHING, Neighbour, PageMethod, Surroundings
from classifiers.pages.parse import ParsedPage, parse_page

ELEVEN = frozenset("da de en es fi fr it nl no pt sv".split())
LEARNED_KINDS = frozenset({"sentence", "udhr-paragraph", "page-title"})
SHORT_KINDS = LEARNED_KINDS | {"word-pair"}
MIN_ROWS = 50
"""Least number of rows of a language that is learned."""
HELD_OUT = 0.1
SAME_LANGUAGE = 0.95
FOLDS = 5
SEEDS = range(5)
PAPER = {
    "base": 86.8,
    "nfc": 93.9,
    "top_level_domain": 69.2,
    "nfc_under_25": 33.8,
    "inlinks_under_25": 71.0,
    "nfc_25_to_50": 43.3,
    "inlinks_25_to_50": 70.9,
}

BLANK = parse_page(b"", content_type=None, url="")
Pages = list[tuple[ParsedPage, LabelledPage]]


def learned(rows: Iterable[LabelledText]) -> list[LabelledText]:
    """The running text of languages that have enough of it."""
    kept = [row for row in rows if row.kind in LEARNED_KINDS]
    count = Counter(row.language for row in kept)
    return [row for row in kept if count[row.language] >= MIN_ROWS]


def is_held_out(row: LabelledText) -> bool:
    """Whether a text is in the held-out tenth, which no measured method has learned from."""
    return stable_share(row.text, 0) < HELD_OUT


def real(pages: Iterable[LabelledPage]) -> list[LabelledPage]:
    """Pages of the Web, without those of documentation and of tests of parsers."""
    return [page for page in pages if page.kind == "web"]


def ship(texts: list[LabelledText], pages: list[LabelledPage]) -> None:
    """Write the three files that ship."""
    rows = learned(texts)
    cavnar_trenkle.train(rows).save(cavnar_trenkle.SHIPPED)
    nfc.train(rows, features=nfc.SHIPPED_FEATURES).save(nfc.SHIPPED)
    top_level_domain.train(real(pages)).save(top_level_domain.SHIPPED)


def percent(right: Sequence[bool]) -> float:
    """The percentage of true values."""
    return round(100 * mean(right), 1) if right else 0.0


def on_pages(method: PageMethod, pages: Pages) -> float:
    """Accuracy on pages, by their text."""
    return percent([method.identify(page).language == row.language for page, row in pages])


def on_texts(method: PageMethod, rows: Iterable[LabelledText]) -> float:
    """Accuracy on texts as if they were pages."""
    return percent([method.identify(page_of(row)).language == row.language for row in rows])


def page_of(row: LabelledText) -> ParsedPage:
    """A page with nothing but a text."""
    return replace(BLANK, text=row.text)


def of_domains(rows: Sequence[LabelledPage]) -> dict[str, Any]:
    """Accuracy of the top-level domain alone on folds of unseen hosts."""
    folds: list[list[bool]] = [[] for _ in range(FOLDS)]
    for number, fold in enumerate(folds):
        method = top_level_domain.train(row for row in rows if _fold(row) != number)
        for row in rows:
            if _fold(row) == number:
                answer = method.identify(BLANK, Surroundings(row.url))
                fold.append(answer.language == row.language)
    found = [percent(fold) for fold in folds]
    total = percent([right for fold in folds for right in fold])
    return {"accuracy": total, "folds": found, "pages": len(rows)}


def _fold(row: LabelledPage) -> int:
    return int(stable_share(urlsplit(row.url).hostname or "", 0) * FOLDS)


def of_inlinks(text: PageMethod, rows: list[LabelledText], pages: Pages) -> dict[str, Any]:
    """NFC alone and INLINKS on short texts, the mean over several random draws of their inlinks."""
    rule = Inlinks(text)
    known: dict[str, list[Neighbour]] = defaultdict(list)
    for page, row in pages:
        neighbour = Neighbour(text.identify(page).language, len(letters(page.text)))
        known[row.language].append(neighbour)
    alone = on_texts(rule, rows)
    drawn = [_drawn(rule, rows, known, random.Random(seed)) for seed in SEEDS]
    with_any = round(mean(one[1] for one in drawn), 1)
    accuracy = [one[0] for one in drawn]
    return {
        "texts": len(rows),
        "nfc": alone,
        "inlinks": round(mean(accuracy), 1),
        "spread": [min(accuracy), max(accuracy)],
        "inlinks_where_there_are_some": with_any,
    }


def _drawn(
    rule: Inlinks,
    rows: list[LabelledText],
    known: dict[str, list[Neighbour]],
    chance: random.Random,
) -> tuple[float, float]:
    """Accuracy with one random draw, over all texts and over those that have inlinks."""
    right, linked = [], []
    for row in rows:
        n = chance.randint(0, MAX_INLINKS)
        around = Surroundings(inlinks=tuple(_linking(row, known, chance) for _ in range(n)))
        right.append(rule.identify(page_of(row), around).language == row.language)
        if around.inlinks:
            linked.append(right[-1])
    return percent(right), percent(linked)


def _linking(
    row: LabelledText, known: dict[str, list[Neighbour]], chance: random.Random
) -> Neighbour:
    """A page that links to this one, mostly in the same language, else in any other."""
    if chance.random() < SAME_LANGUAGE:
        return chance.choice(known[row.language])
    return chance.choice(
        [page for code in sorted(known) if code != row.language for page in known[code]]
    )


def short(rows: Iterable[LabelledText], least: int, below: int) -> list[LabelledText]:
    """Texts with at least `least` and fewer than `below` characters after cleaning."""
    return [row for row in rows if least <= len(letters(row.text)) < below]


def milliseconds(method: PageMethod, pages: Pages) -> float:
    """CPU milliseconds per page, after a first page that loads the models."""
    method.identify(pages[0][0])
    start = time.process_time()
    for page, _ in pages:
        method.identify(page, NOTHING)
    return round((time.process_time() - start) * 1_000 / len(pages), 3)


def measured(texts: list[LabelledText], rows: list[LabelledPage]) -> dict[str, Any]:
    """All accuracies, by name."""
    eleven = [row for row in texts if row.language in ELEVEN and not is_held_out(row)]
    untitled = [row for row in learned(eleven) if row.kind != "page-title"]
    base, best = cavnar_trenkle.train(untitled), nfc.train(untitled)
    parsed = [(parse_page(row.body, content_type=None, url=row.url), row) for row in real(rows)]
    pages = [(page, row) for page, row in parsed if row.language in ELEVEN]
    known = [row for row in real(rows) if row.url]
    held_out = [row for row in texts if row.language in ELEVEN and is_held_out(row)]
    running = [row for row in held_out if row.kind in LEARNED_KINDS]
    brief = [row for row in held_out if row.kind in SHORT_KINDS]
    return {
        "pages": {"n": len(pages), "base": on_pages(base, pages), "nfc": on_pages(best, pages)},
        "held_out_texts": {
            "n": len(running),
            "base": on_texts(base, running),
            "nfc": on_texts(best, running),
        },
        "top_level_domain": of_domains([row for row in known if row.language in ELEVEN]),
        "top_level_domain_all_languages": of_domains(known),
        "under_25": of_inlinks(best, short(brief, 1, 25), pages),
        "25_to_50": of_inlinks(best, short(brief, 25, MIN_LENGTH), pages),
        "all_languages": all_languages(texts, parsed),
    }


def all_languages(texts: list[LabelledText], pages: Pages) -> dict[str, Any]:
    """The shipped model on all pages, and a model trained without the held-out tenth on that tenth.

    The shipped model has also learned from titles, and some hundreds may be titles of these pages.
    """
    rows = learned(texts)
    held_out = [row for row in rows if is_held_out(row)]
    seen = [row for row in rows if not is_held_out(row)]
    builders: dict[str, tuple[PageMethod, Callable[[], PageMethod]]] = {
        "base": (cavnar_trenkle.shipped(), lambda: cavnar_trenkle.train(seen)),
        "nfc": (nfc.shipped(), lambda: nfc.train(seen, features=nfc.SHIPPED_FEATURES)),
        "nfc_1000": (nfc.train(rows), lambda: nfc.train(seen)),
    }
    return {
        name: {
            "languages": len(whole.languages),
            "pages": on_pages(whole, pages),
            "held_out_texts": on_texts(build(), held_out),
            "ms": milliseconds(whole, pages),
        }
        for name, (whole, build) in builders.items()
    }


def commit() -> str:
    """The measured commit."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    folder = Path(__file__).parent
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    ).stdout.strip()


def corpus(paths: Iterable[Path]) -> str:
    """A hash of the test files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def main() -> int:
    """Print the line, or write the models that ship."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", type=Path, help="TSV with text, lang, kind, source")
    parser.add_argument("pages", type=Path, help="folder with pages.tsv and html.tar")
    parser.add_argument("--ship", action="store_true", help="train classifiers/models instead")
    options = parser.parse_args()
    texts, pages = list(LabelledTexts(options.texts)), list(LabelledPages(options.pages))
    if options.ship:
        ship(texts, pages)
        return 0
    line = {
        "benchmark": "page_methods_hayati",
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit(),
        "versions": {"python": platform.python_version(), "numpy": version("numpy")},
        "corpus": corpus([options.texts, options.pages / "pages.tsv", options.pages / "html.tar"]),
        "seeds": list(SEEDS),
        "paper": PAPER,
        **measured(texts, pages),
    }
    print(json.dumps(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
