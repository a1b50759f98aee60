"""Small random Webs as graphs, and a crawl of one by the frontier that live crawls use."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from langfocus.crawler.frontier.base import PAGE as PAGE_OUTCOME
from langfocus.crawler.frontier.base import Lease, Sending
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.traps import sift
from langfocus.crawler.reading.page import Reading
from langfocus.crawler.run.folder import open_run
from langfocus.crawler.session.visit import Visitor
from langfocus.crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN, WebGraph, packed
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.filters import Filter
from langfocus.crawler.strategies.links import SEED, LinkSource
from langfocus.crawler.strategies.orderings import Ordering, confidence
from tests.support.report_run import META

LANGUAGES = ("th", "en")
DOMAINS = ("th", "com", "org")


def random_graph(
    random_state: int,
    *,
    vertices: int = 160,
    servers: int = 12,
    statuses: Sequence[int] = (PAGE,),
    seeds: int = 3,
) -> WebGraph:
    """A Web in which some servers are mostly Thai and links like to stay on their server."""
    chance = Random(random_state)
    thai = [chance.choice((0.0, 0.0, 0.1, 0.9)) for _ in range(servers)]
    home = sorted(chance.randrange(servers) for _ in range(vertices))
    paths = [chance.choice(("", "", "a/", "b/", "c/")) for _ in range(vertices)]
    directories = {pair: n for n, pair in enumerate(sorted(set(zip(home, paths, strict=True))))}
    status = [PAGE, *(chance.choice(statuses) for _ in range(vertices - 1))]
    near = [[v for v in range(vertices) if home[v] == server] for server in range(servers)]

    def links(vertex: int) -> list[int]:
        if status[vertex] in (UNKNOWN, FAILED):
            return []
        number = 1 if status[vertex] == REDIRECT else chance.choice((0, 2, 5, 9))
        targets = [
            chance.choice(near[home[vertex]])
            if chance.random() < 0.5
            else chance.randrange(vertices)
            for _ in range(number)
        ]
        return list(dict.fromkeys(targets))

    targets = [links(vertex) for vertex in range(vertices)]
    names = [f"s{server}.{chance.choice(DOMAINS)}" for server in range(servers)]
    urls = [f"http://{names[home[v]]}/{paths[v]}{v}.html" for v in range(vertices)]
    url_start, url_bytes = packed(urls)
    language = [0 if chance.random() < thai[home[v]] else 1 for v in range(vertices)]
    is_page = np.array(status) == PAGE
    return WebGraph(
        languages=LANGUAGES,
        target="th",
        n_servers=servers,
        n_directories=len(directories),
        page_server=np.array(home, np.int32),
        page_directory=np.array(
            [directories[home[v], paths[v]] if paths[v] else -1 for v in range(vertices)], np.int32
        ),
        page_language=np.where(is_page, language, -1).astype(np.int16),
        page_status=np.array(status, np.int8),
        link_start=np.cumsum([0, *map(len, targets)], dtype=np.int64),
        link_target=np.array([t for some in targets for t in some], np.int32),
        seeds=np.array(chance.sample(range(vertices), seeds), np.int32),
        server_domain=np.array([DOMAINS.index(n.rpartition(".")[2]) for n in names], np.int16),
        domains=DOMAINS,
        url_start=url_start,
        url_bytes=url_bytes,
        # Few different scores, so that many are equal.
        scores={"svm": np.array([chance.randrange(-3, 4) for _ in range(vertices)], np.float32)},
    )


@dataclass
class LiveCourse:
    """What a crawl did: pages, the size of the queue after each, and its counters."""

    order: list[int]
    queue: list[int]
    counts: dict[str, int]


def crawl_live(
    graph: WebGraph,
    folder: Path,
    *,
    filter: Filter,
    ordering: str,
    host_cap: int,
    host_queue: int = 0,
    random_state: int,
) -> LiveCourse:
    """Crawl a graph with the frontier, the visitor and the strategies of a live crawl."""
    vertex_of = {graph.url(vertex): vertex for vertex in range(graph.n_vertices)}
    rule = _ordering(graph, ordering, vertex_of)
    run = open_run(folder, META | {"lang": "th"}, 0.0)
    rules = FrontierRules(
        filter=filter,
        draw=rule.draw,
        lifts=rule.lifts,
        doubts_up_to=rule.doubts_up_to,
        prior=rule.prior,
        patience_s=2.0,
        host_cap=host_cap,
        host_queue=host_queue,
        random_state=random_state,
    )
    frontier = SqliteFrontier(run.connection, rules, now=0.0)

    def read(download: Download, depth: int) -> Reading:
        vertex = vertex_of[download.url]
        index = int(graph.page_language[vertex])
        language = None if index < 0 else graph.languages[index]
        links = [graph.url(target) for target in graph.links(vertex).tolist()]
        wanted, left_out = sift(links)
        found = rule.links(wanted, LinkSource(language == "th", depth))
        return Reading(language, 1.0, "text", "utf-8", links=found, left_out=left_out)

    visitor = Visitor(frontier, rule, Config("th"), read, lambda: 0.0)
    frontier.seed(visitor.links([graph.url(v) for v in graph.seeds.tolist()], SEED), 0.0)
    course = LiveCourse([], [], {})
    while (lease := frontier.next(0.0)) is not None:
        vertex = vertex_of[lease.url]
        assert frontier.send(lease, None, now=0.0) is Sending.NOW
        record = visitor.answered(lease, _download(graph, vertex, lease))
        if record is not None and record.outcome == PAGE_OUTCOME and record.is_download:
            course.order.append(vertex)
            course.queue.append(frontier.counts().queued)
    course.counts = dict(run.connection.execute("SELECT name, value FROM counts"))
    run.connection.close()
    return course


def _ordering(graph: WebGraph, name: str, vertex_of: dict[str, int]) -> Ordering:
    if name not in graph.scores:
        return make_ordering(name, "th")
    scores = graph.scores[name]
    return confidence(lambda urls: [float(scores[vertex_of[url]]) for url in urls])


def _download(graph: WebGraph, vertex: int, lease: Lease) -> Download:
    status = int(graph.page_status[vertex])
    if status == FAILED:
        return Download(lease.url, 404)
    if status == REDIRECT:
        return Download(lease.url, 301, location=graph.url(int(graph.links(vertex)[0])))
    return Download(lease.url, 200, content_type="text/html")
