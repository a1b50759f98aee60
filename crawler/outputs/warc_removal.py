"""Removes exchanges from the WARC files of a run: new files replace those that had them.

The new files are complete before the rows of the run change, and the old files are deleted after
that. A kill leaves files without rows, which `delete_unknown_files` removes.
"""

import os
import re
import sqlite3
from base64 import b32decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from fastwarc.warc import ArchiveIterator

from crawler.errors import StorageError
from crawler.outputs import archived
from crawler.outputs.archived import ArchivedRow
from crawler.outputs.warc_files import NAME, file_of
from crawler.outputs.warc_records import digest_of, pack

_NUMBER = re.compile(r"(pages-\d{14}-)(\d{5})(.*)")
_SET_BY_PACK: Final = (
    "warc-type",
    "warc-date",
    "content-type",
    "content-length",
    "warc-block-digest",
    "warc-payload-digest",
)
_OF_REVISIT: Final = ("warc-profile", "warc-refers-to-target-uri", "warc-refers-to-date")
_SEEDS: Final = b"langfocus-seeds:"

IsRemoved = Callable[[str], bool]
"""Returns True for a URL whose exchanges are removed."""


class Removal(NamedTuple):
    """The rows to delete and the new values of others, by id, and the files without a use."""

    deleted: list[int]
    changed: dict[int, ArchivedRow]
    old_files: list[Path]


class _Record(NamedTuple):
    kind: str
    headers: dict[str, str]
    block: bytes


def prepare_removal(connection: sqlite3.Connection, folder: Path, is_removed: IsRemoved) -> Removal:
    """Write the files without the removed exchanges; the caller stores the rows of the removal.

    A `revisit` of a removed record becomes a `response` with that body. Raises `StorageError`.
    """
    rows = dict(archived.read_archived(connection))
    removed = {number for number, row in rows.items() if is_removed(row.url)}
    originals = {
        row.digest: row for number, row in rows.items() if number in removed and not row.is_revisit
    }
    orphans = {
        number
        for number, row in rows.items()
        if number not in removed
        and row.is_revisit == archived.SAME_PAYLOAD_AS
        and row.digest in originals
    }
    removal = Removal(sorted(removed), {}, [])
    for file in sorted({rows[number].file for number in removed | orphans}):
        kept = [
            (number, row, originals.get(row.digest) if number in orphans else None)
            for number, row in rows.items()
            if row.file == file and number not in removed
        ]
        try:
            removal.changed.update(_rewritten(folder, file, kept, is_removed))
        except OSError as error:
            raise StorageError(f"{folder / file} cannot be rewritten: {error}") from error
        removal.old_files.append(file_of(folder, file))
    return removal


def delete_unknown_files(connection: sqlite3.Connection, folder: Path) -> None:
    """Delete the WARC files that no row names."""
    known = {file for (file,) in connection.execute("SELECT DISTINCT file FROM archived")}
    for path in folder.glob("pages-*"):
        if NAME.fullmatch(path.name) and path.name not in known:
            path.unlink()
    for path in folder.glob(".pages-*.part"):
        path.unlink()


def _rewritten(
    folder: Path,
    file: str,
    kept: Iterable[tuple[int, ArchivedRow, ArchivedRow | None]],
    is_removed: IsRemoved,
) -> dict[int, ArchivedRow]:
    """Write a new file with the kept exchanges and return their rows; no file for none."""
    kept = list(kept)
    if not kept:
        return {}
    name = _free_name(folder, file)
    unfinished = folder / f".{name}.part"
    changed: dict[int, ArchivedRow] = {}
    with file_of(folder, file).open("rb") as old, unfinished.open("wb") as new:
        size = os.fstat(old.fileno()).st_size
        new.write(_information(old, name, is_removed))
        for number, row, original in kept:
            if not 0 <= row.start <= row.start + row.length <= row.finish <= size:
                raise StorageError(f"{folder / file}: it is shorter than its run says")
            start = new.tell()
            old.seek(row.start)
            answer = old.read(row.length)
            if original is not None:
                answer = _with_body(answer, folder, original)
            new.write(answer)
            old.seek(row.start + row.length)
            new.write(old.read(row.finish - row.start - row.length))
            changed[number] = row._replace(
                file=name,
                start=start,
                length=len(answer),
                finish=new.tell(),
                is_revisit=row.is_revisit if original is None else 0,
            )
        new.flush()
        os.fsync(new.fileno())
    unfinished.rename(folder / name)
    return changed


def _free_name(folder: Path, file: str) -> str:
    match = _NUMBER.fullmatch(file)
    stamp, number, ending = match.groups() if match else ("pages-", "0", ".warc.gz")
    place = int(number) + 1
    while (folder / f"{stamp}{place:05}{ending}").exists():
        place += 1
    return f"{stamp}{place:05}{ending}"


def _information(old: BinaryIO, name: str, is_removed: IsRemoved) -> bytes:
    """Return the `warcinfo` record of a file for its new name, without removed seeds."""
    record = next(_records(old))
    lines = []
    for line in record.block.splitlines(keepends=True):
        if line.lower().startswith(_SEEDS):
            urls = line[len(_SEEDS) :].decode("utf-8", "replace").split()
            kept = " ".join(url for url in urls if not is_removed(url))
            lines.append(_SEEDS + f" {kept}\r\n".encode())
        else:
            lines.append(line)
    headers = {k: v for k, v in record.headers.items() if k.lower() != "warc-filename"}
    return _packed(record, {**headers, "WARC-Filename": name}, b"".join(lines))


def _with_body(revisit: bytes, folder: Path, original: ArchivedRow) -> bytes:
    """Return a `revisit` record as a `response` with the body of another record."""
    record = next(_records(BytesIO(revisit)))
    with file_of(folder, original.file).open("rb") as file:
        file.seek(original.start)
        block = next(_records(BytesIO(file.read(original.length)))).block
    headers = {k: v for k, v in record.headers.items() if k.lower() not in _OF_REVISIT}
    return _packed(
        record._replace(kind="response"), headers, record.block + _body(block, original.digest)
    )


def _body(block: bytes, digest: str) -> bytes:
    """Return the body of an answer; its head may end in bare line feeds."""
    for end in (b"\r\n\r\n", b"\n\n"):
        _, found, body = block.partition(end)
        if found and digest_of(body).hex() == digest:
            return body
    raise StorageError("a record that others refer to is damaged: its payload has another digest")


def _records(file: BinaryIO) -> Iterator[_Record]:
    for record in ArchiveIterator(file, parse_http=False):
        headers = {str(name): str(value) for name, value in record.headers.items()}
        yield _Record(headers["WARC-Type"], headers, record.reader.read())


def _packed(record: _Record, headers: Mapping[str, str], block: bytes) -> bytes:
    """Return a record with other headers and another block; its id and payload digest stay."""
    digest = headers.get("WARC-Payload-Digest")
    payload = None if digest is None else b32decode(digest.partition(":")[2])
    kept = {name: text for name, text in headers.items() if name.lower() not in _SET_BY_PACK}
    return pack(record.kind, record.headers["WARC-Date"], kept, block, payload).data
