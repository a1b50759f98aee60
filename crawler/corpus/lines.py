"""Lines that many pages of a host have: menus, notices, footers that an extractor left in.

A line is repeated if it stands on `LEAST_PAGES` pages of its host that are no copies of each other.
A long line, which may be the beginning of an article on the pages that list articles, must also
stand on half of them.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

LEAST_PAGES: Final = 3
LONG_LINE: Final = 100
"""Characters from which a line is long."""

_MOST_KEYS: Final = 16_000_000  # that are sorted at once: 128 MB
_LONG_BIT: Final = np.uint64(1)
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)

Keys = npt.NDArray[np.uint64]


class PageLines(NamedTuple):
    """The lines of some pages in their order: the key of each, the page, and whether it is new.

    `hosts` has a number for the host of each page. A line that stands twice on a page is new once.
    """

    keys: Keys
    pages: npt.NDArray[np.uint32]
    is_new: npt.NDArray[np.bool_]
    hosts: Keys


def key_of_host(host: str) -> int:
    """Return a number of 64 bits for a host."""
    return _number(host.encode("utf-8", "replace"))


def keys_of_lines(host: int, lines: Sequence[str]) -> list[int]:
    """Return a number of 64 bits for each line on a host; that of a long line is odd."""
    salt = host.to_bytes(8, "big")
    return [
        _number(salt + line.lower().encode("utf-8", "replace")) & ~1 | (len(line) >= LONG_LINE)
        for line in lines
    ]


def _number(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def repeated_keys(
    parts: Callable[[], Iterable[PageLines]], original: npt.NDArray[np.int64], lines: int
) -> Keys:
    """Return the sorted keys of all repeated lines.

    Of pages with the same `original` only one counts on each host. `parts` gives the parts again
    and again; their pages are numbered one after the other, and they have so many `lines`. Memory
    is bounded: the keys are counted in as many passes as are needed.
    """
    hosts = np.concatenate([part.hosts for part in parts()])
    groups = original.astype(np.uint64) * _FACTOR ^ hosts
    is_copy = np.ones(len(hosts), np.bool_)
    is_copy[np.unique(groups, return_index=True)[1]] = False
    names, numbers = np.unique(hosts[~is_copy], return_counts=True)
    pages_of = dict(zip(names, numbers, strict=True))
    passes = 1 + lines // _MOST_KEYS
    found = [
        _repeated(_selected(parts(), is_copy, each, passes), pages_of) for each in range(passes)
    ]
    return np.sort(np.concatenate(found))


def _selected(
    parts: Iterable[PageLines], is_copy: npt.NDArray[np.bool_], each: int, passes: int
) -> tuple[Keys, Keys]:
    """Return the new keys of one pass, and the host of each."""
    keys, hosts, first = [], [], 0
    for part in parts:
        end = first + len(part.hosts)
        wanted = part.is_new & ~is_copy[first:end][part.pages]
        wanted &= (part.keys >> _LONG_BIT) % np.uint64(passes) == each
        keys.append(part.keys[wanted])
        hosts.append(part.hosts[part.pages[wanted]])
        first = end
    return np.concatenate(keys), np.concatenate(hosts)


def _repeated(lines: tuple[Keys, Keys], pages_of: dict[np.uint64, int]) -> Keys:
    keys, hosts = lines
    found, at, numbers = np.unique(keys, return_index=True, return_counts=True)
    often = numbers >= LEAST_PAGES
    found, at, numbers = found[often], at[often], numbers[often]
    of_host = np.array([pages_of[host] for host in hosts[at]], np.int64)
    is_short = found & _LONG_BIT == 0
    kept: Keys = found[is_short | (2 * numbers >= of_host)]
    return kept


def are_repeated(keys: Keys, repeated: Keys) -> npt.NDArray[np.bool_]:
    """Return which keys are among the sorted ones of the repeated lines."""
    if not len(repeated):
        return np.zeros(len(keys), np.bool_)
    places = np.minimum(np.searchsorted(repeated, keys), len(repeated) - 1)
    found: npt.NDArray[np.bool_] = repeated[places] == keys
    return found
