"""Labelled URLs from the dump of the Open Directory Project (DMOZ), which Curlie continues.

The dump is nearly valid XML with a tag on each line. Only the address and the category of each page
are read: whatever else is wrong in it costs nothing.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

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

_LONGEST: Final = 1 << 20
"""Bytes of the longest line; a longer one is read in parts, so that memory stays bounded."""

_TOKEN: Final = re.compile(
    rb"""<(?P<page>ExternalPage)\b(?:\s+about=(?P<address>"[^"<]*"|'[^'<]*')\s*>)?"""
    rb"""|<topic>(?P<topic>[^<]*)</topic>"""
    rb"""|</(?P<end>ExternalPage)>"""
    rb"""|<Topic\s+r:id=(?P<ahead>"[^"<]*"|'[^'<]*')"""
    rb"""|<(?P<dump>/?RDF)\b"""
)
_REFERENCE: Final = re.compile("&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));")
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_NO_DUMP: Final = "no <RDF>; expected the content.rdf.u8 of a directory"
_MARK: Final = "\ufffd"
"""Replaces what is no character: U+FFFD."""


@dataclass
class OdpUrls(Dataset[LabelledUrl]):
    """The pages of content.rdf.u8, plain or .gz, each with the language of its category.

    The language is that of the category in Top/World, none in Top/Regional, and English everywhere
    else (Baykan 2013, 3.1). Unlike in the paper, Top/Adult/World and
    Top/Kids_and_Teens/International are read like Top/World, since they are not English. A URL that
    is listed several times is given several times: `distinct` leaves out those of two languages.

    DatasetError with file and byte if the file is no dump, cannot be unpacked or ends early.
    """

    def _rows(self) -> Iterator[LabelledUrl]:
        page: re.Match[bytes] | None = None
        ahead = topic = b""
        for token in self._tokens():
            if page is not None and (token["page"] or token["dump"]):
                self.reasons["malformed page"] += 1
            if token["page"]:
                page, topic = token, b""
            elif token["topic"] is not None:
                topic = topic or token["topic"]
            elif token["ahead"]:
                # Dumps before May 2003 name the category only before its pages.
                ahead = token["ahead"][1:-1]
            elif token["end"] and page is not None:
                yield from self._listed(page["address"], topic or ahead)
                page = None

    def _listed(self, address: bytes | None, topic: bytes) -> Iterator[LabelledUrl]:
        """Yield the row of a listing, unless it is left out and counted."""
        language, reason = _language_of("/".join(_text(topic).split("/", 4)[:4]))
        url = _text(address[1:-1]) if address else ""
        if address is None:
            reason = "malformed page"
        elif not url:
            reason = "no URL"
        elif _MARK in url or not url.isprintable():
            reason = "illegal characters in the URL"
        if reason:
            self.reasons[reason] += 1
        elif language:
            yield LabelledUrl(url, language, "editor", "odp")

    def _tokens(self) -> Iterator[re.Match[bytes]]:
        """Yield the tags that count; DatasetError if the file is no dump or cannot be read."""
        read, met = 0, set[bytes | None]()
        try:
            with opened(self.path) as file:
                for line in iter(partial(file.readline, _LONGEST), b""):
                    read += len(line)
                    for token in _TOKEN.finditer(line):
                        met.add(token["dump"])
                        yield token
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(f"{self.path}: byte {read}", error) from error
        if not {b"RDF", b"/RDF"} <= met:
            fault = "ends before </RDF>; the file is cut short" if b"RDF" in met else _NO_DUMP
            raise DatasetError(f"{self.path}: byte {read}: {fault}")


def _text(raw: bytes) -> str:
    """The text of an attribute or an element, with _MARK for what is no character."""
    return _REFERENCE.sub(_character, raw.decode("utf-8", "replace")).strip()


def _character(reference: re.Match[str]) -> str:
    if reference[3]:
        return _NAMED[reference[3]]
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    return chr(number) if number <= 0x10FFFF else _MARK


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
