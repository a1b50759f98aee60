"""The steps from measures to a generated graph."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from crawler.simulate import depths, growth, layout, linknumbers, parents
from crawler.simulate.measures import Counts, WebMeasures, link_plan
from crawler.simulate.webgraph import PAGE, WebGraph

Doubles = npt.NDArray[np.float64]


class Generator:
    """The steps from measures to a graph."""

    def __init__(self, measures: WebMeasures, random_state: int) -> None:
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
        web = parents.OrphanWeb(self._servers, depth, pools)
        parents.find_parents(web, self._chance, parent)
        child_start, child, own = self._children(parent)
        number = self._numbers(depth, parent, child_start, own)
        del parent, own
        pages = growth.TreePages(self._home, depth, child_start, child, number)
        return self._linked(pages, pools)

    # Servers.

    def _make_servers(self) -> None:
        m, rng = self._measures, self._rng
        relevant, near, is_in_domain = self._relevant_servers()
        n_near, n_far = m.relevant_servers, m.servers - m.relevant_servers
        far = _sizes(rng, n_far, m.pages - m.relevant_server_pages, 1.8, least=1)
        kind = np.full(m.servers, layout.OTHER, np.uint8)
        kind[:n_near] = layout.OPEN
        chain, thickness = np.zeros(m.servers, np.int32), np.zeros(m.servers, np.int32)
        self._make_islands(relevant, near, kind, chain, thickness)
        warmth = rng.standard_normal(m.servers).astype(np.float32)
        self._seed_servers = _largest_open(relevant, kind[:n_near] == layout.OPEN, m.seeds)
        warmth[self._seed_servers] = -5.0
        sizes = np.zeros((m.servers, 4), np.int64)
        sizes[:n_near, layout.LINKED], sizes[:n_near, layout.BACK] = relevant, near
        sizes[n_near:, layout.BACK] = far
        self._divide(sizes, kind)
        start = np.zeros((m.servers, 5), np.int32)
        start[:, 1:] = np.cumsum(sizes.reshape(-1)).reshape(-1, 4)
        start[1:, 0] = start[:-1, 4]
        self._servers = layout.GrownServers(start, kind, warmth, chain, thickness)
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
        m, rng = self._measures, self._rng
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
        kind[chosen] = np.where(is_remote, layout.REMOTE, layout.ISLAND)

    def _divide(self, sizes: Counts, kind: npt.NDArray[np.uint8]) -> None:
        """Divide each server's pages into segments, by who links to them."""
        m, rng = self._measures, self._rng
        linked, shy, front, back = sizes.T
        is_open, is_other = kind == layout.OPEN, kind == layout.OTHER
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
        servers = self._servers
        places = np.empty(len(self._home), np.float32)
        depths.draw_places(servers, 0.5, self._chance, places)
        relevant, near, far = self._by_distance()
        depth = np.empty(len(places), np.uint8)
        bounds = self._relevant_bounds(places, relevant)
        placed = depths.settle_relevant(servers, places, *bounds, depth)
        # Chains have their places already; the other pages take those that are left.
        free = near - np.cumsum(placed)[: len(near)]
        bounds = self._other_bounds(places, np.maximum.accumulate(np.maximum(free, 0)), far)
        depths.settle_others(servers, places, *bounds, depth)
        self._seeds = servers.start[self._seed_servers, layout.LINKED]
        depth[self._seeds] = 0
        return depth

    def _relevant_bounds(
        self, places: npt.NDArray[np.float32], relevant: Doubles
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Places between the distances, for relevant pages that are not hidden and for hidden."""
        start, front = self._servers.start, self._servers.start[:, layout.FRONT]
        is_island = np.isin(self._servers.kind, (layout.ISLAND, layout.REMOTE))
        first = np.where(is_island, start[:, layout.LINKED], start[:, layout.SHY])
        linked = places[self._within(start[:, layout.LINKED], first)]
        hidden = np.maximum.accumulate(relevant * self._measures.hidden_by_distance)
        return (
            _quantiles(linked, np.maximum.accumulate(relevant - hidden)[1:]),
            _quantiles(places[self._within(first, front)], hidden[1:]),
        )

    def _other_bounds(
        self, places: npt.NDArray[np.float32], near: Doubles, far: Doubles
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Places between the distances, for irrelevant pages of relevant servers and of others."""
        servers = self._servers
        end = servers.start[:, 4]
        chained = servers.start[:, layout.FRONT] + servers.chain + servers.thickness
        is_near = self._within(np.minimum(chained, end), end)
        n_near = self._measures.relevant_servers
        first_far = servers.start[n_near, 0] if n_near < len(end) else len(places)
        return _quantiles(places[is_near], near[1:]), _quantiles(places[first_far:], far[1:])

    def _within(
        self, first: npt.NDArray[np.int32], end: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int64]:
        """The pages of relevant servers from `first` (S,) to before `end` (S,)."""
        n_near = self._measures.relevant_servers
        sizes = (end - first)[:n_near].astype(np.int64)
        begun = np.repeat(first[:n_near] - np.cumsum(sizes) + sizes, sizes)
        return np.asarray(begun + np.arange(len(begun)))

    def _by_distance(self) -> tuple[Doubles, Doubles, Doubles]:
        """Relevant, near and far pages within 0, 1, 2, ... links of the seeds."""
        m = self._measures
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
        return relevant, near, np.maximum.accumulate(others - near)

    def _pools(self, depth: npt.NDArray[np.uint8]) -> layout.Pools:
        known = 1 << layout.OPEN | 1 << layout.ISLAND
        found: list[npt.NDArray[Any]] = []
        for kinds, first, end in (
            (1 << layout.OPEN, layout.LINKED, layout.SHY),
            (known, layout.FRONT, layout.BACK),
            (1 << layout.OPEN, layout.FRONT, 4),
            (1 << layout.OTHER, layout.FRONT, layout.BACK),
            (1 << layout.OTHER, layout.FRONT, 4),
        ):
            starts = np.zeros(layout.MAX_DEPTH + 2, np.int64)
            pages = depths.pool(self._servers, kinds, first, end, depth, starts)
            # Near the seeds all the same, those of one depth in no order of servers.
            found += [pages, starts]
            for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
                self._rng.shuffle(pages[low:high])
        return layout.Pools(*found)

    # Links.

    def _children(
        self, parent: npt.NDArray[np.int32]
    ) -> tuple[Counts, npt.NDArray[np.int32], Counts]:
        """Where the children of each page begin, the children, and how many are on its server."""
        n = len(parent)
        start = np.zeros(n + 1, np.int64)
        child, own = np.empty(n, np.int32), np.zeros(n, np.int64)
        end = parents.list_children(parent, self._home, start, child, own)
        return start, child[:end], own

    def _numbers(
        self,
        depth: npt.NDArray[np.uint8],
        parent: npt.NDArray[np.int32],
        child_start: Counts,
        own: Counts,
    ) -> npt.NDArray[np.uint8]:
        """How many links of each kind each page has beside those to its children."""
        n = len(parent)
        tree = np.zeros((3, layout.N_CELLS), np.int64)
        linknumbers.count_tree(self._servers, self._home, parent, tree)
        wanted = np.maximum(link_plan(self._measures) - tree, 0)
        row = np.empty(n, np.uint8)
        linknumbers.classify(self._servers, row)
        activity = self._rng.standard_normal(n, np.float32)
        np.exp(activity - np.float32(0.5), out=activity)
        np.minimum(activity, np.float32(30), out=activity)
        rooms = np.empty((2, n), np.float32)
        linknumbers.count_room(self._servers, depth, child_start, own, rooms[0], rooms[1])
        number = np.empty((layout.N_CELLS, n), np.uint8)
        for cell in range(layout.N_CELLS):
            is_capped = cell in (layout.INTRA_RELEVANT, layout.INTRA_OTHER)
            room = rooms[cell] if is_capped else rooms[0]
            factors = self._factors(activity, room, row, wanted[:, cell], is_capped=is_capped)
            caps = room if is_capped else np.full(1, np.inf, np.float32)
            linknumbers.give_links(activity, caps, row, factors, self._chance, number[cell])
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
                total = linknumbers.sum_capped(activity, room, row, of, factors[of])
                if not total or total > 0.999 * wanted[of]:
                    break
                factors[of] *= min(wanted[of] / total, 3.0)
        return np.asarray(factors, np.float64)

    def _unfetched(self, number: npt.NDArray[np.uint8]) -> growth.Unfetched:
        """URLs that were never fetched, as many on each server as its links to them call for."""
        m = self._measures
        n_pages, n_urls = len(self._home), m.vertices - m.pages
        start = self._servers.start
        before = np.append(0, np.cumsum(number[layout.INTRA_UNKNOWN], dtype=np.int64))
        links = before[start[:, 4]] - before[start[:, 0]]
        n_nowhere = int(number[layout.NOWHERE].sum(dtype=np.int64))
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

    def _linked(self, pages: growth.TreePages, pools: layout.Pools) -> WebGraph:
        m = self._measures
        urls = self._unfetched(pages.number)
        link_start, link_target = self._links(pages, pools, urls)
        del pages, pools
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
            link_target=link_target,
            seeds=(self._seeds + urls.base[self._seed_servers]).astype(np.int32),
            server_domain=server_domain,
            domains=domains,
            provenance={
                "source": "generated",
                "random_state": self._random_state,
                "measures": _plain(m),
            },
        )

    def _links(
        self, pages: growth.TreePages, pools: layout.Pools, urls: growth.Unfetched
    ) -> tuple[Counts, npt.NDArray[np.int32]]:
        """The columns `link_start` and `link_target`."""
        room = len(pages.child) + sum(int(cell.sum(dtype=np.int64)) for cell in pages.number)
        start = np.empty(self._measures.vertices + 1, np.int64)
        target = np.empty(room, np.int32)
        links = growth.WrittenLinks(start, target)
        web = growth.GrownWeb(self._servers, pages, pools, urls)
        end = growth.link(web, links, self._chance)
        return start, target[:end]

    @property
    def _languages(self) -> tuple[str, ...]:
        target = self._measures.target
        return (target, "en" if target != "en" else "fr", "und")

    def _page_server(self, urls: growth.Unfetched) -> npt.NDArray[np.int32]:
        m, start = self._measures, self._servers.start
        sizes = start[:, 4] - start[:, 0] + urls.number
        servers = np.arange(m.servers, dtype=np.int32)
        nowhere = np.arange(urls.n_nowhere, dtype=np.int64) * m.unvisited_servers
        nowhere //= max(urls.n_nowhere, 1)
        return np.concatenate([np.repeat(servers, sizes), nowhere.astype(np.int32) + m.servers])

    def _page_status(self, urls: growth.Unfetched) -> npt.NDArray[np.int8]:
        status = np.zeros(self._measures.vertices, np.int8)
        status[np.arange(len(self._home), dtype=np.int32) + urls.base[self._home]] = PAGE
        return status

    def _page_language(self, urls: growth.Unfetched) -> npt.NDArray[np.int16]:
        m = self._measures
        english = self._english_servers()
        pages = np.arange(len(self._home), dtype=np.int32)
        row = np.empty(len(pages), np.uint8)
        linknumbers.classify(self._servers, row)
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

    def _directories(self, urls: growth.Unfetched) -> tuple[int, npt.NDArray[np.int32]]:
        """The number of directories, and those of vertices; a large server has many."""
        m, start = self._measures, self._servers.start
        sizes = start[:, 4] - start[:, 0]
        number = np.floor(0.5 * np.sqrt(sizes)).astype(np.int64)
        base = np.append(0, np.cumsum(number)).astype(np.int32)
        directory = np.full(m.vertices, -1, np.int32)
        growth.place_directories(self._servers, urls, self._chance, base, directory)
        return int(base[-1]), directory


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
