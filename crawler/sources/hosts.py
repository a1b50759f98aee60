"""The hosts of a census: a list in a file.

A line is a host name, an IP address, a network (`192.0.2.0/28`: each of its addresses), a URL, or
`RANK,HOST`. In Cai 2009, 1.1, the list is the whole of IPv4.
"""

import gzip
import re
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from ipaddress import ip_network
from itertools import compress, islice
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from crawler.errors import SettingError
from crawler.url import host_of, normalise
from crawler.whole_file import open_regular

MOST_HOSTS: Final = 20_000_000
"""Most hosts of a list; its check takes 24 bytes of memory for each."""

_RANK = re.compile(r"\d+,")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://[^/]+/")
_LONGEST_LINE: Final = 4096


@dataclass(frozen=True, slots=True)
class HostList:
    """The distinct hosts of a file, in its order."""

    path: Path
    number: int
    digest: str  # of their names
    skipped: int  # lines that name no host
    first_skipped: str
    _is_first: NDArray[np.bool_]  # for each host of the file

    def urls(self) -> Iterator[str]:
        """Yield the portal URLs; the file is read again."""
        return compress((url for url, _ in _portals(self.path) if url), self._is_first)


def read_hosts(path: Path, label: str) -> HostList:
    """Return the list of hosts in a file; raises `SettingError` if it names none or too many.

    A host that is named again does not count; `www.a.org` and `a.org` are one host. Text of any
    length is read line by line.
    """
    hashes, skipped, first_skipped = array("q"), 0, ""
    try:
        for url, line in islice(_portals(path), MOST_HOSTS + 1):
            if url:
                hashes.append(_hash(host_of(url)))
            else:
                skipped += 1
                first_skipped = first_skipped or line
    except (OSError, ValueError, EOFError) as error:
        raise SettingError(f"{label}={path}: cannot be read: {error}") from error
    if len(hashes) + skipped > MOST_HOSTS:
        raise SettingError(f"{label}={path}: more than {MOST_HOSTS:,} hosts; split the file")
    if not hashes:
        told = f" ({first_skipped} is none)" if skipped else ""
        raise SettingError(f"{label}={path}: no host in it{told}")
    named = np.frombuffer(hashes, np.int64)
    is_first = np.zeros(len(named), dtype=bool)
    is_first[np.unique(named, return_index=True)[1]] = True
    hosts = named[is_first]
    digest = blake2b(hosts.tobytes(), digest_size=16).hexdigest()
    return HostList(path, len(hosts), digest, skipped, first_skipped, is_first)


def _portals(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the portal URLs of all lines, and "" with its place for a line that names no host."""
    with open_regular(path) as file:
        is_packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        unpacked = gzip.GzipFile(fileobj=file) if is_packed else file
        number = 0
        while line := unpacked.readline(_LONGEST_LINE):
            number += 1
            text = line.decode("utf-8", "replace").strip().lstrip("\ufeff")
            if not text or text.startswith("#"):
                continue
            url = ""
            for url in filter(None, map(_portal, _named(text))):
                yield url, ""
            if not url:
                yield "", f"line {number}: {text[:60]!r}"


def _named(text: str) -> Iterator[str]:
    """Yield the host that a line names, or the addresses of a network."""
    name, network = (_RANK.sub("", text, count=1).split() or [""])[0], None
    if "/" in name and not _SCHEME.match(name):
        with suppress(ValueError):
            network = ip_network(name, strict=False)
    if network is None:
        yield name
    elif network.num_addresses > MOST_HOSTS:
        raise ValueError(f"{name} has more than {MOST_HOSTS:,} addresses")
    else:
        yield from map(str, network.hosts())


def _portal(name: str) -> str | None:
    """Return the URL of a host's portal page; None for a text that is no host."""
    if _SCHEME.match(name):
        url = normalise(name)
    else:
        url = normalise(f"http://{name}/") or normalise(f"http://[{name}]/")
    origin = _ORIGIN.match(url) if url else None
    is_host = origin is not None and ("." in host_of(origin[0]) or ":" in host_of(origin[0]))
    return origin[0] if origin is not None and is_host else None


def _hash(host: str) -> int:
    return int.from_bytes(blake2b(host.encode(), digest_size=8).digest(), "big", signed=True)
