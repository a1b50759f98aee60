"""A Web whose answers are in WARC files.

The files are read once at opening, which finds their damaged records. The URLs and places of the
answers are in a temporary database. A body is read on request.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from itertools import groupby, islice
from pathlib import Path
from typing import Final, NamedTuple

from langfocus.crawler.errors import ArchiveError
from langfocus.crawler.http.body import BrokenEncoding, encodings, unpacked, without_chunks
from langfocus.crawler.http.head import Head, read_head, split
from langfocus.crawler.settings import DOWNLOAD_MAXSIZE
from langfocus.crawler.sources.answer_index import AnswerIndex, Place, canonical_of
from langfocus.crawler.sources.contract import NO_HEADERS, Answer, NotArchived, Source
from langfocus.crawler.sources.warc_reader import (
    ANSWER,
    BLOCK_LIMIT,
    REQUEST,
    REVISIT,
    ArchiveRecord,
    Damage,
    Volume,
    find_volumes,
    record_at,
    records,
)
from langfocus.crawler.url import is_site_file

_log = logging.getLogger(__name__)

FRAMING: Final = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_SEVERAL = (
    "several records are compressed together, so none can be read alone: warcio recompress OLD NEW,"
    " for LZ4 and Zstandard fastwarc recompress OLD NEW"
)
_USUAL: Final = frozenset({"warcinfo", "request", "response", "revisit", "metadata"})
KEPT_BYTES: Final = DOWNLOAD_MAXSIZE
"""Most bytes of an answer that `answers` reads, as in a crawl; the rest is skipped."""
NO_ROBOTS = Answer(404, (("Content-Type", "text/plain"), ("Content-Length", "0")))


class ArchiveWeb:
    """A Web whose answers are in WARC files; of two answers to a URL, the first one counts.

    `path` may name several files, folders, patterns and WACZ packages (`find_volumes`).
    Equal spellings (`crawler.url.normalise`) are one URL. https answers for a missing http URL, and
    the other way round. A `revisit` combines its own headers with the body of the referred record,
    after a 304 also with the referred headers; without that record it is skipped. A missing
    robots.txt answers 404.

    Damaged records are listed in `skipped` and logged as warnings. Opening raises `ArchiveError`
    for a missing file, and for an archive without answers or compressed as a whole. len() is the
    number of answers.
    """

    def __init__(self, path: Path | str) -> None:
        self.skipped: list[str] = []
        self._volumes = find_volumes(path)
        self._index = AnswerIndex()
        seen: Counter[str] = Counter()
        for number, found in _scanned(self._volumes, 0, seen):
            if isinstance(found, Damage):
                self.skipped.append(f"{self._volumes[number]}: {found}")
            else:
                self._index.add(number, found)
        self._index.resolve()
        if not len(self):
            reasons = [*self.skipped, f"{path}: no answer of a server in it{unusual_records(seen)}"]
            raise ArchiveError(f"{reasons[0]}; give an archive of a crawl")
        if self.skipped:
            first = f"{len(self.skipped):,} damaged records were skipped, the first"
            _log.warning("%s: %s", first, self.skipped[0])

    def __len__(self) -> int:
        return len(self._index)

    def urls(self) -> Iterator[str]:
        """Yield the URLs of all answers, in file order."""
        for place in self._index.all():
            yield place.url

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return the archived answer with its body decoded; `headers` change nothing.

        Raises `NotArchived`, and `ArchiveError` if the file was changed since opening.
        """
        for place in self._index.places(url):
            try:
                return _answer_at(self._volumes, self._index, place)
            except ArchiveError as error:
                raise ArchiveError(f"{error}: changed while in use; start again") from error
        if is_site_file(canonical_of(url)):
            return NO_ROBOTS
        raise NotArchived(url)


class ArchivedAnswer(NamedTuple):
    """A server's answer in a WARC file, with the file's spelling of its URL, and its place."""

    url: str
    answer: Answer
    file: str = ""  # name of the WARC file
    offset: int | None = None  # of the record in bytes
    digest: str = ""  # of the payload, as the record has it


def answers(path: Path, seen: Counter[str] | None = None) -> Iterator[ArchivedAnswer | Damage]:
    """Yield the HTTP answers of an archive in their order, its damaged places, then its revisits.

    `path` is as for `ArchiveWeb`, but files may be compressed as a whole. A revisit whose body is
    not in the archive, or cannot be read alone, is left out; an answer is cut at `KEPT_BYTES`.
    `seen` counts the types of the records. Raises `ArchiveError` for a file that cannot be read.
    """
    volumes, index = find_volumes(path), AnswerIndex()
    yield from answers_in(volumes, index, seen)
    yield from _revisits(volumes, index)


def answers_in(
    volumes: Sequence[Volume],
    index: AnswerIndex | None = None,
    seen: Counter[str] | None = None,
) -> Iterator[ArchivedAnswer | Damage]:
    """Yield the HTTP answers of files or slices, as `answers` does, without revisits.

    `index` gets the places of all answers and revisits.
    """
    for number, found in _scanned(volumes, KEPT_BYTES, Counter() if seen is None else seen):
        if isinstance(found, Damage):
            yield found
            continue
        if index is not None:
            index.add(number, found)
        if found.kind == ANSWER:
            file = volumes[number].path.name
            yield ArchivedAnswer(found.url, answer_of(found), file, found.offset, found.digest)


