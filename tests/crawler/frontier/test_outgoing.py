"""Links of one domain to others without end."""

from pathlib import Path

import pytest

from langfocus.crawler.frontier.base import Admission
from langfocus.crawler.frontier.outgoing import Outgoing
from langfocus.crawler.http.download import Download
from langfocus.crawler.strategies.links import Link
from tests.support.crawls import rows
from tests.support.keptpages import begun, german

STORED, SEEN = Admission.STORED, Admission.SEEN


def to_others(number: int, first: int = 0, path: str = "") -> list[Link]:
    return [Link(f"http://d{n}.de/{path}", 0.0) for n in range(first, first + number)]


def test_a_domain_queues_twenty_short_urls_on_others_for_each_slot() -> None:
    outgoing = Outgoing(2)
    first = outgoing.kept("a.de", to_others(30), is_relevant=False)
    assert first == to_others(30)
    outgoing.count("a.de", first, [STORED] * 30)
    assert outgoing.kept("a.de", to_others(30, 30), is_relevant=False) == to_others(10, 30)
    assert outgoing.kept("b.de", to_others(41), is_relevant=False) == to_others(40)


def test_long_urls_count_by_their_length() -> None:
    links = to_others(9, path="x" * 1024)
    assert len(Outgoing(2).kept("a.de", links, is_relevant=False)) == 4


def test_a_relevant_page_earns_200_short_urls() -> None:
    assert len(Outgoing(1).kept("a.de", to_others(500), is_relevant=True)) == 20 + 200


def test_known_urls_and_those_of_the_own_domain_do_not_count() -> None:
    outgoing, own = Outgoing(1), [Link(f"http://h{n}.a.de/", 0.0) for n in range(50)]
    assert outgoing.kept("a.de", own, is_relevant=False) == own
    outgoing.count("a.de", own, [STORED] * 50)
    for _ in range(3):
        outgoing.count("a.de", to_others(20), [SEEN] * 20)
    assert outgoing.kept("a.de", to_others(20), is_relevant=False) == to_others(20)


def test_without_a_domain_cap_there_is_no_bound() -> None:
    assert len(Outgoing(0).kept("a.de", to_others(500), is_relevant=False)) == 500


@pytest.mark.parametrize("pages", [1, 3])
def test_a_farm_of_links_to_new_domains_ends_at_the_bound(pages: int, tmp_path: Path) -> None:
    seeds = ",".join(f"http://h{n}.farm.de/" for n in range(pages))
    crawl = begun(tmp_path, seeds=seeds, domain_cap="20", host_cap="1")
    for number in range(pages):
        lease = crawl.queue.next()
        assert lease is not None
        links = "".join(f"<a href='{one.url}'></a>" for one in to_others(900, 900 * number))
        body = f"<p>{german(number)}</p>{links}".encode()
        crawl.visitor.answered(lease, Download(lease.url, 200, body, "text/html; charset=utf-8"))
    relevant = crawl.queue.counts().relevant
    assert relevant == pages
    assert crawl.queue.counts().queued == 20 * 20 + 200 * relevant
    (left_out,) = rows(tmp_path, "SELECT value FROM counts WHERE name = 'source_full'")
    assert left_out == (900 * pages - crawl.queue.counts().queued,)
    crawl.close("finished")
