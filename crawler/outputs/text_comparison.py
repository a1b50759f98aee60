"""Compares a text with the earlier texts of a run, and with lines of earlier pages of its host."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Final

from crawler.outputs.near_duplicates import THRESHOLD, Runs, bands_of, jaccard, runs_of
from crawler.outputs.repeated_lines import repeated
from crawler.outputs.words import number_of_words, units
from crawler.page_text import NewText, PageText, Paragraph, unpacked

_MOST_CANDIDATES: Final = 3

_SHARING = "SELECT page FROM bands WHERE band IN (SELECT value FROM json_each(?))"
_CONTENT = "SELECT content, words, copy_of FROM texts WHERE page = ?"


class TextComparison:
    """Finds the near-duplicates and the repeated lines of a text by what a run has stored."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read the texts of a run and its index of near-duplicates."""
        self._sql = connection.execute

    def compared(
        self, title: str, paragraphs: Sequence[Paragraph], host_lines: str | None
    ) -> NewText:
        """Return a text with what the run tells of it, and the changes to the run.

        `host_lines` are the lines of its host so far, packed; None for a host without a text.
        """
        parts = [part.text for part in paragraphs]
        runs = runs_of(units(" ".join(parts)))
        bands = bands_of(runs)
        copy_of, index = self._nearest(runs, bands)
        are_repeated, lines = repeated(parts, host_lines)
        marked = tuple(
            part._replace(is_repeated=is_repeated)
            for part, is_repeated in zip(paragraphs, are_repeated, strict=True)
        )
        text = PageText(title, marked, _own_words(marked), copy_of)
        return NewText(text, () if index == 1.0 else bands, self._url_of(copy_of), lines)

    def _url_of(self, page: int | None) -> str | None:
        row = self._sql("SELECT url FROM pages WHERE id = ?", (page,)).fetchone()
        return None if row is None else str(row[0])

    def _nearest(self, runs: Runs, bands: Sequence[int]) -> tuple[int | None, float]:
        """Return the page whose text is most like one, and the Jaccard index of both.

        None and 0 if no text is a near-duplicate.
        """
        if not bands:
            return None, 0.0
        sharing = self._sql(_SHARING, (json.dumps(bands),)).fetchall()
        shared = Counter(page for (page,) in sharing)
        candidates = sorted(shared, key=lambda page: (-shared[page], page))[:_MOST_CANDIDATES]
        best: tuple[int | None, float] = (None, 0.0)
        for page in candidates:
            index = jaccard(runs, self._runs_of(page))
            if index >= THRESHOLD and index > best[1]:
                best = page, index
            if index == 1.0:
                break
        return best

    def _runs_of(self, page: int) -> Runs:
        row = self._sql(_CONTENT, (page,)).fetchone()
        try:
            paragraphs = unpacked(*row).paragraphs if row else ()
        except ValueError:  # a damaged text is like no other
            return runs_of(())
        return runs_of(units(" ".join(part.text for part in paragraphs)))


def uncompared(title: str, paragraphs: Sequence[Paragraph]) -> NewText:
    """Return a text that nothing tells of."""
    return NewText(PageText(title, tuple(paragraphs), _own_words(paragraphs)))


def _own_words(paragraphs: Sequence[Paragraph]) -> int:
    return sum(
        number_of_words(part.text)
        for part in paragraphs
        if part.language is None and not part.is_repeated
    )
