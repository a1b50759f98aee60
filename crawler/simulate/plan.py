"""The plan of simulations: the arguments of a crawl on a graph, and the combinations of them.

Importing it is cheap: it knows nothing of the compiled code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from langfocus.classifiers import languages
from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.urls.model import UrlModel
from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.rules import queue_slots
from langfocus.crawler.simulate.webgraph import WebGraph
from langfocus.crawler.strategies import ORDERINGS as OF_CRAWLS
from langfocus.crawler.strategies.filters import FILTERS, PAPER_FILTERS, Filter, make_filter

ORDERINGS: Final = ("bfs", "soft", "random", "cctld", "focus", "perfect")
"""Orderings that every graph has (`cctld`: every graph that knows its servers' domains); beside
them stand the names in `WebGraph.scores`."""

DECLINING: Final = "server-declining"
"""The filter `server-conservative` with a tolerance that declines as the crawl proceeds.

Tamura 2007, 5.2, proposes it and gives no schedule. Only a simulation has it.
"""

HALF_LIFE: Final = 100_000
"""The default number of downloads after which a declining tolerance is halved."""

ARGUMENTS: Final = {
    "lang": "language to look for (default: the one that the graph was made for)",
    "strategies": "which queued URL is fetched next, of bfs, soft, random, cctld, focus, perfect, "
    "and svm where the graph has URLs (default: soft)",
    "filters": f"which links enter the queue, of {', '.join((*FILTERS, DECLINING))} "
    "(default: none)",
    "tolerances": "T, for the filters that know irrelevant servers (default: 5,10,20)",
    "half_life": "downloads after which the tolerance of server-declining is halved, each time "
    f"(default: {HALF_LIFE})",
    "host_cap": "URLs of one host that are ever fetched, 0 for any number (default: 0)",
    "shards": "queues of one crawl, by registered domain, as with LANGFOCUS_SHARDS; the best "
    "URLs of two that are drawn are compared (default: 1)",
    "rest": "fetches of other hosts between two of one host, of the queued URLs that allow it: "
    "pages a second times the delay (default: 0, no host rests)",
    "pages": "end each crawl after this many pages (default: when nothing is queued)",
    "random_state": "another number, other draws of random and cctld (default: 0)",
}
"""Arguments of a simulation (-a NAME=VALUE) and their meaning; lists have commas."""


@dataclass(frozen=True)
class Simulation:
    """The arguments of a simulated crawl.

    `ordering` is one of `ORDERINGS` or a name in `WebGraph.scores`. With `perfect`, links are
    followed only on a shortest path from the seeds to a page in the target language, for every
    filter (Tamura 2007, 5.1); of several shortest paths, on one through relevant pages if there is
    one. Directories are those of the graph, for every `filter.directory_depth`. `half_life`: a unit
    that a smaller tolerance makes irrelevant gets no new links at once, and loses its queued URLs
    with its next irrelevant page.
    """

    filter: Filter
    ordering: str
    target: str | None = None  # None: the graph's own
    host_cap: int = 0  # 0: any number of URLs of a host
    host_queue: int = 0  # as in a crawl
    half_life: int = 0  # downloads after which the tolerance is halved, each time; 0: it stays
    random_state: int = 0  # counts for `random`, `cctld` and shards only
    limit: int | None = None  # pages; None: the crawl ends when nothing is left
    shards: int = 1  # queues of the crawl; the registered domain decides
    choices: int = 2  # shards that are drawn, 1 or 2; the better of their best URLs is next
    rest: int = 0  # fetches between two of a host, if others are ready; 0: no host rests

    @property
    def filter_name(self) -> str:
        """The name of the filter among the arguments."""
        return DECLINING if self.half_life else self.filter.name

    @property
    def tolerance(self) -> int | None:
        """T, None where the filter has none."""
        return self.filter.tolerance if self.filter.uses_relevance else None

    @property
    def name(self) -> str:
        """A short name, such as `soft server T=10`."""
        parts = [self.ordering]
        if self.filter_name != "none":
            parts.append(self.filter_name)
        if self.tolerance is not None:
            parts.append(f"T={self.tolerance}")
        if self.half_life:
            parts.append(f"half-life {self.half_life}")
        if self.shards > 1:
            parts.append(f"S={self.shards}")
        return " ".join(parts)


def make_plan(given: Mapping[str, str], graph: WebGraph) -> list[Simulation]:
    """Return the simulations that arguments ask for: all combinations that differ.

    With neither strategies nor filters they are those of Tamura 2007, 5.1, and those orderings of
    `langfocus compare` for which the graph has what they need. Raises `SettingError` for arguments
    that no simulation of the graph can use and `GraphError` for a language that none of its pages
    is in.
    """
    for name in given:
        if name not in ARGUMENTS:
            raise SettingError(f"-a {name}: no such argument; there are {', '.join(ARGUMENTS)}")
    lang = language_in(graph, given.get("lang"), "-a lang")
    pairs = _pairs(given, _orderings(graph, lang))
    host_cap, random_state = _number(given, "host_cap"), _number(given, "random_state")
    limit, rest = _number(given, "pages") or None, _number(given, "rest")
    shards = _numbers(given, "shards", "1", least=1)
    tolerances = _numbers(given, "tolerances", "5,10,20")
    half_lives = _numbers(given, "half_life", str(HALF_LIFE), least=1)
    found = []
    for (ordering, name), number in product(pairs, shards):
        is_declining = name == DECLINING
        rule = make_filter("server-conservative" if is_declining else name)
        found += [
            Simulation(
                replace(rule, tolerance=tolerance),
                ordering,
                lang,
                host_cap,
                queue_slots(host_cap),
                half_life,
                random_state,
                limit,
                shards=number,
                rest=rest,
            )
            for tolerance in (tolerances if rule.uses_relevance else tolerances[:1])
            for half_life in (half_lives if is_declining else [0])
        ]
    return list(dict.fromkeys(found))


def _orderings(graph: WebGraph, lang: str) -> list[str]:
    """Return the orderings that a graph has the data for."""
    known = [*ORDERINGS]
    if graph.server_domain is None:
        known.remove("cctld")
    if "svm" in graph.scores or (graph.has_urls and lang in UrlModel.load(None).languages):
        known.insert(known.index("focus"), "svm")
    return known


def _pairs(given: Mapping[str, str], known: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of a strategy and a filter, in their order."""
    if "strategies" not in given and "filters" not in given:
        with_filters = [("soft", name) for name in PAPER_FILTERS]
        pairs = [(name, "none") for name in known if name != "soft"]
        return [pairs[0], *with_filters, *pairs[1:]]
    strategies = _listed(given, "strategies", "soft", known)
    filters = _listed(given, "filters", "none", (*FILTERS, DECLINING))
    # The perfect strategy knows its pages beforehand, so no filter changes them.
    return [
        (strategy, "none" if strategy == "perfect" else name)
        for strategy, name in product(strategies, filters)
    ]


def prepared(graph: WebGraph, plan: Sequence[Simulation]) -> WebGraph:
    """Return the graph with the scores of the URL model, if a simulation needs them."""
    if "svm" in graph.scores or not any(each.ordering == "svm" for each in plan):
        return graph
    model, scores = UrlModel.load(None), np.empty(graph.n_vertices, np.float32)
    target = plan[0].target or graph.target
    for first, urls in graph.urls():
        scores[first : first + len(urls)] = model.score(urls, target)
    return replace(graph, scores={"svm": scores})


def language_in(graph: WebGraph, tag: str | None, option: str) -> str:
    """Return the code of a language of a graph, None: its target; `option` is named in errors.

    Raises `SettingError` where it is no language, `GraphError` for one that no page is in.
    """
    if tag is None or tag in graph.languages:
        return graph.target if tag is None else tag
    try:
        code = languages.parse_language(tag)
    except LanguageError as error:
        raise SettingError(f"{option} {error}") from error
    graph.language_index(code)
    return code


def _listed(given: Mapping[str, str], name: str, default: str, known: Sequence[str]) -> list[str]:
    parts = [part.strip() for part in given.get(name, default).split(",") if part.strip()]
    for part in parts:
        if part not in known and name == "strategies" and OF_CRAWLS.plugin(part) is not None:
            raise SettingError(
                f"-a {name}={part}: a simulation runs compiled code, and no plug-ins; "
                "langfocus compare crawls with them"
            )
        if part not in known:
            raise SettingError(f"-a {name}={part}: not there; there are {', '.join(known)}")
    if not parts:
        raise SettingError(f"-a {name} is empty; name some of {', '.join(known)}")
    return parts


def _number(given: Mapping[str, str], name: str) -> int:
    numbers = _numbers(given, name, "0")
    if len(numbers) != 1:
        raise SettingError(f"-a {name}: one number for all simulations")
    return numbers[0]


def _numbers(given: Mapping[str, str], name: str, default: str, least: int = 0) -> list[int]:
    parts = [part.strip() for part in given.get(name, default).split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) >= least for part in parts):
        needed = f"whole numbers of {least} or more are needed"
        raise SettingError(f"-a {name}={given.get(name)}: {needed}")
    return [int(part) for part in parts]
