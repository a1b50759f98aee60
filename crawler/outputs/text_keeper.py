"""The text of each page of a crawl, with what other pages of the run tell about it.

The run stores the text in the transaction that settles the page, together with the index of
near-duplicates and the lines of hosts. So a crawl that was killed goes on with the same state.
"""

import sqlite3
from collections.abc import Sequence

from crawler.frontier.base import UNCHANGED, Lease, Record
from crawler.outputs.extraction import Extract, paragraphs_of
from crawler.outputs.paragraph_languages import differing_languages
from crawler.outputs.text_comparison import TextComparison, uncompared
from crawler.page_text import NewText, Paragraph, unpacked
from crawler.visit import Download

_EARLIER = "SELECT content FROM earlier_texts WHERE url = ?"
_LINES = "SELECT lines FROM repeated WHERE host = (SELECT id FROM hosts WHERE host = ?)"


class TextKeeper:
    """Reads the text of a page that is about to be settled."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        extract: Extract,
        *,
        is_for_all: bool,
        compares: bool = True,
    ) -> None:
        """Compare with the texts of a run; without `is_for_all` only relevant pages have one.

        Without `compares` no text is a copy and no line is repeated: those of a shared crawl are
        compared when the folders of all workers are merged (`crawler.outputs.text_merging`).
        """
        self._sql = connection.execute
        self._comparison = TextComparison(connection) if compares else None
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
        """Return a text, compared with those of the run and with the lines of its host."""
        paragraphs = tuple(map(Paragraph, parts, differing_languages(parts, record.language)))
        if self._comparison is None:
            return uncompared(title, paragraphs)
        lines = self._sql(_LINES, (lease.host,)).fetchone()
        return self._comparison.compared(title, paragraphs, lines[0] if lines else None)
