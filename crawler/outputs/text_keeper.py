"""The text of each page of a crawl, with what other pages of the run tell about it.

The run stores the text in the transaction that settles the page, together with the index of
near-duplicates and the lines of hosts. So a crawl that was killed goes on with the same state.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Final

from crawler.frontier.base import UNCHANGED, Lease, Record
from crawler.outputs.extraction import Extract, paragraphs_of
from crawler.outputs.near_duplicates import THRESHOLD, Runs, bands_of, jaccard, runs_of
from crawler.outputs.paragraph_languages import differing_languages
from crawler.outputs.repeated_lines import repeated
from crawler.outputs.words import number_of_words, units
from crawler.page_text import NewText, PageText, Paragraph, unpacked
from crawler.visit import Download

_MOST_CANDIDATES: Final = 3

_SHARING = "SELECT page FROM bands WHERE band IN (SELECT value FROM json_each(?))"
_CONTENT = "SELECT content, words, copy_of FROM texts WHERE page = ?"
_EARLIER = "SELECT content FROM earlier_texts WHERE url = ?"
_LINES = "SELECT lines FROM repeated WHERE host = (SELECT id FROM hosts WHERE host = ?)"


class TextKeeper:
    """Reads the text of a page that is about to be settled."""

    def __init__(
        self, connection: sqlite3.Connection, extract: Extract, *, is_for_all: bool
    ) -> None:
        """Compare with the texts of a run; without `is_for_all` only relevant pages have one."""
        self._sql = connection.execute
        self._extract = extract
        self._is_for_all = is_for_all

    def text_of(
        self, lease: Lease, record: Record, download: Download, title: str
    ) -> NewText | None:
        """Return the text of a page, None if the crawl does not keep it.

        A page with `noarchive` has none. An unchanged page has the text that the earlier run kept.
        Raises whatever the extractor raises, and ValueError for a damaged text of the earlier run.
        """
        if record.is_noarchive:
            return None
        if record.outcome == UNCHANGED:
            return self._unchanged(lease, record)
        if record.parser is None or not (self._is_for_all or record.is_relevant):
            return None
        parts = paragraphs_of(download.body, download.content_type, self._extract)
        return self._among_others(lease, record, title, parts)

    def _unchanged(self, lease: Lease, record: Record) -> NewText | None:
        row = self._sql(_EARLIER, (lease.url,)).fetchone()
        if row is None:
            return None
        text = unpacked(row[0], 0, None)
        return self._among_others(
            lease, record, text.title, [part.text for part in text.paragraphs]
        )

    def _among_others(
        self, lease: Lease, record: Record, title: str, parts: Sequence[str]
    ) -> NewText:
        """Return the text of a page, compared with those of the run and with lines of its host."""
        runs = runs_of(units(" ".join(parts)))
        bands = bands_of(runs)
        copy_of, index = self._nearest(runs, bands)
        lines = self._sql(_LINES, (lease.host,)).fetchone()
        are_repeated, host_lines = repeated(parts, lines[0] if lines else None)
        languages = differing_languages(parts, record.language)
        paragraphs = tuple(map(Paragraph, parts, languages, are_repeated))
        text = PageText(title, paragraphs, _own_words(paragraphs), copy_of)
        return NewText(text, () if index == 1.0 else bands, self._url_of(copy_of), host_lines)

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


class WordCounter:
    """Reads the text of a page for its words alone, in a crawl that keeps no texts.

    So it knows neither near-duplicates nor lines that pages of a host repeat.
    """

    def __init__(self, extract: Extract) -> None:
        """Count the words of the main text that an extractor finds."""
        self._extract = extract

    def text_of(
        self, lease: Lease, record: Record, download: Download, title: str
    ) -> NewText | None:
        """Return the text of a relevant page; raises whatever the extractor raises."""
        del lease
        if record.parser is None or record.is_noarchive or not record.is_relevant:
            return None
        parts = paragraphs_of(download.body, download.content_type, self._extract)
        languages = differing_languages(parts, record.language)
        paragraphs = tuple(map(Paragraph, parts, languages))
        return NewText(PageText(title, paragraphs, _own_words(paragraphs)))


def _own_words(paragraphs: Sequence[Paragraph]) -> int:
    return sum(
        number_of_words(part.text)
        for part in paragraphs
        if part.language is None and not part.is_repeated
    )
