"""Crawls of a site that fails for some time: most with a fake clock, one of a real server."""

from collections import Counter
from collections.abc import Mapping
from heapq import heappop, heappush
from itertools import count
from pathlib import Path

import pytest

from benchmarks.servers.loopback import loopback
from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.http.download import Download
from langfocus.crawler.options.config import Config
from langfocus.crawler.politeness.turns import Rests
from langfocus.crawler.reading.page import UNREAD
from langfocus.crawler.session.visit import Visitor
from langfocus.crawler.sources.contract import NO_HEADERS, Answer
from langfocus.crawler.spiders.guard import BACKED_OFF
from langfocus.crawler.strategies import make_ordering
from langfocus.crawler.strategies.links import Link
from langfocus.testing.frontiers import META
from tests.crawler.politeness.test_crawl_polite import GivenWeb, linking, polite
from tests.support.crawls import rows
from tests.support.dropped import dropped_run

SITE = "site.de"
CONNECTIONS = 16
ANSWER_S = 0.3
BEGINS_S = 20.0  # the outage


def crawl(
    folder: Path, hosts: int, urls: int, *, outage_s: float, breaks: bool = False
) -> tuple[Counter[tuple[str, int | None]], float]:
    """Return the number of URLs by outcome and status, and the crawl's end after the outage began.

    During the outage each request is answered with 503, or its connection `breaks`.
    """
    now, config, numbers = [1.0], Config("de"), count()
    run = dropped_run(folder, META, now[0])
    frontier = SqliteFrontier(run.connection, FrontierRules(delay_s=1.0, host_cap=0), now=now[0])
    ordering = make_ordering("bfs", "de")
    visitor = Visitor(frontier, ordering, config, lambda *_: UNREAD, lambda: now[0])
    rests, began_at = Rests(config.retry_delay_s), now[0] + BEGINS_S
    links = [Link(f"http://h{h}.{SITE}/{u}", 0.0) for u in range(urls) for h in range(hosts)]
    frontier.seed(links, now[0])
    requests: list[tuple[float, int, float, Lease]] = []

    def begin(lease: Lease) -> None:
        if rests.is_given_up(SITE, now[0]):
            visitor.refused(lease, BACKED_OFF)
        elif wait_s := rests.wait_s(SITE, now[0]):
            frontier.release(lease, now=now[0], not_before=now[0] + wait_s + 0.05)
        else:
            frontier.send(lease, None, now=now[0])
            rests.contact(SITE, now[0])
            heappush(requests, (now[0] + ANSWER_S, next(numbers), now[0], lease))

    def end(asked_at: float, lease: Lease) -> None:
        if not began_at <= asked_at < began_at + outage_s:
            rests.succeed(SITE, is_page=True)
            visitor.answered(lease, Download(lease.url, 200, b"", content_type="text/html"))
            return
        if not lease.is_deferred:
            rests.fail(SITE, lease.url, now[0], began_at=asked_at)
        if breaks:
            visitor.failed(lease, "unreachable", is_final=False)
        else:
            visitor.answered(lease, Download(lease.url, 503, b"", content_type="text/html"))

    times = [now[0]]
    while times:
        now[0] = max(now[0], min(times))
        while requests and requests[0][0] <= now[0]:
            _, _, asked_at, lease = heappop(requests)
            end(asked_at, lease)
        while len(requests) < CONNECTIONS and (found := frontier.next(now[0])):
            begin(found)
        ready_at = frontier.ready_at(now[0]) if len(requests) < CONNECTIONS else None
        times = [at for at in (*(one[0] for one in requests[:1]), ready_at) if at is not None]
    settled = rows(folder, "SELECT outcome, status FROM pages")
    return Counter((outcome, status) for outcome, status in settled), now[0] - began_at


@pytest.mark.parametrize("breaks", [False, True])
@pytest.mark.parametrize(("hosts", "urls"), [(1, 40), (30, 20)])
def test_an_outage_of_ten_minutes_loses_no_url_of_a_site_that_answered(
    tmp_path: Path, hosts: int, urls: int, breaks: bool
) -> None:
    found, end_s = crawl(tmp_path, hosts, urls, outage_s=600.0, breaks=breaks)
    assert found == {("page", 200): hosts * urls}
    assert end_s < 1000.0


@pytest.mark.parametrize(("hosts", "urls"), [(1, 40), (30, 20)])
def test_a_site_that_answered_and_fails_for_ever_ends_after_twenty_minutes(
    tmp_path: Path, hosts: int, urls: int
) -> None:
    found, end_s = crawl(tmp_path, hosts, urls, outage_s=1e9)
    assert found[BACKED_OFF, None] > 10
    assert 900.0 < end_s < 1240.0


class Restarting(GivenWeb):
    """A site whose second to ninth pages are errors."""

    pages = 0

    def respond(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        self.pages += "/page" in url
        return Answer(503) if 1 < self.pages < 10 else super().respond(url, headers)


def test_each_page_of_a_site_that_restarts_is_fetched(tmp_path: Path) -> None:
    urls = [f"http://{SITE}/page{number}" for number in range(8)]
    with loopback(Restarting({f"http://{SITE}/": linking(*urls)})) as server:
        done = polite(tmp_path, f"http://{SITE}/", proxy=server.url, LANGFOCUS_RETRY_DELAY=0.1)
    assert done.returncode == 0, done.stderr
    assert set(rows(tmp_path, "SELECT outcome, status FROM pages")) == {("page", 200)}
    pages = [one.url for one in server.log if one.url in urls]
    assert [*dict.fromkeys(pages)] == urls
    assert len(pages) == len(urls) + 8
