"""A Web generated to measured quantities: those of Tamura 2007, or of any Web like it.

How each quantity comes about:

- **Counts** (2.1, 3.1) of pages, vertices, servers and relevant pages are exact; links are
  within 1 %, since a page that has nothing new to link to has fewer.
- **Table 1**: servers are put under the target's top-level domain until its relevant and its other
  pages are there, so the shares miss by a part of one server.
- **Tables 4 and 5** make a plan of links: how many lead from relevant pages, from other pages of
  relevant servers and from pages of other servers to each kind of page, on the same server and on
  others. What the tables leave open (links to URLs that were never fetched are in Table 5 only)
  is divided in proportion. Pages get links of each kind in proportion to an activity of their own,
  lognormal, as far as their server has pages for them.
- **Fig. 1**: relevant and other pages get distances from the seeds in the shares that
  `pages_by_distance` and `relevant_by_distance` ask for; pages of one server tend to be equally
  far. Each page has a parent one step nearer, and no link skips a step.
- **Fig. 2 and the misses of Fig. 4**: some relevant pages, `hidden_pages`, are linked from
  irrelevant ones only: single ones on servers with relevant pages elsewhere, and islands, whole
  servers behind a row of irrelevant pages. How long the row is follows `detour_ratio`; how many
  irrelevant pages of an island are found before its first relevant one has a long tail, so that
  some islands outlast any tolerance. `remote_islands` of them are known from irrelevant servers
  only.
- **Harvest rate** (5.2): relevant pages link to `linked_other_pages` different irrelevant ones. It
  is what a hard focused crawl downloads beside relevant pages, 30 % of some two million.

The paper shows its figures as plots, not as numbers; the defaults for Figures 1 and 2 are curves
that agree with all that its text says of them. Sizes of servers are lognormal, which it does not
tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from crawler.errors import SettingError
from crawler.simulate.webgraph import PAGE, WebGraph

if TYPE_CHECKING:
    from crawler.simulate import growth

Counts = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

_TABLE_4: Final = {
    "relevant": (23_980_308, 9_428_677, 3_833_048, 6_421_570),
    "near": (1_542_513, 5_625_911, 791_862, 1_452_123),
    "far": (74_094, 48_137_407, 74_094, 24_731_356),
}
_TABLE_5: Final = {
    "near": (41_653_154, 6_013_026, 6_886_986, 6_013_026),
    "far": (286_429, 61_175_697, 286_429, 25_655_607),
}
_DOMAINS: Final = {"com": 0.563, "de": 0.079, "jp": 0.076, "org": 0.075, "net": 0.069}


@dataclass(frozen=True)
class WebMeasures:
    """What is known of a Web; the defaults are those of Tamura 2007.

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
    `hidden_pages` is the share of relevant pages that relevant ones lead to only through others
    (what a hard focused crawl misses, Fig. 4), `single_hidden_pages` the part of it whose server
    has relevant pages that are not hidden, and `remote_islands` the part of the other hidden pages'
    servers that no relevant page links to. `detour_ratio` is the ratio of islands behind one page
    more to those behind one less: how Fig. 2 falls. `seeds` are home pages in the target language.
    """

    target: str = "th"
    domain: str = "th"
    pages: int = 18_344_127
    vertices: int = 39_078_795
    links: int = 123_836_342
    servers: int = 574_111
    relevant_servers: int = 26_671
    relevant_pages: int = 1_722_771
    relevant_pages_in_domain: int = 591_683
    pages_in_domain: int = 855_460
    relevant_server_pages: int = 3_022_771
    unvisited_servers: int = 290_000
    english_in_domain: float = 108_149 / 263_777
    english_elsewhere: float = 7_971_458 / 16_357_579
    other_domains: Mapping[str, float] = field(default_factory=lambda: dict(_DOMAINS))
    page_links: Mapping[str, tuple[int, int, int, int]] = field(default_factory=_TABLE_4.copy)
    server_links: Mapping[str, tuple[int, int, int, int]] = field(default_factory=_TABLE_5.copy)
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
    hidden_pages: float = 0.105
    single_hidden_pages: float = 0.5
    remote_islands: float = 0.03
    detour_ratio: float = 0.3
    seeds: int = 3

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
        if self.pages_by_distance[-1] != self.pages:
            raise SettingError(f"pages_by_distance does not end with pages ({self.pages})")
        link_plan(self)


def _times(counts: tuple[int, int, int, int], factor: float) -> tuple[int, int, int, int]:
    a, b, c, d = (round(count * factor) for count in counts)
    return a, b, c, d


def generate(measures: WebMeasures | None = None, *, random_state: int = 0) -> WebGraph:
    """Return a Web with these measures, None: those of Tamura 2007.

    The same measures and `random_state` give the same Web. At full scale it takes a minute or two
    and three gigabytes, a third of which the graph keeps. Raises `SettingError` for measures that
    contradict each other.
    """
    measures = measures or WebMeasures()
    measures.check()
    return _Generator(measures, random_state).graph()


class _Generator:
    """The steps from measures to a graph."""

    def __init__(self, measures: WebMeasures, random_state: int) -> None:
        from crawler.simulate import growth

        self._growth = growth
        self._measures = measures
        self._random_state = random_state
        self._rng = np.random.default_rng(random_state)
        self._chance = self._rng.integers(0, 1 << 63, 1, dtype=np.uint64)

    def graph(self) -> WebGraph:
        """Make a graph."""
        self._make_servers()
        depth = self._depths()
        pools = self._pools(depth)
        parent = np.empty(len(self._home), np.int32)
        self._growth.find_parents(self._servers, depth, pools, self._chance, parent)
        child_start, child, own = self._children(parent)
        number = self._numbers(depth, parent, child_start, own)
        del parent, own
        return self._linked(depth, pools, child_start, child, number)

    # Servers.

    def _make_servers(self) -> None:
        m, rng, growth = self._measures, self._rng, self._growth
        relevant, near, is_in_domain = self._relevant_servers()
        n_near, n_far = m.relevant_servers, m.servers - m.relevant_servers
        far = _sizes(rng, n_far, m.pages - m.relevant_server_pages, 1.8, least=1)
        kind = np.full(m.servers, growth.OTHER, np.uint8)
        kind[:n_near] = growth.OPEN
        chain, thickness = np.zeros(m.servers, np.int32), np.zeros(m.servers, np.int32)
        self._make_islands(relevant, near, kind, chain, thickness)
        warmth = rng.standard_normal(m.servers).astype(np.float32)
        self._seed_servers = _largest_open(relevant, kind[:n_near] == growth.OPEN, m.seeds)
        warmth[self._seed_servers] = -5.0
        sizes = np.zeros((m.servers, 4), np.int64)
        sizes[:n_near, growth.LINKED], sizes[:n_near, growth.BACK] = relevant, near
        sizes[n_near:, growth.BACK] = far
        self._divide(sizes, kind)
        start = np.zeros((m.servers, 5), np.int32)
        start[:, 1:] = np.cumsum(sizes.reshape(-1)).reshape(-1, 4)
        start[1:, 0] = start[:-1, 4]
        self._servers = growth.GrownServers(start, kind, warmth, chain, thickness)
        self._home = np.repeat(np.arange(m.servers, dtype=np.int32), start[:, 4] - start[:, 0])
        self._is_in_domain = np.zeros(m.servers, np.bool_)
        self._is_in_domain[:n_near] = is_in_domain
        in_domain = m.pages_in_domain - m.relevant_pages_in_domain - int(near[is_in_domain].sum())
        chosen = rng.permutation(n_far)
        self._is_in_domain[n_near + chosen[np.cumsum(far[chosen]) <= in_domain]] = True

    def _relevant_servers(self) -> tuple[Counts, Counts, npt.NDArray[np.bool_]]:
        """Relevant and other pages of each relevant server, and whether it is in the domain."""
        m, rng = self._measures, self._rng
        relevant = _sizes(rng, m.relevant_servers, m.relevant_pages, 1.9, least=1)
        chosen = rng.permutation(m.relevant_servers)
        is_in_domain = np.zeros(m.relevant_servers, np.bool_)
        is_in_domain[chosen[np.cumsum(relevant[chosen]) <= m.relevant_pages_in_domain]] = True
        # Most of the domain's other pages are on servers that have relevant ones, not all.
        others = m.relevant_server_pages - m.relevant_pages
        in_domain = min(0.9 * (m.pages_in_domain - m.relevant_pages_in_domain), 0.6 * others)
        weight: Doubles = relevant.astype(np.float64) * np.exp(
            0.8 * rng.standard_normal(m.relevant_servers)
        )
        near = np.zeros(m.relevant_servers, np.int64)
        near[is_in_domain] = _shared(weight[is_in_domain], round(in_domain))
        near[~is_in_domain] = _shared(weight[~is_in_domain], others - int(near.sum()))
        return relevant, near, is_in_domain

    def _make_islands(
        self,
        relevant: Counts,
        near: Counts,
        kind: npt.NDArray[np.uint8],
        chain: npt.NDArray[np.int32],
        thickness: npt.NDArray[np.int32],
    ) -> None:
        m, rng, growth = self._measures, self._rng, self._growth
        wanted = m.hidden_pages * (1 - m.single_hidden_pages) * m.relevant_pages
        large = np.quantile(relevant, 0.99)
        chosen = rng.permutation(m.relevant_servers)
        chosen = chosen[(near[chosen] > 0) & (relevant[chosen] <= max(large, 3))]
        chosen = chosen[np.cumsum(relevant[chosen]) <= wanted]
        steps = rng.geometric(1 - m.detour_ratio, len(chosen))
        # Pareto: one island in seven has more than ten pages before the first relevant one.
        beside = np.floor((1 - rng.random(len(chosen))) ** (-1 / 0.8) - 1)
        steps = np.where(beside > 2, np.maximum(steps, 2), steps)
        steps = np.minimum(np.minimum(steps, near[chosen]), 9)
        chain[chosen] = steps
        thickness[chosen] = np.minimum(beside, near[chosen])
        is_remote = rng.random(len(chosen)) < m.remote_islands
        kind[chosen] = np.where(is_remote, growth.REMOTE, growth.ISLAND)

    def _divide(self, sizes: Counts, kind: npt.NDArray[np.uint8]) -> None:
        """Divide each server's pages into segments, by who links to them."""
        m, rng, growth = self._measures, self._rng, self._growth
        linked, shy, front, back = sizes.T
        is_open, is_other = kind == growth.OPEN, kind == growth.OTHER
        single = m.hidden_pages * m.single_hidden_pages
        # One is left, or the server would be an island.
        shy[:] = np.minimum(
            np.where(is_open & (back > 0), _rounded(rng, single * linked), 0), linked - 1
        )
        shy[is_other] = 0
        linked -= shy
        n_near = min(0.55 * m.linked_other_pages, 0.5 * float(back[is_open].sum()))
        share = n_near / max(float(back[is_open].sum()), 1.0)
        front[is_open] = _rounded(rng, share * back[is_open])
        front[~is_open & ~is_other] = 1
        # One server in seven without relevant pages is known to relevant ones, by some pages.
        is_known = is_other & (rng.random(len(kind)) < 0.15)
        part = rng.beta(0.6, 1.4, len(kind)) * is_known * back**0.7
        part *= max(m.linked_other_pages - float(front.sum()), 0.0) / max(float(part.sum()), 1.0)
        known = np.maximum(_rounded(rng, part[is_known]), 1)
        front[is_known] = np.minimum(known, back[is_known])
        back -= front

    # Pages.

    def _depths(self) -> npt.NDArray[np.uint8]:
        growth, servers = self._growth, self._servers
        places = np.empty(len(self._home), np.float32)
        growth.draw_places(servers, 0.5, self._chance, places)
        relevant, near, far = self._bounds(places)
        depth = np.empty(len(places), np.uint8)
        growth.settle_depths(servers, places, relevant, near, far, depth)
        self._seeds = servers.start[self._seed_servers, growth.LINKED]
        depth[self._seeds] = 0
        return depth

    def _bounds(self, places: npt.NDArray[np.float32]) -> list[npt.NDArray[np.float32]]:
        """Places between the distances, for relevant, near and far pages."""
        m, growth, start = self._measures, self._growth, self._servers.start
        within = np.array(m.pages_by_distance, np.float64)
        relevant = np.minimum(within * m.relevant_by_distance, within)
        relevant *= m.relevant_pages / relevant[-1]
        others = within - relevant
        n_near = m.relevant_server_pages - m.relevant_pages
        # Other pages of relevant servers are a little farther away than relevant ones.
        near = n_near / 2 * (relevant + np.append(0, relevant[:-1])) / relevant[-1]
        near *= n_near / max(near[-1], 1.0)
        near = np.maximum.accumulate(np.minimum(near, 0.7 * others))
        near[-1] = n_near
        far = np.maximum.accumulate(others - near)
        end = start[m.relevant_servers, 0] if m.relevant_servers < m.servers else len(places)
        is_relevant = np.zeros(end, np.bool_)
        changes = np.zeros(end + 1, np.int8)
        np.add.at(changes, start[: m.relevant_servers, growth.LINKED], 1)
        np.add.at(changes, start[: m.relevant_servers, growth.FRONT], -1)
        is_relevant[:] = np.cumsum(changes[:-1], dtype=np.int8) > 0
        parts = (places[:end][is_relevant], places[:end][~is_relevant], places[end:])
        return [
            _quantiles(part, counts[1:])
            for part, counts in zip(parts, (relevant, near, far), strict=True)
        ]

    def _pools(self, depth: npt.NDArray[np.uint8]) -> "growth.Pools":
        from crawler.simulate import growth

        known = 1 << growth.OPEN | 1 << growth.ISLAND
        found: list[npt.NDArray[Any]] = []
        for kinds, first, end in (
            (1 << growth.OPEN, growth.LINKED, growth.SHY),
            (known, growth.FRONT, growth.BACK),
            (1 << growth.OPEN, growth.FRONT, 4),
            (1 << growth.OTHER, growth.FRONT, growth.BACK),
            (1 << growth.OTHER, growth.FRONT, 4),
        ):
            starts = np.zeros(growth.MAX_DEPTH + 2, np.int64)
            pages = growth.pool(self._servers, kinds, first, end, depth, starts)
            # Near the seeds all the same, those of one depth in no order of servers.
            found += [pages, starts]
            for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
                self._rng.shuffle(pages[low:high])
        return growth.Pools(*found)

    # Links.

    def _children(
        self, parent: npt.NDArray[np.int32]
    ) -> tuple[Counts, npt.NDArray[np.int32], Counts]:
        """Where the children of each page begin, the children, and how many are on its server."""
        growth, n = self._growth, len(parent)
        start = np.zeros(n + 1, np.int64)
        child, own = np.empty(n, np.int32), np.zeros(n, np.int64)
        end = growth.list_children(parent, self._home, start, child, own)
        return start, child[:end], own

    def _numbers(
        self,
        depth: npt.NDArray[np.uint8],
        parent: npt.NDArray[np.int32],
        child_start: Counts,
        own: Counts,
    ) -> npt.NDArray[np.uint8]:
        """How many links of each kind each page has beside those to its children."""
        growth, n = self._growth, len(parent)
        tree = np.zeros((3, growth.N_CELLS), np.int64)
        growth.count_tree(self._servers, self._home, parent, tree)
        wanted = np.maximum(link_plan(self._measures) - tree, 0)
        row = np.empty(n, np.uint8)
        growth.classify(self._servers, row)
        activity = self._rng.standard_normal(n, np.float32)
        np.exp(activity - np.float32(0.5), out=activity)
        np.minimum(activity, np.float32(30), out=activity)
        rooms = np.empty((2, n), np.float32)
        growth.count_room(self._servers, depth, child_start, own, rooms[0], rooms[1])
        number = np.empty((growth.N_CELLS, n), np.uint8)
        for cell in range(growth.N_CELLS):
            is_capped = cell in (growth.INTRA_RELEVANT, growth.INTRA_OTHER)
            room = rooms[cell] if is_capped else rooms[0]
            factors = self._factors(activity, room, row, wanted[:, cell], is_capped=is_capped)
            growth.give_links(activity, room, row, factors, is_capped, self._chance, number[cell])
        return number

    def _factors(
        self,
        activity: npt.NDArray[np.float32],
        room: npt.NDArray[np.float32],
        row: npt.NDArray[np.uint8],
        wanted: Counts,
        *,
        is_capped: bool,
    ) -> npt.NDArray[np.float64]:
        """Links for each unit of activity, for each class of pages, so that they sum up."""
        factors = wanted / np.maximum(np.bincount(row, activity, 3), 1.0)
        for of in range(3):
            rounds = 8 if is_capped and wanted[of] else 0
            for _ in range(rounds):
                total = self._growth.sum_capped(activity, room, row, of, factors[of])
                if not total or total > 0.999 * wanted[of]:
                    break
                factors[of] *= min(wanted[of] / total, 3.0)
        return np.asarray(factors, np.float64)

    def _unfetched(self, number: npt.NDArray[np.uint8]) -> "growth.Unfetched":
        """URLs that were never fetched, as many on each server as its links to them call for."""
        from crawler.simulate import growth

        m = self._measures
        n_pages, n_urls = len(self._home), m.vertices - m.pages
        start = self._servers.start
        before = np.append(0, np.cumsum(number[growth.INTRA_UNKNOWN], dtype=np.int64))
        links = before[start[:, 4]] - before[start[:, 0]]
        n_nowhere = int(number[growth.NOWHERE].sum(dtype=np.int64))
        share = n_urls / max(float(links.sum() + n_nowhere), 1.0)
        of_servers = np.floor(links * min(share, 1.0)).astype(np.int32)
        base = np.append(0, np.cumsum(of_servers)).astype(np.int32)
        return growth.Unfetched(
            of_servers,
            base,
            np.zeros(len(of_servers) + 1, np.int32),
            int(n_pages + base[-1]),
            int(n_urls - base[-1]),
        )

    # The graph.

    def _linked(
        self,
        depth: npt.NDArray[np.uint8],
        pools: "growth.Pools",
        child_start: Counts,
        child: npt.NDArray[np.int32],
        number: npt.NDArray[np.uint8],
    ) -> WebGraph:
        m, growth, servers = self._measures, self._growth, self._servers
        urls = self._unfetched(number)
        room = len(child) + int(sum(int(cell.sum(dtype=np.int64)) for cell in number))
        link_start = np.empty(m.vertices + 1, np.int64)
        target = np.empty(room, np.int32)
        end = growth.link(
            servers,
            self._home,
            depth,
            child_start,
            child,
            number,
            pools,
            urls,
            self._chance,
            link_start,
            target,
        )
        del number, child, child_start, depth, pools
        directories = self._directories(urls)
        domains, server_domain = self._domains()
        return WebGraph(
            languages=self._languages,
            target=m.target,
            n_servers=len(server_domain),
            n_directories=int(directories[0]),
            page_server=self._page_server(urls),
            page_directory=directories[1],
            page_language=self._page_language(urls),
            page_status=self._page_status(urls),
            link_start=link_start,
            link_target=target[:end],
            seeds=(self._seeds + urls.base[self._seed_servers]).astype(np.int32),
            server_domain=server_domain,
            domains=domains,
            provenance={
                "source": "generated",
                "random_state": self._random_state,
                "measures": _plain(m),
            },
        )

    @property
    def _languages(self) -> tuple[str, ...]:
        target = self._measures.target
        return (target, "en" if target != "en" else "fr", "und")

    def _page_server(self, urls: "growth.Unfetched") -> npt.NDArray[np.int32]:
        m, start = self._measures, self._servers.start
        sizes = start[:, 4] - start[:, 0] + urls.number
        servers = np.arange(m.servers, dtype=np.int32)
        nowhere = np.arange(urls.n_nowhere, dtype=np.int64) * m.unvisited_servers
        nowhere //= max(urls.n_nowhere, 1)
        return np.concatenate([np.repeat(servers, sizes), nowhere.astype(np.int32) + m.servers])

    def _page_status(self, urls: "growth.Unfetched") -> npt.NDArray[np.int8]:
        status = np.zeros(self._measures.vertices, np.int8)
        status[np.arange(len(self._home), dtype=np.int32) + urls.base[self._home]] = PAGE
        return status

    def _page_language(self, urls: "growth.Unfetched") -> npt.NDArray[np.int16]:
        m, growth = self._measures, self._growth
        english = self._english_servers()
        pages = np.arange(len(self._home), dtype=np.int32)
        row = np.empty(len(pages), np.uint8)
        growth.classify(self._servers, row)
        is_english = english[self._home]
        near = row == 1
        share = np.where(self._is_in_domain, m.english_in_domain, m.english_elsewhere)
        is_english[near] = self._rng.random(int(near.sum())) < share[self._home[near]]
        language = np.where(row == 0, 0, np.where(is_english, 1, 2)).astype(np.int16)
        of_vertices = np.full(m.vertices, -1, np.int16)
        of_vertices[pages + urls.base[self._home]] = language
        return of_vertices

    def _english_servers(self) -> npt.NDArray[np.bool_]:
        """Servers without relevant pages whose pages are in the second language."""
        m, start = self._measures, self._servers.start
        sizes = (start[:, 4] - start[:, 0]).astype(np.int64)
        is_english = np.zeros(m.servers, np.bool_)
        far = np.arange(m.relevant_servers, m.servers)
        for is_in_domain, share in ((True, m.english_in_domain), (False, m.english_elsewhere)):
            some = self._rng.permutation(far[self._is_in_domain[far] == is_in_domain])
            within = np.cumsum(sizes[some]) <= share * sizes[some].sum()
            is_english[some[within]] = True
        return is_english

    def _domains(self) -> tuple[tuple[str, ...], npt.NDArray[np.int16]]:
        """Top-level domains in the shares of pages that are given, and those of servers."""
        m, start = self._measures, self._servers.start
        others = {name: share for name, share in m.other_domains.items() if name != m.domain}
        names = (m.domain, *others, "other")
        domain = np.full(m.servers + m.unvisited_servers, len(names) - 1, np.int16)
        domain[: m.servers][self._is_in_domain] = 0
        rest = self._rng.permutation(np.flatnonzero(~self._is_in_domain))
        sizes = np.cumsum((start[rest, 4] - start[rest, 0]).astype(np.int64))
        bounds = np.cumsum(list(others.values())) * m.pages
        domain[rest] = 1 + np.searchsorted(bounds, sizes)
        shares = np.cumsum([m.pages_in_domain / m.pages, *others.values()])
        domain[m.servers :] = np.searchsorted(shares, self._rng.random(m.unvisited_servers))
        return names, domain

    def _directories(self, urls: "growth.Unfetched") -> tuple[int, npt.NDArray[np.int32]]:
        """The number of directories, and those of vertices; a large server has many."""
        m, start = self._measures, self._servers.start
        sizes = start[:, 4] - start[:, 0]
        number = np.floor(0.5 * np.sqrt(sizes)).astype(np.int64)
        base = np.append(0, np.cumsum(number)).astype(np.int32)
        directory = np.full(m.vertices, -1, np.int32)
        self._growth.place_directories(self._servers, urls, self._chance, base, directory)
        return int(base[-1]), directory


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
    # Within a server, to URLs never fetched: what Table 5 has more than Table 4.
    own = plan[:2, :2].sum()
    more = of_near[0] + of_near[1] - of_near[2] - of_near[3] - own
    plan[:2, 2] = more * plan[:2, :2].sum(axis=1) / own
    plan[2, 2] = of_far[0] + of_far[1] - of_far[2] - of_far[3] - plan[2, :2].sum()
    # To servers without pages: what Table 5 leaves, in proportion to links between servers.
    between = plan[:, 3:8].sum(axis=1)
    plan[:, 8] = (m.links - sum((*of_near[:2], *of_far[:2]))) * between / between.sum()
    if plan.min() < -1:
        raise SettingError("Tables 4 and 5 contradict each other: more links of a part than in all")
    return np.rint(np.maximum(plan, 0)).astype(np.int64)


