"""Labelled URLs from the dump of the Open Directory Project (DMOZ), which Curlie continues.

The dump is a stream that is nearly valid XML. It is cut after its ExternalPage elements, and only
the address and the category of each are read: whatever else is wrong in it costs nothing.
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

_CHUNK: Final = 1 << 20
_LONGEST: Final = 1 << 20
"""Bytes of the longest element; a longer one is dropped, so that memory stays bounded."""

_OPENS: Final = b"<ExternalPage"
_CLOSES: Final = b"</ExternalPage>"
_ADDRESS: Final = re.compile(rb"""<ExternalPage\s+about=(?:"([^"<]*)"|'([^'<]*)')\s*>""")
_CATEGORY: Final = re.compile(rb"<topic>([^<]*)</topic>")
_CATEGORY_AHEAD: Final = re.compile(rb"""<Topic\s+r:id=(?:"([^"<]*)"|'([^'<]*)')""")
_REFERENCE: Final = re.compile("&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));")
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
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
        ahead, done = "", 0
        try:
            for piece, done in self._pieces():  # noqa: B007  # errors name this place
                start = piece.rfind(_OPENS) if piece.endswith(_CLOSES) else len(piece)
                before = piece[:start] if start >= 0 else piece
                if categories := _CATEGORY_AHEAD.findall(before):
                    ahead = _text(b"".join(categories[-1]))
                address = _ADDRESS.match(piece, start) if start >= 0 else None
                has_page = 0 <= start < len(piece)
                malformed = before.count(_OPENS) + (has_page and address is None)
                if malformed:
                    self.reasons["malformed page"] += malformed
                if address:
                    # Dumps before May 2003 name the category only before its pages.
                    category = _CATEGORY.search(piece, start)
                    url = _text(address[1] or address[2] or b"")
                    yield from self._listed(url, (_text(category[1]) if category else "") or ahead)
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(f"{self.path}: byte {done}", error) from error

    def _listed(self, url: str, category: str) -> Iterator[LabelledUrl]:
        """Yield the row of a listing, unless it is left out and counted."""
        language, reason = _language_of("/".join(category.split("/", 4)[:4]))
        if not url:
            reason = "no URL"
        elif _MARK in url or not url.isprintable():
            reason = "illegal characters in the URL"
        if reason:
            self.reasons[reason] += 1
        elif language:
            yield LabelledUrl(url, language, "editor", "odp")

    def _pieces(self) -> Iterator[tuple[bytes, int]]:
        """Yield the bytes of the dump, cut after each ExternalPage, with the offset of each end.

        The rest after the last page, and pieces that are too long, are cut elsewhere.
        """
        rest, at, begun = b"", 0, False
        with opened(self.path) as file:
            for chunk in iter(partial(file.read, _CHUNK), b""):
                if not begun and b"<RDF" not in chunk:
                    break
                begun = True
                *whole, rest = (rest + chunk).split(_CLOSES)
                for piece in whole:
                    at += len(piece) + len(_CLOSES)
                    yield piece + _CLOSES, at
                if len(rest) > _LONGEST:
                    # Never cut inside a tag: it may be the tag that names the category.
                    cut = max(rest.rfind(b"<"), 0) or len(rest)
                    at += cut
                    yield rest[:cut], at
                    rest = rest[cut:]
        if not begun:
            expected = "no <RDF>; expected the content.rdf.u8 of a directory"
            raise DatasetError(f"{self.path}: byte 0: {expected}")
        yield rest, at + len(rest)
        if b"</RDF>" not in rest:
            end = "ends before </RDF>; the file is cut short"
            raise DatasetError(f"{self.path}: byte {at + len(rest)}: {end}")


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
