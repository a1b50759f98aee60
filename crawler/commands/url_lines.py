"""The lines of `langfocus identify urls`: answers of the URL model as JSON or in two columns."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from crawler.commands.input_lines import InputLines
from crawler.report.formatting import printable

if TYPE_CHECKING:
    from classifiers.urls.model import UrlModel

_MOST_THREADS = 4
_FEATURES: Final = 10
"""Features that explain an answer."""

_STEPS: Final = 10_000
_DECIMALS: Final = [repr(step / _STEPS) for step in range(_STEPS + 1)]
"""The text of each confidence: four decimals."""
_ENDED: Final = [f"{decimal}\n" for decimal in _DECIMALS]

Batch = TypeVar("Batch", bytes, list[str])


@dataclass(frozen=True)
class UrlLines:
    """Writes the answers for batches of URLs as text, one line for each URL.

    With `explains`, a line has the decision values and the features that explain the answer.
    """

    model: UrlModel
    explains: bool = False

    def text(self, urls: Sequence[str]) -> str:
        """Return the lines of a batch with their ends."""
        codes, confidences = self.model.name(urls)
        steps = np.rint(confidences * _STEPS).astype(np.int64).tolist()
        answers = zip(codes.tolist(), steps, strict=True)
        parts = [f'"language": {self._quoted[at]}{_DECIMALS[step]}' for at, step in answers]
        rows = zip(urls, parts, self._scores(urls), self._explained(urls, codes), strict=True)
        return "".join(
            [f'{{"url": {json.dumps(u)}, {part}{more}{why}}}\n' for u, part, more, why in rows]
        )

    @cached_property
    def _quoted(self) -> list[str]:
        codes = (*self.model.named_languages, None)
        return [f'{json.dumps(code)}, "confidence": ' for code in codes]

    @cached_property
    def _template(self) -> str:
        scores = ", ".join(f'"{code}": %.4f' for code in self.model.languages)
        return f', "scores": {{{scores}}}'

    def _scores(self, urls: Sequence[str]) -> list[str]:
        """The field of the decision values of each URL; empty if it is not wanted."""
        if not self.explains:
            return [""] * len(urls)
        template = self._template
        return [
            template % tuple(row) if url.strip() else ', "scores": {}'
            for url, row in zip(urls, self.model.scores(urls).tolist(), strict=True)
        ]

    def _explained(self, urls: Sequence[str], codes: npt.NDArray[Any]) -> list[str]:
        if not self.explains:
            return [""] * len(urls)
        from classifiers.urls.explain import explain

        # Languages that are known by rules have no weights: the best of the others is explained.
        named = self.model.named_languages[: len(self.model.languages)]
        found = [
            explain(self.model, url, named[at] if 0 <= at < len(named) else None, _FEATURES)
            for url, at in zip(urls, codes.tolist(), strict=True)
        ]
        pairs = ([[each.text, round(each.weight, 4)] for each in row] for row in found)
        return [f', "explain": {json.dumps(row)}' for row in pairs]


@dataclass(frozen=True)
class UrlTable:
    """Writes the answers for batches of URLs for a reader: language, confidence and URL."""

    model: UrlModel

    def text(self, urls: Sequence[str]) -> str:
        """Return the rows of a batch with their ends."""
        codes, confidences = self.model.name(urls)
        names = (*self.model.named_languages, "-")
        rows = zip(codes.tolist(), confidences.tolist(), urls, strict=True)
        return "".join(
            [f"{names[at]:<8} {100 * sure:5.1f} %  {printable(url)}\n" for at, sure, url in rows]
        )


@dataclass(frozen=True)
class UrlColumns:
    """Writes the answers for blocks of URLs in two columns: the language and the confidence."""

    model: UrlModel

    def text(self, block: bytes) -> str:
        """Return the lines for the lines of a block, with their ends."""
        codes, confidences = self.model.name_lines(block)
        steps = np.rint(confidences * _STEPS).astype(np.int64).tolist()
        names = map(self._names.__getitem__, codes.tolist())
        ends = map(_ENDED.__getitem__, steps)
        return "".join(chain.from_iterable(zip(names, ends, strict=True)))

    @cached_property
    def _names(self) -> list[str]:
        """The first column by the number of a language; -1 is none."""
        return [f"{code}\t" for code in (*self.model.named_languages, "")]


def texts(lines: InputLines, writer: UrlLines | UrlColumns | UrlTable) -> Iterator[str]:
    """Yield the text of each batch of URLs, in order."""
    if isinstance(writer, UrlColumns):
        return _in_threads(lines.blocks(), writer.text, lines.is_ready)
    return _in_threads(iter(lines), writer.text, lines.is_ready)


def _in_threads(
    batches: Iterator[Batch], write: Callable[[Batch], str], is_ready: Callable[[], bool]
) -> Iterator[str]:
    """Yield the text of each batch, in order.

    Compiled code runs without Python's lock, so batches are scored in several threads. Before a
    batch is waited for, the text of all earlier ones is yielded.
    """
    n_threads = min(os.cpu_count() or 1, _MOST_THREADS)
    waiting: deque[Future[str]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        for batch in batches:
            waiting.append(pool.submit(write, batch))
            while waiting and (len(waiting) > n_threads or not is_ready()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