def _sizes(
    rng: np.random.Generator, number: int, total: int, sigma: float, *, least: int
) -> Counts:
    """Lognormal sizes with a given sum; none is more than one part in fifty of it."""
    if number == 0:
        return np.zeros(0, np.int64)
    weight = np.exp(sigma * rng.standard_normal(number))
    np.minimum(weight, max(weight.sum() / 50, weight.mean()), out=weight)
    return least + _shared(weight, total - least * number)


def _shared(weight: Doubles, total: int) -> Counts:
    """Whole numbers in proportion to weights, with a given sum."""
    if not len(weight):
        return np.zeros(0, np.int64)
    bounds = np.rint(np.cumsum(weight) * (total / weight.sum()))
    bounds[-1] = total
    whole: Counts = np.diff(bounds, prepend=0).astype(np.int64)
    return whole


def _rounded(rng: np.random.Generator, numbers: npt.NDArray[np.float64]) -> Counts:
    """Whole numbers next to these, up or down by chance."""
    return np.floor(numbers + rng.random(len(numbers))).astype(np.int64)


def _largest_open(relevant: Counts, is_open: npt.NDArray[np.bool_], number: int) -> Counts:
    """The servers with the most relevant pages among those that are no islands."""
    return np.argsort(np.where(is_open, -relevant, 0), kind="stable")[:number].astype(np.int64)


def _quantiles(
    places: npt.NDArray[np.float32], cumulative: npt.NDArray[np.float64]
) -> npt.NDArray[np.float32]:
    """Bounds between places so that as many are below each as are asked for, in proportion."""
    if not len(places) or cumulative[-1] <= 0:
        return np.zeros(0, np.float32)
    ordered = np.sort(places)
    at = np.rint(cumulative[:-1] / cumulative[-1] * len(ordered)).astype(np.int64)
    below = np.concatenate([[np.float32(-np.inf)], ordered])
    bounds: npt.NDArray[np.float32] = below[np.minimum(at, len(ordered))].astype(np.float32)
    return bounds


def _plain(measures: WebMeasures) -> dict[str, object]:
    """The measures as they are written down with a graph."""
    return {
        f.name: dict(value) if isinstance(value := getattr(measures, f.name), Mapping) else value
        for f in fields(measures)
    }
