"""Files that are written completely or not at all, and files that are read because they end."""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

_UNFINISHED: Final = re.compile(r"\.(.+)\.(\d+)(?:-wal|-shm|-journal)?")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path, whose file replaces `path` after the block.

    No reader sees a partial file. If the block raises, `path` is unchanged.
    """
    clean_up(path.parent, path.name)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)  # a killed process left it, or somebody put a link there
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def clean_up(folder: Path, name: str = "") -> None:
    """Delete the unfinished files that killed processes left in a folder.

    With a `name` only those of the file with that name.
    """
    for path in list(folder.glob(".*")):
        found = _UNFINISHED.fullmatch(path.name)
        if found and name in ("", found[1]) and not _is_running(int(found[2])):
            path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def write_whole(path: Path, text: str) -> Path:
    """Return `path` after writing a text to it in one step."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def open_regular(path: Path) -> BinaryIO:
    """Return an open file; raises `OSError`, also for a pipe or a device, which may have no end."""
    # Without O_NONBLOCK, to open a pipe waits for a writer.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return file


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Return the bytes of a regular file; raises `OSError`, also for a file of more bytes."""
    with open_regular(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it has more than {most_bytes >> 20} MiB", str(path))
    return data
