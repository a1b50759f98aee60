"""A Web whose answers are in WARC files.

The files are read once at opening, which finds their damaged records; with an index, only the index
is read. Each answer takes 16 bytes of memory, for a hash and a place. Its body is read on request.
"""

import logging
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from io import BytesIO
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import numpy as np
from fastwarc.warc import ArchiveIterator, HeaderMap
from numpy.typing import NDArray

from crawler.errors import ArchiveError
from crawler.sources.contract import NO_HEADERS, Answer, NotArchived, Source
from crawler.sources.indexes import read_index
from crawler.sources.records import (
    BLOCK_LIMIT,
    STATUS_LINE,
    ArchiveRecord,
    Skipped,
    read_block,
    scan,
)
from crawler.sources.volumes import Volume, find_parts
from crawler.url import normalise

_log = logging.getLogger(__name__)

OTHER_SCHEME = {"http": "https", "https": "http"}
PRINTABLE = "".join(map(chr, range(33, 127)))
FRAMING = frozenset({"content-encoding", "transfer-encoding", "content-length"})
# A header may name an encoding that the archive's writer removed.
Decoding = Literal["all", "transfer", "content", "none"]
DECODINGS: tuple[Decoding, ...] = ("all", "transfer", "content")
ALONE = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n"
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_OFFSET_BITS = 48  # of the place of a record; the bits above are the number of its file
_OFFSET_MASK = (1 << _OFFSET_BITS) - 1
NO_ROBOTS = Answer(404, (("Content-Type", "text/plain"), ("Content-Length", "0")))


