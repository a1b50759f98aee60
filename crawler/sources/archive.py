"""A Web whose answers are in WARC files.

The files are read once at opening, which finds their damaged records. The URLs and places of the
answers are in a temporary database. A body is read on request.
"""

import logging
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from ipaddress import ip_address
from itertools import groupby, islice
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote
from weakref import finalize

from fastwarc.warc import ArchiveIterator, HeaderMap

from langfocus.crawler.errors import ArchiveError
from langfocus.crawler.settings import DOWNLOAD_MAXSIZE
from langfocus.crawler.sources.contract import NO_HEADERS, Answer, NotArchived, Source
from langfocus.crawler.sources.warc_reader import (
    ANSWER,
    BLOCK_LIMIT,
    REVISIT,
    STATUS_LINE,
    ArchiveRecord,
    Damage,
    Volume,
    find_volumes,
    record_at,
    records,
)
from langfocus.crawler.url import is_site_file, normalise

_log = logging.getLogger(__name__)

OTHER_SCHEME = {"http": "https", "https": "http"}
PRINTABLE = "".join(map(chr, range(33, 127)))
FRAMING = frozenset({"content-encoding", "transfer-encoding", "content-length"})
# In turn: a header may name an encoding that the archive's writer removed.
DECODINGS: Final = ("all", "transfer", "content", "none")
ALONE = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n"
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_SEVERAL = (
    "several records in one gzip member, so none can be read alone: warcio recompress OLD NEW"
)
KEPT_BYTES: Final = DOWNLOAD_MAXSIZE
"""Most bytes of an answer that `answers` reads, as in a crawl; the rest is skipped."""
_TABLE = """\
CREATE TABLE answers(
    canonical TEXT, url TEXT, volume INTEGER, offset INTEGER,
    body TEXT);  -- of a revisit the canonical URL of its body, else NULL
"""
_INDEXED = """\
CREATE INDEX by_url ON answers(canonical, volume, offset);
DELETE FROM answers
WHERE body NOT IN (SELECT canonical FROM answers WHERE body IS NULL);
"""
_PLACES = "SELECT volume, offset FROM answers WHERE canonical = ? ORDER BY volume, offset"
NO_ROBOTS = Answer(404, (("Content-Type", "text/plain"), ("Content-Length", "0")))


class ArchiveWeb:
    """A Web whose answers are in WARC files; of two answers to a URL, the first one counts.

    `path` may name several files, folders, patterns and WACZ packages (`find_volumes`).
    Equal spellings (`crawler.url.normalise`) are one URL. If http is not archived, https answers,
    and the other way round. A `revisit` has the headers of its own record and the body of the
    record that it refers to, after a 304 also the headers of that one; without it, it is no answer.
    A host without an archived robots.txt answers 404 for it.

    Damaged records are skipped; `skipped` tells of each, and a warning is logged. Raises
    `ArchiveError` at opening for a file that is missing, and for an archive without any answer or
    compressed as a whole. len() is the number of answers.
    """

    def __init__(self, path: Path | str) -> None:
        self.skipped: list[str] = []
        self._volumes = find_volumes(path)
        # A database without a name is a temporary file.
        self._index = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        finalize(self, self._index.close)
        self._index.execute(_TABLE)
        self._index.execute("BEGIN")
        self._index.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", self._scanned())
        self._index.executescript(_INDEXED)  # it ends the transaction
        if not len(self):
            seen = [*self.skipped, f"{path}: no answer of a server in it"]
            raise ArchiveError(f"{seen[0]}; give an archive of a crawl")
        if self.skipped:
            number = f"{len(self.skipped):,}"
            _log.warning("%s damaged records were skipped, the first: %s", number, self.skipped[0])

    def __len__(self) -> int:
        return int(self._index.execute("SELECT COUNT(*) FROM answers").fetchone()[0])

    def urls(self) -> Iterator[str]:
        """Yield the URLs of all answers, in the order of the files."""
        for (url,) in self._index.execute("SELECT url FROM answers ORDER BY volume, offset"):
            yield url

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
        if is_site_file(wanted):
            return NO_ROBOTS
        raise NotArchived(url)

    def _scanned(self) -> Iterator[tuple[str, str, int, int, str | None]]:
        """Yield the row of each answer in the files."""
        for number, volume in enumerate(self._volumes):
            try:
                for found in _readable_alone(records(volume, kept=0)):
                    if isinstance(found, Damage):
                        self.skipped.append(f"{volume}: {found}")
                    elif found.kind in (ANSWER, REVISIT):
                        url, other = found.url, found.refers_to or found.url
                        body = _canonical(other) if found.kind == REVISIT else None
                        yield _canonical(url), url, number, found.offset, body
            except OSError as error:
                raise ArchiveError(
                    f"{volume}: {error.strerror or error}; give a WARC file"
                ) from error

    def _records(self, wanted: str) -> Iterator[ArchiveRecord]:
        """Yield the records of a URL in the order of the archive."""
        for number, offset in self._index.execute(_PLACES, (wanted,)).fetchall():
            try:
                yield record_at(self._volumes[number], offset)
            except ArchiveError as error:
                raise ArchiveError(f"{error}: changed while in use; start again") from error

    def _answer(self, record: ArchiveRecord) -> Answer | None:
        if record.kind == ANSWER:
            return answer_of(record)
        for original in self._records(_canonical(record.refers_to or record.url)):
            if original.kind == ANSWER and _is_same_payload(record, original):
                return answer_of(record, original)
        return None


