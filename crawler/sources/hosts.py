"""The hosts of a census: a list in a file.

A line is a host name, an IP address or a URL; of a table the first column is read. In Cai 2009,
1.1, the list is the whole of IPv4.
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import compress, islice
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langfocus.crawler.errors import SettingError
from langfocus.crawler.run.whole_file import open_regular
from langfocus.crawler.sources.seeds import first_column
from langfocus.crawler.url import host_of, normalise

MOST_HOSTS: Final = 20_000_000
"""Most hosts per list; the check takes 24 bytes of memory per host."""

_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_NAME = re.compile(r"[.:]")  # a bare number would be read as an address
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
    except (OSError, ValueError) as error:
        raise SettingError(f"{label}={path}: cannot be read: {error}") from error
    if len(hashes) + skipped > MOST_HOSTS:
        raise SettingError(f"{label}={path}: more than {MOST_HOSTS:,} hosts; split the file")
    if not hashes:
        example = f" ({first_skipped} is none)" if skipped else ""
        raise SettingError(f"{label}={path}: no host in it{example}")
    named = np.frombuffer(hashes, np.int64)
    is_first = np.zeros(len(named), dtype=bool)
    is_first[np.unique(named, return_index=True)[1]] = True
    hosts = named[is_first]
    digest = blake2b(hosts.tobytes(), digest_size=16).hexdigest()
    return HostList(path, len(hosts), digest, skipped, first_skipped, is_first)


def _portals(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the portal URL of each line; "" with its place for a line without a host."""
    with open_regular(path) as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            text = first_column(line.decode("utf-8", "replace").lstrip("\ufeff"))
            if text and not text.startswith("#"):
                url = _portal(text)
                yield url, "" if url else f"line {number}: {text[:60]!r}"


def _portal(name: str) -> str:
    """Return the URL of a host's portal page; "" for a text that is no host."""
    url = None
    if _SCHEME.match(name):
        url = normalise(name)
    elif _NAME.search(name):
        url = normalise(f"http://{name}/") or normalise(f"http://[{name}]/")
    origin = _ORIGIN.match(url) if url else None
    host = host_of(origin[0]) if origin else ""
    return origin[0] if origin and _NAME.search(host) and "," not in host else ""


def _hash(host: str) -> int:
    return int.from_bytes(blake2b(host.encode(), digest_size=8).digest(), "big", signed=True)
