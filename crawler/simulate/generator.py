"""A Web generated to the measured quantities of Tamura 2007.

Sources of the quantities:

- **Counts** (2.1, 3.1) of pages, vertices, servers and relevant pages are exact; links are within 1
  %, since a page without a new link target has fewer.
- **Table 1**: servers are added to the target's top-level domain up to its counts of relevant and
  other pages, so the shares miss by part of a server.
- **Tables 4 and 5** define a link plan: link counts from relevant pages, other pages of relevant
  servers and pages of other servers to each page kind, on the same server and across servers. The
  rest (links to unfetched URLs are only in Table 5) is divided in proportion. Pages get links of
  each kind in proportion to a lognormal page activity, as far as their server has target pages.
- **Fig. 1**: relevant and other pages get distances from the seeds in the shares of
  `pages_by_distance` and `RELEVANT_BY_DISTANCE`; distances within a server are correlated. A page's
  parent is a step nearer, and no link skips a step.
- **Fig. 2 and the misses of Fig. 4**: hidden relevant pages are linked only from irrelevant pages:
  single pages on servers with other relevant pages, and islands, whole servers behind a chain of
  irrelevant pages. Hidden pages have, within each distance from the seeds, the share of
  `HIDDEN_BY_DISTANCE`; the chain starts its own length before the first hidden page. Chain length
  follows `DETOUR_RATIO`; the number of an island's irrelevant pages before its first relevant page
  has a long tail, so that some islands outlast any tolerance. `REMOTE_ISLANDS` of the islands are
  linked from irrelevant servers only.
- **Harvest rate** (5.2): relevant pages link to `linked_other_pages` different irrelevant pages. A
  hard focused crawl downloads these beside relevant pages, 30 % of some two million.

The paper's figures are plots without numbers. The curves for Figures 1, 2 and 4 agree with its
text. Server sizes are lognormal, unlike in the paper, without a stated distribution.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from langfocus.crawler.simulate import growth as g
from langfocus.crawler.simulate import measures as paper
from langfocus.crawler.simulate.measures import Counts, WebMeasures, link_plan
from langfocus.crawler.simulate.webgraph import PAGE, WebGraph

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

_CLOSENESS: Final = 0.5
"""Correlation between the distances of a server's pages."""
_MOST_LINKS: Final = 255
_ROOM: Final = np.float32(0.8)


def generate(measures: WebMeasures, *, random_state: int = 0) -> WebGraph:
    """Return a Web with these measures.

    Equal measures and `random_state` give an equal Web. Full scale needs a minute or two and three
    gigabytes, a third of which the graph keeps.
    """
    return _Generator(measures, random_state).graph()


