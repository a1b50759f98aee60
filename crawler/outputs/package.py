"""The CDXJ index of a run's WARC files, and WACZ 1.1.1 packages with index, files and pages.

Other packers read all WARC files again to build the index and the page list. Here both are in
`run.db`, so only file bytes are copied.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from langfocus.crawler.errors import RunFolderError, StorageError
from langfocus.crawler.outputs.archived import (
    NOT_MODIFIED_SINCE,
    ArchivedRow,
    settled_files,
    unsettled,
)
from langfocus.crawler.outputs.warc_records import digest_text
from langfocus.crawler.run.folder import reading
from langfocus.crawler.run.whole_file import replacing
from langfocus.crawler.settings import BOT_NAME, VERSION

INDEX: Final = "index.cdxj"
"""The name of the index in a run folder."""

_LINES = (
    f"SELECT cdxj({', '.join(ArchivedRow._fields)}) AS line FROM archived"  # noqa: S608
    " WHERE id <> ? ORDER BY line"
)
_PAGES = """\
SELECT p.url, a.date, p.language, p.confidence, p.method FROM pages AS p
JOIN archived AS a ON a.fingerprint = p.fingerprint
WHERE p.outcome = 'page' AND p.status BETWEEN 200 AND 299 ORDER BY p.id"""
_BLOCK = 1 << 20

Resource = dict[str, object]
"""A file in the package: its name, path, SHA-256 and size in bytes."""


def write_index(folder: Path) -> int:
    """Write the index of a run into its folder; return the number of answers in it.

    Raises `RunFolderError` for another folder, and `StorageError` if the index cannot be written.
    """
    number = 0
    with (
        _written(folder / INDEX) as temporary,
        reading(folder) as run,
        temporary.open("wb") as file,
    ):
        run.create_function("cdxj", len(ArchivedRow._fields), _line, deterministic=True)
        # SQLite sorts many lines on disk, by their bytes.
        for (line,) in run.execute(_LINES, (unsettled(run),)):
            file.write(line.encode() + b"\n")
            number += 1
    return number


def write_wacz(folder: Path, path: Path) -> int:
    """Write the package of a run to `path`; return its number of answers.

    Raises `RunFolderError` for a folder without a run or without WARC files, and `StorageError` for
    a failed write.
    """
    answers = write_index(folder)
    with (
        _written(path) as temporary,
        reading(folder) as run,
        ZipFile(temporary, "w") as package,
    ):
        _fill(package, folder, run)
    return answers


@contextmanager
def _written(path: Path) -> Iterator[Path]:
    """Yield the place of a new file, which replaces `path` after the block."""
    try:
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error


def _line(*values: Any) -> str:
    """Return an answer's index line, with fields in the order of other indexers."""
    from surt import surt

    row = ArchivedRow(*values)
    # The payload of an answer 304 is elsewhere.
    has_payload = row.is_revisit != NOT_MODIFIED_SINCE
    digest = {"digest": digest_text(row.digest)} if has_payload else {}
    fields = {
        "url": row.url,
        "mime": "warc/revisit" if row.is_revisit else row.mime,
        "status": str(row.status),
        **digest,
        "length": str(row.length),
        "offset": str(row.start),
        "filename": row.file,
    }
    timestamp = "".join(filter(str.isdigit, row.date))
    return f"{surt(row.url)} {timestamp} {json.dumps(fields)}"


def _fill(package: ZipFile, folder: Path, run: sqlite3.Connection) -> None:
    files = settled_files(run, folder)
    if not files:
        raise RunFolderError(f"{folder}: the run has no WARC files; crawl with LANGFOCUS_WARC=True")
    resources = [
        _add(package, f"archive/{path.name}", _blocks(path, size), ZIP_STORED)
        for path, size in files.items()
    ]
    index = folder / INDEX
    blocks = _blocks(index, index.stat().st_size)
    resources.append(_add(package, "indexes/index.cdxj", blocks, ZIP_DEFLATED))
    resources.append(_add(package, "pages/pages.jsonl", _pages(run), ZIP_DEFLATED))
    described = {
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "title": folder.resolve().name,
        "software": f"{BOT_NAME} {VERSION}",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "resources": resources,
    }
    data = [json.dumps(described, indent=2).encode()]
    hashed = _add(package, "datapackage.json", data, ZIP_DEFLATED)["hash"]
    digest = json.dumps({"path": "datapackage.json", "hash": hashed}).encode()
    _add(package, "datapackage-digest.json", [digest], ZIP_DEFLATED)


def _add(package: ZipFile, name: str, blocks: Iterable[bytes], compression: int) -> Resource:
    entry = ZipInfo(name, time.gmtime()[:6])
    entry.compress_type = compression
    entry.external_attr = 0o644 << 16
    digest, size = hashlib.sha256(), 0
    with package.open(entry, "w", force_zip64=True) as target:
        for block in blocks:
            target.write(block)
            digest.update(block)
            size += len(block)
    hashed = f"sha256:{digest.hexdigest()}"
    return {"name": name.rpartition("/")[2], "path": name, "hash": hashed, "bytes": size}


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    """Yield the first `size` bytes of a file; the crawl may still append to it."""
    with path.open("rb") as file:
        while size > 0 and (block := file.read(min(size, _BLOCK))):
            size -= len(block)
            yield block


def _pages(run: sqlite3.Connection) -> Iterator[bytes]:
    """Yield the lines of the page list; a viewer shows these pages first."""
    yield _json_line({"format": "json-pages-1.0", "id": "pages", "title": "All Pages"})
    with closing(run.execute(_PAGES)) as rows:
        for number, (url, date, language, confidence, method) in enumerate(rows, 1):
            values = {"language": language, "confidence": confidence, "method": method}
            known = {name: value for name, value in values.items() if value is not None}
            yield _json_line({"id": str(number), "url": url, "ts": date, **known})


def _json_line(values: Mapping[str, object]) -> bytes:
    return json.dumps(values).encode() + b"\n"
