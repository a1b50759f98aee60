"""The queues of a compiled crawl whose scores change: a heap for each server, and one of servers.

Both have the best URL first: that with the highest score, of equal ones that with the least number.
A URL is found in its heap by its number, so that its score can rise and fall.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import part, step
from crawler.simulate.queues import EMPTY

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


class HostQueues(NamedTuple):
    """The queued URLs of S servers by their numbers, of which there are F.

    The heap of a server has `size` (S,) numbers in `heap` (F,) from `first` (S+1,) on. `score` and
    `place` (F,) are those of a number, the place `EMPTY` where it is not queued. `ready` (S,) is
    the heap of the `servers` (1,) with a queue, `rank` (S,) the place of each in it, or `EMPTY`.
    """

    first: Ints
    size: Ints
    heap: Ints
    place: Ints
    score: Doubles
    ready: Ints
    rank: Ints
    servers: Longs


@step
def _is_better(queues: HostQueues, one: int, other: int) -> bool:
    first, second = queues.score[one], queues.score[other]
    return bool(first > second or (first == second and one < other))


# The heap of a server; places are counted from its first.


@part
def _rise(queues: HostQueues, server: int, at: int) -> int:
    """Move an entry up to its place in the heap of its server, and return that."""
    heap, first = queues.heap, int(queues.first[server])
    number = int(heap[first + at])
    while at > 0:
        above = (at - 1) >> 1
        other = int(heap[first + above])
        if not _is_better(queues, number, other):
            break
        heap[first + at] = other
        queues.place[other] = at
        at = above
    heap[first + at] = number
    queues.place[number] = at
    return at


@part
def _sink(queues: HostQueues, server: int, at: int) -> None:
    """Move an entry down to its place in the heap of its server."""
    heap, first, size = queues.heap, int(queues.first[server]), int(queues.size[server])
    number = int(heap[first + at])
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _is_better(
            queues, int(heap[first + below + 1]), int(heap[first + below])
        ):
            below += 1
        other = int(heap[first + below])
        if not _is_better(queues, other, number):
            break
        heap[first + at] = other
        queues.place[other] = at
        at = below
    heap[first + at] = number
    queues.place[number] = at


# The heap of servers.


@step
def head(queues: HostQueues, server: int) -> int:
    """The best number of a server that has a queue."""
    return int(queues.heap[queues.first[server]])


@step
def _is_before(queues: HostQueues, server: int, other: int) -> bool:
    return _is_better(queues, head(queues, server), head(queues, other))


@part
def _settle_rank(queues: HostQueues, server: int) -> None:
    """Move a server to its place in the heap of servers, after its best URL changed."""
    ready, rank, end = queues.ready, queues.rank, int(queues.servers[0])
    at = int(rank[server])
    while at > 0 and _is_before(queues, server, int(ready[(at - 1) >> 1])):
        above = (at - 1) >> 1
        ready[at] = ready[above]
        rank[ready[at]] = at
        at = above
    while 2 * at + 1 < end:
        below = 2 * at + 1
        if below + 1 < end and _is_before(queues, int(ready[below + 1]), int(ready[below])):
            below += 1
        if not _is_before(queues, int(ready[below]), server):
            break
        ready[at] = ready[below]
        rank[ready[at]] = at
        at = below
    ready[at] = server
    rank[server] = at


@step
def _enter(queues: HostQueues, server: int) -> None:
    at = queues.servers[0]
    queues.servers[0] += 1
    queues.ready[at] = server
    queues.rank[server] = at


@step
def _leave(queues: HostQueues, server: int) -> None:
    """Take a server, whose queue is empty, out of the heap of servers."""
    queues.servers[0] -= 1
    at, last = int(queues.rank[server]), int(queues.ready[queues.servers[0]])
    queues.rank[server] = EMPTY
    if last != server:
        queues.ready[at] = last
        queues.rank[last] = at
        _settle_rank(queues, last)


# What a crawl does.


@part
def add_url(queues: HostQueues, server: int, number: int, score: float) -> None:
    """Queue a URL."""
    at = int(queues.size[server])
    queues.size[server] += 1
    queues.heap[queues.first[server] + at] = number
    queues.score[number] = score
    if at == 0:
        _enter(queues, server)
    if _rise(queues, server, at) == 0:
        _settle_rank(queues, server)


@part
def remove_url(queues: HostQueues, server: int, number: int) -> None:
    """Take a queued URL out of the queue."""
    at, end = int(queues.place[number]), int(queues.size[server]) - 1
    queues.place[number] = EMPTY
    queues.size[server] = end
    if at < end:
        queues.heap[queues.first[server] + at] = queues.heap[queues.first[server] + end]
        _sink(queues, server, _rise(queues, server, at))
    if end == 0:
        _leave(queues, server)
    elif at == 0:
        _settle_rank(queues, server)


@part
def set_score(queues: HostQueues, server: int, number: int, score: float) -> None:
    """Give a queued URL another score."""
    before = head(queues, server)
    queues.score[number] = score
    _sink(queues, server, _rise(queues, server, int(queues.place[number])))
    if number in (before, head(queues, server)):
        _settle_rank(queues, server)


@step
def clear(queues: HostQueues, server: int) -> None:
    """Take all URLs of a server out of the queue."""
    first = queues.first[server]
    for at in range(queues.size[server]):
        queues.place[queues.heap[first + at]] = EMPTY
    if queues.size[server]:
        queues.size[server] = 0
        _leave(queues, server)


@part
def reorder(queues: HostQueues, server: int, before: int) -> None:
    """Make a heap of the entries of a server, of which there were `before`."""
    size = int(queues.size[server])
    for at in range(size):
        queues.place[queues.heap[queues.first[server] + at]] = at
    for at in range(size // 2 - 1, -1, -1):
        _sink(queues, server, at)
    if size:
        _settle_rank(queues, server)
    elif before:
        _leave(queues, server)


@step
def best(queues: HostQueues) -> int:
    """The number of the best URL, or EMPTY."""
    return head(queues, int(queues.ready[0])) if queues.servers[0] else EMPTY


@step
def second_best(queues: HostQueues) -> int:
    """The number of the best URL after the best one, or EMPTY."""
    if not queues.servers[0]:
        return EMPTY
    server = int(queues.ready[0])
    found = _best_of_others(queues)
    for at in range(1, min(3, int(queues.size[server]))):
        other = int(queues.heap[queues.first[server] + at])
        if found == EMPTY or _is_better(queues, other, found):
            found = other
    return found


@step
def _best_of_others(queues: HostQueues) -> int:
    """The number of the best URL of any server but that of the best URL, or EMPTY."""
    end = queues.servers[0]
    if end < 2:
        return EMPTY
    server = int(queues.ready[1])
    if end > 2 and _is_before(queues, int(queues.ready[2]), server):
        server = int(queues.ready[2])
    return head(queues, server)
