"""The measured quantities of a Web, and the links between its classes of pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np
import numpy.typing as npt

from crawler.errors import SettingError
from crawler.simulate import tamura_figures

Counts = npt.NDArray[np.int64]

Row = tuple[int, int, int, int]


def _rows(table: tamura_figures.Table) -> dict[str, Row]:
    """A table's rows by their class of pages; the last rows are those of the classes."""
    names = ("relevant", "near", "far")[-len(table) :]
    return {name: (*every, *outside) for name, (every, outside) in zip(names, table, strict=True)}


def _other_domains() -> dict[str, float]:
    return {name: share for name, share in tamura_figures.DOMAINS.items() if name != "th"}


@dataclass(frozen=True)
class WebMeasures:
    """The measured quantities of a Web; the defaults are those of Tamura 2007.

    Counts: `vertices` are URLs, `pages` those downloaded, from `servers`; `relevant_pages` of these
    are in the `target` language, on `relevant_servers`, `relevant_pages_in_domain` of them under
    `domain`, which has `pages_in_domain` (2.1, Table 1). `relevant_server_pages` are the pages of
    relevant servers in any language and `unvisited_servers` those known from links only: the paper
    tells neither. `english_in_domain` and `english_elsewhere` are shares of irrelevant pages.

    `page_links` is Table 4: for links of relevant pages, of other pages on relevant servers
    (`near`) and on other servers (`far`), how many lead to relevant and to other pages, and how
    many of each to other servers. `server_links` is Table 5: for links of relevant and of other
    servers, how many lead to relevant and to other servers, and how many of each leave their own.

    `pages_by_distance` is the cumulative number of pages within 0, 1, 2, ... links of the seeds and
    `relevant_by_distance` the share of relevant ones among these (Fig. 1); the last are `pages` and
    the share of all. `linked_other_pages` irrelevant pages are linked from relevant ones.
    `hidden_by_distance` is the share of hidden pages among the relevant ones within 0, 1, 2, ...
    links: relevant pages that relevant ones lead to only through others, which a hard focused crawl
    misses (Fig. 4). `single_hidden_pages` is the part of them whose server has relevant pages that
    are not hidden, and `remote_islands` the part of the other hidden pages' servers that no
    relevant page links to. `detour_ratio` is the ratio of islands behind one page
    more to those behind one less: how Fig. 2 falls. `seeds` are home pages in the target language.
    """

    target: str = "th"
    domain: str = "th"
    pages: int = tamura_figures.PAGES
    vertices: int = tamura_figures.VERTICES
    links: int = tamura_figures.LINKS
    servers: int = tamura_figures.SERVERS
    relevant_servers: int = tamura_figures.RELEVANT_SERVERS
    relevant_pages: int = 1_722_771
    relevant_pages_in_domain: int = 591_683
    pages_in_domain: int = 855_460
    relevant_server_pages: int = 3_022_771
    unvisited_servers: int = 290_000
    english_in_domain: float = 108_149 / 263_777
    english_elsewhere: float = 7_971_458 / 16_357_579
    other_domains: Mapping[str, float] = field(default_factory=_other_domains)
    page_links: Mapping[str, Row] = field(default_factory=lambda: _rows(tamura_figures.TABLE_4))
    server_links: Mapping[str, Row] = field(default_factory=lambda: _rows(tamura_figures.TABLE_5))
    pages_by_distance: tuple[int, ...] = (
        3,
        100,
        2_500,
        40_000,
        300_000,
        1_500_000,
        5_000_000,
        10_500_000,
        15_000_000,
        17_300_000,
        18_150_000,
        18_344_127,
    )
    relevant_by_distance: tuple[float, ...] = (
        1.0,
        0.93,
        0.80,
        0.66,
        0.52,
        0.36,
        0.22,
        0.138,
        0.109,
        0.0975,
        0.0944,
        0.0939,
    )
    linked_other_pages: int = 620_000
    hidden_by_distance: tuple[float, ...] = (
        0.0,
        0.0,
        0.0,
        0.02,
        0.05,
        0.08,
        0.1,
        0.105,
        0.105,
        0.105,
        0.105,
        0.105,
    )
    single_hidden_pages: float = 0.5
    remote_islands: float = 0.03
    detour_ratio: float = 0.3
    seeds: int = 3

    @property
    def hidden_pages(self) -> float:
        """The share of all relevant pages that are hidden."""
        return self.hidden_by_distance[-1]

    def scaled(self, factor: float) -> "WebMeasures":
        """Return the measures of a Web of the same kind with `factor` times its pages."""
        counts = {
            f.name: max(round(getattr(self, f.name) * factor), 1)
            for f in fields(self)
            if f.type is int
        }
        counts["seeds"] = self.seeds
        by_distance = [max(round(pages * factor), self.seeds) for pages in self.pages_by_distance]
        by_distance[-1] = counts["pages"]
        return replace(
            self,
            pages_by_distance=tuple(np.maximum.accumulate(by_distance).tolist()),
            page_links={k: _times(v, factor) for k, v in self.page_links.items()},
            server_links={k: _times(v, factor) for k, v in self.server_links.items()},
            **counts,
        )

    def check(self) -> None:
        """Raise `SettingError` where the measures contradict each other."""
        for smaller, larger in (
            ("pages", "vertices"),
            ("servers", "pages"),
            ("relevant_pages", "relevant_server_pages"),
            ("relevant_server_pages", "pages"),
            ("relevant_servers", "servers"),
            ("relevant_servers", "relevant_pages"),
            ("relevant_pages_in_domain", "relevant_pages"),
            ("relevant_pages_in_domain", "pages_in_domain"),
            ("seeds", "relevant_servers"),
        ):
            low, high = getattr(self, smaller), getattr(self, larger)
            if not 0 < low <= high:
                raise SettingError(f"{smaller} ({low}) is not between 1 and {larger} ({high})")
        distances = len(self.pages_by_distance)
        if distances != len(self.relevant_by_distance) or not 3 <= distances <= 20:
            raise SettingError("Fig. 1 needs the pages and the relevant share at 3 to 20 distances")
        if len(self.hidden_by_distance) != distances:
            raise SettingError(
                f"hidden_by_distance needs {distances} shares, one for each distance of Fig. 1"
            )
        if not all(0 <= share < 1 for share in self.hidden_by_distance):
            raise SettingError("hidden_by_distance has shares of at least 0 and below 1")
        if self.pages_by_distance[-1] != self.pages:
            raise SettingError(f"pages_by_distance does not end with pages ({self.pages})")
        link_plan(self)


