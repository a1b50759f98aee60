"""A Web whose answers are in WARC files.

The files are read once at opening, which finds their damaged records. Each answer takes 16 bytes of
memory, for a hash and a place. Its body is read on request.
"""

import logging
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from io import BytesIO
from ipaddress import ip_address
from itertools import groupby, islice
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

import numpy as np
from fastwarc.warc import ArchiveIterator, HeaderMap
from numpy.typing import NDArray

from crawler.errors import ArchiveError
from crawler.settings import DOWNLOAD_MAXSIZE
from crawler.sources.contract import NO_HEADERS, Answer, NotArchived, Source
from crawler.sources.volumes import Volume, find_volumes
from crawler.sources.warc_reader import (
    BLOCK_LIMIT,
    STATUS_LINE,
    ArchiveRecord,
    Damage,
    record_at,
    records,
)
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
_RECOMPRESS = "so none can be read alone: warcio recompress OLD NEW"
KEPT_BYTES: Final = DOWNLOAD_MAXSIZE
"""Most bytes of an answer that `answers` reads, as in a crawl; the rest is skipped."""
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


@dataclass(slots=True)
class Skipped:
    """The damaged places of an archive: their number, and the first of them."""

    number: int = 0
    first: str = ""

    def __str__(self) -> str:
        """Return a message of one line."""
        records = "record was" if self.number == 1 else "records were"
        return f"{self.number:,} damaged {records} skipped, the first: {self.first}"

    def count(self, damage: object) -> None:
        """Count one place that cannot be read."""
        self.number += 1
        self.first = self.first or str(damage)


