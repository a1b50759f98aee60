"""Labelled URLs from the dump of the Open Directory Project (DMOZ), which Curlie continues."""

from __future__ import annotations

import tempfile
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from classifiers.datasets.rdf import MARK, NotADumpError, Page, Pages, pieces
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

_VERDICTS: Final = ("", "several languages", "duplicate")


@dataclass
class OdpUrls(Dataset[LabelledUrl]):
    """The pages of content.rdf.u8, plain or .gz, each with the language of its category.

    The language is that of the category in Top/World, none in Top/Regional, and English everywhere
    else (Baykan 2013, 3.1). A URL that is listed in several languages is left out; one that is
    listed several times in one language is given once. Unlike in the paper, Top/Adult/World and
    Top/Kids_and_Teens/International are read like Top/World, since they are not English. Topics
    that begin with one of `exclude`, such as "Top/Adult", are left out.

    An iteration reads the whole dump before its first row. The listings are kept in a temporary
    file, with up to 60 bytes for each in memory. After invalid XML or UTF-8 only the pages that
    contain it are lost. DatasetError with file and byte if the file is no dump, cannot be unpacked
    or ends early.
    """

    exclude: Sequence[str] = ()
    mended: int = field(default=0, init=False)
    """Pages of the latest iteration with illegal characters that were read nevertheless."""

    def __post_init__(self) -> None:
        """Raise TypeError for one string instead of several topics."""
        if isinstance(self.exclude, str):
            raise TypeError("exclude is a sequence of topics, not one string")

    def _rows(self) -> Iterator[LabelledUrl]:
        listings = _Listings()
        with tempfile.TemporaryFile() as waiting:
            for url, language in self._listed():
                listings.add(url, language)
                waiting.write(f"{language}\t{url}\n".encode())
            waiting.seek(0)
            for verdict, line in zip(listings.verdicts(), waiting, strict=True):
                if verdict:
                    self.reasons[_VERDICTS[verdict]] += 1
                else:
                    language, _, url = line.decode().rstrip("\n").partition("\t")
                    yield LabelledUrl(url, language, "editor", "odp")

    def _listed(self) -> Iterator[tuple[str, str]]:
        """Yield URL and language of each listing that has both."""
        pages = Pages(self.reasons)
        done = 0
        try:
            with opened(self.path) as file:
                for piece, done in pieces(file):  # noqa: B007  # errors name this place
                    page = pages.read(piece)
                    language = self._language(page) if page else None
                    if page and language:
                        yield page.url, language
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(f"{self.path}: byte {done}", error) from error
        except NotADumpError as error:
            raise DatasetError(f"{self.path}: {error}") from error
        finally:
            self.mended = pages.mended

    def _language(self, page: Page) -> str | None:
        """The language of a listing; None if it was left out and counted."""
        language, reason = _language_of("/".join(page.topic.split("/", 4)[:4]))
        if not page.url:
            reason = "no URL"
        elif MARK in page.url or not page.url.isprintable():
            reason = "illegal characters in the URL"
        elif any(_is_in(page.topic, each) for each in self.exclude):
            reason = "excluded topic"
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


class _Listings:
    """Finds the listings of URLs in one language, each URL once.

    It stores only a hash of 8 bytes for each URL. With five million URLs, the probability that two
    share a hash is one in a million.
    """

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._languages = array("H")
        self._numbers: dict[str, int] = {}

    def add(self, url: str, language: str) -> None:
        digest = blake2b(url.encode(), digest_size=8).digest()
        self._hashes.append(int.from_bytes(digest, "little"))
        self._languages.append(self._numbers.setdefault(language, len(self._numbers)))

    def verdicts(self) -> bytes:
        """An index of _VERDICTS for each listing, in the order they were added."""
        import numpy as np

        if not self._hashes:
            return b""
        hashes = np.frombuffer(self._hashes, np.uint64)
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        languages = np.frombuffer(self._languages, np.uint16)[order]
        is_first = np.concatenate(([True], hashes[1:] != hashes[:-1]))
        starts = np.flatnonzero(is_first)
        lowest = np.minimum.reduceat(languages, starts)
        is_mixed = lowest != np.maximum.reduceat(languages, starts)
        verdicts = np.empty(len(order), np.uint8)
        verdicts[order] = np.where(
            np.repeat(is_mixed, np.diff(starts, append=len(order))), 1, np.where(is_first, 0, 2)
        )
        return verdicts.tobytes()