def _times(counts: Row, factor: float) -> Row:
    a, b, c, d = (round(count * factor) for count in counts)
    return a, b, c, d


def link_plan(measures: WebMeasures) -> Counts:
    """Return how many links there are from each class of pages to each kind, (3, N_CELLS).

    Rows are relevant pages, others of their servers, and those of other servers; columns are the
    cells of `crawler.simulate.growth`. The sum is `measures.links`.
    """
    m = measures
    relevant, near, far = (m.page_links[name] for name in ("relevant", "near", "far"))
    of_near, of_far = m.server_links["near"], m.server_links["far"]
    plan = np.zeros((3, 9))
    # Within a server, and to relevant pages of others: Table 4, upper rows without lower ones.
    for row, cells in enumerate((relevant, near, far)):
        plan[row, 0], plan[row, 1] = cells[0] - cells[2], cells[1] - cells[3]
        plan[row, 3] = cells[2]
    # Between servers: of Table 5, the share that leads to fetched pages is that of Table 4.
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
    # Within a server, to URLs never fetched: the links that only Table 5 has.
    own = plan[:2, :2].sum()
    more = of_near[0] + of_near[1] - of_near[2] - of_near[3] - own
    plan[:2, 2] = more * plan[:2, :2].sum(axis=1) / own
    plan[2, 2] = of_far[0] + of_far[1] - of_far[2] - of_far[3] - plan[2, :2].sum()
    # To servers without pages: the links that are left, in proportion to links between servers.
    between = plan[:, 3:8].sum(axis=1)
    plan[:, 8] = (m.links - sum((*of_near[:2], *of_far[:2]))) * between / between.sum()
    if plan.min() < -1:
        raise SettingError("Tables 4 and 5 contradict each other: more links of a part than in all")
    return np.rint(np.maximum(plan, 0)).astype(np.int64)
