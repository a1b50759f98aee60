"""The texts of one part of a source, in files of the work folder of an export.

A shard is made in a process of its own. A page that ends that process is found by the file `.at`,
in which the number of the page is written before it is read, and left out the next time.
"""

import gzip
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import numpy as np

from classifiers.pages.text.words import number_of_words, units
from crawler.corpus.copies import VALUES, Signatures, signature_of
from crawler.corpus.extraction import Extract, main_text_of, make_extractor
from crawler.corpus.lines import PageLines, key_of_host, keys_of_lines
from crawler.corpus.paragraph_languages import differing_languages
from crawler.corpus.sources import Found, Part
from crawler.whole_file import replacing

SLOW_S: Final = 20.0
"""Seconds of processor time after which the extraction of a page is given up."""

_STOPPED_S: Final = 40.0
"""Seconds of processor time after which the process ends, whatever the extractor does."""

NO_MAIN_TEXT = "no main text"
TOO_SLOW = "extractor too slow"
FAILED = "extractor failed"
STOPPED = "ended its process"

_FORMAT: Final = "1"


class Paragraph(NamedTuple):
    """A paragraph of a main text; `language` is None if it is that of the page."""

    text: str
    language: str | None
    words: int


class PageText(NamedTuple):
    """A page with a main text: the fields of its item that are known, and its paragraphs."""

    values: dict[str, Any]
    paragraphs: list[Paragraph]


class Arrays(NamedTuple):
    """The numbers of the pages of a shard: time of the fetch, signature, lines."""

    fetched_at: np.ndarray[Any, np.dtype[np.float64]]
    signatures: Signatures
    lines: PageLines


class TooSlow(BaseException):
    """An extraction that takes too long; extractors catch every `Exception`."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The files of a part of a source in a work folder."""

    part: Part
    folder: Path
    extractor: str
    name: str
    """The name of its files, another one for another part or extractor."""

    @classmethod
    def of(cls, part: Part, folder: Path, extractor: str) -> "Shard":
        """Return the shard of a part; raises `OSError` if a file of the part is missing."""
        told = "\n".join([_FORMAT, extractor, version(extractor), part.identity()])
        name = blake2b(told.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        return cls(part, folder, extractor, name)

    def is_made(self) -> bool:
        """Return True if its files are complete."""
        return self._path("npz").exists()

    def make(self) -> int:
        """Write the files; return the number of pages that were read."""
        left_out: Counter[str] = Counter()
        at = os.open(self._path("at"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            unreadable = self.unreadable()

            def begin(number: int) -> bool:
                os.pwrite(at, b"%12d" % number, 0)
                left_out[STOPPED] += number in unreadable
                return number not in unreadable

            extract, numbers = make_extractor(self.extractor), _Numbers()
            with (
                replacing(self._path("json.gz")) as path,
                gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as file,
            ):
                for found in self.part.pages(left_out, begin):
                    text = _page_text(found, extract)
                    if isinstance(text, str):
                        left_out[text] += 1
                    else:
                        numbers.add(found, text)
                        file.write(json.dumps(text).encode() + b"\n")
                file.write(json.dumps(+left_out).encode() + b"\n")
        finally:
            os.close(at)
        # The last file: a shard that has it is complete.
        with replacing(self._path("npz")) as path, path.open("wb") as arrays:
            np.savez(arrays, **numbers.arrays())
        self._path("at").unlink(missing_ok=True)
        return self.part.size

    def blame(self) -> bool:
        """Leave out the page at which a process ended; False if it was at none."""
        try:
            page = int(self._path("at").read_bytes())
        except (OSError, ValueError):
            return False
        unreadable = json.dumps(sorted({*self.unreadable(), page}))
        with replacing(self._path("bad")) as path:
            path.write_text(unreadable)
        return True

    def is_begun(self) -> bool:
        """Return True if a process began it and did not end it."""
        return self._path("at").exists()

    def unreadable(self) -> list[int]:
        """Return the numbers of the pages that end a process."""
        path = self._path("bad")
        return list(json.loads(path.read_text())) if path.exists() else []

    def arrays(self) -> Arrays:
        """Return the numbers of its pages."""
        with np.load(self._path("npz")) as found:
            lines = PageLines(*(found[name] for name in PageLines._fields))
            return Arrays(found["fetched_at"], found["signatures"], lines)

    def texts(self, left_out: Counter[str]) -> Iterator[PageText]:
        """Yield its pages with a main text, and count those that were left out."""
        with gzip.open(self._path("json.gz")) as file:
            for line in file:
                found = json.loads(line)
                if isinstance(found, dict):
                    left_out.update(found)
                else:
                    yield PageText(found[0], [Paragraph(*each) for each in found[1]])

    def _path(self, kind: str) -> Path:
        return self.folder / f"{self.name}.{kind}"


def _page_text(found: Found, extract: Extract) -> PageText | str:
    """Return the text of a page, or the reason for which it has none."""
    try:
        with _limited():
            text = main_text_of(found.body, found.content_type, extract)
    except TooSlow:
        return TOO_SLOW
    except Exception:  # whatever an extractor makes of a page
        return FAILED
    if not units(" ".join(text.paragraphs)):
        return NO_MAIN_TEXT
    languages = differing_languages(text.paragraphs, found.values["language"])
    paragraphs = [
        Paragraph(line, language, number_of_words(line))
        for line, language in zip(text.paragraphs, languages, strict=True)
    ]
    return PageText({**found.values, "title": text.title}, paragraphs)


class _Numbers:
    """The numbers of pages with a text, see `Arrays`."""

    def __init__(self) -> None:
        self._fetched_at: list[float] = []
        self._signatures: list[list[int]] = []
        self._hosts: list[int] = []
        self._keys: list[int] = []
        self._pages: list[int] = []

    def add(self, found: Found, text: PageText) -> None:
        """Add the numbers of a page."""
        lines = [paragraph.text for paragraph in text.paragraphs]
        host, fetched_at = key_of_host(found.host), found.values["fetched_at"]
        self._fetched_at.append(float("inf") if fetched_at is None else fetched_at)
        self._signatures.append(signature_of(units(" ".join(lines))))
        self._pages += [len(self._hosts)] * len(lines)
        self._hosts.append(host)
        self._keys += keys_of_lines(host, lines)

    def arrays(self) -> dict[str, Any]:
        """Return the numbers of all pages by name."""
        lines = list(zip(self._pages, self._keys, strict=True))
        first = dict(zip(reversed(lines), reversed(range(len(lines))), strict=True))
        is_new = np.zeros(len(lines), np.bool_)
        is_new[list(first.values())] = True
        return {
            "fetched_at": np.array(self._fetched_at, np.float64),
            "signatures": np.array(self._signatures, np.uint32).reshape(-1, VALUES),
            "keys": np.array(self._keys, np.uint64),
            "pages": np.array(self._pages, np.uint32),
            "is_new": is_new,
            "hosts": np.array(self._hosts, np.uint64),
        }


@contextmanager
def _limited() -> Iterator[None]:
    """Raise `TooSlow` in a block that takes too long; end the process if it does not come."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW_S)
    signal.setitimer(signal.ITIMER_PROF, _STOPPED_S)  # SIGPROF ends a process in compiled code too
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGVTALRM, before)
