"""Reads the pages of an ODP dump, a stream that is nearly valid XML.

The dump is cut into its ExternalPage elements, and each is parsed by itself: invalid XML loses only
the page that contains it.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import IO, Final, NamedTuple
from xml.parsers.expat import ExpatError, ParserCreate

_CHUNK: Final = 1 << 20
_LONGEST: Final = 1 << 20
"""Bytes of the longest element; a longer one is dropped, so that memory stays bounded."""

_OPENS: Final = b"<ExternalPage"
_CLOSES: Final = b"</ExternalPage>"
_REFERENCE: Final = re.compile(r"&#(?:x([0-9A-Fa-f]+)|([0-9]+));")
_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

MARK: Final = "\ufffd"
"""Replaces each illegal character: U+FFFD."""


class NotADumpError(Exception):
    """The stream is no dump, or only the beginning of one."""


class Page(NamedTuple):
    """One listing: an address and its category; both may be empty."""

    url: str
    topic: str


def pieces(file: IO[bytes] | gzip.GzipFile) -> Iterator[tuple[bytes, int]]:
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
        raise NotADumpError(f"byte {at + len(rest)}: ends before </RDF>; the file is cut short")


def _begun(chunk: bytes) -> bool:
    if b"<RDF" not in chunk:
        raise NotADumpError("byte 0: no <RDF>; expected the content.rdf.u8 of a directory")
    return True


class Pages:
    """Reads pages from the pieces of a dump; counts those that it cannot read in `reasons`."""

    def __init__(self, reasons: Counter[str]) -> None:
        self.reasons = reasons
        self.mended = 0
        """Pages that could be read after illegal characters were marked."""
        self._parser = _Parser()
        self._topic = b""

    def read(self, piece: bytes) -> Page | None:
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

    def _parsed(self, element: bytes) -> Page | None:
        page = self._attempt(element)
        if page is None:
            marked = _marked(element)
            page = self._attempt(marked) if marked != element else None
            self.mended += page is not None
        if page and not page.topic:
            # Dumps before May 2003 name the topic only before its pages.
            page = Page(page.url, self._topic_ahead())
        return page

    def _topic_ahead(self) -> str:
        page = self._attempt(_marked(self._topic + b"</Topic>"))
        return page.topic if page else ""

    def _attempt(self, element: bytes) -> Page | None:
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

    def read(self, element: bytes) -> Page:
        """The page of an element; for a Topic, a page without address. ExpatError if invalid."""
        self._url = ""
        self._topic.clear()
        self._is_whole = False
        self._expat.Parse(element, False)
        if not self._is_whole:
            # It ends inside a comment or a similar section, which would swallow the next element.
            raise ExpatError("the element does not end")
        return Page(self._url.strip(), "".join(self._topic).strip())

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
    """The element with MARK for each character, reference and byte that is illegal in XML."""
    text = _REFERENCE.sub(_allowed, element.decode("utf-8", "replace"))
    return _ILLEGAL.sub(MARK, text).encode()


def _allowed(reference: re.Match[str]) -> str:
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    is_character = number <= 0x10FFFF and not _ILLEGAL.match(chr(number))
    return reference[0] if is_character else MARK
