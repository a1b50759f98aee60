"""URLs as one buffer of bytes, which the compiled code reads."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

MAX_CHARACTERS = 2048
"""Characters of a URL that are encoded; the compiled code reads at most as many bytes."""

_ACE_PREFIX = b"xn--"
_SPACE_IN_HOST: Final = re.compile(rb"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?/*[^/?#\s]*\s+\S")
_ACE_LABEL = re.compile(r"xn--([a-z0-9-]{1,59})", re.IGNORECASE)


@dataclass(frozen=True)
class Batch:
    """UTF-8 bytes of n URLs, one per line; the last line has no line end."""

    buffer: npt.NDArray[np.uint8]
    n_urls: int

    def __len__(self) -> int:
        """Return the number of URLs."""
        return self.n_urls

    def parts(self, most: int) -> Iterator[Batch]:
        """Yield batches of at most that number of URLs, in order."""
        ends = np.flatnonzero(self.buffer == ord("\n"))[most - 1 :: most].tolist()
        starts = [0, *(end + 1 for end in ends)]
        for number, (start, end) in enumerate(zip(starts, [*ends, None], strict=True)):
            yield Batch(self.buffer[start:end], min(most, self.n_urls - number * most))


def encode(urls: Sequence[str]) -> Batch:
    """The URLs as a batch: IDN labels are decoded, letters composed, line ends replaced by spaces.

    A URL of ASCII may be longer than MAX_CHARACTERS here.
    """
    if isinstance(urls, str):
        raise TypeError("expected a sequence of URLs, not one string")
    data = _joined(urls)
    if data.count(b"\n") >= max(len(urls), 1):
        data = _joined([url.replace("\n", " ") for url in urls])
    data = _with_letters(data)
    return Batch(np.frombuffer(data, np.uint8), len(urls))


def encode_lines(block: bytes) -> Batch:
    """The lines of a block, without its last line end, as `encode` writes the text of each.

    Carriage returns at the end of a line are left out. Bytes that are not UTF-8 stand for the
    surrogates that Python decodes them to. Only lines that change are touched.
    """
    if b"\r" in block:
        block = b"\n".join([line.rstrip(b"\r") for line in block.split(b"\n")])
    if not block.isascii():
        places = np.flatnonzero(np.frombuffer(block, np.int8) < 0).tolist()
        block = _respelled(block, places, _decoded)
    block = _with_letters(block)
    return Batch(np.frombuffer(block, np.uint8), block.count(b"\n") + 1)


def unaddressed(batch: Batch) -> list[int]:
    """The places of texts whose host would contain a space: they are no URLs."""
    data = batch.buffer.tobytes()
    if b" " not in data and b"\t" not in data:
        return []
    return [at for at, line in enumerate(data.split(b"\n")) if _SPACE_IN_HOST.match(line)]


def plain(url: str) -> str:
    """The first characters of a URL, its IDN labels decoded and its letters composed."""
    return _composed(_ACE_LABEL.sub(_unicode_label, url[:MAX_CHARACTERS]))


def _joined(urls: Sequence[str]) -> bytes:
    # One wide character would make the whole text wide, which costs more than the rest of the work.
    if not all(map(str.isascii, urls)):
        urls = [url if url.isascii() else _narrow(url) for url in urls]
    return "\n".join(urls).encode("latin-1")


def _narrow(url: str) -> str:
    """The UTF-8 of a URL, as characters."""
    text = _composed(url[:MAX_CHARACTERS])
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _with_letters(data: bytes) -> bytes:
    """The same lines, with IDN labels as their letters."""
    lower = data.lower()  # far cheaper than a search for either case
    if _ACE_PREFIX not in lower:
        return data
    return _respelled(data, _places_of(_ACE_PREFIX, lower), _spelled)


def _places_of(mark: bytes, data: bytes) -> Iterator[int]:
    at = -1
    while (at := data.find(mark, at + 1)) >= 0:
        yield at


def _respelled(data: bytes, places: Iterable[int], respell: Callable[[bytes], str]) -> bytes:
    """The same lines, those with any of the places respelled; the places are sorted."""
    pieces, at = [], 0
    for place in places:
        if place < at:  # in a line that is done
            continue
        start = data.rfind(b"\n", at, place) + 1 or at
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        line = respell(data[start:end]).replace("\n", " ")
        pieces += [data[at:start], line.encode("utf-8", "surrogatepass")]
        at = end
    return b"".join([*pieces, data[at:]])


def _spelled(line: bytes) -> str:
    return plain(line.decode("utf-8", "surrogatepass"))


def _decoded(line: bytes) -> str:
    return _composed(line.decode("utf-8", "surrogateescape")[:MAX_CHARACTERS])


def _unicode_label(match: re.Match[str]) -> str:
    """The letters of an encoded label of an internationalised name, or the label itself."""
    try:
        return match[1].encode("ascii").decode("punycode")
    except UnicodeError:
        return match[0]
