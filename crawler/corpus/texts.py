"""The texts of one part of a corpus, in a file of the work folder of an export.

The file has a line for each page: its text, or the reason for which it is left out. It gets its
name when it is complete. A process that reads a part goes on after the last line that is there.
"""

import fcntl
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b, sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from rensa import RMinHash

from langfocus.classifiers.pages.text.words import number_of_words, units
from langfocus.crawler.corpus.extraction import differing_languages, main_text_of
from langfocus.crawler.corpus.sources import Found, Part
from langfocus.crawler.reading.page import TRIAL
from langfocus.crawler.reading.time_limit import TOO_SLOW, TooSlow, limited

NO_MAIN_TEXT = "no main text"
FAILED = "extractor failed"
STOPPED = "ended its process"

_FORMAT: Final = "4"
_PACKAGES: Final = ("trafilatura", "htmldate", "resiliparse")

VALUES: Final = 126
"""Numbers of 32 bits in a signature; the index is estimated with a standard error of 0.036."""

_RUN: Final = 3
_MOST_UNITS: Final = 50_000


class Paragraph(NamedTuple):
    """A paragraph of a main text; `language` is None if it is that of the page."""

    text: str
    language: str | None
    words: int


class PageText(NamedTuple):
    """A page with a main text: the fields of its item that are known, its host and paragraphs."""

    values: dict[str, Any]
    host: str
    paragraphs: list[Paragraph]
    signature: list[int]


@dataclass(frozen=True, slots=True)
class PartTexts:
    """The texts of a part in a work folder."""

    part: Part
    path: Path
    extractor: str
    has_markup: bool = False
    has_metadata: bool = True

    @classmethod
    def of(
        cls,
        part: Part,
        work: Path,
        extractor: str,
        *,
        has_markup: bool = False,
        has_metadata: bool = True,
    ) -> "PartTexts":
        """Return the texts of a part, whose file has another name after a change of the part."""
        versions = " ".join(map(version, _PACKAGES))
        made_by = f"{_FORMAT} {extractor} {has_markup} {has_metadata} {versions} {part.stamp()}"
        name = blake2b(made_by.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        return cls(part, work / f"{name}.jsonl", extractor, has_markup, has_metadata)

    @property
    def _unfinished(self) -> Path:
        return self.path.with_suffix(".part")

    def is_made(self) -> bool:
        """Return True if the file is complete."""
        return self.path.exists()

    def is_begun(self) -> bool:
        """Return True if a process began the file and did not end it."""
        return self._unfinished.exists()

    def make(self) -> None:
        """Write the file, or the rest of it."""
        with self._unfinished.open("a+b") as file:
            # A process of an export that was interrupted may still write it.
            fcntl.flock(file, fcntl.LOCK_EX)
            if self.is_made():
                return
            main_text_of(TRIAL.body, None, self.extractor)  # no page pays for what is loaded
            for found in self.part.pages(_whole_lines(file)):
                text = found if isinstance(found, str) else self._text_of(found)
                file.write(json.dumps(text).encode() + b"\n")
                file.flush()
        self._unfinished.rename(self.path)

    def leave_out(self) -> None:
        """Leave out the page at which the process that wrote the file ended."""
        with self._unfinished.open("a+b") as file:
            _whole_lines(file)
            file.write(json.dumps(STOPPED).encode() + b"\n")

    def read(self) -> Iterator[PageText | str]:
        """Yield the pages, and for those that were left out the reasons."""
        with self.path.open("rb") as file:
            for line in map(json.loads, file):
                if isinstance(line, str):
                    yield line
                else:
                    values, host, paragraphs, signature = line
                    yield PageText(values, host, [Paragraph(*p) for p in paragraphs], signature)

    def _text_of(self, found: Found) -> PageText | str:
        """Return the text of a page, or the reason for which it has none."""
        try:
            with limited():
                text = main_text_of(
                    found.body,
                    found.content_type,
                    self.extractor,
                    has_markup=self.has_markup,
                    has_metadata=self.has_metadata,
                )
        except TooSlow:
            return TOO_SLOW
        except Exception:  # whatever an extractor makes of a page
            return FAILED
        words = units(" ".join(text.paragraphs))
        if not words:
            return NO_MAIN_TEXT
        languages = differing_languages(text.paragraphs, found.values["language"])
        paragraphs = [
            Paragraph(line, language, number_of_words(line))
            for line, language in zip(text.paragraphs, languages, strict=True)
        ]
        own = f"{found.values['url']} {sha256(found.body).hexdigest()}"
        values = {**found.values, "title": text.title, **text.metadata._asdict()}
        values["id"] = str(uuid5(NAMESPACE_URL, own))
        return PageText(values, found.host, paragraphs, signature_of(words))


def _whole_lines(file: BinaryIO) -> int:
    """Cut a line without an end, which a kill left; return the number of the others."""
    file.seek(0)
    data = file.read()
    file.truncate(data.rfind(b"\n") + 1)
    return data.count(b"\n")


def signature_of(units: Sequence[str]) -> list[int]:
    """Return the signature of a text with these words; a text of less than three is one run."""
    kept = [*units[:_MOST_UNITS]]
    kept += [""] * (_RUN - len(kept))
    runs = {" ".join(kept[at : at + _RUN]) for at in range(len(kept) - _RUN + 1)}
    signature = RMinHash(VALUES, 1)
    signature.update(list(runs))
    return list(signature.digest())
