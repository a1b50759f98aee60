"""Measured quantities of the Web of Tamura 2007, at any scale, and its link plan.

A graph generated to these quantities is compared with the paper's figures.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.crawler.errors import SettingError

Counts = npt.NDArray[np.int64]
Rows = tuple[tuple[int, ...], ...]
Table = tuple[tuple[tuple[int, int], tuple[int, int]], ...]

TABLE_1: Final = {
    "th": (591_683, 1_131_088),
    "en": (108_149, 7_971_458),
    "": (155_628, 8_386_121),
}
"""Pages by language ("": every other language), under .th and elsewhere."""

TABLE_4: Final[Table] = (
    ((23_980_308, 9_428_677), (3_833_048, 6_421_570)),
    ((1_542_513, 5_625_911), (791_862, 1_452_123)),
    ((74_094, 48_137_407), (74_094, 24_731_356)),
)
"""Links to Thai and to other pages, and the part across servers, from Thai pages, other pages on
Thai servers, and pages on other servers.
"""

TABLE_5: Final[Table] = (
    ((41_653_154, 6_013_026), (6_886_986, 6_013_026)),
    ((286_429, 61_175_697), (286_429, 25_655_607)),
)
"""Links to Thai and to other servers, and the part across servers, from Thai and other servers."""

UNFETCHED: Final = 19_953_318
"""Linked but unfetched URLs (3.1)."""

DOMAINS: Final = {
    "com": 0.563,
    "de": 0.079,
    "jp": 0.076,
    "org": 0.075,
    "net": 0.069,
    "th": 0.047,
}
"""Page shares of top-level domains (2.1)."""

TARGET: Final = "th"
"""Target language and its top-level domain."""

OTHER_DOMAINS: Final = {name: share for name, share in DOMAINS.items() if name != TARGET}
ENGLISH_IN_DOMAIN: Final = 108_149 / 263_777
ENGLISH_ELSEWHERE: Final = 7_971_458 / 16_357_579
"""Shares of English pages among irrelevant pages (Table 1)."""

_PAGES_BY_DISTANCE: Final = (
    *(3, 100, 2_500, 40_000, 300_000, 1_500_000, 5_000_000, 10_500_000),
    *(15_000_000, 17_300_000, 18_150_000, 18_344_127),
)

RELEVANT_BY_DISTANCE: Final = np.array(
    (1.0, 0.93, 0.80, 0.66, 0.52, 0.36, 0.22, 0.138, 0.109, 0.0975, 0.0944, 0.0939)
)
"""Share of relevant pages within 0, 1, 2, ... links from the seeds (Fig. 1)."""

HIDDEN_BY_DISTANCE: Final = np.array((0, 0, 0, 0.02, 0.05, 0.08, 0.1, *[0.105] * 5))
"""Share of hidden pages among relevant pages within 0, 1, 2, ... links.

Relevant pages lead to hidden pages only through irrelevant pages, so a hard focused crawl misses
them (Fig. 4).
"""

SINGLE_HIDDEN: Final = 0.5
"""Share of hidden pages on a server with relevant pages that are not hidden."""

REMOTE_ISLANDS: Final = 0.03
"""Share of the remaining hidden pages' servers without links from relevant pages."""

DETOUR_RATIO: Final = 0.3
"""Ratio of islands behind n + 1 pages to islands behind n pages: the slope of Fig. 2."""


def is_made_to(provenance: Mapping[str, object]) -> bool:
    """Return True for a graph generated to the paper's quantities, at any scale."""
    return provenance.get("source") == "generated" and "measures" in provenance


