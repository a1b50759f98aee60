"""A crawl whose links are recorded is simulated again: the same pages in the same order.

So it is where nothing is drawn: a page that waits for its robots.txt changes what is drawn next.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from crawler.simulate.build import build
from crawler.simulate.engine import simulate
from crawler.simulate.plan import Simulation, prepared
from crawler.simulate.webgraph import PAGE
from crawler.strategies.filters import make_filter
from tests.support.crawls import crawl, rows
from tests.support.loopback import loopback
from tests.support.smallweb import SmallWeb

WEB = SmallWeb(pages=100, per_host=5)

CRAWLS: list[tuple[str, Mapping[str, int | str]]] = [
    ("svm", {"filter": "server", "tolerance": 1, "host_cap": 4}),
    ("soft", {"filter": "server-conservative", "tolerance": 2}),
]


def recorded(folder: Path, strategy: str, rule: Mapping[str, int | str]) -> list[str]:
    """Crawl page by page without a delay; return the pages in their order.

    Scrapy fetches the next page while it parses one, unless nothing may wait to be parsed.
    """
    with loopback(WEB) as proxy:
        done = crawl(
            "lang=de",
            f"strategy={strategy}",
            *(f"{name}={value}" for name, value in rule.items()),
            f"seeds={WEB.url(0)},{WEB.url(20)}",
            proxy=proxy.url,
            JOBDIR=folder,
            LANGFOCUS_LINKS=True,
            CONCURRENT_REQUESTS=1,
            DOWNLOAD_DELAY=0,
            SCRAPER_SLOT_MAX_ACTIVE_SIZE=0,
        )
    assert done.returncode == 0, done.stderr
    query = "SELECT url FROM pages WHERE outcome = 'page' AND status = 200 ORDER BY id"
    return [url for (url,) in rows(folder, query)]


@pytest.mark.parametrize(("strategy", "rule"), CRAWLS)
def test_a_simulation_on_what_a_crawl_recorded_repeats_the_crawl(
    tmp_path: Path, strategy: str, rule: Mapping[str, int | str]
) -> None:
    fetched = recorded(tmp_path / "run", strategy, rule)
    assert len(fetched) > 20
    graph = build([tmp_path / "run"], tmp_path / "graph", "de")
    simulation = Simulation(
        make_filter(str(rule["filter"]), tolerance=int(rule["tolerance"])),
        ordering=strategy,
        host_cap=int(rule.get("host_cap", 0)),
    )
    graph = prepared(graph, [simulation])
    course = simulate(graph, simulation)
    assert [graph.url(vertex) for vertex in course.order.tolist()] == fetched
    assert (graph.page_status[course.order] == PAGE).all()
    counts = dict(rows(tmp_path / "run", "SELECT name, value FROM counts"))
    for name in ("stored", "rejected", "dropped_irrelevant"):
        assert course.links[name] == counts.get(name, 0)
