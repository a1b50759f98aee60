"""Engines of other packages as page methods, for the benchmarks; `langfocus[engines]` has them.

Each reads the visible text alone and answers in the codes of the project. Control characters, lone
surrogates and code points that are no characters are replaced by spaces first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from classifiers.errors import MissingPackageError
from classifiers.languages import canonical
from classifiers.pages import methods
from classifiers.pages.method import PageMethod
from classifiers.pages.methods.text_only import ByText, merged
from classifiers.pages.text.fasttextengine import without_unshown
from classifiers.pages.text.ranking import Ranking

Answers = Iterable[tuple[str, float]]


@dataclass(frozen=True)
class Engine:
    """An engine of another package: its languages, and its answers about a text."""

    name: str
    languages: frozenset[str]
    answers: Callable[[str], Answers]

    def rank(self, text: str) -> Ranking:
        """Languages with the package's value for each, in 0..1, best first; never raises."""
        return merged(self.answers(without_unshown(text)))


def method(name: str) -> PageMethod:
    """The rival of that name, or the project's method; MissingPackageError without its package."""
    if name not in _MAKERS:
        return methods.method(name)
    return ByText(_MAKERS[name]())


def _lingua() -> Engine:
    """All 75 languages in high accuracy; 1.2 GB once all models are read."""
    lingua = _imported("lingua", "lingua-language-detector")
    languages = _codes(language.iso_code_639_1.name for language in lingua.Language.all())
    detector = lingua.LanguageDetectorBuilder.from_all_languages().build()

    def answers(text: str) -> Iterator[tuple[str, float]]:
        for found in detector.compute_language_confidence_values(text):
            yield found.language.iso_code_639_1.name, found.value

    return Engine("lingua", languages, answers)


def _py3langid() -> Engine:
    """140 languages, with the probabilities that the package makes of its scores."""
    langid = _imported("py3langid.langid", "py3langid")
    model = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)

    def answers(text: str) -> Answers:
        # Without a letter every language would be as probable as another.
        return model.rank(text) if any(map(str.isalpha, text)) else ()

    return Engine("py3langid", _codes(model.labels), answers)


def _cld2() -> Engine:
    """Up to three languages and the share of the text in each; unreliable shares count half."""
    package = _imported("pycld2", "pycld2")
    tags = dict(package.LANGUAGES)

    def answers(text: str) -> Iterator[tuple[str, float]]:
        try:
            reliable, _, details = package.detect(text, bestEffort=True)
        except package.error:
            return
        for _, code, percent, _ in details:
            yield code, percent / (100.0 if reliable else 200.0)

    return Engine("cld2", _codes(tags[name] for name in package.DETECTED_LANGUAGES), answers)


_MAKERS: Final[dict[str, Callable[[], Engine]]] = {
    "lingua": _lingua,
    "py3langid": _py3langid,
    "cld2": _cld2,
}


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackageError(package, "engines") from error


def _codes(tags: Iterable[str]) -> frozenset[str]:
    """The codes of a package's tags; pseudo-languages such as `xx-Latn` have none."""
    return frozenset(code for code in map(canonical, tags) if code)
