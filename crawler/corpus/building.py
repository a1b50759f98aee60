"""Text extraction from pages in parallel, then detection of copies and repeated lines.

The work folder keeps each part's texts until the export ends, so an interrupted export resumes.
Memory is about 50 bytes per page; everything else is in files.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from langfocus.crawler.corpus.comparison import Comparison
from langfocus.crawler.corpus.extraction import EXTRACTORS
from langfocus.crawler.corpus.item import OtherParagraph, PageItem
from langfocus.crawler.corpus.sources import source_of
from langfocus.crawler.corpus.texts import NO_MAIN_TEXT, Extraction, PageText, Paragraph, PartTexts
from langfocus.crawler.errors import CrawlError
from langfocus.crawler.politeness.directives import is_reserved

TOO_SHORT = "too short"
RESERVED = "reserved from text and data mining"
COPY = "copy of another page"
OTHER_LICENSE = "without such a license"

_OWN: Final = "und"  # the code of an undetermined language (ISO 639-2)

OnProgress = Callable[[int, int], None]
"""Called with the finished parts and the total parts."""


@dataclass(frozen=True, slots=True)
class TextOptions:
    """Options of text extraction.

    `lang` is the page language; None: the run's language, "all": any. Texts with fewer than
    `min_words` words are skipped, and pages reserved from text and data mining, unless
    `keeps_reserved`. `license` is the required prefix of a page's license. `has_markup` keeps
    headings and lists as Markdown. `has_metadata` False skips the search for author, date and
    further metadata. `processes` 0 is one process per core.
    """

    extractor: str = "combined"
    lang: str | None = None
    min_words: int = 1
    keeps_copies: bool = False
    keeps_repeated: bool = False
    keeps_reserved: bool = False
    has_markup: bool = False
    has_metadata: bool = True
    license: str | None = None
    processes: int = 0


@dataclass(slots=True)
class CorpusSummary:
    """The figures of a corpus.

    `pages` counts texts, `copies` near-duplicates of an earlier page, `languages` paragraphs by
    language, `left_out` pages without a text by reason. `downloaded` is in megabytes received from
    servers. `hosts`, `licenses` and `days` (date of the fetch, UTC) count pages.
    """

    extractor: str
    pages: int = 0
    words: int = 0
    copies: int = 0
    repeated_lines: int = 0
    downloaded: float = 0.0
    languages: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    page_languages: Counter[str] = field(default_factory=Counter)
    days: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures by name, as written by `--json`."""
        per_megabyte = self.words / self.downloaded if self.downloaded else None
        return {
            "extractor": self.extractor,
            "pages": self.pages,
            "words": self.words,
            "words_per_megabyte": per_megabyte,
            "downloaded_megabytes": self.downloaded,
            "copies": self.copies,
            "repeated_lines": self.repeated_lines,
            "paragraph_languages": dict(self.languages.most_common()),
            "left_out": dict((+self.left_out).most_common()),
            "licenses": dict(self.licenses.most_common()),
        }


