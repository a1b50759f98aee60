"""URLs per second of the URL model, and its F1, against other identifiers of a URL's language.

    python -m benchmarks.run --only urls

All run in this process, on one core with one thread, in turn within each round, on new strings each
time; seconds are processor time. All but py3langid and courlan learn from the same rows in five
languages, and F1 is measured on held-out registered domains (Baykan 2013, 3.3). The rivals do not
get URLs but their words in lower case, without punctuation, digits and percent-encoding. These are
made before the clock starts, while langfocus finds the words within the measured time; so the
comparison favours the rivals. For the same reason fastText has small vectors (16 numbers). courlan
gets URLs: its rules answer whether one may be in the language.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import numpy as np

from benchmarks.claim import Claim, ratios
from benchmarks.proxyweb import URLS
from langfocus.classifiers.datasets.rows import LabelledUrl, LabelledUrls, split
from langfocus.classifiers.papers.evaluation import Decisions
from langfocus.classifiers.training.assessment import table
from langfocus.classifiers.training.examples import FIVE
from langfocus.classifiers.training.urls import Options, capped, fit, usable
from langfocus.classifiers.urls.model import UrlModel

BATCH: Final = 60
"""URLs that are scored at once: the links of a page."""
N_URLS: Final = 20_000
PASS_S: Final = 0.25
"""Seconds of one pass of a contestant, about; slower ones score fewer URLs."""
OURS: Final = "langfocus, five languages"
FLOORS: Final = {"scikit-learn": 15.0, "fastText": 1.5, "py3langid": 7.0}
"""The least times as fast as a rival; courlan has none, it reads only the codes in a URL."""

_NO_LETTERS: Final = re.compile(r"[\W\d_]+")
_BUCKETS: Final = 1 << 18
_TRAIN_FASTTEXT: Final = f"""
import fasttext
fasttext.train_supervised(
    {{lines!r}}, minn=3, maxn=7, wordNgrams=1, epoch=5, lr=0.25, dim=16, bucket={_BUCKETS},
    thread=1, seed=0, verbose=0,
).save_model({{saved!r}})
"""


@dataclass(frozen=True)
class Contestant:
    """A way to score a batch of texts; `prepare` makes a text of a URL, outside the clock.

    `decide` tells Yes or No for each of FIVE, (n_texts, 5); None if F1 is not measured.
    """

    name: str
    score: Callable[[list[str]], Sized]
    prepare: Callable[[str], str] = str
    decide: Callable[[list[str]], Decisions] | None = None


def words(url: str) -> str:
    """Return the words of a URL in lower case, with blanks between."""
    return _NO_LETTERS.sub(" ", unquote(url)).lower()


def contestants(rows: Sequence[LabelledUrl]) -> Iterator[Contestant]:
    """All contestants whose packages are installed, trained on rows in FIVE languages."""
    yield five_languages(rows)
    yield Contestant("langfocus, all languages", UrlModel.load().scores)
    for make in (_scikit_learn, fasttext, _py3langid, _courlan):
        try:
            yield make(rows)
        except ImportError as error:
            print(f"left out: {error}; pip install '.[engines]'", file=sys.stderr)


def five_languages(rows: Sequence[LabelledUrl]) -> Contestant:
    """Return a URL model of FIVE; its scores are in their order."""
    model = fit(rows, Options(languages=FIVE))
    columns = [model.languages.index(code) for code in FIVE]

    def scores(urls: list[str]) -> Any:
        return model.scores(urls)[:, columns]

    return Contestant(OURS, scores, decide=lambda urls: scores(urls) > 0)


def _scikit_learn(rows: Sequence[LabelledUrl]) -> Contestant:
    """Return the same n-grams of the words, hashed, and a linear SVM with both classes balanced."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    grams = {"analyzer": "char_wb", "ngram_range": (3, 7), "n_features": _BUCKETS}
    hashing = HashingVectorizer(**grams, alternate_sign=False, lowercase=False)
    svm = OneVsRestClassifier(LinearSVC(class_weight="balanced", tol=0.01, random_state=0))
    svm.fit(hashing.transform([words(row.url) for row in rows]), [row.language for row in rows])
    columns = [svm.classes_.tolist().index(code) for code in FIVE]

    def scores(texts: list[str]) -> Any:
        return svm.decision_function(hashing.transform(texts))

    return Contestant("scikit-learn", scores, words, lambda texts: scores(texts)[:, columns] > 0)


