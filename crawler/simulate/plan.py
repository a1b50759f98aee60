"""Arguments of simulated crawls, and the plan of all their combinations.

Imports no compiled code.
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
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.filters import FILTERS, PAPER_FILTERS, Filter, make_filter
from langfocus.crawler.strategies.links import LinkSource

ORDERINGS: Final = ("bfs", "soft", "random", "cctld", "focus", "perfect")
"""Orderings of every graph (`cctld` needs the servers' domains); `WebGraph.scores` may have more.
"""

DECLINING: Final = "server-declining"
"""The filter `server-conservative` with a declining tolerance, in simulations only.

Tamura 2007, 5.2, proposes a declining tolerance without a schedule.
"""

HALF_LIFE: Final = 100_000
"""Default number of downloads per halving of a declining tolerance."""

ARGUMENTS: Final = {
    "lang": "target language, one alone (default: that of the graph)",
    "strategies": "which queued URL is fetched next, of bfs, soft, random, cctld, focus, perfect, "
    "and svm where the graph has URLs (default: soft)",
    "filters": f"which links enter the queue, of {', '.join((*FILTERS, DECLINING))} "
    "(default: none)",
    "tolerances": "T, for filters with irrelevant servers (default: 5,10,20)",
    "half_life": "downloads per halving of the tolerance of server-declining "
    f"(default: {HALF_LIFE})",
    "host_cap": "most URLs fetched from one host, 0 for no cap (default: 0)",
    "shards": "queues of one crawl, by registered domain, as with LANGFOCUS_SHARDS; two shards "
    "are drawn, and the better of their best URLs is fetched (default: 1)",
    "rest": "fetches of other hosts between two fetches of one host, while other hosts are "
    "ready: pages a second times the crawl delay (default: 0, no host rests)",
    "pages": "end each crawl after this many pages (default: when the queue is empty)",
    "random_state": "seed of the draws of random and cctld (default: 0)",
}
"""Simulation arguments (-a NAME=VALUE) with help texts; lists have commas."""


@dataclass(frozen=True)
class Simulation:
    """The arguments of a simulated crawl.

    `ordering` is one of `ORDERINGS` or a name in `WebGraph.scores`. With `perfect` and any filter,
    only links on a shortest path from the seeds to a page in the target language are followed
    (Tamura 2007, 5.1), preferably on a path through relevant pages. Directories are the graph's,
    for every `filter.directory_depth`. With `half_life`, a unit that turns irrelevant by a smaller
    tolerance gets no new links from then on, and loses its queued URLs at its next irrelevant page.
    """

    filter: Filter
    ordering: str
    target: str | None = None  # None: the graph's own
    host_cap: int = 0  # most URLs fetched from a host; 0: no cap
    host_queue: int = 0  # as in a crawl
    half_life: int = 0  # downloads per halving of the tolerance; 0: constant
    random_state: int = 0  # for `random`, `cctld` and shards only
    limit: int | None = None  # pages; None: until the queue is empty
    shards: int = 1  # queues, by registered domain
    choices: int = 2  # shards drawn per fetch, 1 or 2; the better best URL is fetched
    rest: int = 0  # fetches between two fetches of a host, if other hosts are ready

    @property
    def filter_name(self) -> str:
        """The name of the filter among the arguments."""
        return DECLINING if self.half_life else self.filter.name

    @property
    def tolerance(self) -> int | None:
        """T; None for a filter without a tolerance."""
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
    """Return a simulation for each distinct combination of arguments.

    Without strategies and filters: the simulations of Tamura 2007, 5.1, and the orderings of
    `langfocus compare` with data in the graph. Raises `SettingError` for invalid arguments,
    `GraphError` for a language without pages.
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
    """Return the orderings with data in a graph."""
    known = [*ORDERINGS]
    if graph.server_domain is None:
        known.remove("cctld")
    if "svm" in graph.scores or (graph.has_urls and lang in UrlModel.load(None).named_languages):
        known.insert(known.index("focus"), "svm")
    return known


def _pairs(given: Mapping[str, str], known: Sequence[str]) -> list[tuple[str, str]]:
    """Return (strategy, filter) pairs in argument order."""
    if "strategies" not in given and "filters" not in given:
        with_filters = [("soft", name) for name in PAPER_FILTERS]
        pairs = [(name, "none") for name in known if name != "soft"]
        return [pairs[0], *with_filters, *pairs[1:]]
    strategies = _listed(given, "strategies", "soft", known)
    filters = _listed(given, "filters", "none", (*FILTERS, DECLINING))
    # No filter changes the pages of the perfect strategy.
    return [
        (strategy, "none" if strategy == "perfect" else name)
        for strategy, name in product(strategies, filters)
    ]


def prepared(graph: WebGraph, plan: Sequence[Simulation]) -> WebGraph:
    """Return the graph, with URL model scores if a simulation needs scores."""
    if "svm" in graph.scores or not any(each.ordering == "svm" for each in plan):
        return graph
    scores = np.empty(graph.n_vertices, np.float32)
    ordering = make_ordering("svm", plan[0].target or graph.target)
    for first, urls in graph.urls():
        scores[first : first + len(urls)] = ordering.scores(urls, LinkSource())
    return replace(graph, scores={"svm": scores})


def language_in(graph: WebGraph, tag: str | None, option: str) -> str:
    """Return the language code of a tag; None for the graph's target. Errors name the `option`.

    Raises `SettingError` for an unknown tag, `GraphError` for a language without pages.
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
        plugins = FILTERS if name == "filters" else OF_CRAWLS
        if part not in known and plugins.plugin(part) is not None:
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