def revisits_in(volumes: Sequence[Volume]) -> Iterator[ArchivedAnswer | Damage]:
    """Yield the revisits in files, with the referred bodies."""
    index = AnswerIndex()
    for number, found in _scanned(volumes, 0, Counter()):
        if not isinstance(found, Damage):
            index.add(number, found)
    yield from _revisits(volumes, index)


def unusual_records(seen: Counter[str]) -> str:
    """Return the record types outside usual exchanges with their counts, or ""."""
    kinds = [f"{number:,} {kind}" for kind, number in seen.most_common(9) if kind not in _USUAL]
    return f" (other records: {', '.join(kinds)})" if kinds else ""


def _scanned(
    volumes: Sequence[Volume], kept: int, seen: Counter[str]
) -> Iterator[tuple[int, ArchiveRecord | Damage]]:
    """Yield the answers and damaged places in files, each with its file number."""
    for number, volume in enumerate(volumes):
        found = records(volume, kept)
        try:
            for each in _answers_to_get(found if kept else _readable_alone(found), seen):
                yield number, each
        except OSError as error:
            raise ArchiveError(f"{volume}: {error.strerror or error}; give a WARC file") from error


def _readable_alone(
    found: Iterable[ArchiveRecord | Damage],
) -> Iterator[ArchiveRecord | Damage]:
    """Yield records and damages, but one damage for several records compressed together."""
    for offset, of_member in groupby(found, key=lambda each: each.offset):
        first, *others = islice(of_member, 2)
        yield Damage(offset, _SEVERAL) if others else first


def _answers_to_get(
    found: Iterable[ArchiveRecord | Damage], seen: Counter[str]
) -> Iterator[ArchiveRecord | Damage]:
    """Drop answers to requests other than GET; a request precedes or follows its answer.

    Types of all records are counted in `seen`.
    """
    before: ArchiveRecord | None = None
    held: ArchiveRecord | None = None
    for one in found:
        if isinstance(one, Damage):
            if held:
                yield held
            held = None
            yield one
            continue
        seen[one.type] += 1
        if one.kind == REQUEST:
            if held and _is_exchange(one, held):
                if _is_get(one):
                    yield held
                held = None
            else:
                before = one
        elif one.kind in (ANSWER, REVISIT):
            if held:
                yield held
            held = one
            if before and _is_exchange(before, one):
                if _is_get(before):
                    yield one
                held = before = None
    if held:
        yield held


def _is_exchange(request: ArchiveRecord, answer: ArchiveRecord) -> bool:
    """Return True if two records are of one exchange: by their ids, else by URL and date."""
    if request.concurrent_to or answer.concurrent_to:
        pairs = (request.concurrent_to, answer.id), (answer.concurrent_to, request.id)
        return any(one == other != "" for one, other in pairs)
    return (request.url, request.date) == (answer.url, answer.date)


def _is_get(request: ArchiveRecord) -> bool:
    return request.block.lstrip()[:4].upper() == b"GET "


def _revisits(volumes: Sequence[Volume], index: AnswerIndex) -> Iterator[ArchivedAnswer]:
    index.resolve()
    for place in index.all(only_revisits=True):
        with suppress(ArchiveError):
            yield ArchivedAnswer(place.url, _answer_at(volumes, index, place))


def _answer_at(volumes: Sequence[Volume], index: AnswerIndex, place: Place) -> Answer:
    record = _record_at(volumes, place)
    if place.original is None:
        return answer_of(record)
    return answer_of(record, _record_at(volumes, index.original(place)))


def _record_at(volumes: Sequence[Volume], place: Place) -> ArchiveRecord:
    record = record_at(volumes[place.volume], place.offset)
    if record.url != place.url:
        raise ArchiveError(f"{volumes[place.volume]}: at byte {place.offset}: another record")
    return record


def answer_of(record: ArchiveRecord, original: ArchiveRecord | None = None) -> Answer:
    """Return the answer in a record, with its body decoded as far as possible.

    A revisit gets the `original`'s body, and its head if the revisit has none. For a 304, the
    answer is the whole original, as in a browser.
    """
    kept_head, body = split((original or record).block)
    own_head = split(record.block)[0]
    own, kept = read_head(own_head), read_head(kept_head)
    if own is None or (original and own.status == 304):
        own, own_head = kept, kept_head
    if own is None or kept is None:
        return Answer(0)
    plain = _decoded(kept, body)
    pairs = [(name.decode("latin-1"), _escaped(value)) for name, value in own.fields]
    headers = [pair for pair in pairs if pair[0].lower() not in FRAMING]
    headers.append(("Content-Length", str(len(plain))))
    began_at = _time(record.date)
    source = None if began_at is None else Source(began_at, own_head, body)
    return Answer(own.status, tuple(headers), plain, _address(record.address), source)


def _decoded(head: Head, body: bytes) -> bytes:
    """Return a body without encodings; a header may name one that the archive's writer removed."""
    if any(b"chunked" in value.lower() for value in head.all(b"transfer-encoding")):
        body = without_chunks(body)
    with suppress(BrokenEncoding):
        body = unpacked(body, encodings(head.all(b"content-encoding")), BLOCK_LIMIT)
    return body[:BLOCK_LIMIT]


def _escaped(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _time(date: str) -> float | None:
    """Return a WARC-Date in unix seconds, None for another text."""
    try:
        found = datetime.fromisoformat(date)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _address(text: str) -> str | None:
    with suppress(ValueError):
        return str(ip_address(text))
    return None