def fasttext(rows: Sequence[LabelledUrl]) -> Contestant:
    """Supervised fastText over the same n-grams; it returns one language per text."""
    library = import_module("fasttext")
    with tempfile.TemporaryDirectory() as folder:
        lines, saved = Path(folder) / "train.txt", Path(folder) / "model.bin"
        texts = (f"__label__{row.language} {words(row.url)}\n" for row in rows)
        lines.write_text("".join(texts), encoding="utf-8")
        # With one thread fastText leaves most vectors uninitialised at first: in a process with
        # used memory, training meets NaN values.
        code = _TRAIN_FASTTEXT.format(lines=str(lines), saved=str(saved))
        subprocess.run([sys.executable, "-c", code], check=True)
        model = library.load_model(str(saved))

    def named(texts: list[str]) -> list[str]:
        answers = model.predict(texts)[0]
        return [labels[0].removeprefix("__label__") if labels else "" for labels in answers]

    return Contestant("fastText", lambda texts: model.predict(texts)[0], words, _is(named))


def _py3langid(_: object) -> Contestant:
    """Return the general identifier with its own model; it returns one language per text."""
    langid = import_module("py3langid.langid")
    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)
    identifier.set_languages(list(FIVE))

    def named(texts: list[str]) -> list[str]:
        return [identifier.classify(text)[0] for text in texts]

    return Contestant("py3langid", named, words, _is(named))


def _courlan(_: object) -> Contestant:
    may_be = import_module("courlan.filters").lang_filter

    def decide(urls: list[str]) -> Decisions:
        return np.array([[may_be(url, code) for code in FIVE] for url in urls])

    return Contestant("courlan", lambda urls: [may_be(url, "de") for url in urls], str, decide)


def _is(named: Callable[[list[str]], list[str]]) -> Callable[[list[str]], Decisions]:
    """Decisions of a contestant that returns one language: Yes for it, No for the others."""
    return lambda texts: np.array(named(texts))[:, None] == np.array(FIVE)


def speed(one: Contestant, texts: list[bytes]) -> float:
    """URLs per second of processor time, in batches of new strings."""
    strings = [text.decode("utf-8") for text in texts]
    batches = [strings[at : at + BATCH] for at in range(0, len(strings), BATCH)]
    start = time.process_time()
    scored = sum(len(one.score(batch)) for batch in batches)
    seconds = time.process_time() - start
    if scored != len(texts):
        raise SystemExit(f"{one.name} answered for {scored} of {len(texts)} URLs")
    return len(texts) / seconds


def speeds(found: Sequence[Contestant], urls: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """URLs a second of each contestant, one value for each round."""
    passes = []
    for one in found:
        texts = [one.prepare(url).encode("utf-8") for url in urls]
        speed(one, texts[:BATCH])  # compiles and fills caches
        passes.append(texts[: max(BATCH, int(PASS_S * speed(one, texts[:1000])))])
    every = [[speed(*pair) for pair in zip(found, passes, strict=True)] for _ in range(rounds)]
    return {
        one.name: list(values) for one, values in zip(found, zip(*every, strict=True), strict=True)
    }


def f1(one: Contestant, rows: Sequence[LabelledUrl]) -> float | None:
    """Return the mean F1 of the five languages in percent."""
    decide, prepare = one.decide, one.prepare
    if decide is None:
        return None
    found = table(lambda urls, _: decide([prepare(url) for url in urls]), rows, FIVE)
    mean: float = found["mean_f1"]
    return mean


def claims(rounds: int, n_rows: int = 40_000) -> Iterator[Claim]:
    """Yield speeds, how many times as fast as each rival, and F1."""
    draw = random.Random(0)
    train, test = split(usable(LabelledUrls(URLS)), seed=0)
    learn, held_out = (
        [row for row in capped(part, 20) if row.language in FIVE] for part in (train, test)
    )
    urls = draw.sample([row.url for row in test], min(N_URLS, len(test)))
    found = list(contestants(draw.sample(learn, min(len(learn), n_rows))))
    per_s = speeds(found, urls, rounds)
    for name, values in per_s.items():
        yield Claim(f"URLs scored: {name}", values, "a second")
    for rival, floor in FLOORS.items():
        if rival in per_s:
            yield Claim(f"URLs scored: times {rival}", ratios(per_s[OURS], per_s[rival]), "", floor)
    for one in found:
        mean = f1(one, held_out)
        if mean is not None:
            least = 93.0 if one.name == OURS else None
            yield Claim(f"F1 of URLs, unseen domains: {one.name}", [mean], "%", least)
