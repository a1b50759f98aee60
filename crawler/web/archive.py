"""A Web whose answers are in a WARC file.

The whole file is read once at opening, which finds its damaged records. Each answer takes 16 bytes
of memory, for a hash and an offset. Its body is read on request.
"""

import logging
from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from io import BytesIO
from ipaddress import ip_address
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import numpy as np
from fastwarc.warc import ArchiveIterator, HeaderMap

from crawler.errors import ArchiveError
from crawler.url import normalise
from crawler.web.contract import NO_HEADERS, Answer, NotArchived
from crawler.web.records import BLOCK_LIMIT, ArchiveRecord, Skipped, read_block, scan

_log = logging.getLogger(__name__)

OTHER_SCHEME = {"http": "https", "https": "http"}
PRINTABLE = "".join(map(chr, range(33, 127)))
FRAMING = frozenset({"content-encoding", "transfer-encoding", "content-length"})
# A header may name an encoding that the archive's writer removed.
Decoding = Literal["all", "transfer", "content", "none"]
DECODINGS: tuple[Decoding, ...] = ("all", "transfer", "content")
ALONE = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n"
NO_ROBOTS = Answer(404, (("Content-Type", "text/plain"), ("Content-Length", "0")))


class ArchiveWeb:
    """A Web whose answers are in a WARC file; of two answers to a URL, the first one counts.

    Spellings that `crawler.url.normalise` makes equal are one URL. If http is not archived, https
    answers, and the other way round. Only `response` records count: a `revisit` refers to another
    record's body. A host without an archived robots.txt answers 404 for it.

    Damaged records are skipped; `skipped` counts them, and a warning is logged. Raises
    `ArchiveError` at opening for a file that is missing, not a WARC file, without any answer, or
    compressed as a whole. len() is the number of answers.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self.skipped = Skipped()
        hashes, offsets = array("Q"), array("Q")
        for record in scan(self._path, self.skipped):
            if record.is_answer:
                hashes.append(_hash(_canonical(record.url)))
                offsets.append(record.offset)
        if not hashes:
            raise ArchiveError(f"{path}: no answer of a server in it; give an archive of a crawl")
        if self.skipped.number:
            _log.warning("%s", self.skipped)
        order = np.argsort(np.frombuffer(hashes, np.uint64), kind="stable")
        self._hashes = np.frombuffer(hashes, np.uint64)[order]
        self._offsets = np.frombuffer(offsets, np.uint64)[order]

    def __len__(self) -> int:
        return len(self._offsets)

    def urls(self) -> Iterator[str]:
        """Return the URLs of all answers, in the order of the file, which is read again."""
        return (record.url for record in scan(self._path) if record.is_answer)

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return the archived answer with its body decoded; `headers` change nothing.

        Raises `NotArchived`, and `ArchiveError` if the file was changed since opening.
        """
        wanted = _canonical(url)
        scheme, _, rest = wanted.partition(":")
        for candidate in (wanted, f"{OTHER_SCHEME.get(scheme, scheme)}:{rest}"):
            answer = self._find(candidate)
            if answer is not None:
                return answer
        if wanted.endswith("/robots.txt") and wanted.count("/") == 3:
            return NO_ROBOTS
        raise NotArchived(url)

    def _find(self, wanted: str) -> Answer | None:
        value = np.uint64(_hash(wanted))
        first, end = (int(np.searchsorted(self._hashes, value, side)) for side in ("left", "right"))
        for offset in self._offsets[first:end]:
            answer = self._read(int(offset), wanted)
            if answer is not None:
                return answer
        return None

    def _read(self, offset: int, wanted: str) -> Answer | None:
        """Return the answer at the offset, None if it is of another URL with the same hash."""
        # The same reader as at opening: another one could read another URL from a damaged header.
        try:
            record, block = read_block(self._path, offset)
        except ArchiveError as error:
            raise ArchiveError(
                f"{self._path}: at byte {offset}: changed while in use; start again"
            ) from error
        return answer_of(record, block) if _canonical(record.url) == wanted else None


def answer_of(record: ArchiveRecord, block: bytes) -> Answer:
    """Return the answer in the block of a record, with its body decoded as far as possible."""
    http, body = _decoded(block)
    headers = [pair for pair in http.items() if pair[0].lower() not in FRAMING]
    headers.append(("Content-Length", str(len(body))))
    return Answer(http.status_code or 0, tuple(headers), body, _address(record.address))


def _decoded(block: bytes) -> tuple[HeaderMap, bytes]:
    """Return the headers of an answer and its body without any encoding."""
    alone = ALONE % len(block) + block
    for decoding in DECODINGS:
        with suppress(OSError):
            return _parsed(alone, decoding)
    return _parsed(alone, "none")


def _parsed(alone: bytes, decoding: Decoding) -> tuple[HeaderMap, bytes]:
    record = next(ArchiveIterator(BytesIO(alone), parse_http=False))
    record.is_http = True  # its status line was checked at opening
    record.parse_http(auto_decode=decoding)
    return record.http_headers, record.reader.read(BLOCK_LIMIT)


def _address(text: str) -> str | None:
    with suppress(ValueError):
        return str(ip_address(text))
    return None


def _canonical(url: str) -> str:
    """Return the common spelling of equal URLs; texts that are no URLs of pages only get ASCII."""
    return normalise(url) or quote(url.strip().partition("#")[0], safe=PRINTABLE, errors="replace")


def _hash(canonical: str) -> int:
    return int.from_bytes(blake2b(canonical.encode(), digest_size=8).digest(), "big")
