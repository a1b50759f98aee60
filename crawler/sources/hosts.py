"""The hosts of a census: a list in a file, of which each machine may take a range.

A line is a host name, an IP address, a network (`192.0.2.0/28`: each of its addresses), a URL, or
`RANK,HOST`. In Cai 2009, 1.1, the list is the whole of IPv4.
"""

import gzip
import re
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from ipaddress import ip_address, ip_network
from itertools import islice
from pathlib import Path
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from crawler.errors import SettingError
from crawler.url import host_of, normalise
from crawler.whole_file import open_regular

MOST_HOSTS: Final = 20_000_000
"""Most hosts of a list; its check takes 24 bytes of memory for each."""

_RANK = re.compile(r"\d+,")
_RANGE = re.compile(r"(\d+)(-(\d*))?")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://[^/]+/")
_LONGEST_LINE: Final = 4096

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HostRange:
    """The hosts from the position `first` (from 1) to `last`, both included; None: to the end."""

    first: int = 1
    last: int | None = None

    def __str__(self) -> str:
        return f"{self.first}-{'' if self.last is None else self.last}"

    def has(self, position: int) -> bool:
        """Return True if a position is in the range."""
        return position >= self.first and (self.last is None or position <= self.last)


ALL_HOSTS: Final = HostRange()


def read_range(text: str, label: str) -> HostRange:
    """Return the range in a text such as `1-500`, `501-` or `7`; raises `SettingError`."""
    match = _RANGE.fullmatch(text.strip())
    if match:
        first = int(match[1])
        last = (int(match[3]) if match[3] else None) if match[2] else first
        if first >= 1 and (last is None or first <= last):
            return HostRange(first, last)
    raise SettingError(f"{label}={text}: expected a range of positions, such as 1-500 or 501-")


@dataclass(frozen=True, slots=True)
class HostList:
    """The distinct hosts of a file, in its order.

    `number` counts them, `digest` is a hash of their names, `skipped` counts the lines that
    name no host, and `first_skipped` is the first of these with its number.
    """

    path: Path
    number: int
    digest: str
    skipped: int
    first_skipped: str
    _repeated: Positions

    def urls(self, chosen: HostRange) -> Iterator[str]:
        """Yield the portal URLs of a range; the file is read again."""
        repeated = iter(self._repeated.tolist())
        next_repeated, position = next(repeated, -1), 0
        for place, found in enumerate(_portals(self.path)):
            if place == next_repeated:
                next_repeated = next(repeated, -1)
                continue
            position += 1
            if chosen.last is not None and position > chosen.last:
                return
            if chosen.has(position):
                yield found


def read_hosts(path: Path, label: str) -> HostList:
    """Return the list of hosts in a file; raises `SettingError` if it names none or too many.

    A host that is named again does not count; `www.a.org` and `a.org` are one host. Text of any
    length is read line by line.
    """
    hashes, bad = array("q"), _Skipped()
    try:
        for url in islice(_portals(path, bad), MOST_HOSTS + 1):
            hashes.append(_hash(host_of(url)))
    except (OSError, ValueError, EOFError) as error:
        raise SettingError(f"{label}={path}: cannot be read: {error}") from error
    if len(hashes) > MOST_HOSTS:
        raise SettingError(f"{label}={path}: more than {MOST_HOSTS:,} hosts; split the file")
    if not hashes:
        raise SettingError(f"{label}={path}: no host in it{bad}")
    named = np.frombuffer(hashes, np.int64)
    is_repeated = np.ones(len(named), dtype=bool)
    is_repeated[np.unique(named, return_index=True)[1]] = False
    hosts = named[~is_repeated]
    digest = blake2b(hosts.tobytes(), digest_size=16).hexdigest()
    return HostList(path, len(hosts), digest, bad.number, bad.first, np.flatnonzero(is_repeated))


class _Skipped:
    """The lines that name no host."""

    def __init__(self) -> None:
        self.number = 0
        self.first = ""

    def __str__(self) -> str:
        return f" ({self.first} is none)" if self.number else ""

    def count(self, number: int, line: str) -> None:
        self.number += 1
        self.first = self.first or f"line {number}: {line[:60]!r}"


def _portals(path: Path, skipped: _Skipped | None = None) -> Iterator[str]:
    """Yield the portal URLs of all lines."""
    skipped = skipped or _Skipped()
    with _opened(path) as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            text = line.decode("utf-8", "replace").strip().lstrip("\ufeff")
            if not text or text.startswith("#"):
                continue
            is_any = False
            for url in _of_line(text):
                is_any = True
                yield url
            if not is_any:
                skipped.count(number, text)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with open_regular(path) as file:
        is_packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if not is_packed:
            yield file
            return
        with gzip.open(file) as unpacked:
            yield unpacked  # type: ignore[misc]  # it reads lines too


def _of_line(text: str) -> Iterator[str]:
    words = _RANK.sub("", text, count=1).split()
    name = words[0] if words else ""
    if "/" in name and not _SCHEME.match(name):
        try:
            network = ip_network(name, strict=False)
        except ValueError:
            pass
        else:
            if network.num_addresses > MOST_HOSTS:
                raise ValueError(f"{name} has more than {MOST_HOSTS:,} addresses")
            yield from filter(None, (_portal(str(address)) for address in network.hosts()))
            return
    url = _portal(name)
    if url is not None:
        yield url


def _portal(name: str) -> str | None:
    """Return the URL of a host's portal page; None for a text that is no host."""
    with_scheme = name if _SCHEME.match(name) else f"http://{_bracketed(name)}/"
    url = normalise(with_scheme)
    origin = _ORIGIN.match(url) if url else None
    is_host = origin is not None and ("." in host_of(origin[0]) or ":" in host_of(origin[0]))
    return origin[0] if origin is not None and is_host else None


def _bracketed(name: str) -> str:
    try:
        return f"[{name}]" if ip_address(name).version == 6 else name
    except ValueError:
        return name


def _hash(host: str) -> int:
    return int.from_bytes(blake2b(host.encode(), digest_size=8).digest(), "big", signed=True)
