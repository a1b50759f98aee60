"""Training of page methods and shipped models from labelled texts or pages, by name.

    python -m classifiers.training.methods nfc texts.tsv.gz --output nfc.npz
    python -m classifiers.training.methods text texts.tsv.gz sib200.tsv.gz --held-out 0.2
    python -m classifiers.training.methods top-level-domain pages/ --kinds web

Data are labelled texts (a table with the columns text, lang, kind, source, or SIB-200's text,
flores_code, split) or a folder of pages (pages.tsv and html.tar), whose visible text is used.
top-level-domain is trained on page URLs of such a folder, or on labelled URLs. For evaluation, use
`langfocus evaluate`.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from langfocus.classifiers.datasets import open_dataset
from langfocus.classifiers.datasets.rows import Dataset, LabelledUrl, left_out
from langfocus.classifiers.datasets.texts import (
    LabelledPage,
    LabelledText,
    LabelledTexts,
    is_held_out,
    recognised,
)
from langfocus.classifiers.errors import ClassifierError, DatasetError
from langfocus.classifiers.papers.page_cases import visible_text

DOMAINS: Final = "top-level-domain"
"""Method trained on pairs of URL and language; every other method is trained on labelled texts."""
BYTES: Final = "byte-ngrams"
NAMES: Final = {
    "cavnar-trenkle": "langfocus.classifiers.papers.hayati.base",
    "nfc": "langfocus.classifiers.papers.hayati.nfc",
    BYTES: "langfocus.classifiers.papers.cai.models",
    DOMAINS: "langfocus.classifiers.papers.hayati.around",
    "text": "langfocus.classifiers.training.texts",
    "letters": "langfocus.classifiers.training.letters",
}
"""Name -> module whose function `train` trains the method."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Train a method and write its file; an error prints one line and exits with code 1."""
    parser = argparse.ArgumentParser(description="Trains a method that identifies pages.")
    parser.add_argument("method", choices=list(NAMES))
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, help="file to write (default: METHOD.npz)")
    parser.add_argument("--kinds", nargs="+", help="texts or pages of these kinds (default: all)")
    parser.add_argument(
        "--min-texts", type=int, default=1, help="texts that a language needs (default: 1)"
    )
    parser.add_argument(
        "--least-appearances",
        type=int,
        help="byte-ngrams: an n-gram counts in a model and in a text if it appears so many times "
        "or more (Cai 2009; default: 1)",
    )
    parser.add_argument(
        "--held-out", type=float, default=0.0, help="leave out this share of the texts or hosts"
    )
    opts = parser.parse_args(arguments)
    if opts.least_appearances is not None and opts.method != BYTES:
        sys.exit(f"--least-appearances is for {BYTES}")
    try:
        _train(opts)
    except (ClassifierError, OSError) as error:
        sys.exit(str(error))


def _train(opts: argparse.Namespace) -> None:
    learned: list[Any] = []
    reasons: Counter[str] = Counter()
    for path in opts.data:
        source, rows = (_addresses if opts.method == DOMAINS else _texts)(path, opts)
        before = len(learned)
        learned += rows
        if len(learned) == before:
            raise DatasetError(f"{path}: no usable rows, {left_out(source.reasons)}")
        reasons += source.reasons
    counts = Counter(language for _, language, *_ in learned)
    learned = [row for row in learned if counts[row[1]] >= opts.min_texts]
    print(f"{len(learned)} usable rows, {left_out(reasons)}")
    least = opts.least_appearances
    model = import_module(NAMES[opts.method]).train(learned, **({"least": least} if least else {}))
    output = opts.output or Path(f"{opts.method}.npz")
    model.save(output)
    known = f"{len(model.languages)} languages" if model.languages else "any language"
    print(f"{output}: {known}, {output.stat().st_size / 1e6:.1f} MB")


def _texts(data: Path, opts: argparse.Namespace) -> tuple[Dataset[Any], Iterable[LabelledText]]:
    """Return labelled texts, or visible page texts."""
    source = recognised(data)
    if source is None:
        wanted = "a table with the columns text, lang, kind, source or a folder of pages"
        raise DatasetError(f"{data}: {opts.method} learns from texts; expected {wanted}")
    return source, (visible_text(row) for row in source if _is_chosen(row, opts))


def _addresses(
    data: Path, opts: argparse.Namespace
) -> tuple[Dataset[Any], Iterable[tuple[str, str]]]:
    """Return pairs of URL and language, from pages or labelled URLs."""
    source: Dataset[Any] = recognised(data) or open_dataset(data)
    if isinstance(source, LabelledTexts):
        raise DatasetError(f"{data}: {opts.method} learns from URLs; texts have none")
    rows: Iterable[Any] = (row for row in source if row.url and _is_chosen(row, opts))
    return source, ((row.url, row.language) for row in rows)


def _is_chosen(row: LabelledText | LabelledPage | LabelledUrl, opts: argparse.Namespace) -> bool:
    kind = row.label_kind if isinstance(row, LabelledUrl) else row.kind
    return (not opts.kinds or kind in opts.kinds) and not is_held_out(row, opts.held_out)


if __name__ == "__main__":
    main()
