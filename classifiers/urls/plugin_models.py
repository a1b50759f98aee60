"""The URL models of plug-ins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.plugins import Plugin, Registry


class ScoresUrls(Protocol):
    """The URL model of a plug-in."""

    @property
    def languages(self) -> Sequence[str]:
        """Return the codes of the model's languages."""

    def score(self, urls: Sequence[str], language: str, /) -> Sequence[float]:
        """Return the log-odds of a language for each URL; positive is Yes."""


URL_MODELS: Final = Registry[Callable[[], ScoresUrls]]("URL model", "langfocus.url_models", {})
"""Plug-ins only; any other name is a file path."""


class PluginModel:
    """A plug-in's model, with the `UrlModel` methods used by crawls and commands."""

    facts: Final[dict[str, Any]] = {}

    def __init__(self, plugin: Plugin, make: Callable[[], ScoresUrls]) -> None:
        self._plugin = plugin
        with plugin.blamed():
            self._model = make()
            self.languages = self.named_languages = tuple(self._model.languages)
            if not self.languages:
                raise ValueError("it knows no language")
        self.score(["http://example.org/"], self.languages[0])

    def score(self, urls: Sequence[str], language: str) -> npt.NDArray[np.float64]:
        """Return the log-odds of a language, (n_urls,); raises LanguageError and PluginError."""
        if language not in self.languages:
            raise LanguageError(f"{self._plugin} does not know {language!r}")
        with self._plugin.blamed():
            scores = np.asarray(self._model.score(urls, language), np.float64)
            if scores.shape != (len(urls),) or not np.isfinite(scores).all():
                raise ValueError(f"{len(urls)} finite numbers are needed")
            return scores

    def scores(self, urls: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the log-odds of all languages, (n_urls, n_languages)."""
        return np.column_stack([self.score(urls, language) for language in self.languages])

    def name(self, urls: Sequence[str]) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float32]]:
        """Return the most probable language of each URL as `UrlModel.name` does."""
        scores = self.scores(urls)
        best = scores.max(axis=1, initial=-np.inf)
        places = np.where(best > 0, scores.argmax(axis=1), -1).astype(np.int16)
        shares = np.where(best > 0, 1 / (1 + np.exp(-np.maximum(best, 0))), 0)
        return places, shares.astype(np.float32)

    def explain(self, url: str, language: str | None = None) -> list[Any]:
        """Return nothing: a plug-in has no words with weights."""
        return []
