"""Sitemaps in a crawl: when they are fetched, and what their links get."""

import gzip
from pathlib import Path

import pytest

from crawler.frontier.base import KeptRobots, Lease, Record, Sending
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.identification import page_method, page_reader
from crawler.politeness.host_files import SITEMAP_FILES, HostFiles
from crawler.politeness.robots import Robots
from crawler.run import open_run
from crawler.sitemap_links import MAX_STEPS, SitemapLinks
from crawler.strategies import make_ordering
from crawler.strategies.orderings import SEED
from crawler.visit import Download, Visitor, VisitRules
from tests.crawler.frontier.test_frontier_contract import META
from tests.crawler.politeness.test_robots import Store
from tests.crawler.test_visit import GERMAN
from tests.support.crawls import rows

ROBOTS = b"Sitemap: http://a.de/s.xml.gz\nUser-agent: *\nsitemap:/de/s.xml\nDisallow: /x\n"
QUEUED = "SELECT url, score FROM urls WHERE queued = 1 ORDER BY score DESC, id"


def urlset(*urls: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>".encode()


def index(*urls: str) -> bytes:
    found = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{found}</sitemapindex>".encode()


class Crawled:
    """A crawl of one host with sitemaps; `cctld` scores .de and declared URLs 1, others 0."""

    def __init__(self, folder: Path, host_cap: int = 4, ordering: str = "cctld") -> None:
        self.folder = folder
        run = open_run(folder, META, 0.0)
        rules = FrontierRules(host_cap=host_cap, host_queue=host_cap, budget_pages=3)
        self.frontier = SqliteFrontier(run.connection, rules, now=0.0)
        self.robots = Robots(self.frontier, "langfocus", keeps_sitemaps=True)
        made = make_ordering(ordering, "de")
        self.visitor = Visitor(
            self.frontier,
            made,
            VisitRules("de", page_reader(page_method("composite"), target="de")),
            lambda: 0.0,
            sitemaps=SitemapLinks(
                made, self.robots, HostFiles(self.frontier, "sitemaps"), lambda _: False, "de"
            ),
        )

    def begin(self, seed: str = "http://a.com/", robots: bytes = b"") -> None:
        self.frontier.seed(self.visitor.links([seed], SEED), 0.0)
        self.robots.keep(seed, 200, robots, 0.0)

    def lease(self) -> Lease:
        lease = self.frontier.next(0.0)
        assert lease is not None
        return lease

    def answer(self, body: str | bytes, content_type: str = "text/html") -> Record | None:
        lease = self.lease()
        is_page = not self.visitor.is_sitemap(lease)
        assert self.frontier.send(lease, None, now=0.0, is_page=is_page) is Sending.NOW
        body = body.encode() if isinstance(body, str) else body
        return self.visitor.answered(lease, Download(lease.url, 200, body, content_type))

    def queued(self) -> list[tuple[str, float]]:
        return rows(self.folder, QUEUED)


def test_a_relevant_page_leads_to_the_sitemaps_and_feeds_of_its_host(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, ordering="bfs")
    crawl.begin("http://a.de/", ROBOTS)
    feed = "<link rel=alternate type=application/atom+xml href=/feed>"
    crawl.answer(f"{feed}{GERMAN}<a href='/1'>x</a><a href='/2'>x</a>")
    # They are before the links, and the cap holds for both.
    assert [url for url, _ in crawl.queued()] == [
        "http://a.de/s.xml.gz",
        "http://a.de/feed",
        "http://a.de/1",
    ]


def test_a_page_in_another_language_leads_to_none(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path)
    crawl.begin("http://a.com/", b"Sitemap: http://a.com/s.xml")
    crawl.answer("<p>" + "The sun is shining over the lake, and children play there. " * 5)
    assert crawl.queued() == []


def test_a_sitemap_is_no_page_and_its_best_links_get_its_slot(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, host_cap=2)
    crawl.begin("http://a.com/", b"Sitemap: http://a.com/s.xml.gz")
    crawl.answer(GERMAN)
    assert crawl.queued() == [("http://a.com/s.xml.gz", 1.0)]
    body = urlset(
        "http://a.com/1", "http://a.com/pic.png", "http://b.de/", "http://[/", "http://a.com/de"
    )
    body = body.replace(
        b"</url></urlset>", b'<link hreflang="de" href="http://a.com/de"/></url></urlset>'
    )
    record = crawl.answer(gzip.compress(body), "application/x-gzip")
    assert record is not None
    assert (record.outcome, record.ignored_files, record.ignored_urls) == ("sitemap", 1, 1)
    # One slot is free: the URL that is declared to be in the language takes it.
    assert crawl.queued() == [("http://b.de/", 1.0), ("http://a.com/de", 1.0)]
    counts = crawl.frontier.counts()
    assert (counts.pages, counts.queued) == (1, 2)
    depths = rows(tmp_path, "SELECT url, depth FROM urls WHERE url LIKE '%/de'")
    assert depths == [("http://a.com/de", 1)]


def test_of_equal_links_the_newest_goes_first(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, host_cap=3, ordering="bfs")
    crawl.begin("http://a.de/s.xml")
    dated = "".join(
        f"<url><loc>http://a.de/{day}</loc><lastmod>2024-05-0{day}</lastmod></url>"
        for day in (1, 3, 2)
    )
    crawl.answer(f"<urlset>{dated}</urlset>", "application/xml")
    assert [url for url, _ in crawl.queued()] == ["http://a.de/3", "http://a.de/2"]


def test_an_index_leads_to_a_bounded_number_of_files_also_after_a_restart(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, host_cap=0)
    crawl.begin("http://a.de/index.xml")
    crawl.answer(index(*(f"http://a.de/{i}.xml.gz" for i in range(99))), "text/xml")
    assert len(crawl.queued()) == SITEMAP_FILES - 1  # the index is one of the files
    resumed = Crawled(tmp_path, host_cap=0)
    for _ in range(2):
        record = resumed.answer(index("http://a.de/late.xml"), "text/xml")
        assert record is not None
        assert record.outcome == "sitemap"
    assert len(resumed.queued()) == SITEMAP_FILES - 3


def test_a_host_that_gives_sitemaps_without_end_gives_pages_after_some(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, host_cap=SITEMAP_FILES + 1)
    crawl.begin("http://a.de/0")
    outcomes = []
    for i in range(SITEMAP_FILES + 1):
        record = crawl.answer(urlset(f"http://a.de/{i + 1}"), "text/xml")
        assert record is not None
        outcomes.append(record.outcome)
    assert outcomes == ["sitemap"] * SITEMAP_FILES + ["page"]
    assert crawl.frontier.next(0.0) is None


def test_indexes_in_indexes_end(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path)
    crawl.begin("http://a.de/0")
    for i in range(MAX_STEPS + 1):
        crawl.answer(index(f"http://a.de/{i + 1}"), "text/xml")
    assert crawl.frontier.next(0.0) is None


def test_files_are_counted_by_the_host_that_they_lie_on_and_stay_chosen() -> None:
    files = HostFiles(Store(), "sitemaps")
    urls = [f"http://{'www.' * (i % 2)}a.de/{i}" for i in range(SITEMAP_FILES + 5)]
    other = "https://b.de/s"
    assert files.choose([*urls, other, other], 0.0) == [*urls[:SITEMAP_FILES], other]
    assert files.choose(urls[::-1], 1.0) == urls[SITEMAP_FILES - 1 :: -1]
    assert [files.has(url) for url in (urls[0], urls[-1], other)] == [True, False, True]


def test_files_that_two_workers_choose_at_once_are_all_counted() -> None:
    class Changing(Store):
        """Another worker has chosen a file whenever a text is read for the first time."""

        def robots(self, origin: str) -> KeptRobots | None:
            found = super().robots(origin)
            if origin not in self.texts:
                HostFiles(self.others, "sitemaps").choose(["http://a.de/other"], 0.0)
                self.texts.update(self.others.texts)
            return found

        others = Store()

    store = Changing()
    files = HostFiles(store, "sitemaps", 2)
    assert files.choose(["http://a.de/1", "http://a.de/2"], 0.0) == ["http://a.de/1"]
    assert files.has("http://a.de/other")


def test_a_sitemap_redirects_to_files_that_are_counted_too(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, host_cap=99)
    crawl.begin("http://a.de/", b"Sitemap: http://a.de/s0.xml")
    crawl.answer(GERMAN)
    for i in range(SITEMAP_FILES - 1):
        assert [url for url, _ in crawl.queued()] == [f"http://a.de/s{i}.xml"]
        lease = crawl.lease()
        moved = Download(lease.url, 301, b"", location=f"/s{i + 1}.xml")
        crawl.visitor.answered(lease, moved)
    lease = crawl.lease()
    crawl.visitor.answered(lease, Download(lease.url, 301, b"", location="/more.xml"))
    assert crawl.queued() == []


@pytest.mark.parametrize(("keeps", "sitemaps"), [(True, 1), (False, 0)])
def test_robots_txt_names_sitemaps_for_all_bots(keeps: bool, sitemaps: int) -> None:
    store = Store()
    Robots(store, "langfocus", keeps_sitemaps=keeps).keep("http://a.de/x", 200, ROBOTS, 0.0)
    lines = b"".join(b"Sitemap: http://a.de/%d\n" % i for i in range(99))
    Robots(store, "langfocus", keeps_sitemaps=keeps).keep("http://b.de/", 200, lines, 0.0)
    later = Robots(store, "langfocus")
    named = later.sitemaps("http://a.de/")
    assert named == ("http://a.de/s.xml.gz",)[:sitemaps]
    assert len(later.sitemaps("http://b.de/")) == (50 if keeps else 0)
