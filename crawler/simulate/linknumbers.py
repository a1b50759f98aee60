"""How many links of each kind the pages of a generated Web have, compiled."""

import numpy as np

from classifiers.compiled import compiled, inlined
from crawler.simulate.layout import (
    BACK,
    FRONT,
    INTER_FAR,
    INTER_NEAR,
    INTER_RELEVANT,
    INTRA_OTHER,
    INTRA_RELEVANT,
    LINKED,
    NONE,
    OTHER,
    SHY,
    Bytes,
    Doubles,
    Floats,
    GrownServers,
    Ints,
    Longs,
    eligible,
)
from crawler.simulate.randomness import Words, draw_unit

_MOST_LINKS = 255
_ROOM = np.float32(0.8)


@inlined
def source_class(is_relevant: bool, kind: int) -> int:
    """0: a relevant page; 1: another page of a server with relevant ones; 2: of one without."""
    if is_relevant:
        return 0
    return 2 if kind == OTHER else 1


@compiled
def count_tree(servers: GrownServers, home: Ints, parent: Ints, counts: Longs) -> None:
    """Count the links from parents, (3, N_CELLS), by source and target."""
    for page in range(len(parent)):
        source = parent[page]
        if source == NONE:
            continue
        server, other = home[source], home[page]
        is_relevant = source < servers.start[server, FRONT]
        row = source_class(is_relevant, int(servers.kind[server]))
        if page < servers.start[other, FRONT]:
            cell = INTRA_RELEVANT if server == other else INTER_RELEVANT
        elif server == other:
            cell = INTRA_OTHER
        else:
            cell = INTER_FAR if servers.kind[other] == OTHER else INTER_NEAR
        counts[row, cell] += 1


@compiled
def classify(servers: GrownServers, row: Bytes) -> None:
    """Write the class of each page, see `source_class`."""
    for server in range(len(servers.kind)):
        start = servers.start[server]
        for page in range(start[0], start[4]):
            row[page] = source_class(bool(page < start[FRONT]), int(servers.kind[server]))


@compiled
def count_room(
    servers: GrownServers,
    depth: Bytes,
    children: Longs,
    own: Longs,
    relevant: Floats,
    other: Floats,
) -> None:
    """How many more links to relevant and to other pages of its own server each page can have.

    `children` (n + 1,) begins the children of each page, `own` (n,) of them are on its server.
    """
    for server in range(len(servers.kind)):
        start = servers.start[server]
        for page in range(start[0], start[4]):
            below = int(depth[page]) + 1
            linked = eligible(depth, start[LINKED], start[SHY], below)
            front = eligible(depth, start[FRONT], start[BACK], below)
            if page >= start[FRONT]:
                linked += eligible(depth, start[SHY], start[FRONT], below)
                front += eligible(depth, start[BACK], start[4], below)
            else:
                linked -= 1
            all_own = max(linked + front, 1)
            taken = float(own[page]) / all_own
            relevant[page] = max(linked * (1.0 - taken), 0.0) * _ROOM
            other[page] = max(front * (1.0 - taken), 0.0) * _ROOM


@compiled
def sum_capped(activity: Floats, room: Floats, row: Bytes, of: int, factor: float) -> float:
    """The links of the pages of one class, where each has as many as it has room for at most."""
    total = 0.0
    for page in range(len(activity)):
        if row[page] == of:
            total += min(factor * activity[page], room[page])
    return total


@compiled
def give_links(
    activity: Floats,
    room: Floats,
    row: Bytes,
    factors: Doubles,
    chance: Words,
    number: Bytes,
) -> None:
    """Whole numbers of links, in proportion to activity; `factors` (3,) by class.

    `room` is (1,) where nothing limits the links of a page.
    """
    is_capped = len(room) == len(activity)
    for page in range(len(activity)):
        links = factors[row[page]] * activity[page]
        if is_capped:
            links = min(links, float(room[page]))
        number[page] = min(int(links + draw_unit(chance)), _MOST_LINKS)