class ArchiveWeb:
    """A Web whose answers are in WARC files; of two answers to a URL, the first one counts.

    `path` may name several files, folders, patterns and WACZ packages (`crawler.sources.volumes`).
    Equal spellings (`crawler.url.normalise`) are one URL. If http is not archived, https answers,
    and the other way round. A `revisit` has the headers of its own record and the body of the
    record that it refers to, after a 304 also the headers of that one; without it, it is no answer.
    A host without an archived robots.txt answers 404 for it.

    Damaged records are skipped; `skipped` counts them, and a warning is logged. Raises
    `ArchiveError` at opening for a file that is missing, and for an archive without any answer or
    compressed as a whole. len() is the number of answers.
    """

    def __init__(self, path: Path | str) -> None:
        self.skipped = Skipped()
        self._volumes = find_volumes(path)
        found = _Found()
        for url, place, body_url in self._scanned():
            body_hash = None if body_url is None else _hash(_canonical(body_url))
            found.add(_hash(_canonical(url)), place, body_hash)
        self._hashes, self._places = found.sorted()
        if not len(self):
            seen = self.skipped.first or f"{path}: no answer of a server in it"
            raise ArchiveError(f"{seen}; give an archive of a crawl")
        if self.skipped.number:
            _log.warning("%s", self.skipped)

    def __len__(self) -> int:
        return len(self._places)

    def urls(self) -> Iterator[str]:
        """Yield the URLs of all answers, in the order of the files, which are read again."""
        for place in np.sort(self._places):
            yield self._read(place, kept=0).url

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return the archived answer with its body decoded; `headers` change nothing.

        Raises `NotArchived`, and `ArchiveError` if the file was changed since opening.
        """
        wanted = _canonical(url)
        scheme, _, rest = wanted.partition(":")
        for candidate in (wanted, f"{OTHER_SCHEME.get(scheme, scheme)}:{rest}"):
            for record in self._records(candidate):
                answer = self._answer(record)
                if answer is not None:
                    return answer
        if wanted.endswith("/robots.txt") and wanted.count("/") == 3:
            return NO_ROBOTS
        raise NotArchived(url)

    def _scanned(self) -> Iterator[tuple[str, int, str | None]]:
        """Yield each answer in the files: its URL, its place, and the URL that has its body.

        The last one is None if the answer has its body.
        """
        for number, volume in enumerate(self._volumes):
            try:
                for found in _readable_alone(records(volume, kept=0)):
                    if isinstance(found, Damage):
                        self.skipped.count(f"{volume}: {found}")
                    elif _answers(found):
                        body_url = found.refers_to or found.url if found.is_revisit else None
                        yield found.url, number << _OFFSET_BITS | found.offset, body_url
            except OSError as error:
                raise _unreadable(volume, error) from error

    def _read(self, place: int, kept: int = BLOCK_LIMIT) -> ArchiveRecord:
        volume = self._volumes[int(place) >> _OFFSET_BITS]
        try:
            return record_at(volume, int(place) & _OFFSET_MASK, kept)
        except ArchiveError as error:
            raise ArchiveError(f"{error}: changed while in use; start again") from error

    def _records(self, wanted: str) -> Iterator[ArchiveRecord]:
        """Yield the records of a URL in the order of the archive."""
        value = np.uint64(_hash(wanted))
        first, end = (int(np.searchsorted(self._hashes, value, side)) for side in ("left", "right"))
        for place in self._places[first:end]:
            record = self._read(place)
            if _canonical(record.url) == wanted:  # another URL may have the same hash
                yield record

    def _answer(self, record: ArchiveRecord) -> Answer | None:
        if record.is_answer:
            return answer_of(record)
        for original in self._records(_canonical(record.refers_to or record.url)):
            if original.is_answer and _is_same_payload(record, original):
                return revisited(record, original)
        return None


@dataclass(frozen=True, slots=True)
class ArchivedAnswer:
    """An answer of a server in a WARC file, and its URL as the file writes it."""

    url: str
    answer: Answer


def answers(path: Path) -> Iterator[ArchivedAnswer | Damage]:
    """Yield the HTTP answers of an archive in their order, and its damaged places.

    `path` is as for `ArchiveWeb`, but files may be compressed as a whole. Revisits are left out,
    and an answer is cut at `KEPT_BYTES`. Raises `ArchiveError` for a file that cannot be read.
    """
    for volume in find_volumes(path):
        yield from answers_in(volume)


def answers_in(volume: Volume) -> Iterator[ArchivedAnswer | Damage]:
    """Yield the HTTP answers of a file or a slice, as `answers` does."""
    try:
        for found in records(volume, KEPT_BYTES):
            if isinstance(found, Damage):
                yield found
            elif found.is_answer:
                yield _unpacked(found)
    except OSError as error:
        raise _unreadable(volume, error) from error


def _unpacked(record: ArchiveRecord) -> ArchivedAnswer | Damage:
    try:
        return ArchivedAnswer(record.url, answer_of(record))
    except Exception as error:  # an answer that no decoder understands
        return Damage(record.offset, f"an answer that cannot be unpacked ({error})")


def _unreadable(volume: Volume, error: OSError) -> ArchiveError:
    return ArchiveError(f"{volume}: {error.strerror or error}; give a WARC file")


def _readable_alone(
    found: Iterable[ArchiveRecord | Damage],
) -> Iterator[ArchiveRecord | Damage]:
    """Yield what was found, but one damage for several records in one gzip member."""
    for offset, of_member in groupby(found, key=lambda each: each.offset):
        first, *others = islice(of_member, 2)
        if others:
            yield Damage(offset, f"several records in one gzip member, {_RECOMPRESS}")
        else:
            yield first


def _answers(record: ArchiveRecord) -> bool:
    return record.is_answer or record.is_revisit


def _is_same_payload(record: ArchiveRecord, original: ArchiveRecord) -> bool:
    """Return True unless both records have a digest of their payload and these differ.

    A `revisit` without a digest, as of an answer 304, refers to its original by the date.
    """
    if not record.digest:
        return record.refers_to_date in ("", original.date)
    return not original.digest or record.digest == original.digest


def revisited(record: ArchiveRecord, original: ArchiveRecord) -> Answer:
    """Return the answer of a revisit, whose block is only the head, if it has one at all.

    After a 304 a browser shows the page that it has, so the answer is the whole original.
    """
    head = record.block
    status_line = STATUS_LINE.match(head)
    if status_line is None or status_line[0].endswith(b"304"):
        return answer_of(replace(record, block=original.block))
    http, _ = _parsed(ALONE % len(head) + head, "none")
    encoded = (_split(head)[0], _split(original.block)[1])
    return _answer(record, http, answer_of(original).body, encoded)


def answer_of(record: ArchiveRecord) -> Answer:
    """Return the answer in a record, with its body decoded as far as possible."""
    http, body = _decoded(record.block)
    return _answer(record, http, body, _split(record.block))


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
