"""Removes exchanges from the WARC files of a run: new files replace those that had them.

The new files are complete before the rows of the run change, and the old files are deleted after
that. A kill leaves files without rows, which `delete_unknown_files` removes.
"""

import os
import re
import sqlite3
from base64 import b32decode
from collections.abc import Callable, Iterable
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
_NOT_COPIED: Final = frozenset(
    {
        "warc-type",
        "warc-date",
        "warc-filename",
        "content-type",
        "content-length",
        "warc-block-digest",
        "warc-payload-digest",
        "warc-profile",
        "warc-refers-to-target-uri",
        "warc-refers-to-date",
    }
)
_SEEDS: Final = b"langfocus-seeds:"


class Removal(NamedTuple):
    """The rows to delete and the new values of others, by id, and the files without a use."""

    deleted: list[int]
    changed: dict[int, ArchivedRow]
    old_files: list[Path]


class _Record(NamedTuple):
    headers: dict[str, str]
    block: bytes

    @classmethod
    def first(cls, file: BinaryIO) -> "_Record":
        """Return the first record of a file."""
        record = next(ArchiveIterator(file, parse_http=False))
        return cls(dict(record.headers.items()), record.reader.read())

    def packed(self, kind: str, block: bytes, headers: dict[str, str] | None = None) -> bytes:
        """Return the record as another kind with another block; its id and payload digest stay."""
        kept = {name: v for name, v in self.headers.items() if name.lower() not in _NOT_COPIED}
        digest = self.headers.get("WARC-Payload-Digest")
        payload = None if digest is None else b32decode(digest.partition(":")[2])
        return pack(kind, self.headers["WARC-Date"], kept | (headers or {}), block, payload).data


def prepare_removal(
    connection: sqlite3.Connection, folder: Path, is_removed: Callable[[str], bool]
) -> Removal:
    """Write the files without the exchanges of removed URLs; the caller stores the rows.

    A `revisit` of a removed record becomes a `response` with that body. Raises `StorageError`.
    """
    rows = dict(archived.read_archived(connection))
    removed = {number for number, row in rows.items() if is_removed(row.url)}
    originals = {
        row.digest: row for number, row in rows.items() if number in removed and not row.is_revisit
    }
    kept: dict[str, list[tuple[int, ArchivedRow, ArchivedRow | None]]] = {}
    changing = {rows[number].file for number in removed}
    for number, row in rows.items():
        is_copy = row.is_revisit == archived.SAME_PAYLOAD_AS
        original = originals.get(row.digest) if is_copy else None
        changing |= set() if original is None else {row.file}
        if number not in removed:
            kept.setdefault(row.file, []).append((number, row, original))
    removal = Removal(sorted(removed), {}, [])
    for file in sorted(changing):
        try:
            if file in kept:
                removal.changed.update(_rewritten(folder, file, kept[file]))
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
    folder: Path, file: str, kept: Iterable[tuple[int, ArchivedRow, ArchivedRow | None]]
) -> dict[int, ArchivedRow]:
    """Write a new file with the kept exchanges and return their rows."""
    name = _free_name(folder, file)
    unfinished = folder / f".{name}.part"
    changed: dict[int, ArchivedRow] = {}
    with file_of(folder, file).open("rb") as old, unfinished.open("wb") as new:
        size = os.fstat(old.fileno()).st_size
        information = _Record.first(old)
        # The seeds may name what is removed.
        lines = information.block.splitlines(keepends=True)
        block = b"".join(line for line in lines if not line.lower().startswith(_SEEDS))
        new.write(information.packed("warcinfo", block, {"WARC-Filename": name}))
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
                is_revisit=row.is_revisit if original is None else 0,
                file=name,
                start=start,
                length=len(answer),
                finish=new.tell(),
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


def _with_body(revisit: bytes, folder: Path, original: ArchivedRow) -> bytes:
    """Return a `revisit` record as a `response` with the body of another record."""
    record = _Record.first(BytesIO(revisit))
    with file_of(folder, original.file).open("rb") as file:
        file.seek(original.start)
        block = _Record.first(BytesIO(file.read(original.length))).block
    # The head of an answer may end in bare line feeds.
    bodies = [block.partition(end)[2] for end in (b"\r\n\r\n", b"\n\n")]
    body = next((body for body in bodies if digest_of(body).hex() == original.digest), None)
    if body is None:
        raise StorageError("a record that others refer to is damaged: its payload has changed")
    return record.packed("response", record.block + body)