class _Found:
    """The hash and the place of each answer; of a revisit also the hash of its body's URL."""

    def __init__(self) -> None:
        self._hashes, self._places = array("Q"), array("Q")
        self._revisits, self._body_hashes = array("Q"), array("Q")

    def add(self, url_hash: int, place: int, body_hash: int | None) -> None:
        if body_hash is not None:
            self._revisits.append(len(self._hashes))
            self._body_hashes.append(body_hash)
        self._hashes.append(url_hash)
        self._places.append(place)

    def sorted(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return hashes and places sorted by hash, without revisits that lack their body."""
        hashes = np.frombuffer(self._hashes, np.uint64)
        places = np.frombuffer(self._places, np.uint64)
        kept = np.ones(len(hashes), bool)
        revisits = np.frombuffer(self._revisits, np.uint64)
        kept[revisits] = False
        has_body = np.isin(np.frombuffer(self._body_hashes, np.uint64), hashes[kept])
        kept[revisits[has_body]] = True
        order = np.argsort(hashes[kept], kind="stable")
        return hashes[kept][order], places[kept][order]


class ArchiveWeb:
    """A Web whose answers are in WARC files; of two answers to a URL, the first one counts.

    `path` may name several files, folders, patterns, CDXJ indexes and WACZ packages
    (`crawler.sources.volumes`). Equal spellings (`crawler.url.normalise`) are one URL. If http
    is not archived, https answers, and the other way round. A `revisit` has the headers of its own
    record and the body of the record that it refers to, after a 304 also the headers of that one;
    without it, it is no answer. A host without an archived robots.txt answers 404 for it.

    Damaged records are skipped; `skipped` counts them, and a warning is logged. Raises
    `ArchiveError` at opening for a file that is missing, and for an archive whose files are all not
    WARC files, without any answer, or compressed as a whole. len() is the number of answers.
    """

    def __init__(self, path: Path | str) -> None:
        parts = find_parts(path)
        self.skipped = Skipped()
        self._volumes: list[Volume] = list(parts.volumes)
        found = _Found()
        for url, place, body_url in chain(self._scanned(), self._indexed(parts.indexes)):
            body_hash = None if body_url is None else _hash(_canonical(body_url))
            found.add(_hash(_canonical(url)), place, body_hash)
        self._hashes, self._places = found.sorted()
        if not len(self):
            raise ArchiveError(f"{path}: no answer of a server in it; give an archive of a crawl")
        if self.skipped.number:
            _log.warning("%s", self.skipped)

    def __len__(self) -> int:
        return len(self._places)

    def places(self) -> NDArray[np.uint64]:
        """Return the place of each answer, in the order of the files."""
        return np.sort(self._places)

    def answer_at(self, place: int) -> tuple[str, Answer] | None:
        """Return the URL and the answer at a place, None if a revisit lacks its body.

        Raises `ArchiveError` if the file was changed since opening.
        """
        read = self._read(*self._at(place))
        answer = None if read is None else self._answer(*read)
        return None if read is None or answer is None else (read[0].url, answer)

    def files(self) -> list[Path]:
        """Return the files with the answers, each once."""
        return list(dict.fromkeys(volume.path for volume in self._volumes))

    def urls(self) -> Iterator[str]:
        """Yield the URLs of all answers, in the order of the files, which are read again."""
        for place in np.sort(self._places):
            read = self._read(*self._at(place), kept=0)
            if read is not None and _answers(read[0]):
                yield read[0].url

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return the archived answer with its body decoded; `headers` change nothing.

        Raises `NotArchived`, and `ArchiveError` if the file was changed since opening.
        """
        wanted = _canonical(url)
        scheme, _, rest = wanted.partition(":")
        for candidate in (wanted, f"{OTHER_SCHEME.get(scheme, scheme)}:{rest}"):
            for record, block in self._records(candidate):
                answer = self._answer(record, block)
                if answer is not None:
                    return answer
        if wanted.endswith("/robots.txt") and wanted.count("/") == 3:
            return NO_ROBOTS
        raise NotArchived(url)

    # Opening.

    def _scanned(self) -> Iterator[tuple[str, int, str | None]]:
        """Yield each answer in the files: its URL, its place, and the URL that has its body.

        The last one is None if the answer has its body. A file without any answer is counted.
        """
        for number, volume in enumerate(self._volumes):
            skipped_before = self.skipped.number
            try:
                for record in scan(volume, self.skipped):
                    if _answers(record):
                        body_url = record.refers_to or record.url if record.is_revisit else None
                        yield record.url, number << _OFFSET_BITS | record.offset, body_url
            except ArchiveError as error:
                if len(self._volumes) == 1 or not volume.path.exists():
                    raise
                if self.skipped.number == skipped_before:
                    self.skipped.count(error)

    def _indexed(self, indexes: Sequence[Path]) -> Iterator[tuple[str, int, str | None]]:
        """Yield URL, place and None for each answer in the indexes."""
        numbers: dict[Volume, int] = {}
        for path in indexes:
            for record in read_index(path, self.skipped):
                if record.volume not in numbers:
                    numbers[record.volume] = len(self._volumes)
                    self._volumes.append(record.volume)
                yield record.url, numbers[record.volume] << _OFFSET_BITS | record.offset, None

    # Reading.

    def _at(self, place: int) -> tuple[Volume, int]:
        return self._volumes[int(place) >> _OFFSET_BITS], int(place) & _OFFSET_MASK

    def _records(self, wanted: str) -> Iterator[tuple[ArchiveRecord, bytes]]:
        """Yield the records of a URL in the order of the archive, each with its block."""
        value = np.uint64(_hash(wanted))
        first, end = (int(np.searchsorted(self._hashes, value, side)) for side in ("left", "right"))
        for place in self._places[first:end]:
            read = self._read(*self._at(place))
            # Another URL may have the same hash.
            if read is not None and _canonical(read[0].url) == wanted:
                yield read

    def _read(
        self, volume: Volume, offset: int, kept: int = BLOCK_LIMIT
    ) -> tuple[ArchiveRecord, bytes] | None:
        """Return the record at the offset, None if an index is wrong about it."""
        # The same reader as at opening: another one could read another URL from a damaged header.
        try:
            return read_block(volume, offset, kept)
        except ArchiveError as error:
            if volume.is_indexed:
                self.skipped.count(error)
                _log.warning("damaged record: %s", error)
                return None
            raise ArchiveError(
                f"{volume}: at byte {offset}: changed while in use; start again"
            ) from error

    def _answer(self, record: ArchiveRecord, block: bytes) -> Answer | None:
        if record.is_answer:
            return answer_of(record, block)
        if not record.is_revisit:
            return None
        for original, whole in self._records(_canonical(record.refers_to or record.url)):
            if original.is_answer and _is_same_payload(record, original):
                return revisited(record, block, whole)
        return None


def _answers(record: ArchiveRecord) -> bool:
    return record.is_answer or record.is_revisit


def _is_same_payload(record: ArchiveRecord, original: ArchiveRecord) -> bool:
    """Return True unless both records have a digest of their payload and these differ.

    A `revisit` without a digest, as of an answer 304, refers to its original by the date.
    """
    if not record.digest:
        return record.refers_to_date in ("", original.date)
    return not original.digest or record.digest == original.digest


def revisited(record: ArchiveRecord, head: bytes, original: bytes) -> Answer:
    """Return the answer of a revisit, whose block is only the head, if it has one at all.

    After a 304 a browser shows the page that it has, so the answer is the whole original.
    """
    status_line = STATUS_LINE.match(head)
    if status_line is None or status_line[0].endswith(b"304"):
        return answer_of(record, original)
    body = _split(original)[1]
    decoded = answer_of(record, original).body
    http, _ = _parsed(ALONE % len(head) + head, "none")
    return _answer(record, http, decoded, (_split(head)[0], body))


def answer_of(record: ArchiveRecord, block: bytes) -> Answer:
    """Return the answer in the block of a record, with its body decoded as far as possible."""
    http, body = _decoded(block)
    return _answer(record, http, body, _split(block))


def _answer(
    record: ArchiveRecord, http: HeaderMap, body: bytes, encoded: tuple[bytes, bytes]
) -> Answer:
    headers = [pair for pair in http.items() if pair[0].lower() not in FRAMING]
    headers.append(("Content-Length", str(len(body))))
    began_at = _time(record.date)
    source = None if began_at is None else Source(began_at, *encoded)
    return Answer(http.status_code or 0, tuple(headers), body, _address(record.address), source)


def _split(block: bytes) -> tuple[bytes, bytes]:
    """Return the head of an answer with the empty line, and the encoded body."""
    end = _HEAD_END.search(block)
    return (block, b"") if end is None else (block[: end.end()], block[end.end() :])


def _time(date: str) -> float | None:
    """Return a WARC-Date in unix seconds, None for another text."""
    try:
        found = datetime.fromisoformat(date)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


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