class ArchivedAnswer(NamedTuple):
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
            elif found.kind == ANSWER:
                yield _unpacked(found)
    except OSError as error:
        raise ArchiveError(f"{volume}: {error.strerror or error}; give a WARC file") from error


def _unpacked(record: ArchiveRecord) -> ArchivedAnswer | Damage:
    try:
        return ArchivedAnswer(record.url, answer_of(record))
    except Exception as error:  # an answer that no decoder understands
        return Damage(record.offset, f"an answer that cannot be unpacked ({error})")


def _readable_alone(
    found: Iterable[ArchiveRecord | Damage],
) -> Iterator[ArchiveRecord | Damage]:
    """Yield what was found, but one damage for several records in one gzip member."""
    for offset, of_member in groupby(found, key=lambda each: each.offset):
        first, *others = islice(of_member, 2)
        yield Damage(offset, _SEVERAL) if others else first


def _is_same_payload(record: ArchiveRecord, original: ArchiveRecord) -> bool:
    """Return True unless both records have a digest of their payload and these differ.

    A `revisit` without a digest, as of an answer 304, refers to its original by the date.
    """
    if not record.digest:
        return record.refers_to_date in ("", original.date)
    return not original.digest or record.digest == original.digest


def answer_of(record: ArchiveRecord, original: ArchiveRecord | None = None) -> Answer:
    """Return the answer in a record, with its body decoded as far as possible.

    A revisit has the body of the `original`, and its own head if it has one. After a 304 a browser
    shows the page that it has, so the answer is the whole original.
    """
    own, kept = record.block, (original or record).block
    status_line = STATUS_LINE.match(own)
    if original and (status_line is None or status_line[0].endswith(b"304")):
        own = kept
    http, body = _decoded(kept)
    if own is not kept:
        http, _ = _decoded(own)
    headers = [pair for pair in http.items() if pair[0].lower() not in FRAMING]
    headers.append(("Content-Length", str(len(body))))
    began_at = _time(record.date)
    source = None if began_at is None else Source(began_at, _split(own)[0], _split(kept)[1])
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
    for decoding in DECODINGS:
        record = next(ArchiveIterator(BytesIO(ALONE % len(block) + block), parse_http=False))
        record.is_http = True  # its status line was checked at opening
        with suppress(OSError):
            record.parse_http(auto_decode=decoding)
            return record.http_headers, record.reader.read(BLOCK_LIMIT)
    raise ArchiveError("an answer that no decoder understands")


def _address(text: str) -> str | None:
    with suppress(ValueError):
        return str(ip_address(text))
    return None


def _canonical(url: str) -> str:
    """Return the common spelling of equal URLs; texts that are no URLs of pages only get ASCII."""
    return normalise(url) or quote(url.strip().partition("#")[0], safe=PRINTABLE, errors="replace")
