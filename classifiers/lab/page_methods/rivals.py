"""Engines of other packages; the extra `engines` installs them.

Each reads the visible text alone and answers in the codes of the project. Control characters, lone
surrogates and code points that are no characters are replaced by spaces first.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final

from classifiers.errors import MissingPackageError
from classifiers.languages import canonical
from classifiers.pages.methods.text_only import ByText
from classifiers.pages.text.fasttextengine import without_unshown
from classifiers.pages.text.ranking import Ranking, merged

EXTRA: Final = "engines"


class _Engine:
    """An engine of another package; a subclass has `_answers`."""

    name: str
    languages: frozenset[str]

    def rank(self, text: str) -> Ranking:
        """Languages with the package's value for each, in 0..1, best first; never raises."""
        return merged(self._answers(without_unshown(text)))

    def _answers(self, text: str) -> Iterable[tuple[str, float]]:
        raise NotImplementedError


class LinguaEngine(_Engine):
    """lingua with all its 75 languages in high accuracy; 1.2 GB once all models are read."""

    name = "lingua"

    def __init__(self) -> None:
        lingua = _imported("lingua", "lingua-language-detector")
        every = lingua.Language.all()
        self.languages = _codes(language.iso_code_639_1.name for language in every)
        self._detector = lingua.LanguageDetectorBuilder.from_all_languages().build()

    def _answers(self, text: str) -> Iterable[tuple[str, float]]:
        for found in self._detector.compute_language_confidence_values(text):
            yield found.language.iso_code_639_1.name, found.value


class Py3langidEngine(_Engine):
    """py3langid with the probabilities that it makes of its scores; 140 languages."""

    name = "py3langid"

    def __init__(self) -> None:
        langid = _imported("py3langid.langid", "py3langid")
        model = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
        self.languages = _codes(model.labels)
        self._model = model

    def _answers(self, text: str) -> Iterable[tuple[str, float]]:
        # Without a letter every language would be as probable as another.
        if any(character.isalpha() for character in text):
            yield from self._model.rank(text)


class Cld2Engine(_Engine):
    """Compact Language Detector 2: up to three languages and the share of the text in each.

    Shares that the package marks as unreliable count half.
    """

    name = "cld2"

    def __init__(self) -> None:
        self._package = _imported("pycld2", "pycld2")
        tags = dict(self._package.LANGUAGES)
        self.languages = _codes(tags[name] for name in self._package.DETECTED_LANGUAGES)

    def _answers(self, text: str) -> Iterable[tuple[str, float]]:
        try:
            reliable, _, details = self._package.detect(text, bestEffort=True)
        except self._package.error:
            return
        for _, code, percent, _ in details:
            yield code, percent / (100.0 if reliable else 200.0)


def lingua() -> ByText:
    """Lingua in high accuracy; MissingPackageError if it is not installed."""
    return ByText(LinguaEngine())


def py3langid() -> ByText:
    """The package py3langid; MissingPackageError if it is not installed."""
    return ByText(Py3langidEngine())


def cld2() -> ByText:
    """Compact Language Detector 2; MissingPackageError if pycld2 is not installed."""
    return ByText(Cld2Engine())


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackageError(package, EXTRA) from error


def _codes(tags: Iterable[str]) -> frozenset[str]:
    """The codes of a package's tags; pseudo-languages such as `xx-Latn` have none."""
    return frozenset(code for code in map(canonical, tags) if code)
