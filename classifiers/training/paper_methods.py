"""The models of the papers' page methods that ship, from labelled texts and pages.

    python -m classifiers.training.paper_methods TEXTS.tsv.gz PAGES [--folder FOLDER]

Writes the files of Hayati 2004, Cai 2009 and Tamura 2007, by default into classifiers/models. The
same data give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from classifiers.datasets.texts import LabelledPages, LabelledText, LabelledTexts
from classifiers.lab.page_methods import cai, cai_models, cavnar_trenkle, nfc, top_level_domain

_RUNNING_TEXT: Final = frozenset({"sentence", "udhr-paragraph", "page-title"})
_LEAST_ROWS: Final = 50


def running_text(rows: Iterable[LabelledText]) -> list[LabelledText]:
    """Return the running text of the languages that have 50 rows of it."""
    kept = [row for row in rows if row.kind in _RUNNING_TEXT]
    count = Counter(row.language for row in kept)
    return [row for row in kept if count[row.language] >= _LEAST_ROWS]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train the models and write their files."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("texts", type=Path, help="TSV with text, lang, kind, source")
    parser.add_argument("pages", type=Path, help="folder with pages.tsv and html.tar")
    parser.add_argument("--folder", type=Path, default=nfc.SHIPPED.parent)
    given = parser.parse_args(arguments)
    texts = list(LabelledTexts(given.texts))
    rows = running_text(texts)
    web = (page for page in LabelledPages(given.pages) if page.kind == "web")
    for model, shipped in (
        (cavnar_trenkle.train(rows), cavnar_trenkle.SHIPPED),
        (nfc.train(rows, features=nfc.SHIPPED_FEATURES), nfc.SHIPPED),
        (cai.train(texts), cai_models.SHIPPED),
        (top_level_domain.train(web), top_level_domain.SHIPPED),
    ):
        model.save(given.folder / shipped.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
