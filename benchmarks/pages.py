"""Accuracy and speed of the identification of texts, against engines of other packages.

    python -m benchmarks.run --only pages

Trains the text model without a fixed share of the texts. The test texts are the news of that share:
sentences, and pages of 20, which declare nothing and have no address. Accuracy is the mean
over languages of the % named rightly, over all languages and over those that a rival knows;
Bosnian, Croatian and Serbian count as one, and Cantonese as Chinese (its texts here are in
Standard Chinese). Speed is pages per second of processor time, in turn within each round. The
rivals are those of the extra `engines` and langdetect; each reads the visible text alone. Control
characters, lone surrogates and code points that are no characters are replaced by spaces first.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from benchmarks.claim import Claim, ratios
from benchmarks.proxyweb import SHARED
from langfocus.classifiers.datasets.texts import NEWS, LabelledText, LabelledTexts, is_held_out
from langfocus.classifiers.languages import canonical
from langfocus.classifiers.pages.methods.composite import Composite
from langfocus.classifiers.pages.methods.fasttext import without_unshown
from langfocus.classifiers.pages.parse import parse_page
from langfocus.classifiers.pages.text.textengine import LangfocusEngine
from langfocus.classifiers.training import texts as text_training

TEXTS: Final = (SHARED / "data" / "texts.tsv.gz", SHARED / "data" / "sib200.tsv.gz")
SHARE: Final = 0.2
"""The share of the texts that the model does not learn."""
SENTENCES: Final = 40
"""Sentences of a language."""
PAGE: Final = 20
TIMED: Final = 300
"""Pages whose time is measured."""
OURS: Final = "composite"
MERGED: Final = {"bs": "hr", "sr": "hr", "yue": "zh"}
LEAD: Final = {"cld2": 0.0, "py3langid": 0.0, "lingua": -0.5, "langdetect": 0.0}
"""Points that the accuracy on a rival's own languages must be above the rival's on pages."""


class Case(NamedTuple):
    """A text and its language."""

    text: str
    language: str


@dataclass(frozen=True)
class Engine:
    """Identifies the language of a text, None if unknown; supports `languages`."""

    name: str
    languages: frozenset[str]
    identify: Callable[[str], str | None]


def engines(model: Path) -> Iterator[Engine]:
    """Return the composite of the project, and the rivals whose packages are installed."""
    engine = LangfocusEngine(model)
    method = Composite(engine)

    def composite(text: str) -> str | None:
        page = parse_page(f"<p>{text}".encode(), content_type="text/html; charset=utf-8", url="")
        return method.identify(page).language

    yield Engine(OURS, frozenset(engine.model.languages), composite)
    for make in (_cld2, _py3langid, _lingua, _langdetect):
        try:
            yield make()
        except ImportError as error:
            print(f"left out: {error}; pip install '.[engines]'", file=sys.stderr)


def _lingua() -> Engine:
    """All 75 languages in high accuracy; 1.2 GB once all models are read."""
    lingua: Any = import_module("lingua")
    codes = (language.iso_code_639_1.name for language in lingua.Language.all())
    detector = lingua.LanguageDetectorBuilder.from_all_languages().build()

    def identify(text: str) -> str | None:
        found = detector.detect_language_of(text)
        return None if found is None else found.iso_code_639_1.name

    return _engine("lingua", codes, identify)


def _py3langid() -> Engine:
    langid: Any = import_module("py3langid.langid")
    model = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)
    return _engine("py3langid", model.labels, lambda text: str(model.classify(text)[0]))


def _cld2() -> Engine:
    package: Any = import_module("pycld2")
    tags = dict(package.LANGUAGES)

    def identify(text: str) -> str | None:
        try:
            return str(package.detect(text, bestEffort=True)[2][0][1])
        except package.error:
            return None

    return _engine("cld2", (tags[name] for name in package.DETECTED_LANGUAGES), identify)


def _langdetect() -> Engine:
    """Return the package as a crawl with `-a identify=langdetect` asks it."""
    from langfocus.classifiers.pages.text.langdetectengine import LangdetectEngine

    engine = LangdetectEngine()

    def identify(text: str) -> str | None:
        return next((language for language, _ in engine.rank(text)), None)

    return _engine("langdetect", engine.languages, identify)


def _engine(name: str, tags: Iterable[str], identify: Callable[[str], str | None]) -> Engine:
    """Return an engine that answers with codes of the project; `xx-Latn` and its like have none."""
    known = frozenset(code for code in map(canonical, tags) if code)
    return Engine(name, known, lambda text: canonical(identify(without_unshown(text)) or ""))


def cases(rows: Iterable[LabelledText]) -> tuple[list[Case], list[Case]]:
    """Sentences and pages of news; those of a language and script are from one source."""
    grouped: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        if row.kind == NEWS:
            grouped[row.source, row.language].append(row.text)
    sentences, pages = [], []
    for (_, language), texts in sorted(grouped.items()):
        sentences += [Case(text, language) for text in texts[:SENTENCES]]
        starts = range(0, len(texts) - PAGE + 1, PAGE)
        pages += [Case(" ".join(texts[at : at + PAGE]), language) for at in starts]
    return sentences, pages


def macro(
    named: Sequence[tuple[Case, str | None]], languages: frozenset[str] = frozenset()
) -> float:
    """Return the mean over languages, or over some of them, of the % named rightly."""
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for (_, language), found in named:
        if not languages or language in languages:
            is_right = MERGED.get(found or "", found) == MERGED.get(language, language)
            right[language].append(is_right)
    return 100 * fmean(fmean(each) for each in right.values())


def per_second(engine: Engine, pages: Sequence[Case]) -> float:
    """Pages per second of processor time."""
    start = time.process_time()
    for case in pages:
        engine.identify(case.text)
    return len(pages) / (time.process_time() - start)


def claims(rounds: int) -> Iterator[Claim]:
    """Yield the accuracy of each engine, and how many times as fast ours is."""
    rows = [row for path in TEXTS for row in LabelledTexts(path)]
    kinds = cases(row for row in rows if is_held_out(row, SHARE))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.npz"
        text_training.train(row for row in rows if not is_held_out(row, SHARE)).save(path)
        found = list(engines(path))
    for kind, of_kind in zip(("sentences", "pages"), kinds, strict=True):
        ours: list[tuple[Case, str | None]] = []
        for engine in found:
            named = [(case, engine.identify(case.text)) for case in of_kind]
            ours = ours or named
            name = f"{kind} named rightly"
            yield Claim(f"{name}, all languages: {engine.name}", [macro(named)], "%")
            if engine.name != OURS:
                own, theirs = (macro(pairs, engine.languages) for pairs in (ours, named))
                yield Claim(f"{name}, languages of {engine.name}: {engine.name}", [theirs], "%")
                floor = theirs + LEAD[engine.name] if kind == "pages" else None
                yield Claim(f"{name}, languages of {engine.name}: {OURS}", [own], "%", floor)
    timed = kinds[1][:: max(1, len(kinds[1]) // TIMED)]
    speeds: dict[str, list[float]] = {engine.name: [] for engine in found}
    for _ in range(rounds):
        for engine in found:
            speeds[engine.name].append(per_second(engine, timed))
    for name, values in speeds.items():
        yield Claim(f"pages identified: {name}", values, "a second")
        if name != OURS:
            yield Claim(f"pages identified: times {name}", ratios(speeds[OURS], values))
