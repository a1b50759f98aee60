"""The contestants of `benchmarks.url_model`: langfocus and other identifiers of a URL's language.

All but py3langid learn from the same rows. The rivals do not get URLs but their words in lower
case, without punctuation, digits and percent-encoding. These are made before the clock starts,
while langfocus finds the words within the measured time; so the comparison favours the rivals. For
the same reason fastText has small vectors (16 numbers, as in its own model of languages).
"""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from classifiers.datasets import LabelledUrl
from classifiers.papers.evaluation import Decisions
from classifiers.training.examples import FIVE
from classifiers.training.urls import Options, fit
from classifiers.urls.model import UrlModel

TARGET = "de"
"""The language of the contestants that score only one."""

_NO_LETTERS = re.compile(r"[\W\d_]+")
_BUCKETS = 1 << 18
_TRAIN_FASTTEXT = f"""
import fasttext
fasttext.train_supervised(
    {{lines!r}}, minn=3, maxn=7, wordNgrams=1, epoch=5, lr=0.25, dim=16, bucket={_BUCKETS},
    thread=1, seed={{seed}}, verbose=0,
).save_model({{saved!r}})
"""


@dataclass(frozen=True)
class Contestant:
    """One way to score URLs."""

    name: str
    score: Callable[[list[str]], Sized]
    """From a batch of texts to an answer for each."""
    prepare: Callable[[str], str]
    """From a URL to its text; outside the clock."""
    decide: Callable[[list[str]], Decisions] | None = None
    """Yes or No of the classifiers of FIVE, (n_texts, 5); None if F1 is not measured."""


def words(url: str) -> str:
    """The words of a URL in lower case, with blanks between."""
    return _NO_LETTERS.sub(" ", unquote(url)).lower()


def contestants(rows: Sequence[LabelledUrl], seed: int) -> Iterator[Contestant]:
    """All contestants that are installed, trained on rows in FIVE languages."""
    shipped = UrlModel.load()
    yield Contestant(f"langfocus {TARGET}", lambda urls: shipped.score(urls, TARGET), str)
    yield Contestant(
        f"langfocus {TARGET}, one by one",
        lambda urls: [shipped.score([url], TARGET) for url in urls],
        str,
    )
    if "languages" in inspect.signature(UrlModel.scores).parameters:
        some: Any = shipped.scores
        yield Contestant("langfocus five of all", partial(some, languages=FIVE), str)
    yield Contestant("langfocus all", shipped.scores, str)
    yield _langfocus_of_five(rows, seed)
    yield from _scikit_learn(rows, seed)
    yield from of_fasttext(rows, seed)
    yield from of_py3langid()


def _langfocus_of_five(rows: Sequence[LabelledUrl], seed: int) -> Contestant:
    model = UrlModel(fit(rows, Options(languages=FIVE, seed=seed)))
    columns = [model.languages.index(code) for code in FIVE]
    return Contestant(
        "langfocus five", model.scores, str, lambda urls: model.scores(urls)[:, columns] > 0
    )


def _scikit_learn(rows: Sequence[LabelledUrl], seed: int) -> Iterator[Contestant]:
    """The same n-grams of the words, hashed, and a linear SVM with both classes balanced."""
    hashing = HashingVectorizer(
        analyzer="char_wb",
        ngram_range=(3, 7),
        n_features=_BUCKETS,
        alternate_sign=False,
        lowercase=False,
    )
    svm = OneVsRestClassifier(LinearSVC(class_weight="balanced", tol=0.01, random_state=seed))
    svm.fit(hashing.transform([words(row.url) for row in rows]), [row.language for row in rows])
    codes = svm.classes_.tolist()
    columns = [codes.index(code) for code in FIVE]
    one = svm.estimators_[codes.index(TARGET)]

    def scores(texts: list[str]) -> Any:
        return svm.decision_function(hashing.transform(texts))

    def decide(texts: list[str]) -> Decisions:
        said_yes: Decisions = scores(texts)[:, columns] > 0
        return said_yes

    yield Contestant(
        f"scikit-learn {TARGET}",
        lambda texts: one.decision_function(hashing.transform(texts)),
        words,
    )
    yield Contestant(
        "scikit-learn five", scores, words, lambda texts: scores(texts)[:, columns] > 0
    )


def of_fasttext(rows: Sequence[LabelledUrl], seed: int) -> Iterator[Contestant]:
    """Supervised fastText over the same n-grams; it returns one language per text."""
    model = trained_fasttext(rows, seed)

    def named(texts: list[str]) -> list[str]:
        answers = model.predict(texts)[0]
        return [labels[0].removeprefix("__label__") if labels else "" for labels in answers]

    yield Contestant("fastText five", lambda texts: model.predict(texts)[0], words, _is(named))
    yield Contestant(
        "fastText five, one by one", lambda texts: [model.predict(text) for text in texts], words
    )


def trained_fasttext(rows: Sequence[LabelledUrl], seed: int) -> Any:
    """A model of the package fasttext that learned the words of URLs."""
    fasttext = _imported("fasttext")
    with tempfile.TemporaryDirectory() as folder:
        lines, saved = Path(folder) / "train.txt", Path(folder) / "model.bin"
        lines.write_text(
            "".join(f"__label__{row.language} {words(row.url)}\n" for row in rows),
            encoding="utf-8",
        )
        # With one thread fastText leaves most vectors uninitialised at first: in a process with
        # used memory, training meets NaN values.
        code = _TRAIN_FASTTEXT.format(lines=str(lines), saved=str(saved), seed=seed)
        subprocess.run([sys.executable, "-c", code], check=True)
        return fasttext.load_model(str(saved))


def of_py3langid() -> Iterator[Contestant]:
    """The general identifier with its own model; it returns one language per text."""
    langid = _imported("py3langid.langid")
    for name, codes in (("five", list(FIVE)), ("all", None)):
        identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)
        identifier.set_languages(codes)
        named = partial(_classified, identifier)
        yield Contestant(f"py3langid {name}", named, words, _is(named) if codes else None)


def _classified(identifier: Any, texts: list[str]) -> list[str]:
    return [identifier.classify(text)[0] for text in texts]


def _is(named: Callable[[list[str]], list[str]]) -> Callable[[list[str]], Decisions]:
    """Decisions of a contestant that returns one language: Yes for it, No for the others."""
    return lambda texts: np.array(named(texts))[:, None] == np.array(FIVE)


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SystemExit(f"{error}; pip install 'langfocus[engines]'") from error
