"""What greedy `focus` loses against a crawl that knows the Web, and whether exploration helps.

Crawls are simulated (`crawler.simulate`) on Webs of four kinds, several of each:

- `islands`: Webs with the measures of Tamura 2007 (`crawler.simulate.generate`), a tenth of whose
  relevant pages are linked from irrelevant pages only, some behind six of them;
- `honest`: servers that are mostly in the language, or mostly not;
- `deceptive`: half of the servers that begin in the language go on in another one;
- `farms`: irrelevant servers of a few registered domains under the top-level domain of the
  language, which link to each other and which relevant pages link to.

The strategies are `focus`, `focus` whose scores have an optimistic bound (`+C sd`: C standard
deviations of the log-odds are added) or are drawn (`Thompson`: from the normal distribution of the
log-odds), `focus` with filters of Tamura 2007, `soft` with and without such a filter, an `oracle`
that knows the language of each URL before the fetch and does not look ahead, and the `perfect`
crawl of Tamura 2007, 5.1, which follows the shortest paths to all relevant pages.

The figure is the number of relevant pages among the first pages, divided by the most possible: as
many as pages, or all relevant pages that the seeds lead to. Budgets are half of these, all, and
twice as many. The mean over Webs has a 95 % interval (Student's t), and so has the mean of the
differences from `focus` on the same Web. All servers of a kind but `islands` have URLs that tell
nothing. The declining tolerance is halved after each quarter of the relevant pages.

    python -m benchmarks.focus_exploration --webs 10 --scale 0.01 --json docs/focus/exploration.json
"""

import argparse
import math
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
from scipy.stats import t as student

from crawler.report.files import json_text, write_whole
from crawler.report.printer import WIDE, Printer
from crawler.report.provenance import provenance
from crawler.report.table import Table
from crawler.simulate.engine import Simulation, simulate
from crawler.simulate.figures import Yardstick
from crawler.simulate.focusing import GREEDY, Exploration, GraphEvidence
from crawler.simulate.generate import generate
from crawler.simulate.measures import WebMeasures
from crawler.simulate.webgraph import PAGE, WebGraph, packed
from crawler.strategies import make_filter

BUDGETS: Final = (0.5, 1.0, 2.0)
"""Pages of a crawl, as multiples of the relevant pages that the seeds lead to."""

MODULES: Final = ("benchmarks/focus_exploration.py", "crawler/simulate", "crawler/strategies")

_SERVERS: Final = 600
_SIZE: Final = 60
_DECEIVES_AFTER: Final = 6
_FARMS: Final = 4


@dataclass(frozen=True, slots=True)
class Case:
    """A strategy of the study; `explores` is that of `Simulation`."""

    name: str
    ordering: str
    filter: str = "none"
    explores: Exploration = GREEDY


CASES: Final = (
    Case("focus", "focus"),
    *(Case(f"focus +{c:g} sd", "focus", explores=Exploration(c)) for c in (0.5, 1.0, 2.0)),
    Case("focus Thompson", "focus", explores=Exploration(1.0, is_drawn=True)),
    Case("focus server-conservative T=10", "focus", "server-conservative"),
    Case("focus server-declining T=10", "focus", "server-declining"),
    Case("soft", "soft"),
    Case("soft server-conservative T=10", "soft", "server-conservative"),
    Case("oracle", "oracle"),
    Case("perfect", "perfect"),
)


# Webs of servers.


@dataclass(frozen=True, slots=True)
class Server:
    """A server: its name, its first page, and the share of relevant pages until and after a page.

    `is_farm` servers link to each other.
    """

    name: str
    first: int
    size: int
    early: float
    late: float
    is_farm: bool = False


def web_of_servers(kind: str, random_state: int) -> WebGraph:
    """Return a Web of servers with URLs, whose languages nothing but links and records tell."""
    chance = Random(f"{kind} {random_state}")
    servers = _servers(kind, chance)
    n = servers[-1].first + servers[-1].size
    language = np.ones(n, np.int16)
    urls, home = [], np.empty(n, np.int32)
    for number, server in enumerate(servers):
        for place in range(server.size):
            share = server.early if place < _DECEIVES_AFTER else server.late
            language[server.first + place] = 0 if chance.random() < share else 1
            urls.append(f"http://{server.name}/d{place // 20}/p{place}.html")
        home[server.first : server.first + server.size] = number
    targets = [_links(vertex, servers, home, language, chance) for vertex in range(n)]
    good = [s.first for s in servers if s.early > 0.5 and s.late > 0.5]
    return _graph(servers, home, language, urls, targets, chance.sample(good, 3))


def _servers(kind: str, chance: Random) -> list[Server]:
    servers: list[Server] = []
    first = 0
    for number in range(_SERVERS):
        draw, name, is_farm = chance.random(), f"www.s{number}.com", False
        early = late = 0.05 if draw < 0.7 else 0.95
        if kind == "deceptive" and draw >= 0.7 and chance.random() < 0.5:
            late = 0.02
        if kind == "farms" and draw < 0.35:
            name, is_farm = f"s{number}.farm{number % _FARMS}.co.th", True
            early = late = 0.0
        size = 1 + min(10 * _SIZE, int(_SIZE * chance.expovariate(1.0)))
        servers.append(Server(name, first, size, early, late, is_farm))
        first += size
    return servers


