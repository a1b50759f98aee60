"""Packs the WARC files of a run, their index and a list of its pages into a WACZ 1.1.1 file.

Packages for WACZ read all WARC files again to make the index and the list. Both are in `run.db`, so
only the bytes of the files are copied here.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from crawler.errors import RunFolderError, StorageError
from crawler.outputs.cdxj import INDEX, write_index
from crawler.outputs.kept import KeptExchanges, kept_exchanges
from crawler.whole_file import replacing

PACKAGE: Final = "pages.wacz"
"""The name of the package that a crawl makes in its run folder."""

_BLOCK = 1 << 20
_PAGES = """\
SELECT p.url, a.date, p.language, p.confidence, p.method FROM pages AS p
JOIN archived AS a ON a.fingerprint = p.fingerprint
WHERE p.outcome = 'page' AND p.status BETWEEN 200 AND 299 ORDER BY p.id"""


class _Resource(NamedTuple):
    """A file in the package: its path, its SHA-256 and its size in bytes."""

    path: str
    hash: str
    bytes: int

    def as_json(self) -> dict[str, object]:
        name = self.path.rpartition("/")[2]
        return {"name": name, "path": self.path, "hash": self.hash, "bytes": self.bytes}


def write_wacz(folder: Path, path: Path, software: str) -> int:
    """Write the package of a run to `path`; return its number of answers.

    Raises `RunFolderError` for a folder that is no run or has no WARC files, and `StorageError` if
    the package cannot be written.
    """
    try:
        answers = write_index(folder)
        with (
            replacing(path) as temporary,
            kept_exchanges(folder) as kept,
            ZipFile(temporary, "w") as package,
        ):
            _fill(package, kept, software)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error
    return answers


def _fill(package: ZipFile, kept: KeptExchanges, software: str) -> None:
    files = kept.files()
    if not files:
        raise RunFolderError(
            f"{kept.folder}: the run has no WARC files; crawl with LANGFOCUS_WARC=True"
        )
    resources = []
    for file in files:
        with file.path.open("rb") as source:
            blocks = _blocks(source, file.size)
            resources.append(_add(package, f"archive/{file.path.name}", blocks, ZIP_STORED))
    with (kept.folder / INDEX).open("rb") as source:
        size = (kept.folder / INDEX).stat().st_size
        blocks = _blocks(source, size)
        resources.append(_add(package, "indexes/index.cdxj", blocks, ZIP_DEFLATED))
    resources.append(_add(package, "pages/pages.jsonl", _pages(kept), ZIP_DEFLATED))
    described = _described(kept, resources, software)
    data = json.dumps(described, indent=2).encode()
    _add(package, "datapackage.json", [data], ZIP_DEFLATED)
    digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
    _add(package, "datapackage-digest.json", [json.dumps(digest).encode()], ZIP_DEFLATED)


def _described(
    kept: KeptExchanges, resources: Iterable[_Resource], software: str
) -> Mapping[str, object]:
    return {
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "title": kept.folder.resolve().name,
        "software": software,
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "resources": [resource.as_json() for resource in resources],
    }


def _add(package: ZipFile, name: str, blocks: Iterable[bytes], compression: int) -> _Resource:
    entry = ZipInfo(name, time.gmtime()[:6])
    entry.compress_type = compression
    entry.external_attr = 0o644 << 16
    digest, size = hashlib.sha256(), 0
    with package.open(entry, "w", force_zip64=True) as target:
        for block in blocks:
            target.write(block)
            digest.update(block)
            size += len(block)
    return _Resource(name, f"sha256:{digest.hexdigest()}", size)


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the first `size` bytes of a file; the crawl may still append to it."""
    while size > 0 and (block := file.read(min(size, _BLOCK))):
        size -= len(block)
        yield block


def _pages(kept: KeptExchanges) -> Iterator[bytes]:
    """Yield the lines of the list of pages; a viewer shows these pages first."""
    yield _json_line({"format": "json-pages-1.0", "id": "pages", "title": "All Pages"})
    with closing(kept.connection.execute(_PAGES)) as rows:
        for number, (url, date, language, confidence, method) in enumerate(rows, 1):
            values = {"language": language, "confidence": confidence, "method": method}
            told = {name: value for name, value in values.items() if value is not None}
            yield _json_line({"id": str(number), "url": url, "ts": date, **told})


def _json_line(values: Mapping[str, object]) -> bytes:
    return json.dumps(values).encode() + b"\n"
