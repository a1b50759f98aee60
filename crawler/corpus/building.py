"""Makes the texts of pages: extraction in parallel, then copies and repeated lines of all pages.

The work folder keeps the texts of each part of a source until the end, so that an export that was
interrupted goes on where it was. In memory are about 50 bytes for each page; all else is in files.
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
from langfocus.crawler.corpus.item import OtherParagraph, PageItem
from langfocus.crawler.corpus.sources import source_of
from langfocus.crawler.corpus.texts import NO_MAIN_TEXT, PageText, PartTexts
from langfocus.crawler.errors import CrawlError
from langfocus.crawler.politeness.directives import is_reserved

TOO_SHORT = "too short"
RESERVED = "reserved from text and data mining"
COPY = "copy of another page"
OTHER_LICENSE = "without such a license"

_OWN: Final = "und"  # the code of an undetermined language (ISO 639-2)

OnProgress = Callable[[int, int], None]
"""Called with the number of parts that were read, and that of all parts."""


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How texts are made.

    `lang` is the language of the pages; None: that of their run, "all": any. Texts with fewer words
    than `min_words` are left out, and pages that are reserved from text and data mining, unless
    `keeps_reserved`. With a `license`, pages whose license does not begin with it are left out.
    `has_markup` keeps headings and lists as Markdown. Without `has_metadata` author, date and the
    like are not searched. `processes` is the number of processes, 0:
    one for each core.
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

    `pages` are its texts. `copies` are pages with nearly the text of an earlier one. `languages`
    are the paragraphs of each language, `left_out` the pages of each reason for which a page has no
    text. `downloaded` are the megabytes that were read from servers. `hosts` and `licenses` count
    the pages of each, `days` those that were fetched on a day (UTC).
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
        """Return the figures by name, as `--json` writes them."""
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
    """The texts of the pages of some runs, WARC files or HTML files.

    Iteration yields the items of a run by host and URL, those of files in their order;
    `summary` is complete after it. The same files give the same items with any number of
    processes. Of pages with nearly the same text the one that was fetched first is the original.
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
        self._options = options or TextOptions()
        self._work, self._on_progress = work, on_progress
        self.summary = CorpusSummary(self._options.extractor)
        self._parts: list[PartTexts] = []
        for path in paths:
            source = source_of(path, self._options.lang)
            self._parts += [
                PartTexts.of(
                    part,
                    work,
                    self._options.extractor,
                    has_markup=self._options.has_markup,
                    has_metadata=self._options.has_metadata,
                )
                for part in source.parts
            ]
            self.summary.downloaded += source.downloaded
            self.summary.left_out += source.left_out

    def __iter__(self) -> Iterator[PageItem]:
        """Yield the items of the pages with a text."""
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
        """Yield the pages with a text, and count the others by their reasons."""
        for part in self._parts:
            for found in part.read():
                if isinstance(found, str):
                    left_out[found] += 1
                elif self._is_left_out(found.values["directives"]):
                    left_out[RESERVED] += 1
                elif not self._has_license(found.values["license"]):
                    left_out[OTHER_LICENSE] += 1
                else:
                    yield found

    def _is_left_out(self, statements: str | None) -> bool:
        """Return True if the statements of a page forbid a corpus, and are obeyed."""
        obeys = not self._options.keeps_reserved and statements is not None
        return obeys and is_reserved(json.loads(statements or "{}"))

    def _has_license(self, found: str | None) -> bool:
        """Return True for a page with the license that was asked for."""
        wanted = self._options.license
        return wanted is None or _folded(found or "").startswith(_folded(wanted))

    def _item(self, page: PageText, marks: Sequence[bool], copy_of: str | None) -> PageItem | None:
        """Return the item of a page and count it; None if it is left out."""
        told, options = self.summary, self._options
        told.copies += copy_of is not None
        if copy_of is not None and not options.keeps_copies:
            told.left_out[COPY] += 1
            return None
        told.repeated_lines += sum(marks)
        kept = [
            (part, is_repeated)
            for part, is_repeated in zip(page.paragraphs, marks, strict=True)
            if options.keeps_repeated or not is_repeated
        ]
        own = [(part, mark) for part, mark in kept if part.language is None]
        words = sum(part.words for part, _ in own)
        if words < max(1, options.min_words):
            told.left_out[TOO_SHORT if words else NO_MAIN_TEXT] += 1
            return None
        others = [part for part, _ in kept if part.language is not None]
        told.pages += 1
        told.words += words
        told.languages[page.values["language"] or _OWN] += len(own)
        told.page_languages[page.values["language"] or _OWN] += 1
        told.hosts[page.host] += 1
        if page.values["license"]:
            told.licenses[page.values["license"]] += 1
        if page.values["fetched_at"]:
            fetched = datetime.fromtimestamp(page.values["fetched_at"], UTC)
            told.days[fetched.date().isoformat()] += 1
        told.languages.update(part.language or _OWN for part in others)
        return PageItem(
            **page.values,
            text="\n".join(part.text for part, _ in own),
            words=words,
            other_paragraphs=[
                OtherParagraph(language=part.language or _OWN, text=part.text) for part in others
            ],
            repeated=[number for number, (_, mark) in enumerate(own) if mark],
            duplicate_of=copy_of,
        )

    def _read_pages(self) -> None:
        """Make the texts of all parts, in parallel."""
        parts = {part.path: part for part in self._parts}  # a path may be given twice
        while waiting := [part for part in parts.values() if not part.is_made()]:
            done = len(parts) - len(waiting)
            self._on_progress(done, len(parts))
            try:
                for number, _ in enumerate(self._in_parallel(waiting, self._processes()), done + 1):
                    self._on_progress(number, len(parts))
            except BrokenProcessPool:
                for part in (each for each in waiting if each.is_begun()):
                    self._read_alone(part)

    def _read_alone(self, part: PartTexts) -> None:
        """Make the texts of a part by one process, and leave out the pages that end it."""
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

        # One process alone would be this one, which a page must not end.
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


def _folded(license_name: str) -> str:
    """Return the name of a license as it is compared: `cc` is Creative Commons, `cc0` CC Zero."""
    folded = license_name.lower().replace("creative commons", "cc")
    return folded.replace("cc zero", "cc0").strip()


def _make(part: PartTexts) -> None:
    part.make()
