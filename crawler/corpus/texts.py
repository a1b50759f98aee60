"""Texts of a corpus part, in a file of an export's work folder.

Each line is a page's text or skip reason. A complete file is renamed to its final name. A process
that reads a part resumes after the last complete line.
"""

import fcntl
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b, sha256
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from rensa import RMinHash

from langfocus.classifiers.errors import MissingPackageError, PluginError
from langfocus.classifiers.pages.text.words import number_of_words, units
from langfocus.crawler.corpus.extraction import EXTRACTORS, differing_languages, main_text_of
from langfocus.crawler.corpus.sources import Found, Part
from langfocus.crawler.reading.page import TRIAL
from langfocus.crawler.reading.time_limit import TOO_SLOW, TooSlow, limited

NO_MAIN_TEXT = "no main text"
FAILED = "extractor failed"
STOPPED = "ended its process"

_FORMAT: Final = "6"
_PACKAGES: Final = ("trafilatura", "htmldate", "resiliparse")

VALUES: Final = 126
"""Number of 32-bit values in a signature; the index has a standard error of 0.036."""

_RUN: Final = 3
_MOST_UNITS: Final = 50_000


class Paragraph(NamedTuple):
    """A main text paragraph; `language` is None for the page language."""

    text: str
    language: str | None
    words: int
    page: int | None = None  # of a document, from 1


class PageText(NamedTuple):
    """A page with a main text: known item fields, host, paragraphs and signature."""

    values: dict[str, Any]
    host: str
    paragraphs: list[Paragraph]
    signature: list[int]


class Extraction(NamedTuple):
    """The arguments of `main_text_of`, the same for all pages of a corpus."""

    extractor: str
    has_markup: bool = False
    has_metadata: bool = True


@dataclass(frozen=True, slots=True)
class PartTexts:
    """Texts of a part in a work folder."""

    part: Part
    path: Path
    extraction: Extraction

    @classmethod
    def of(cls, part: Part, work: Path, extraction: Extraction) -> "PartTexts":
        """Return the texts of a part; the file name changes with the part's content."""
        extractor, *options = extraction
        chosen = EXTRACTORS.plugin(extractor) or extractor
        made_by = [_FORMAT, chosen, *options, *map(version, _PACKAGES), part.stamp()]
        text = " ".join(map(str, made_by)).encode("utf-8", "surrogateescape")
        name = blake2b(text, digest_size=12).hexdigest()
        return cls(part, work / f"{name}.jsonl", extraction)

    @property
    def _unfinished(self) -> Path:
        return self.path.with_suffix(".part")

    def is_made(self) -> bool:
        """Return True if the file is complete."""
        return self.path.exists()

    def is_begun(self) -> bool:
        """Return True if a process started and did not finish the file."""
        return self._unfinished.exists()

    def make(self) -> None:
        """Write the file, or the rest of a started file."""
        with self._unfinished.open("a+b") as file:
            # A worker of an interrupted export may still write the file.
            fcntl.flock(file, fcntl.LOCK_EX)
            if self.is_made():
                return
            # Load the extractor before the first page is timed.
            main_text_of(TRIAL.body, None, self.extraction.extractor)
            for found in self.part.pages(_whole_lines(file)):
                text = found if isinstance(found, str) else self._text_of(found)
                file.write(json.dumps(text).encode() + b"\n")
                file.flush()
        self._unfinished.rename(self.path)

    def leave_out(self) -> None:
        """Skip the page that killed the writing process."""
        with self._unfinished.open("a+b") as file:
            _whole_lines(file)
            file.write(json.dumps(STOPPED).encode() + b"\n")

    def read(self) -> Iterator[PageText | str]:
        """Yield the pages, and a reason for each skipped page."""
        with self.path.open("rb") as file:
            for line in map(json.loads, file):
                if isinstance(line, str):
                    yield line
                else:
                    values, host, paragraphs, signature = line
                    yield PageText(values, host, [Paragraph(*p) for p in paragraphs], signature)

    def _text_of(self, found: Found) -> PageText | str:
        """Return the text of a page, or the reason for its absence."""
        try:
            with limited():
                options = self.extraction._asdict()
                text = main_text_of(found.body, found.content_type, **options)
        except TooSlow:
            return TOO_SLOW
        except PluginError as error:
            # Not its message, which may have text of the page: reasons are counted.
            return f"{FAILED}: {str(error).partition(': ')[0]}: {type(error.__cause__).__name__}"
        except MissingPackageError as error:
            return str(error)
        except Exception:  # an extractor may raise any error
            return FAILED
        words = units(" ".join(text.paragraphs))
        if not words:
            return NO_MAIN_TEXT
        languages = differing_languages(text.paragraphs, found.values["language"])
        paragraphs = [
            Paragraph(line, language, number_of_words(line), page)
            for line, language, page in zip_longest(text.paragraphs, languages, text.pages)
        ]
        own = f"{found.values['url']} {sha256(found.body).hexdigest()}"
        values = {**found.values, "title": text.title, **text.metadata._asdict()}
        values["id"] = str(uuid5(NAMESPACE_URL, own))
        return PageText(values, found.host, paragraphs, signature_of(words))


def _whole_lines(file: BinaryIO) -> int:
    """Truncate an incomplete last line, left by a kill; return the number of complete lines."""
    file.seek(0)
    data = file.read()
    file.truncate(data.rfind(b"\n") + 1)
    return data.count(b"\n")


def signature_of(units: Sequence[str]) -> list[int]:
    """Return the signature of a text from its words; fewer than three words are one trigram."""
    kept = [*units[:_MOST_UNITS]]
    kept += [""] * (_RUN - len(kept))
    runs = {" ".join(kept[at : at + _RUN]) for at in range(len(kept) - _RUN + 1)}
    signature = RMinHash(VALUES, 1)
    signature.update(list(runs))
    return list(signature.digest())
