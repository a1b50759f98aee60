"""Graphs are read from runs, archives and tables, and what is left out has a reason."""

from pathlib import Path

import pytest

from crawler.crawl import CrawlSettings, open_crawl
from crawler.errors import SettingError
from crawler.frontier import outlinks
from crawler.frontier.base import PAGE, REDIRECT, Lease, Link, Record
from crawler.frontier.sqlite import SqliteFrontier
from crawler.options import CrawlOptions
from crawler.run import open_run
from crawler.strategies import make_filter
from tests.crawls import rows

META: dict[str, object] = {
    "lang": "de",
    "ordering": "bfs",
    "filter": "hard",
    "tolerance": 10,
    "host_cap": 2,
    "directory_cap": 0,
    "directory_depth": 1,
    "web": "live",
    "seeds": ["http://a.de/"],
}


def links(*urls: str) -> list[Link]:
    return [Link(url, 0.0) for url in urls]


def kept_links(folder: Path) -> dict[str, list[str]]:
    query = "SELECT p.url, l.urls FROM links AS l JOIN pages AS p ON p.id = l.page"
    return {url: outlinks.read(data) for url, data in rows(folder, query)}


def settle(folder: Path, *, keeps_links: bool) -> None:
    """A seed that links to three URLs, a redirect among them, and a page in another language."""
    run = open_run(folder, META, 0.0)
    rule = make_filter("hard")
    frontier = SqliteFrontier(
        run.connection, now=0.0, filter=rule, host_cap=2, keeps_links=keeps_links
    )
    frontier.seed(links("http://a.de/"), 0.0)

    def next_lease() -> Lease:
        lease = frontier.next(0.0)
        assert lease is not None
        return lease

    german = Record(PAGE, 1.0, 200, is_download=True, is_relevant=True, language="de", bytes=70)
    english = Record(PAGE, 2.0, 200, is_download=True, language="en", bytes=50)
    found = links("http://b.de/old", "http://a.de/", "http://a.de/2", "http://a.de/3")
    frontier.admit(next_lease(), german, found, now=0.0)
    frontier.admit(next_lease(), Record(REDIRECT, 2.0, 301), links("http://b.de/new"), now=0.0)
    frontier.admit(next_lease(), english, links("http://c.de/", "http://a.de/"), now=0.0)
    frontier.admit(next_lease(), Record("timeout", 3.0), now=0.0)
    run.connection.close()


def test_a_run_keeps_the_links_of_its_pages_with_those_that_it_does_not_follow(
    tmp_path: Path,
) -> None:
    settle(tmp_path, keeps_links=True)
    assert kept_links(tmp_path) == {
        "http://a.de/": ["http://b.de/old", "http://a.de/", "http://a.de/2", "http://a.de/3"],
        "http://b.de/old": ["http://b.de/new"],
        "http://a.de/2": ["http://c.de/", "http://a.de/"],
    }
    assert rows(tmp_path, "SELECT host FROM hosts WHERE host = 'c.de'") == []


def test_a_run_keeps_no_links_unless_it_is_asked_to(tmp_path: Path) -> None:
    settle(tmp_path, keeps_links=False)
    assert kept_links(tmp_path) == {}


def test_a_shared_crawl_keeps_no_links(tmp_path: Path) -> None:
    settings = CrawlSettings(
        run_folder=tmp_path / "run", keeps_links=True, frontier="redis://localhost:1/0"
    )
    with pytest.raises(SettingError, match="LANGFOCUS_LINKS: a shared crawl"):
        open_crawl(CrawlOptions("de", strategy="bfs", seeds=("http://a.de/",)), settings)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("urls", [[], ["http://a.de/"], ["http://a.de/ü", "http://\ud800/"]])
def test_links_are_read_as_they_were_written(urls: list[str]) -> None:
    assert outlinks.read(outlinks.written(urls)) == urls
    with pytest.raises(ValueError, match="decompressing"):
        outlinks.read(b"x")
