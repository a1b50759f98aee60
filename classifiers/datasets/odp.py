"""Labelled URLs from the dump of the Open Directory Project (DMOZ), which Curlie continues.

The dump is nearly valid XML with a tag on each line. Only page addresses and categories are parsed;
other damage in the dump is harmless.
"""

import re
import zlib
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Final
from xml.sax.saxutils import unescape

from langfocus.classifiers.datasets.rows import Dataset, LabelledUrl, opened, unreadable
from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.languages import canonical
from langfocus.classifiers.tables import rows

_NAMES: Final = rows("odp-categories.txt")
"""Top/World categories with unusual language names."""

_LONGEST: Final = 1 << 20
"""Maximum line length in bytes; longer lines are read in parts to bound memory."""
_TOKEN: Final = re.compile(
    rb'<(?P<page>ExternalPage)\b(?:\s+about="(?P<address>[^"<]*)")?'
    rb"|<topic>(?P<topic>[^<]*)</topic>|<(?P<dump>/?RDF)\b"
)
_PLACE: Final = re.compile(
    "Top/(?P<regional>Regional(?:/|$))?"
    "(?P<world>(?:World|Adult/World|Kids_and_Teens/International)(?:/(?P<name>[^/]*)|$))?"
)


class OdpUrls(Dataset[LabelledUrl]):
    """The pages of content.rdf.u8, plain or .gz, labelled by category.

    A category in Top/World names the language; Top/Regional has no language; every other category
    is English (Baykan 2013, 3.1). Unlike in the paper, Top/Adult/World and
    Top/Kids_and_Teens/International are parsed like Top/World, since their pages are not English. A
    URL in several listings is yielded for each listing: `distinct` rejects URLs with two languages.

    DatasetError with file and byte if the file is no dump, cannot be unpacked or ends early.
    """

    def _rows(self) -> Iterator[LabelledUrl]:
        read, address, met = 0, b"", set[bytes | None]()
        try:
            with opened(self.path) as file:
                for line in iter(partial(file.readline, _LONGEST), b""):
                    read += len(line)
                    for token in _TOKEN.finditer(line):
                        met.add(token["dump"])
                        if token["topic"] is not None:
                            yield from self._listed(address, token["topic"])
                        address = token["address"] or b""
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(f"{self.path}: byte {read}", error) from error
        if not {b"RDF", b"/RDF"} <= met:
            fault = "ends before </RDF>; the file is cut short" if b"RDF" in met else "no <RDF>"
            raise DatasetError(f"{self.path}: byte {read}: {fault}")

    def _listed(self, address: bytes, topic: bytes) -> Iterator[LabelledUrl]:
        """Yield the row of a listing; count a skipped listing."""
        url, language = _text(address), _language_of(_text(topic))
        if not url:
            self.reasons["no URL"] += 1
        elif "\ufffd" in url or not url.isprintable():
            self.reasons["illegal characters in the URL"] += 1
        elif language is None:
            self.reasons["unknown language"] += 1
        elif language:
            yield LabelledUrl(url, language, "editor", "odp")
        else:
            self.reasons["Top/Regional"] += 1


def _text(raw: bytes) -> str:
    """Return the text of an attribute or element, with U+FFFD for undecodable bytes."""
    text = raw.decode("utf-8", "replace")
    return unescape(text, {"&quot;": '"', "&apos;": "'"}).strip()


@lru_cache(maxsize=1 << 14)
def _language_of(topic: str) -> str | None:
    """Return the language of a category; '' in Top/Regional, None if unknown."""
    place = _PLACE.match(topic)
    if place is None:
        return None
    if place["regional"]:
        return ""
    name = (place["name"] or "").replace("_", " ")
    return _NAMES.get(name) or canonical(name) if place["world"] else "en"
