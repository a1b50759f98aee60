"""The figures of a run for those who build a corpus from it."""

import sqlite3
from dataclasses import dataclass

_FIGURES = """\
SELECT COUNT(*), COALESCE(SUM(words) FILTER (WHERE copy_of IS NULL), 0), COUNT(copy_of),
    COALESCE(SUM(words) FILTER (WHERE copy_of IS NULL AND outcome != 'unchanged'), 0)
FROM texts JOIN pages ON pages.id = texts.page WHERE language = ?"""

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts of a run in its language.

    `words` are those of all texts but near-duplicates, in the language, without lines that a host
    repeats. `words_per_megabyte` are those of downloaded pages for a million downloaded bytes.
    `duplicates` are the near-duplicates of earlier texts, `duplicate_share` their part of all
    texts. The two rates are None if the divisor is 0.
    """

    texts: int
    words: int
    words_per_megabyte: float | None
    duplicates: int
    duplicate_share: float | None


def corpus_of(connection: sqlite3.Connection, lang: str, size: int) -> Corpus:
    """The figures of the texts of a run that downloaded `size` bytes."""
    texts, words, duplicates, downloaded = connection.execute(_FIGURES, (lang,)).fetchone()
    return Corpus(
        texts,
        words,
        downloaded * _MEGABYTE / size if size else None,
        duplicates,
        duplicates / texts if texts else None,
    )
