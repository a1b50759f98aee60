"""Labelled URLs from the dump of the Open Directory Project (DMOZ), which Curlie continues.

The dump is a stream that is nearly valid XML. It is cut into its ExternalPage elements, and each is
parsed by itself: invalid XML loses only the page that contains it.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import IO, Final, NamedTuple
from xml.parsers.expat import ExpatError, ParserCreate

from classifiers.datasets.rows import Dataset, LabelledUrl, code_of, opened, unreadable
from classifiers.errors import DatasetError

_NAMES: Final[dict[str, str]] = {
    "Chinese Simplified": "zh", "Chinese Traditional": "zh", "Kaszëbsczi": "csb", "Latviski": "lv",
    "Lingua Latina": "la", "Makedonski": "mk", "O'zbekcha": "uz", "Polska": "pl",
    "Seeltersk": "stq", "Slovensko": "sl", "Slovensky": "sk", "Taiwanese": "zh", "Tatarça": "tt",
    "Türkmençe": "tk", "Uyghurche": "ug", "Zazaki": "zza", "Česky": "cs",
}  # fmt: skip
"""Categories of Top/World whose names are no usual names of the language."""

_LANGUAGES_IN: Final = ("World", "Adult/World", "Kids_and_Teens/International")
"""Places below Top in which each category is a language."""

_CHUNK: Final = 1 << 20
_LONGEST: Final = 1 << 20
"""Bytes of the longest element; a longer one is dropped, so that memory stays bounded."""

_OPENS: Final = b"<ExternalPage"
_CLOSES: Final = b"</ExternalPage>"
_REFERENCE: Final = re.compile(r"&#(?:x([0-9A-Fa-f]+)|([0-9]+));")
_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_MARK: Final = "\ufffd"
"""Replaces each illegal character: U+FFFD."""


@dataclass
class OdpUrls(Dataset[LabelledUrl]):
    """The pages of content.rdf.u8, plain or .gz, each with the language of its category.

    The language is that of the category in Top/World, none in Top/Regional, and English everywhere
    else (Baykan 2013, 3.1). Unlike in the paper, Top/Adult/World and
    Top/Kids_and_Teens/International are read like Top/World, since they are not English. A URL that
    is listed several times is given several times: `distinct` leaves out those of two languages.

    After invalid XML or UTF-8 only the pages that contain it are lost. DatasetError with file and
    byte if the file is no dump, cannot be unpacked or ends early.
    """

    def _rows(self) -> Iterator[LabelledUrl]:
        pages = _Pages(self.reasons)
        done = 0
        try:
            with opened(self.path) as file:
                for piece, done in _pieces(file):  # noqa: B007  # errors name this place
                    page = pages.read(piece)
                    language = self._language(page) if page else None
                    if page and language:
                        yield LabelledUrl(page.url, language, "editor", "odp")
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(f"{self.path}: byte {done}", error) from error
        except _NotADumpError as error:
            raise DatasetError(f"{self.path}: {error}") from error

    def _language(self, page: _Page) -> str | None:
        """The language of a listing; None if it was left out and counted."""
        language, reason = _language_of("/".join(page.topic.split("/", 4)[:4]))
        if not page.url:
            reason = "no URL"
        elif _MARK in page.url or not page.url.isprintable():
            reason = "illegal characters in the URL"
        if reason:
            self.reasons[reason] += 1
            return None
        return language


def _is_in(topic: str, other: str) -> bool:
    return f"{topic}/".startswith(f"{other.rstrip('/')}/")


@lru_cache(maxsize=1 << 14)
def _language_of(topic: str) -> tuple[str | None, str]:
    """The language of a category, or None and the reason."""
    below = topic.removeprefix("Top/")
    if not below or below == "Top":
        return None, "no topic"
    if _is_in(below, "Regional"):
        return None, "Top/Regional"
    for place in _LANGUAGES_IN:
        if _is_in(below, place):
            name = below.removeprefix(place).strip("/").partition("/")[0].replace("_", " ")
            language = _NAMES.get(name) or code_of(name)
            return language, "" if language else "unknown language"
    return "en", ""


class _NotADumpError(Exception):
    """The stream is no dump, or only the beginning of one."""


class _Page(NamedTuple):
    """One listing: an address and its category; both may be empty."""

    url: str
    topic: str


def _pieces(file: IO[bytes] | gzip.GzipFile) -> Iterator[tuple[bytes, int]]:
    """Yield the bytes of a dump, cut after each ExternalPage, each with the offset of its end.

    The rest after the last page, and pieces that are too long, are cut elsewhere.
    """
    rest, at, begun = b"", 0, False
    for chunk in iter(partial(file.read, _CHUNK), b""):
        begun = begun or _begun(chunk)
        *whole, rest = (rest + chunk).split(_CLOSES)
        for piece in whole:
            at += len(piece) + len(_CLOSES)
            yield piece + _CLOSES, at
        if len(rest) > _LONGEST:
            # Never cut inside a tag: it may be the tag that names the topic.
            cut = max(rest.rfind(b"<"), 0) or len(rest)
            at += cut
            yield rest[:cut], at
            rest = rest[cut:]
    yield rest, at + len(rest)
    if b"</RDF>" not in rest:
        raise _NotADumpError(f"byte {at + len(rest)}: ends before </RDF>; the file is cut short")


def _begun(chunk: bytes) -> bool:
    if b"<RDF" not in chunk:
        raise _NotADumpError("byte 0: no <RDF>; expected the content.rdf.u8 of a directory")
    return True


class _Pages:
    """Reads pages from the pieces of a dump; counts those that it cannot read in `reasons`."""

    def __init__(self, reasons: Counter[str]) -> None:
        self.reasons = reasons
        self._parser = _Parser()
        self._topic = b""

    def read(self, piece: bytes) -> _Page | None:
        """The page at the end of the piece; None if there is none or it cannot be read."""
        start = piece.rfind(_OPENS)
        before = piece[:start] if start >= 0 else piece
        self._note_topic(before)
        unclosed = before.count(_OPENS) + (start >= 0 and not piece.endswith(_CLOSES))
        if unclosed:
            self.reasons["malformed page"] += unclosed
        if start < 0 or not piece.endswith(_CLOSES):
            return None
        page = self._parsed(piece[start:])
        if page is None:
            self.reasons["malformed page"] += 1
        return page

    def _note_topic(self, before: bytes) -> None:
        start = before.rfind(b"<Topic")
        if start >= 0:
            self._topic = before[start : before.find(b">", start) + 1]

    def _parsed(self, element: bytes) -> _Page | None:
        page = self._attempt(element)
        if page is None:
            marked = _marked(element)
            page = self._attempt(marked) if marked != element else None
        if page and not page.topic:
            # Dumps before May 2003 name the topic only before its pages.
            page = _Page(page.url, self._topic_ahead())
        return page

    def _topic_ahead(self) -> str:
        page = self._attempt(_marked(self._topic + b"</Topic>"))
        return page.topic if page else ""

    def _attempt(self, element: bytes) -> _Page | None:
        try:
            return self._parser.read(element)
        except ExpatError:
            self._parser = _Parser()
            return None


class _Parser:
    """One expat parser for many elements, until one of them is invalid."""

    def __init__(self) -> None:
        self._expat = ParserCreate("utf-8")
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.Parse(b"<RDF>", False)
        self._url = ""
        self._topic: list[str] = []
        self._is_whole = False

    def read(self, element: bytes) -> _Page:
        """The page of an element; for a Topic, a page without address. ExpatError if invalid."""
        self._url = ""
        self._topic.clear()
        self._is_whole = False
        self._expat.Parse(element, False)
        if not self._is_whole:
            # It ends inside a comment or a similar section, which would swallow the next element.
            raise ExpatError("the element does not end")
        return _Page(self._url.strip(), "".join(self._topic).strip())

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "topic":
            self._expat.CharacterDataHandler = self._topic.append
        elif name == "ExternalPage":
            self._url = attributes.get("about", "")
        elif name == "Topic":
            self._topic.append(attributes.get("r:id", ""))

    def _end(self, name: str) -> None:
        if name == "topic":
            self._expat.CharacterDataHandler = None
        elif name in {"ExternalPage", "Topic"}:
            self._is_whole = True


def _marked(element: bytes) -> bytes:
    """The element with _MARK for each character, reference and byte that is illegal in XML."""
    text = _REFERENCE.sub(_allowed, element.decode("utf-8", "replace"))
    return _ILLEGAL.sub(_MARK, text).encode()


def _allowed(reference: re.Match[str]) -> str:
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    is_character = number <= 0x10FFFF and not _ILLEGAL.match(chr(number))
    return reference[0] if is_character else _MARK