class _Generator:
    """The steps from measures to a graph."""

    def __init__(self, measures: WebMeasures, random_state: int) -> None:
        self._measures, self._random_state = measures, random_state
        self._rng = np.random.default_rng(random_state)
        self._chance = self._rng.integers(0, 1 << 63, 1, dtype=np.uint64)

    def graph(self) -> WebGraph:
        """Return the generated graph."""
        self._make_servers()
        web = self._web(self._depths())
        parent = np.empty(len(self._home), np.int32)
        g.find_parents(web, self._chance, parent)
        order = np.argsort(parent, kind="stable").astype(np.int32)
        child = order[np.count_nonzero(parent < 0) :]
        n_children = np.bincount(parent[child], minlength=len(parent))
        child_start = np.concatenate(([0], np.cumsum(n_children)))
        number = self._numbers(web, parent, child)
        del order, parent, n_children
        urls = self._unfetched(number)
        room = len(child) + sum(int(cell.sum(dtype=np.int64)) for cell in number)
        link_start = np.empty(self._measures.vertices + 1, np.int64)
        target = np.empty(room, np.int32)
        end = g.link(web, urls, child_start, child, number, link_start, target, self._chance)
        del child_start, child, number
        return self._finished(web, urls, link_start, target[:end])

    # Servers.

    def _make_servers(self) -> None:
        m, rng = self._measures, self._rng
        relevant, near, is_in_domain = self._relevant_servers()
        n_near, n_far = m.relevant_servers, m.servers - m.relevant_servers
        far = _sizes(rng, n_far, m.pages - m.relevant_server_pages, 1.8)
        self._kind = np.repeat(np.array([g.OPEN, g.OTHER], np.uint8), (n_near, n_far))
        self._make_islands(relevant, near)
        self._warmth = rng.standard_normal(m.servers).astype(np.float32)
        # Seeds are on the servers with the most relevant pages, island servers last.
        largest = np.where(self._kind[:n_near] == g.OPEN, -relevant, 0)
        self._seed_servers = np.argsort(largest, kind="stable")[: m.seeds]
        self._warmth[self._seed_servers] = -5.0
        sizes = np.zeros((m.servers, 4), np.int64)
        sizes[:n_near, g.LINKED], sizes[:n_near, g.BACK] = relevant, near
        sizes[n_near:, g.BACK] = far
        self._divide(sizes)
        self._start = np.zeros((m.servers, 5), np.int32)
        self._start[:, 1:] = np.cumsum(sizes.reshape(-1)).reshape(-1, 4)
        self._start[1:, 0] = self._start[:-1, 4]
        self._sizes = sizes.sum(axis=1)
        self._home = np.repeat(np.arange(m.servers, dtype=np.int32), self._sizes)
        in_domain = m.pages_in_domain - m.relevant_pages_in_domain - int(near[is_in_domain].sum())
        chosen = rng.permutation(n_far)
        self._is_in_domain = np.append(is_in_domain, np.zeros(n_far, np.bool_))
        self._is_in_domain[n_near + chosen[np.cumsum(far[chosen]) <= in_domain]] = True
        # Place of each page after its server's relevant pages; negative for relevant pages.
        past = np.arange(m.pages, dtype=np.int32) - self._start[self._home, g.FRONT]
        self._past = past
        of_kind = self._kind[self._home]
        self._row = np.where(past < 0, 0, np.where(of_kind == g.OTHER, 2, 1)).astype(np.uint8)
        """Page class: relevant; irrelevant, on a relevant server; irrelevant elsewhere."""

    def _relevant_servers(self) -> tuple[Counts, Counts, Mask]:
        """Return relevant and other pages per relevant server, and a mask of domain servers."""
        m, rng = self._measures, self._rng
        relevant = _sizes(rng, m.relevant_servers, m.relevant_pages, 1.9)
        chosen = rng.permutation(m.relevant_servers)
        is_in_domain = np.zeros(m.relevant_servers, np.bool_)
        is_in_domain[chosen[np.cumsum(relevant[chosen]) <= m.relevant_pages_in_domain]] = True
        # Most, not all, of the domain's other pages are on relevant servers.
        others = m.relevant_server_pages - m.relevant_pages
        in_domain = min(0.9 * (m.pages_in_domain - m.relevant_pages_in_domain), 0.6 * others)
        weight: Doubles = relevant.astype(np.float64)
        weight *= np.exp(0.8 * rng.standard_normal(m.relevant_servers))
        near = np.zeros(m.relevant_servers, np.int64)
        near[is_in_domain] = _shared(weight[is_in_domain], round(in_domain))
        near[~is_in_domain] = _shared(weight[~is_in_domain], others - int(near.sum()))
        return relevant, near, is_in_domain

    def _make_islands(self, relevant: Counts, near: Counts) -> None:
        """Turn servers into islands: a chain of `_chain` pages leads to the first relevant page.

        `_reach` pages of the server are in the chain, or beside its last page.
        """
        m, rng = self._measures, self._rng
        wanted = paper.HIDDEN_BY_DISTANCE[-1] * (1 - paper.SINGLE_HIDDEN) * m.relevant_pages
        large = np.quantile(relevant, 0.99)
        chosen = rng.permutation(m.relevant_servers)
        chosen = chosen[(near[chosen] > 0) & (relevant[chosen] <= max(large, 3))]
        chosen = chosen[np.cumsum(relevant[chosen]) <= wanted]
        steps = rng.geometric(1 - paper.DETOUR_RATIO, len(chosen))
        # Pareto: one island in seven has more than ten pages before its first relevant page.
        beside = np.floor((1 - rng.random(len(chosen))) ** (-1 / 0.8) - 1)
        steps = np.where(beside > 2, np.maximum(steps, 2), steps)
        steps = np.minimum(np.minimum(steps, near[chosen]), 9)
        self._chain, self._reach = np.zeros((2, m.servers), np.int64)
        self._chain[chosen] = steps
        self._reach[chosen] = np.minimum(steps + np.minimum(beside, near[chosen]), near[chosen])
        is_remote = rng.random(len(chosen)) < paper.REMOTE_ISLANDS
        self._kind[chosen] = np.where(is_remote, g.REMOTE, g.ISLAND)

    def _divide(self, sizes: Counts) -> None:
        """Divide each server's pages into segments by link source."""
        m, rng, kind = self._measures, self._rng, self._kind
        linked, shy, front, back = sizes.T
        is_open, is_other = kind == g.OPEN, kind == g.OTHER
        single = paper.HIDDEN_BY_DISTANCE[-1] * paper.SINGLE_HIDDEN
        # At least one linked relevant page remains, or the server would be an island.
        hidden = np.where(is_open & (back > 0), _rounded(rng, single * linked), 0)
        shy[:] = np.where(is_other, 0, np.minimum(hidden, linked - 1))
        linked -= shy
        n_open = float(back[is_open].sum())
        n_near = min(0.55 * m.linked_other_pages, 0.5 * n_open)
        front[is_open] = _rounded(rng, n_near / max(n_open, 1.0) * back[is_open])
        front[~is_open & ~is_other] = 1
        # Relevant pages link to some pages of one irrelevant server in seven.
        is_known = is_other & (rng.random(len(kind)) < 0.15)
        part = rng.beta(0.6, 1.4, len(kind)) * is_known * back**0.7
        part *= max(m.linked_other_pages - float(front.sum()), 0.0) / max(float(part.sum()), 1.0)
        known = np.maximum(_rounded(rng, part[is_known]), 1)
        front[is_known] = np.minimum(known, back[is_known])
        back -= front

    # Pages.

    def _depths(self) -> Bytes:
        """Return the depth per page, rising within a segment."""
        past, home, start = self._past, self._home, self._start
        normal = np.empty(len(home), np.float64)
        g.draw_normals(self._chance, normal)
        normal *= (1.0 - _CLOSENESS) ** 0.5
        normal += _CLOSENESS**0.5 * self._warmth[home].astype(np.float64)
        places = normal.astype(np.float32)
        is_island = np.isin(self._kind, (g.ISLAND, g.REMOTE))
        is_hidden = (past < 0) & (is_island[home] | (np.arange(len(home)) >= start[home, g.SHY]))
        is_chain = (past >= 0) & (past < self._reach[home])
        relevant, near, far = self._by_distance()
        hidden = np.maximum.accumulate(relevant * paper.HIDDEN_BY_DISTANCE)
        linked = np.maximum.accumulate(relevant - hidden)
        depth = np.zeros(len(home), np.uint8)
        for some, cumulative in (((past < 0) & ~is_hidden, linked), (is_hidden, hidden)):
            self._place(places, some, cumulative, depth)
        # Chains precede the relevant pages of islands, which keep their depth if possible.
        self._sort(depth, past < 0)
        for server in np.flatnonzero(is_island):
            first, _, front, _, _ = start[server].tolist()
            chain, reach = int(self._chain[server]), int(self._reach[server])
            entry = min(max(int(depth[first]) - chain, 2), g.MAX_DEPTH - 1 - chain)
            before = entry + chain - 1
            depth[front : front + reach] = np.minimum(entry + np.arange(reach), before)
            g.close_gaps(depth, first, front, before)
        # Other pages fill the places that chains leave free.
        free = near - np.cumsum(np.bincount(depth[is_chain], minlength=len(near)))[: len(near)]
        near = np.maximum.accumulate(np.maximum(free, 0))
        self._place(places, (self._row == 1) & ~is_chain, near, depth)
        self._place(places, self._row == 2, far, depth)
        # Sorted together: relevant pages link to the pages nearest to the seeds.
        self._sort(depth, (past >= 0) & ~is_chain)
        for server in np.flatnonzero(is_island):
            first, end = int(start[server, g.FRONT] + self._reach[server]), int(start[server, 4])
            g.close_gaps(depth, first, end, int(depth[first - 1]))
        self._seeds = start[self._seed_servers, g.LINKED]
        depth[self._seeds] = 0
        return depth

    @staticmethod
    def _place(places: Floats, some: Mask, cumulative: Doubles, depth: Bytes) -> None:
        """Set some pages' depths, from 1 on, in the shares of `cumulative[1:]`."""
        own, cumulative = places[some], cumulative[1:]
        if not len(own) or cumulative[-1] <= 0:
            depth[some] = 1
            return
        at = np.rint(cumulative[:-1] / cumulative[-1] * len(own)).astype(np.int64)
        below = np.concatenate([[np.float32(-np.inf)], np.sort(own)])
        bounds = below[np.minimum(at, len(own))]
        depth[some] = 1 + np.searchsorted(bounds, own)

    def _sort(self, depth: Bytes, some: Mask) -> None:
        """Sort some pages' depths per server, and relevant pages' depths per segment."""
        pages = np.flatnonzero(some)
        home = self._home[pages]
        is_shy = (pages >= self._start[home, g.SHY]) & (self._past[pages] < 0)
        keys = (2 * home.astype(np.int64) + is_shy) << 8 | depth[pages]
        keys.sort()
        depth[pages] = keys & 255

    def _by_distance(self) -> tuple[Doubles, Doubles, Doubles]:
        """Return relevant, near and far pages within 0, 1, 2, ... links of the seeds."""
        m = self._measures
        within = np.array(m.pages_by_distance, np.float64)
        relevant = np.minimum(within * paper.RELEVANT_BY_DISTANCE, within)
        relevant *= m.relevant_pages / relevant[-1]
        others = within - relevant
        n_near = m.relevant_server_pages - m.relevant_pages
        # Other pages of relevant servers are slightly farther away than relevant pages.
        near = n_near / 2 * (relevant + np.append(0, relevant[:-1])) / relevant[-1]
        near *= n_near / max(near[-1], 1.0)
        near = np.maximum.accumulate(np.minimum(near, 0.7 * others))
        near[-1] = n_near
        return relevant, near, np.maximum.accumulate(others - near)

    def _web(self, depth: Bytes) -> Any:
        """Return the pages and their pools; within a depth, a pool has no server order."""
        kind, row = self._kind[self._home], self._row
        place = np.arange(len(self._home), dtype=np.int32)
        is_front = (row > 0) & (place < self._start[self._home, g.BACK])
        is_linked = (kind == g.OPEN) & (place < self._start[self._home, g.SHY])
        pools: list[npt.NDArray[Any]] = []
        for some in (
            is_linked,
            is_front & ((kind == g.OPEN) | (kind == g.ISLAND)),
            (kind == g.OPEN) & (row > 0),
            is_front & (kind == g.OTHER),
            kind == g.OTHER,
        ):
            pages = np.flatnonzero(some).astype(np.int32)
            pages = pages[np.argsort(depth[pages], kind="stable")]
            starts = np.searchsorted(depth[pages], np.arange(g.MAX_DEPTH + 2))
            for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
                self._rng.shuffle(pages[low:high])
            pools += [pages, starts]
        return g.GrownWeb(self._start, self._kind, self._home, depth, *pools)

    # Links.

    def _numbers(self, web: Any, parent: Ints, child: Ints) -> Bytes:
        """Return the links per kind and page, links to children excluded, (N_CELLS, n)."""
        n, row, home = len(parent), self._row, self._home
        parent = parent[child]
        is_own = home[parent] == home[child]
        kind = np.where(is_own, np.minimum(row[child], 1), row[child] + np.uint8(3))
        tree = np.bincount(g.N_CELLS * row[parent].astype(np.int32) + kind, minlength=27)
        wanted = np.maximum(link_plan(self._measures) - tree.reshape(3, -1), 0)
        activity = self._rng.standard_normal(n, np.float32)
        np.exp(activity - np.float32(0.5), out=activity)
        np.minimum(activity, np.float32(30), out=activity)
        rooms = self._rooms(web.depth, np.bincount(parent[is_own], minlength=n))
        number = np.empty((g.N_CELLS, n), np.uint8)
        drawn = np.empty(n, np.float64)
        for cell in range(g.N_CELLS):
            room = rooms[cell] if cell in (g.INTRA_RELEVANT, g.INTRA_OTHER) else None
            links = self._shares(activity, room, wanted[:, cell])
            g.draw_units(self._chance, drawn)
            links += drawn
            number[cell] = np.minimum(links, _MOST_LINKS)
        return number

    def _rooms(self, depth: Bytes, own: Counts) -> Floats:
        """Return the free link targets per page: relevant and other pages of its server.

        `own` (n,) are the page's children there. Returns (2, n).
        """
        home, is_other = self._home, self._row > 0
        bounds = self._start[:, :4].reshape(-1)
        segments = np.repeat(np.arange(len(bounds)), np.diff(bounds, append=len(home)))
        keys = segments << 8 | depth
        del segments

        def up_to(segment: int) -> Counts:
            """Pages in a segment of the page's server, at most a step farther than the page."""
            ends = (4 * home.astype(np.int64) + segment) << 8 | (depth + np.uint8(1))
            return np.asarray(np.searchsorted(keys, ends, "right") - self._start[home, segment])

        linked = up_to(0) + np.where(is_other, up_to(1), -1)
        front = up_to(2) + np.where(is_other, up_to(3), 0)
        left = 1.0 - own / np.maximum(linked + front, 1)
        return np.array(
            [np.maximum(pages * left, 0.0) * np.float64(_ROOM) for pages in (linked, front)],
            np.float32,
        )

    def _shares(self, activity: Floats, room: Floats | None, wanted: Counts) -> Doubles:
        """Return links per page in proportion to its activity, with the wanted sum per class.

        `room` is the maximum per page; None: unlimited.
        """
        factors = wanted / np.maximum(np.bincount(self._row, activity, 3), 1.0)
        if room is None:
            return np.asarray(factors[self._row] * activity)
        for of in np.flatnonzero(wanted):
            own = self._row == of
            some, most = activity[own].astype(np.float64), room[own]
            for _ in range(8):
                total = float(np.minimum(factors[of] * some, most).sum())
                if not total or total > 0.999 * wanted[of]:
                    break
                factors[of] *= min(wanted[of] / total, 3.0)
        return np.asarray(np.minimum(factors[self._row] * activity, room))

    def _unfetched(self, number: Bytes) -> Any:
        """Return unfetched URLs, as many per server as its incoming links require."""
        m = self._measures
        n_urls = m.vertices - m.pages
        own = np.append(0, np.cumsum(number[g.INTRA_UNKNOWN], dtype=np.int64))
        links = own[self._start[:, 4]] - own[self._start[:, 0]]
        n_nowhere = int(number[g.NOWHERE].sum(dtype=np.int64))
        share = n_urls / max(float(links.sum() + n_nowhere), 1.0)
        of_servers = np.floor(links * min(share, 1.0)).astype(np.int32)
        base = np.append(0, np.cumsum(of_servers)).astype(np.int32)
        of_all = np.append(of_servers, n_urls - base[-1]).astype(np.int32)
        return g.Unfetched(of_all, base, np.zeros_like(of_all), int(m.pages + base[-1]))

    # The graph.

    def _finished(self, web: Any, urls: Any, link_start: Counts, link_target: Ints) -> WebGraph:
        m, rng = self._measures, self._rng
        # A large server has many directories.
        n_directories = np.floor(0.5 * np.sqrt(self._sizes)).astype(np.int64)
        base = np.append(0, np.cumsum(n_directories)).astype(np.int32)
        directory = np.full(m.vertices, -1, np.int32)
        g.place_directories(web, urls, self._chance, base, directory)
        domains, server_domain = self._domains(rng)
        n_nowhere = int(urls.number[-1])
        nowhere = np.arange(n_nowhere, dtype=np.int64) * m.unvisited_servers // max(n_nowhere, 1)
        server = np.repeat(np.arange(m.servers, dtype=np.int32), self._sizes + urls.number[:-1])
        vertex = np.arange(m.pages, dtype=np.int32) + urls.base[self._home]
        status, language = np.zeros(m.vertices, np.int8), np.full(m.vertices, -1, np.int16)
        status[vertex], language[vertex] = PAGE, self._languages(rng)
        return WebGraph(
            languages=(paper.TARGET, "en", "und"),
            target=paper.TARGET,
            n_servers=len(server_domain),
            n_directories=int(base[-1]),
            page_server=np.concatenate([server, nowhere.astype(np.int32) + m.servers]),
            page_directory=directory,
            page_language=language,
            page_status=status,
            link_start=link_start,
            link_target=link_target,
            seeds=(self._seeds + urls.base[self._seed_servers]).astype(np.int32),
            server_domain=server_domain,
            domains=domains,
            provenance={
                "source": "generated",
                "measures": "Tamura 2007",
                "scale": m.scale,
                "random_state": self._random_state,
            },
        )

    def _languages(self, rng: np.random.Generator) -> npt.NDArray[np.int16]:
        """Return the language per page: target, English, other."""
        m = self._measures
        # Servers without relevant pages are in one language.
        english = np.zeros(m.servers, np.bool_)
        far = np.arange(m.relevant_servers, m.servers)
        share = np.where(self._is_in_domain, paper.ENGLISH_IN_DOMAIN, paper.ENGLISH_ELSEWHERE)
        for is_in_domain in (True, False):
            some = rng.permutation(far[self._is_in_domain[far] == is_in_domain])
            within = np.cumsum(self._sizes[some]) <= share[some] * self._sizes[some].sum()
            english[some[within]] = True
        is_english, near = english[self._home], self._row == 1
        is_english[near] = rng.random(int(near.sum())) < share[self._home[near]]
        return np.where(self._row == 0, 0, np.where(is_english, 1, 2)).astype(np.int16)

    def _domains(self, rng: np.random.Generator) -> tuple[tuple[str, ...], npt.NDArray[np.int16]]:
        """Return top-level domains in the configured page shares, and the servers' domains."""
        m, shares = self._measures, list(paper.OTHER_DOMAINS.values())
        names = (paper.TARGET, *paper.OTHER_DOMAINS, "other")
        domain = np.full(m.servers + m.unvisited_servers, len(names) - 1, np.int16)
        domain[: m.servers][self._is_in_domain] = 0
        rest = rng.permutation(np.flatnonzero(~self._is_in_domain))
        domain[rest] = 1 + np.searchsorted(
            np.cumsum(shares) * m.pages, np.cumsum(self._sizes[rest])
        )
        unvisited = np.cumsum([m.pages_in_domain / m.pages, *shares])
        domain[m.servers :] = np.searchsorted(unvisited, rng.random(m.unvisited_servers))
        return names, domain


def _sizes(rng: np.random.Generator, number: int, total: int, sigma: float) -> Counts:
    """Return lognormal sizes from 1 to a fiftieth of their fixed sum."""
    weight = np.exp(sigma * rng.standard_normal(number))
    np.minimum(weight, max(weight.sum() / 50, weight.mean()), out=weight)
    return 1 + _shared(weight, total - number)


def _shared(weight: Doubles, total: int) -> Counts:
    """Return integers in proportion to weights, with a fixed sum."""
    if not len(weight):
        return np.zeros(0, np.int64)
    bounds = np.rint(np.cumsum(weight) * (total / weight.sum()))
    bounds[-1] = total
    return np.asarray(np.diff(bounds, prepend=0), np.int64)


def _rounded(rng: np.random.Generator, numbers: Doubles) -> Counts:
    """Return the numbers rounded up or down at random."""
    return np.floor(numbers + rng.random(len(numbers))).astype(np.int64)
