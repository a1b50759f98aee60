"""The unread seeds of a large seed file, enqueued in batches while the crawl fetches.

A run keeps a copy of the seed file until all seeds are queued, so it resumes after a kill even if
the file is gone. The frontier persists the read position after each batch: a kill loses no seed,
and a seed enqueued twice is recognised. Workers of a shared crawl alternate.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final

from langfocus.crawler.errors import StorageError, one_line
from langfocus.crawler.frontier.base import KeptRobots, RobotsStore
from langfocus.crawler.run.whole_file import open_regular, replacing
from langfocus.crawler.sources.seeds import SeedFile, read_block, urls_of

BATCH_BYTES: Final = 16 * 1024
"""Bytes of a file that are queued at once: some 500 URLs, in about 50 ms."""

MOST_WAITING: Final = 20_000
"""Seeds are read while fewer URLs are queued: the host of a queued URL is in memory."""

_TURN_S: Final = 5.0
"""Seconds without a read after which another worker continues."""

_COPIES: Final = "seeds-*.txt"
_READ: Final = "read"
_COPIED_BYTES: Final = 1 << 20


class UnreadSeeds:
    """Reads the copies in a run folder batch by batch.

    Besides the batches that are read while few URLs are queued, each settled URL lets one seed in:
    a queue full of links does not keep the seeds at the end of a file out.
    """

    def __init__(self, folder: Path, store: RobotsStore, worker: str = "") -> None:
        """Continue with the copies in a folder; `worker` is "" if no other process reads them."""
        self._folder, self._store, self._worker = folder, store, worker
        self._paths = sorted(folder.glob(_COPIES))
        self._owed = 0  # settled URLs less queued seeds

    def __bool__(self) -> bool:
        """Return True if a file was not read to its end."""
        return bool(self._paths)

    def add(self, seeds: SeedFile, now: float) -> None:
        """Keep a copy of a file whose first block is queued, unless it was read completely before.

        Raises `StorageError` if the file changed meanwhile or cannot be copied.
        """
        path = self._folder / _COPIES.replace("*", seeds.digest)
        kept = self._store.robots(_name(path))
        if kept is None:
            self._store.set_robots(_name(path), f"{seeds.first_bytes} ", now, None)
        if path not in self._paths and (kept is None or kept.text != _READ):
            _copy(seeds, path)
            self._paths.append(path)

    def count_settled(self) -> None:
        """Count a settled URL."""
        self._owed += 1

    def read(self, queue: Callable[[Sequence[str]], int], now: float, *, is_low: bool) -> None:
        """Pass the next batch to `queue`, which returns the number of new URLs.

        Without `is_low`, which means that few URLs are queued, only after enough settled URLs.
        Raises `StorageError` if the copy cannot be read.
        """
        if not self._paths or not (is_low or self._owed > 0):
            return
        path = self._paths[0]
        name = _name(path)
        if (kept := self._claimed(name, now)) is None:
            return
        start = kept.text.partition(" ")[0]
        block = b"" if start == _READ else _block(path, int(start))
        if not block:
            self._store.set_robots(name, _READ, now, kept)
            path.unlink(missing_ok=True)
            self._paths.remove(path)
            return
        self._owed -= queue(urls_of(block))
        end = int(start) + len(block)
        self._store.set_robots(name, f"{end} {self._worker}", now, kept)

    def _claimed(self, name: str, now: float) -> KeptRobots | None:
        """Return how far a copy was read, None while another worker reads it."""
        kept = self._store.robots(name)
        start, _, worker = kept.text.partition(" ") if kept else ("0", "", "")
        if kept and (start == _READ or worker == self._worker):
            return kept
        if kept and worker and now < kept.fetched_at + _TURN_S:
            return None
        mine = KeptRobots(f"{start} {self._worker}", now)
        return mine if self._store.set_robots(name, *mine, kept) else None


def remove_seeds(folder: Path, is_removed: Callable[[str], bool]) -> None:
    """Blank the lines with removed URLs, and comments, in the copies of a run folder."""
    for path in folder.glob(_COPIES):
        with open_regular(path) as old, replacing(path) as place, place.open("wb") as new:
            for block in iter(partial(read_block, old, _COPIED_BYTES), b""):
                for line in block.splitlines(keepends=True):
                    is_kept = any(not is_removed(url) for url in urls_of(line))
                    text = line.rstrip(b"\r\n")
                    new.write(line if is_kept else line.replace(text, b" " * len(text)))


def _name(path: Path) -> str:
    """Return the name under which the frontier stores how far a copy was read."""
    return f"http://seeds/ {path.stem}"


def _block(path: Path, start: int) -> bytes:
    try:
        with open_regular(path) as file:
            file.seek(start)
            return read_block(file, BATCH_BYTES)
    except OSError as error:
        raise StorageError(f"seeds can no longer be read: {one_line(str(error))}") from error


def _copy(seeds: SeedFile, path: Path) -> None:
    digest = blake2b(digest_size=16)
    try:
        with open_regular(seeds.path) as old, replacing(path) as place:
            with place.open("wb") as new:
                for block in iter(partial(old.read, _COPIED_BYTES), b""):
                    digest.update(block)
                    new.write(block)
                os.fsync(new.fileno())
            if digest.hexdigest() != seeds.digest:
                raise OSError("the file changed after it was checked")
    except OSError as error:
        raise StorageError(f"{seeds.path}: cannot be copied: {one_line(str(error))}") from error
