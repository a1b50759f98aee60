"""Crawls of a Web graph: the same pages in the same order as a crawl of that Web would fetch.

One worker, and no host ever rests. Filters, orderings and the frontier decide as they do live
(`crawler.strategies`, `crawler.frontier.sqlite`); their rules are written a second time in
`crawler.simulate.kernel`, which is compiled, and tests hold the two together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crawler.errors import SettingError
from crawler.simulate.graph import WebGraph
from crawler.strategies.filters import Filter

ORDERINGS: Final = ("bfs", "soft", "random", "cctld", "perfect")
"""Orderings that every graph has (`cctld`: every graph that knows its servers' domains); beside
them stand the names in `WebGraph.scores`."""


@dataclass(frozen=True)
class Course:
    """How a crawl went: the pages in the order downloaded, and what became of links.

    `order` are vertices, int32 (N,); `queue` is how many URLs waited after each of them, int32
    (N,), those that were never fetched in the recorded Web included (Tamura 2007, Fig. 7). Links
    were `stored`, `seen` before, `rejected` by the filter or found their host full
    (`host_full`); seeds are among them. `dropped_irrelevant` URLs left the queue with their
    server or directory. `is_complete` is False where `limit` ended the crawl.
    """

    order: npt.NDArray[np.int32]
    queue: npt.NDArray[np.int32]
    stored: int
    seen: int
    rejected: int
    host_full: int
    dropped_irrelevant: int
    is_complete: bool


def simulate(
    graph: WebGraph,
    *,
    filter: Filter,
    ordering: str,
    target: str | None = None,
    host_cap: int = 0,
    seeds: Sequence[int] | npt.NDArray[np.int32] | None = None,
    random_state: int = 0,
    limit: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Course:
    """Crawl a graph until nothing is left that can be downloaded, or after `limit` pages.

    `ordering` is one of `ORDERINGS` or a name in `graph.scores`; `perfect` follows, whatever the
    filter lets through, no link but those on a shortest path from the seeds to a page in the
    target language (Tamura 2007, 5.1; of several shortest paths, the first in breadth-first
    search). `target` None is the graph's own. Directories are those of the graph, whatever
    `filter.directory_depth` says. `host_cap` 0: any number of URLs of a host. `seeds` are
    vertices, None: the graph's. `on_progress` is told now and then how many pages there are.

    The same arguments give the same course; `random_state` counts for `random` and `cctld` only.
    Raises `SettingError` for an ordering or seed that the graph does not have and `GraphError` for
    a language that none of its pages is in.
    """
    raise NotImplementedError