def _links(
    vertex: int,
    servers: Sequence[Server],
    home: np.ndarray[Any, np.dtype[np.int32]],
    language: np.ndarray[Any, np.dtype[np.int16]],
    chance: Random,
) -> list[int]:
    """The children of a page in the tree of its server, and pages of other servers."""
    server = servers[int(home[vertex])]
    place = vertex - server.first
    found = [
        server.first + child for child in range(3 * place + 1, 3 * place + 4) if child < server.size
    ]
    for _ in range(chance.choice((0, 1, 3))):
        other = servers[chance.randrange(len(servers))]
        wants_farm = server.is_farm and chance.random() < 0.9
        for _ in range(4):
            # Pages like to link to their own language, those of a farm to the farm.
            is_like = (other.early > 0.5) == (language[vertex] == 0)
            if other.is_farm if wants_farm else is_like or other.is_farm:
                break
            other = servers[chance.randrange(len(servers))]
        found.append(other.first + min(int(chance.expovariate(0.7)), other.size - 1))
    return list(dict.fromkeys(found))


def _graph(
    servers: Sequence[Server],
    home: np.ndarray[Any, np.dtype[np.int32]],
    language: np.ndarray[Any, np.dtype[np.int16]],
    urls: Sequence[str],
    targets: Sequence[Sequence[int]],
    seeds: Sequence[int],
) -> WebGraph:
    n = len(urls)
    url_start, url_bytes = packed(urls)
    directories = {url.rpartition("/")[0] for url in urls}
    number_of = {name: number for number, name in enumerate(sorted(directories))}
    return WebGraph(
        languages=("th", "en"),
        target="th",
        n_servers=len(servers),
        n_directories=len(number_of),
        page_server=home,
        page_directory=np.array([number_of[url.rpartition("/")[0]] for url in urls], np.int32),
        page_language=language,
        page_status=np.full(n, PAGE, np.int8),
        link_start=np.cumsum([0, *map(len, targets)], dtype=np.int64),
        link_target=np.array([t for some in targets for t in some], np.int32),
        seeds=np.array(seeds, np.int32),
        url_start=url_start,
        url_bytes=url_bytes,
    )


def webs(kind: str, number: int, scale: float) -> Iterator[WebGraph]:
    """Yield the Webs of a kind."""
    for state in range(number):
        if kind == "islands":
            yield generate(WebMeasures().scaled(scale), random_state=state)
        else:
            yield web_of_servers(kind, state)


KINDS: Final = ("islands", "honest", "deceptive", "farms")


# Figures.

Found = Mapping[str, Sequence[float]]
"""For each case the relevant pages after each budget, divided by the most possible."""


def crawl(graph: WebGraph) -> Found:
    """Crawl a Web with each strategy."""
    relevant = graph.relevant()
    reachable = Yardstick(graph).n_reached
    budgets = [max(1, round(share * reachable)) for share in BUDGETS]
    evidence = GraphEvidence.of(graph, graph.target)
    graph = replace(graph, scores={"oracle": relevant.astype(np.float32)})

    def found(case: Case) -> list[float]:
        rule = make_filter(case.filter, half_life=max(1, reachable // 4))
        simulation = Simulation(
            filter=rule,
            ordering=case.ordering,
            limit=budgets[-1],
            evidence=evidence,
            explores=case.explores,
        )
        told = np.cumsum(relevant[simulate(graph, simulation).order])
        return [
            float(told[min(budget, len(told)) - 1] / min(budget, reachable)) for budget in budgets
        ]

    return {case.name: found(case) for case in CASES}


def interval(values: Sequence[float]) -> str:
    """Return a mean and half of its 95 % interval."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return f"{mean:.3f}"
    half = student.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:.3f} ±{half:.3f}"


def tables(kind: str, found: Sequence[Found]) -> Iterator[Table]:
    """Yield the shares of the most possible, and the differences from `focus`."""
    heads = [f"{share:g} x relevant" for share in BUDGETS]
    places = range(len(BUDGETS))
    ratios = [
        [case.name, *(interval([one[case.name][at] for one in found]) for at in places)]
        for case in CASES
    ]
    title = f"Relevant pages, divided by the most possible: {len(found)} Webs, {kind}"
    yield Table(title, ["strategy", *heads], ratios)
    first = CASES[0].name
    differences = [
        [
            case.name,
            *(interval([one[case.name][at] - one[first][at] for one in found]) for at in places),
        ]
        for case in CASES[1:]
    ]
    yield Table(
        f"Differences from {first}: {len(found)} Webs, {kind}", ["strategy", *heads], differences
    )


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--webs", type=int, default=8, help="Webs of each kind")
    parser.add_argument("--scale", type=float, default=0.01, help="of the Webs with islands")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--json", type=Path, help="write the tables, for a document")
    arguments = parser.parse_args()
    printer, written = Printer(width=WIDE), []
    for kind in arguments.kinds.split(","):
        found = []
        for graph in webs(kind, arguments.webs, arguments.scale):
            begun = time.process_time()
            found.append(crawl(graph))
            print(kind, len(found), f"{time.process_time() - begun:.1f} s", file=sys.stderr)
        for name, table in zip(("ratios", "differences"), tables(kind, found), strict=True):
            printer.table(table)
            written.append(table.as_json(f"{kind}-{name}"))
    if arguments.json:
        measured = provenance(
            ["python", "-m", "benchmarks.focus_exploration", *sys.argv[1:]],
            [],
            date.today(),
            modules=MODULES,
        )
        write_whole(arguments.json, json_text({"measured": measured, "tables": written}))


if __name__ == "__main__":
    main()