class WebMeasures:
    """The paper's counts (2.1, 2.3, Table 1) at a scale, and some unpublished counts.

    `page_links` are links from relevant pages, from other pages on relevant servers (near), and
    from pages on other servers (far): to relevant and to other pages, and the part across servers
    (Table 4). `server_links` are the same from relevant and other servers to relevant and other
    servers (Table 5). `pages_by_distance` are pages within 0, 1, 2, ... links of the seeds, which
    are home pages in the target language (Fig. 1).
    """

    def __init__(self, scale: float = 1.0) -> None:
        """Raise `SettingError` for a Web with fewer relevant servers than seeds."""

        def scaled(count: int) -> int:
            return max(round(count * scale), 1)

        self.scale = scale
        self.seeds = 3
        self.pages = scaled(18_344_127)
        self.vertices = scaled(39_078_795)
        self.links = scaled(123_836_342)
        self.servers = scaled(574_111)
        self.relevant_servers = scaled(26_671)
        self.relevant_pages = scaled(1_722_771)
        self.relevant_pages_in_domain = scaled(591_683)
        self.pages_in_domain = scaled(855_460)
        self.relevant_server_pages = scaled(3_022_771)  # in any language; unpublished
        self.unvisited_servers = scaled(290_000)  # seen in links only; unpublished
        self.linked_other_pages = scaled(
            620_000
        )  # irrelevant, linked from relevant pages; unpublished
        if self.relevant_servers < self.seeds:
            raise SettingError(
                f"a Web at scale {scale} has less than {self.seeds} servers to begin at"
            )
        self.page_links = _rows(TABLE_4, scale)
        self.server_links = _rows(TABLE_5, scale)
        within = [max(round(pages * scale), self.seeds) for pages in _PAGES_BY_DISTANCE]
        within[-1] = self.pages
        self.pages_by_distance = np.maximum.accumulate(within).tolist()


def _rows(table: Table, factor: float) -> Rows:
    return tuple(
        tuple(round(count * factor) for count in (*every, *outside)) for every, outside in table
    )


def link_plan(measures: WebMeasures) -> Counts:
    """Return the link counts from each page class to each link kind, (3, N_CELLS).

    Rows are relevant pages, other pages of relevant servers, and pages of other servers; columns
    are the cells of `crawler.simulate.growth`. The sum is `measures.links`.
    """
    relevant, near, far = measures.page_links
    of_near, of_far = measures.server_links
    plan = np.zeros((3, 9))
    # Within a server, and to relevant pages of other servers: Table 4, upper less lower rows.
    for row, cells in enumerate((relevant, near, far)):
        plan[row, 0], plan[row, 1] = cells[0] - cells[2], cells[1] - cells[3]
        plan[row, 3] = cells[2]
    # Across servers: Table 5, with Table 4's share of links to fetched pages.
    near_pages = sum(relevant[2:]) + sum(near[2:])
    near_known = min(near_pages / (of_near[2] + of_near[3]), 1.0)
    far_known = min((far[2] + far[3]) / (of_far[2] + of_far[3]), 1.0)
    other_near = near_known * of_near[2] - relevant[2] - near[2]
    other_far = near_known * of_near[3]
    part = relevant[3] / (relevant[3] + near[3])
    for row, share in ((0, part), (1, 1 - part)):
        plan[row, 4], plan[row, 5] = share * other_near, share * other_far
        plan[row, 6] = share * (1 - near_known) * of_near[2]
        plan[row, 7] = share * (1 - near_known) * of_near[3]
    plan[2, 4], plan[2, 5] = far_known * of_far[2] - far[2], far_known * of_far[3]
    plan[2, 6], plan[2, 7] = (1 - far_known) * of_far[2], (1 - far_known) * of_far[3]
    # Within a server, to unfetched URLs: the links in Table 5 only.
    own = plan[:2, :2].sum()
    more = of_near[0] + of_near[1] - of_near[2] - of_near[3] - own
    plan[:2, 2] = more * plan[:2, :2].sum(axis=1) / own
    plan[2, 2] = of_far[0] + of_far[1] - of_far[2] - of_far[3] - plan[2, :2].sum()
    # To servers without pages: the remaining links, in proportion to links across servers.
    between = plan[:, 3:8].sum(axis=1)
    plan[:, 8] = (measures.links - sum((*of_near[:2], *of_far[:2]))) * between / between.sum()
    return np.rint(np.maximum(plan, 0)).astype(np.int64)
