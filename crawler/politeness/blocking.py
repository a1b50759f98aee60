"""Blocked URLs: a block file, reloaded while the crawl runs.

A line has the form `HOST` or `HOST/PATH`. HOST is a name (`example.org`, with and without `www.`),
a name with all names below it (`*.example.org`), or `*` for every host. PATH matches the beginning
of path and query; `*` stands for any characters and a `$` at the end for the end of the URL, as in
robots.txt (RFC 9309, 2.2.3). A scheme before it is ignored. Text from `#` on is a comment.
"""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from langfocus.crawler.errors import SettingError
from langfocus.crawler.politeness.robots_rules import matches, single_stars
from langfocus.crawler.run.whole_file import read_regular
from langfocus.crawler.url import host_of, normalise

BLOCKED: Final = "blocked"
"""Outcome of a URL blocked in the queue or during its fetch."""

LOOK_EVERY_S: Final = 5.0
"""Seconds between two checks of the block file."""

_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|\s)#.*")
_MOST_BYTES = 64 * 1024 * 1024

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BlockList:
    """Patterns of paths by names; the pattern "" is every path.

    A name is a host, `*.` and a name with all names below it, or `*` for every host.
    """

    patterns: Mapping[str, Collection[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of entries."""
        return sum(map(len, self.patterns.values()))

    def blocks(self, url: str) -> bool:
        """Return True if a normalised URL is blocked; costs O(labels of its host + patterns)."""
        return any(
            matches(pattern, _path_of(url))
            for name in _names_of(host_of(url))
            for pattern in self.patterns.get(name, ())
        )


def _names_of(host: str) -> Iterator[str]:
    """Yield the entry names that match a host."""
    yield from (host, "*")
    while host:
        yield f"*.{host}"
        host = host.partition(".")[2]


def _path_of(url: str) -> str:
    """Return path and query of a normalised URL."""
    return url[url.find("/", url.find("//") + 2) :]


def read_lines(lines: Iterable[str]) -> BlockList:
    """Return the block list in `lines`; raises `SettingError` for a malformed line."""
    found: dict[str, dict[str, None]] = {}

    def add(text: str) -> None:
        name, pattern = _entry(text)
        found.setdefault(name, {})[pattern] = None

    read_entries(lines, add)
    return BlockList(found)


def read_entries(lines: Iterable[str], add: Callable[[str], None]) -> None:
    """Call `add` with each line but comments; its ValueError becomes a `SettingError`."""
    for number, line in enumerate(lines, 1):
        text = _COMMENT.sub("", line).strip()
        if not text:
            continue
        try:
            add(text)
        except ValueError as error:
            raise SettingError(f"line {number}: {text:.80}: {error}") from error


def _entry(text: str) -> tuple[str, str]:
    """Return the name and the pattern of a line; raises ValueError."""
    host, slash, path = _SCHEME.sub("", text, count=1).partition("/")
    pattern = _pattern(slash + path)
    if host == "*":
        if not pattern.strip("/*$"):
            raise ValueError("it would block every URL")
        return host, pattern
    name = host.removeprefix("*.")
    has_port = ":" in name and not name.startswith("[")
    is_odd = re.search(r"[\s@?\\%*]", name) is not None or has_port
    url = None if is_odd or not name else normalise(f"http://{name}/")
    if url is None:
        raise ValueError("this is no host name; only *. may be before it, and no port behind it")
    return f"*.{host_of(url)}" if name != host else host_of(url), pattern


def _pattern(path: str) -> str:
    """Return the pattern of a path, spelled as in normalised URLs; "" for every path."""
    if not path.strip("/"):
        return ""
    if re.search(r"\s", path):
        raise ValueError("a path has no spaces (%20 is one)")
    url = normalise(f"http://a.example{path}")
    if url is None:
        raise ValueError("this is no path of a URL")
    return single_stars(_path_of(url))


class Blocking:
    """The block list of a file, reloaded after changes, and the hosts of take-downs."""

    def __init__(self, path: Path | None = None) -> None:
        """Read the file, if any; raises `SettingError` for an unusable file."""
        self.list, self.taken_down = BlockList(), BlockList()
        self._path = path
        self._looked_at = float("-inf")
        if path is None:
            return
        self._seen = _stamp(path)
        self.list = _read(path)

    @property
    def is_empty(self) -> bool:
        """True if nothing is blocked now."""
        return not self.list.patterns and not self.taken_down.patterns

    def blocks(self, url: str) -> bool:
        """Return True if a normalised URL may not be fetched."""
        # Called for each link: of empty lists nothing is asked.
        return not self.is_empty and (self.list.blocks(url) or self.taken_down.blocks(url))

    def follow(self, now: float) -> bool:
        """Reload the file if it changed; return True if the block list was replaced.

        The file is checked at most every `LOOK_EVERY_S` seconds. If it is missing, unreadable or
        malformed, the list stays and one warning is logged.
        """
        if self._path is None or 0 <= now - self._looked_at < LOOK_EVERY_S:
            return False
        self._looked_at = now
        stamp = _stamp(self._path)
        if stamp == self._seen:
            return False
        self._seen = stamp
        try:
            self.list = _read(self._path)
        except SettingError as error:
            _log.warning("%s; the list stays as it was", error)
            return False
        _log.warning("%s was read again: it has %s entries", self._path, f"{len(self.list):,}")
        return True


def _read(path: Path) -> BlockList:
    return read_list(path, "-a block", _MOST_BYTES, read_lines)


def read_list(path: Path, label: str, most_bytes: int, read: Callable[[list[str]], T]) -> T:
    """Return what `read` makes of a file's lines; raises `SettingError` with the file's name."""
    try:
        return read(read_regular(path, most_bytes).decode("utf-8-sig").splitlines())
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
    except UnicodeDecodeError:
        reason = "the file is not UTF-8"
    except SettingError as error:
        reason = str(error)
    raise SettingError(f"{label}={path}: {reason}")


def _stamp(path: Path) -> object:
    """Return a stamp that changes with every write; None for an unreadable file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