class Corpus:
    """The page texts of runs, WARC files or HTML files.

    Iteration yields the items of a run by host and URL, the items of files in file order; `summary`
    is complete afterwards. The number of processes does not change the items. The page fetched
    first is the original of its near-duplicates.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        work: Path,
        options: TextOptions | None = None,
        on_progress: OnProgress = lambda done, total: None,
    ) -> None:
        """Find the pages; raises `CrawlError` for a path without pages.

        The folder `work` must exist, and belong to no other corpus at the same time.
        """
        self._options = chosen = options or TextOptions()
        extraction = Extraction(chosen.extractor, chosen.has_markup, chosen.has_metadata)
        self._work, self._on_progress = work, on_progress
        name = EXTRACTORS.plugin(chosen.extractor) or chosen.extractor
        self.summary = CorpusSummary(str(name))
        self._parts: list[PartTexts] = []
        for path in paths:
            source = source_of(path, chosen.lang)
            self._parts += [PartTexts.of(part, work, extraction) for part in source.parts]
            self.summary.downloaded += source.downloaded
            self.summary.left_out += source.left_out

    def __iter__(self) -> Iterator[PageItem]:
        """Yield the items of pages with a text."""
        self._read_pages()
        with closing(Comparison(self._work)) as comparison:
            for page in self._pages(Counter()):
                comparison.add(page)
            comparison.compare()
            for number, page in enumerate(self._pages(self.summary.left_out)):
                marks = comparison.are_repeated(number)
                item = self._item(page, marks, comparison.original_of(number))
                if item is not None:
                    yield item

    def _pages(self, left_out: Counter[str]) -> Iterator[PageText]:
        """Yield the pages with a text; count skipped pages by reason."""
        for part in self._parts:
            for page in part.read():
                if isinstance(page, str):
                    left_out[page] += 1
                elif self._is_left_out(page.values["directives"]):
                    left_out[RESERVED] += 1
                elif not self._has_license(page.values["license"]):
                    left_out[OTHER_LICENSE] += 1
                else:
                    yield page

    def _is_left_out(self, statements: str | None) -> bool:
        """Return True if the statements of a page forbid a corpus, and are obeyed."""
        obeys = not self._options.keeps_reserved and statements is not None
        return obeys and is_reserved(json.loads(statements or "{}"))

    def _has_license(self, stated: str | None) -> bool:
        """Return True for a page with the required license."""
        wanted = self._options.license
        return wanted is None or _folded(stated or "").startswith(_folded(wanted))

    def _item(self, page: PageText, marks: Sequence[bool], copy_of: str | None) -> PageItem | None:
        """Return and count the item of a page; None for a skipped page."""
        summary, options = self.summary, self._options
        summary.copies += copy_of is not None
        if copy_of is not None and not options.keeps_copies:
            summary.left_out[COPY] += 1
            return None
        summary.repeated_lines += sum(marks)
        kept = [
            (part, is_repeated)
            for part, is_repeated in zip(page.paragraphs, marks, strict=True)
            if options.keeps_repeated or not is_repeated
        ]
        own = [(part, mark) for part, mark in kept if part.language is None]
        words = sum(part.words for part, _ in own)
        if words < max(1, options.min_words):
            summary.left_out[TOO_SHORT if words else NO_MAIN_TEXT] += 1
            return None
        others = [part for part, _ in kept if part.language is not None]
        summary.pages += 1
        summary.words += words
        summary.languages[page.values["language"] or _OWN] += len(own)
        summary.page_languages[page.values["language"] or _OWN] += 1
        summary.hosts[page.host] += 1
        if page.values["license"]:
            summary.licenses[page.values["license"]] += 1
        if page.values["fetched_at"]:
            fetched = datetime.fromtimestamp(page.values["fetched_at"], UTC)
            summary.days[fetched.date().isoformat()] += 1
        summary.languages.update(part.language or _OWN for part in others)
        return PageItem(
            **page.values,
            text="\n".join(part.text for part, _ in own),
            words=words,
            other_paragraphs=[
                OtherParagraph(language=part.language or _OWN, text=part.text) for part in others
            ],
            repeated=[number for number, (_, mark) in enumerate(own) if mark],
            duplicate_of=copy_of,
            pages=page_starts([part for part, _ in own]),
        )

    def _read_pages(self) -> None:
        """Extract the texts of all parts in parallel."""
        parts = {part.path: part for part in self._parts}  # a path may be repeated
        while waiting := [part for part in parts.values() if not part.is_made()]:
            done = len(parts) - len(waiting)
            self._on_progress(done, len(parts))
            try:
                for number, _ in enumerate(self._in_parallel(waiting, self._processes()), done + 1):
                    self._on_progress(number, len(parts))
            except BrokenProcessPool:
                for part in filter(PartTexts.is_begun, waiting):
                    self._read_alone(part)

    def _read_alone(self, part: PartTexts) -> None:
        """Extract a part's texts in one process, and skip every page that kills the process."""
        while not part.is_made():
            try:
                list(self._in_parallel([part], 1))
            except BrokenProcessPool as error:
                if not part.is_begun():
                    raise CrawlError(f"the process that reads pages ended: {error}") from error
                part.leave_out()

    @staticmethod
    def _in_parallel(parts: Sequence[PartTexts], processes: int) -> Iterator[None]:
        from joblib import Parallel, delayed

        # With one job, joblib runs in this process, and a page must not kill it.
        pool = Parallel(
            n_jobs=max(2, processes),
            backend="loky",
            pre_dispatch=processes,
            batch_size=1,
            return_as="generator_unordered",
        )
        return iter(pool(delayed(_make)(part) for part in parts))

    def _processes(self) -> int:
        from joblib import cpu_count

        return self._options.processes or int(cpu_count())


def page_starts(paragraphs: Sequence[Paragraph]) -> list[int] | None:
    """Return the offset in the text at which each page of a document begins."""
    starts: list[int] = []
    at = 0
    for paragraph in paragraphs:
        starts += [at] * ((paragraph.page or 0) - len(starts))
        at += len(paragraph.text) + 1
    return starts or None


def _folded(license_name: str) -> str:
    """Return the normalised license name: `cc` is Creative Commons, `cc0` CC Zero."""
    folded = license_name.lower().replace("creative commons", "cc")
    return folded.replace("cc zero", "cc0").strip()


def _make(part: PartTexts) -> None:
    part.make()
