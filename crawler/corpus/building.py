"""Makes the texts of pages: extraction in parallel, then copies and repeated lines of all pages.

The work folder keeps the texts of each part of a source until the end, so that an export that was
interrupted goes on where it was. In memory are 8 bytes for the time of each page, 24 for its group
of copies, and 8 for each repeated line; the signatures are in a file.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crawler.corpus.copies import VALUES, Numbers, originals
from crawler.corpus.extraction import EXTRACTORS
from crawler.corpus.item import OtherParagraph, PageItem
from crawler.corpus.lines import Keys, PageLines, are_repeated, repeated_keys
from crawler.corpus.shards import NO_MAIN_TEXT, PageText, Shard
from crawler.corpus.sources import source_of
from crawler.errors import CrawlError

TOO_SHORT = "too short"
COPY = "copy of another page"

_OWN: Final = "und"  # the code of an undetermined language (ISO 639-2)

OnProgress = Callable[[int, int], None]
"""Called with the number of pages that were read, and that of all pages."""


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How texts are made.

    `lang` is the language of the pages; None: that of their run, "all": any. Texts with fewer words
    than `min_words` are left out. `processes` is the number of processes, 0: one for each core.
    """

    extractor: str = EXTRACTORS[0]
    lang: str | None = None
    min_words: int = 1
    keeps_copies: bool = False
    keeps_repeated: bool = False
    processes: int = 0


@dataclass(slots=True)
class CorpusSummary:
    """The figures of a corpus.

    `pages` are its texts and `words` their words. `copies` are pages with nearly the text of an
    earlier one, `repeated_lines` the lines that a host repeats. `languages` are the paragraphs of
    each language in the texts and beside them, `left_out` the pages of each reason for which a page
    has no text. `downloaded` are the megabytes that were read from servers.
    """

    extractor: str
    pages: int = 0
    words: int = 0
    copies: int = 0
    repeated_lines: int = 0
    downloaded: float = 0.0
    languages: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

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
        }


class Corpus:
    """The texts of the pages of some runs, WARC files or HTML files.

    Iteration yields the items of a run by host and URL, those of files in the order of the files;
    `summary` is complete after it. The same
    files give the same items with any number of processes. Of pages with nearly the same text the
    one that was fetched first is the original.
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
        self._shards: list[Shard] = []
        for path in paths:
            source = source_of(path, self._options.lang)
            self._shards += [Shard.of(each, work, self._options.extractor) for each in source.parts]
            self.summary.downloaded += source.downloaded
            self.summary.left_out += source.left_out

    def __iter__(self) -> Iterator[PageItem]:
        """Yield the items of the pages with a text."""
        self._read_pages()
        if not self._shards:
            return
        original, repeated = self._compared()
        urls = self._urls_of_originals(original) if self._options.keeps_copies else {}
        first = 0
        for shard in self._shards:
            arrays = shard.arrays()
            marks = are_repeated(arrays.lines.keys, repeated)
            ends = np.searchsorted(arrays.lines.pages, np.arange(len(arrays.lines.hosts) + 1))
            for number, text in enumerate(shard.texts(self.summary.left_out)):
                page = first + number
                copy_of = urls.get(int(original[page])) if original[page] != page else None
                is_copy = bool(original[page] != page)
                lines = marks[ends[number] : ends[number + 1]]
                item = self._item(text, lines, is_copy, copy_of)
                if item is not None:
                    yield item
            first += len(arrays.fetched_at)

    def _item(
        self, text: PageText, marks: npt.NDArray[np.bool_], is_copy: bool, copy_of: str | None
    ) -> PageItem | None:
        """Return the item of a page and count it; None if it is left out."""
        told, options = self.summary, self._options
        told.copies += is_copy
        if is_copy and not options.keeps_copies:
            told.left_out[COPY] += 1
            return None
        told.repeated_lines += int(marks.sum())
        kept = [
            (part, bool(is_repeated))
            for part, is_repeated in zip(text.paragraphs, marks, strict=True)
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
        told.languages[text.values["language"] or _OWN] += len(own)
        told.languages.update(part.language or _OWN for part in others)
        return PageItem(
            **text.values,
            text="\n".join(part.text for part, _ in own),
            words=words,
            other_paragraphs=[
                OtherParagraph(language=part.language or _OWN, text=part.text) for part in others
            ],
            repeated=[number for number, (_, mark) in enumerate(own) if mark],
            duplicate_of=copy_of,
        )

    def _read_pages(self) -> None:
        """Make all shards, in parallel."""
        total = sum(shard.part.size for shard in self._shards)
        waiting = [shard for shard in self._shards if not shard.is_made()]
        done = total - sum(shard.part.size for shard in waiting)
        self._on_progress(done, total)
        while waiting:
            try:
                for number in self._in_parallel(waiting, self._processes()):
                    done += number
                    self._on_progress(done, total)
            except BrokenProcessPool:
                for shard in (each for each in waiting if each.is_begun()):
                    self._read_alone(shard)
            waiting = [shard for shard in waiting if not shard.is_made()]
            done = total - sum(shard.part.size for shard in waiting)

    def _read_alone(self, shard: Shard) -> None:
        """Make a shard by one process at a time, and leave out the pages that end it."""
        while not shard.is_made():
            try:
                list(self._in_parallel([shard], 1))
            except BrokenProcessPool as error:
                if not shard.blame():
                    raise CrawlError(f"the process that reads pages ended: {error}") from error

    @staticmethod
    def _in_parallel(shards: Sequence[Shard], processes: int) -> Iterator[int]:
        from joblib import Parallel, delayed

        # One process alone would be this one, which a page must not end.
        pool = Parallel(
            n_jobs=max(2, processes),
            backend="loky",
            pre_dispatch=processes,
            batch_size=1,
            return_as="generator_unordered",
        )
        return iter(pool(delayed(_make)(shard) for shard in shards))

    def _processes(self) -> int:
        from joblib import cpu_count

        return self._options.processes or int(cpu_count())

    def _compared(self) -> tuple[Numbers, Keys]:
        """Return the original of each page, and the keys of the repeated lines."""
        times = np.concatenate([shard.arrays().fetched_at for shard in self._shards])
        rank = np.empty(len(times), np.int64)
        rank[np.argsort(times, kind="stable")] = np.arange(len(times))
        original = self._originals(rank)
        lines = sum(len(part.keys) for part in self._lines())
        return original, repeated_keys(self._lines, original, lines)

    def _lines(self) -> Iterator[PageLines]:
        return (shard.arrays().lines for shard in self._shards)

    def _originals(self, rank: Numbers) -> Numbers:
        if not len(rank):
            return rank
        path = self._work / "signatures.npy"
        signatures = np.lib.format.open_memmap(
            path, mode="w+", dtype=np.uint32, shape=(len(rank), VALUES)
        )
        first = 0
        for shard in self._shards:
            found = shard.arrays().signatures
            signatures[first : first + len(found)] = found
            first += len(found)
        return originals(signatures, rank)

    def _urls_of_originals(self, original: Numbers) -> dict[int, str]:
        wanted = set(original[original != np.arange(len(original))].tolist())
        ignored: Counter[str] = Counter()
        texts = chain.from_iterable(shard.texts(ignored) for shard in self._shards)
        return {page: text.values["url"] for page, text in enumerate(texts) if page in wanted}


def _make(shard: Shard) -> int:
    return shard.make()
