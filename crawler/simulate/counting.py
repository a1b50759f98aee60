"""The compiled counting of pages and links by the servers, languages and relevance of a graph.

Where a link points to a redirect, the vertex at the end of the redirects counts.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled
from classifiers.instructions import prefetch
from crawler.simulate.linkarrays import (
    RELEVANT,
    STATUS,
    Bytes,
    Ints,
    LinkArrays,
    Longs,
    is_page,
    landing,
)
from crawler.simulate.webgraph import PAGE, REDIRECT, UNKNOWN

Shorts = npt.NDArray[np.int16]

NO_PAGE, NOT_RELEVANT, HAS_RELEVANT = range(3)
"""The knowledge of a server: no page of it, only other pages, at least one relevant page."""

_SERVER_SHIFT = 4
"""Bits of a mark below the knowledge of the server: the kind of the vertex."""
_AHEAD = 24
"""Links between asking memory for a target's mark and using it."""


class ServerArrays(NamedTuple):
    """The `server` (V,) of each vertex, and the `known` (S,) of each server, such as NO_PAGE."""

    server: Ints
    known: Bytes


@compiled
def count_pages(
    kind: Bytes,
    servers: ServerArrays,
    language: Shorts,
    server_domain: Shorts,
    counts: Longs,
) -> None:
    """Set `servers.known`, and count pages by language and domain.

    `counts` is (languages + 1, domains + 1); the last row and column are those without.
    """
    server, server_kind = servers.server, servers.known
    for vertex in range(len(kind)):
        if not is_page(kind, vertex):
            continue
        at = server[vertex]
        known = HAS_RELEVANT if kind[vertex] & RELEVANT else NOT_RELEVANT
        server_kind[at] = max(int(server_kind[at]), known)
        counts[language[vertex], server_domain[at]] += 1


@compiled
def count_links(
    links: LinkArrays,
    servers: ServerArrays,
    mark: Bytes,
    counts: Longs,
    unfetched: Bytes,
) -> None:
    """Count the links of pages.

    `mark` (V,) is written over; `unfetched` (V,) becomes 1 for linked URLs never fetched.
    `counts` is (3, 2, 3, 3): by source (relevant; other, on a server with relevant pages; other),
    whether the link leaves its server, target (relevant; other page; no page), and the
    knowledge of the target's server.
    """
    start, target, kind = links.start, links.target, links.kind
    server, server_kind = servers.server, servers.known
    for vertex in range(len(kind)):
        mark[vertex] = kind[vertex] | server_kind[server[vertex]] << _SERVER_SHIFT
    for vertex in range(len(kind)):
        if not is_page(kind, vertex):
            continue
        own = server[vertex]
        source = 2 if mark[vertex] >> _SERVER_SHIFT != HAS_RELEVANT else 1
        source = 0 if kind[vertex] & RELEVANT else source
        for link in range(start[vertex], start[vertex + 1]):
            if link + _AHEAD < len(target):
                prefetch(mark, target[link + _AHEAD])
                prefetch(server, target[link + _AHEAD])
            found = int(target[link])
            if mark[found] & STATUS == REDIRECT:
                found = landing(start, target, kind, found)
                if found < 0:
                    continue
            seen = mark[found]
            end = 2
            if seen & STATUS == PAGE:
                end = 0 if seen & RELEVANT else 1
            elif seen & STATUS == UNKNOWN:
                unfetched[found] = 1
            counts[source, int(own != server[found]), end, seen >> _SERVER_SHIFT] += 1
