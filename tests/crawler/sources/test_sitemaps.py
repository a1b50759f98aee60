"""Sitemaps and feeds, well and badly made, and in a crawl."""

import gzip
from pathlib import Path
from time import process_time

import pytest

from benchmarks.robotsstore import Store
from langfocus.crawler.frontier.base import KeptRobots, Lease, Record, Sending
from langfocus.crawler.http.download import Download
from langfocus.crawler.politeness.robots import SITEMAP_FILES, HostFiles, Robots
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.sources.sitemaps import (
    MAX_ADMITTED,
    MAX_ELEMENTS,
    MAX_LINKS,
    MAX_STEPS,
    Sitemap,
    may_be_sitemap,
    read_sitemap,
)
from tests.crawler.session.test_visit import GERMAN
from tests.support.crawls import rows
from tests.support.keptpages import begun

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n'
SITEMAP = f"""{HEAD}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    xmlns:xhtml="http://www.w3.org/1999/xhtml"
    xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <loc> http://a.de/en?a=1&amp;b=2 </loc>
    <image:image><image:loc>http://a.de/i.html</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="de-AT" href="http://a.de/de"/>
    <xhtml:link rel="alternate" hreflang="x-default" href="http://a.de/any"/>
  </url>
  <url><loc>http://a.de/de</loc></url>
  <url><loc>mailto:a@a.de</loc></url>
</urlset>"""
INDEX = f"""{HEAD}<x:sitemapindex xmlns:x="http://www.sitemaps.org/schemas/sitemap/0.9">
  <x:sitemap><x:loc>http://a.de/1.xml.gz</x:loc><x:lastmod>2024</x:lastmod></x:sitemap>
</x:sitemapindex>"""
RSS = f"""{HEAD}<!DOCTYPE rss PUBLIC "-//N//DTD RSS 0.91//EN" "http://n.invalid/rss-0.91.dtd">
<rss version="0.91"><channel><link>http://a.de/</link><language>de</language>
  <item><title>Eins &nbsp; zwei</title><link>/1</link></item>
  <item><link>http://a.de/2</link></item></channel></rss>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns="http://purl.org/rss/1.0/"><channel><link>http://a.de/</link></channel>
  <item><link>http://a.de/1</link></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><link href="http://a.de/"/>
  <entry><link rel="edit" href="/edit"/><link href="/1"/></entry>
  <entry xml:lang="en"><link rel="alternate" href="/2"/></entry>
  <entry><link rel="alternate" hreflang="en" href="/3"/></entry></feed>"""
A, EN, DE = "http://a.de/sitemap.xml", "http://a.de/en?a=1&b=2", "http://a.de/de"


def read(body: str | bytes) -> Sitemap | None:
    return read_sitemap(body.encode() if isinstance(body, str) else body, A, "de")


def links(body: str | bytes) -> dict[str, bool] | None:
    found = read(body)
    return found and found.links


def test_a_sitemap_gives_its_pages_and_their_translations_and_an_index_its_sitemaps() -> None:
    assert read(SITEMAP) == Sitemap({EN: False, DE: True}, malformed=1)
    assert read(gzip.compress(SITEMAP.encode())) == read(SITEMAP)
    assert read(INDEX) == Sitemap({"http://a.de/1.xml.gz": False}, is_index=True)


def test_an_entry_with_a_translation_into_the_language_leads_to_no_other_version() -> None:
    found = read_sitemap(SITEMAP.encode(), A, "de", has_one_version=True)
    assert found == Sitemap({DE: True}, malformed=1, versions=1)
    others = read_sitemap(SITEMAP.encode(), A, "fr", has_one_version=True)
    assert others == Sitemap({EN: False, DE: False}, malformed=1)
    german = SITEMAP.replace(EN.replace("&", "&amp;"), DE)
    assert read_sitemap(german.encode(), A, "de", has_one_version=True) == found._replace(
        versions=0
    )


def test_the_newest_links_come_first_and_those_without_a_date_last() -> None:
    dates = {"old": "2024-05-01", "none": "", "new": "2024-05-03T01:00Z", "newer": "2024-11"}
    dated = (f"<url><loc>/{u}</loc><lastmod>{date}</lastmod></url>" for u, date in dates.items())
    found = links(f"<urlset>{''.join(dated)}</urlset>")
    assert [url.rpartition("/")[2] for url in found or ()] == ["newer", "new", "old", "none"]


@pytest.mark.parametrize(
    ("feed", "expected"),
    [
        (RSS, {"http://a.de/1": True, "http://a.de/2": True}),
        (RDF, {"http://a.de/1": False}),
        (ATOM, {"http://a.de/1": True, "http://a.de/2": False, "http://a.de/3": True}),
    ],
)
def test_a_feed_gives_its_items_and_their_language(feed: str, expected: dict[str, bool]) -> None:
    assert links(feed) == expected


@pytest.mark.parametrize(
    "body",
    [
        "",
        "http://a.de/1\nhttp://a.de/2\n",
        "<html><body><urlset></urlset>",
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>',
        # No entity is declared in a file that is read.
        '<!DOCTYPE urlset [<!ENTITY a "b">]><urlset><url><loc>http://a.de/&a;</loc></url></urlset>',
        b"\x1f\x8bno gzip",
        gzip.compress(b"\x00" * 1000),
        "<!--" + "-" * 200_000,
        "<?x?>" * 50_000,
    ],
)
def test_other_bodies_are_no_sitemaps(body: str | bytes) -> None:
    assert read(body) is None


@pytest.mark.parametrize(
    "body",
    [
        SITEMAP[: SITEMAP.index("<url><loc>mail")],
        SITEMAP.replace("<url><loc>mail", "</x>&nope;<url><loc>mail"),
        gzip.compress(SITEMAP.encode() + b" " * 1000)[:-9],
        "\ufeff" + SITEMAP,
    ],
)
def test_a_broken_sitemap_is_read_as_far_as_it_goes(body: str | bytes) -> None:
    assert links(body) == {EN: False, DE: True}


ONE, TWO = "http://a.de/p?x=1&y=2", "http://a.de/schöne-grüße-über-die-straße"
PLAIN = f"<urlset><url><loc>{ONE}</loc></url><url><loc>{TWO}</loc></url></urlset>"
BOTH = {ONE: False, "http://a.de/sch%C3%B6ne-gr%C3%BC%C3%9Fe-%C3%BCber-die-stra%C3%9Fe": False}
XML = '<?xml version="1.0" encoding="{}"?>'


@pytest.mark.parametrize(
    "body",
    [
        PLAIN,
        PLAIN.replace(ONE, f"<![CDATA[{ONE}]]>"),
        PLAIN.replace("&", "&#38;").replace("a.de", "a\x0b.de\x00"),
        XML.format("UTF-8") + PLAIN,
        (XML.format("UTF-16") + PLAIN).encode("utf-16"),
        (XML.format("UTF-16") + PLAIN).encode("utf-16-be"),
        (XML.format("UTF-8") + PLAIN).encode("utf-16-le"),
        (XML.format("utf-16") + PLAIN).encode(),
        (XML.format("no-such") + PLAIN).encode(),
        (XML.format("us-ascii") + PLAIN).encode(),
        (XML.format("UTF-8") + PLAIN).encode("latin-1"),
        (XML.format("ISO-8859-1") + PLAIN).encode("latin-1"),
        f"\n \ufeff {XML.format('UTF-8')}{PLAIN}".lstrip("\n "),
        f"\r\n\t{XML.format('UTF-8')}{PLAIN}",
        PLAIN.replace("</url></urlset>", ""),
        PLAIN.replace("</url><url>", "<url>"),
        f"{PLAIN[:-9]}<url><loc>http://a.de/not-wh",
    ],
)
def test_bytes_that_others_write_have_all_links_that_are_whole(body: str | bytes) -> None:
    assert links(body) == BOTH


def member(text: str) -> bytes:
    return gzip.compress(text.encode())


HALVES = PLAIN[:40], PLAIN[40:]
NAMED = b"\x1f\x8b\x08\x1e" + member(PLAIN)[4:10] + b"\x02\x00ab" + b"name\0note\0" + b"hc"


@pytest.mark.parametrize(
    "body",
    [
        b"".join(map(member, HALVES)),
        b"".join(member(half)[:-8] + b"\0" * 8 for half in HALVES),
        member(PLAIN) + b"\0" * 512,
        NAMED + member(PLAIN)[10:],
        gzip.compress(PLAIN.encode() + b" " * 1_000_000)[:-9],
    ],
    ids=["members", "checksums", "padding", "header", "cut"],
)
def test_gzip_of_others_is_unpacked_as_far_as_it_goes(body: bytes) -> None:
    assert links(body) == BOTH


ITEM = "<rss><channel><item>{}</item><item><link>/2</link></item></channel></rss>"
ENTRY = '<feed xml:base="http://b.de/f/"><entry xml:base="2020/">{}</entry></feed>'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ITEM.format("<guid>http://a.de/1</guid>"), ["http://a.de/1", "http://a.de/2"]),
        (ITEM.format("<guid>http://a.de/x</guid><link>/1</link>"), None),
        (ITEM.format('<link href="/1"/><atom:link rel="self" href="/x"/>'), None),
        (ITEM.format('<guid isPermaLink="false">http://a.de/x</guid>'), ["http://a.de/2"]),
        (ITEM.format("<guid>a.de-17</guid>"), ["http://a.de/2"]),
        (ENTRY.format('<link href="y"/>'), ["http://b.de/f/2020/y"]),
        (ENTRY.format('<link xml:base="../z/" href="y"/>'), ["http://b.de/f/z/y"]),
        (ENTRY.format('<link xml:base="http://[" href="/y"/>'), ["http://b.de/y"]),
        (ENTRY.format("<link>/y</link>"), ["http://b.de/y"]),
        (
            ENTRY.format(
                '<link rel="http://www.iana.org/assignments/relation/alternate" href="/y"/>'
                '<link rel="http://www.iana.org/assignments/relation/self" href="/x"/>'
            ),
            ["http://b.de/y"],
        ),
        ("<sitemapindex><sitemap>\nhttp://a.de/1\n</sitemap></sitemapindex>", ["http://a.de/1"]),
    ],
)
def test_links_that_feeds_write_in_other_ways(body: str, expected: list[str] | None) -> None:
    assert list(links(body) or {}) == (expected or ["http://a.de/1", "http://a.de/2"])


def test_entries_without_a_link_are_counted() -> None:
    found = read(
        "<urlset><url/><url><loc> </loc></url><url><loc>http://a.de/1</loc></url></urlset>"
    )
    assert found == Sitemap({"http://a.de/1": False}, malformed=2)


def test_links_elements_and_bytes_are_bounded() -> None:
    many = "".join(f"<url><loc>http://a.de/{i}</loc></url>" for i in range(MAX_LINKS + 5))
    found = read(f"<urlset>{many}</urlset>")
    assert found
    assert (len(found.links), found.is_cut) == (MAX_LINKS, True)
    late = "<url><loc>http://a.de/</loc></url></urlset>"
    for filling in ("<a/>" * (MAX_ELEMENTS + 20_000), " " * 11_000_000):
        body = gzip.compress(f"<urlset>{filling}{late}".encode(), 1)
        assert read_sitemap(body, "http://a.de/s.xml") == Sitemap({}, is_cut=True)
    assert links(f"<urlset>{'<a>' * 400_000}{late}") == {}


def test_all_that_a_sitemap_has_beyond_its_limits_is_counted(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, "http://a.com/", b"Sitemap: http://a.com/s.xml")
    crawl.answer(GERMAN)
    record = crawl.answer(urlset(*(f"http://a.com/{i}" for i in range(MAX_LINKS))), "text/xml")
    assert record is not None
    assert record.counts == {"cut_long": 1, "ignored_url": MAX_LINKS - MAX_ADMITTED}


def test_a_file_of_faults_is_given_up_soon() -> None:
    started = process_time()
    read("<urlset>" + "<a " * 200_000 + ">")
    assert process_time() - started < 10.0  # 40 s if all of it is read


def test_a_sitemap_is_expected_in_xml_and_packed_files_only() -> None:
    kinds = ("application/rss+xml; charset=utf-8", "application/x-gzip", "application/xml")
    assert all(map(may_be_sitemap, kinds))
    assert not any(map(may_be_sitemap, ("image/png", "application/pdf", "", None)))


ROBOTS = b"Sitemap: http://a.de/s.xml.gz\nUser-agent: *\nsitemap:/de/s.xml\nDisallow: /x\n"
QUEUED = "SELECT url, score FROM urls WHERE queued = 1 ORDER BY score DESC, id"


def urlset(*urls: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>".encode()


def index(*urls: str) -> bytes:
    found = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{found}</sitemapindex>".encode()


class Crawled:
    """A crawl of one host with sitemaps; `cctld` scores .de 1, other URLs 0."""

    def __init__(self, folder: Path, seed: str, robots: bytes = b"", **more: object) -> None:
        arguments = {"seeds": seed, "strategy": "cctld", "host_cap": 4, **more}
        arguments["host_queue"] = arguments["host_cap"]
        clock = CrawlClock(lambda: 0.0, elapsed=lambda: 0.0)
        self.crawl = begun(folder, clock, {"LANGFOCUS_SITEMAPS": True}, **arguments)
        self.folder, self.frontier = folder, self.crawl.frontier
        self.visitor = self.crawl.visitor
        self.crawl.robots.keep(seed, 200, robots, 0.0)

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


def test_only_a_relevant_page_leads_to_the_sitemaps_and_feeds_of_its_host(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, "http://a.de/", ROBOTS, strategy="bfs")
    feed = "<link rel=alternate type=application/atom+xml href=/feed>"
    crawl.answer(f"{feed}{GERMAN}<a href='/1'>x</a><a href='/2'>x</a>")
    # They are before the links, and the cap holds for both.
    assert [url for url, _ in crawl.queued()] == [
        "http://a.de/s.xml.gz",
        "http://a.de/feed",
        "http://a.de/1",
    ]
    other = Crawled(tmp_path / "other", "http://a.com/", b"Sitemap: http://a.com/s.xml")
    other.answer("<p>" + "The sun is shining over the lake, and children play there. " * 5)
    assert other.queued() == []


@pytest.mark.parametrize(("strategy", "chosen"), [("cctld", "1"), ("focus", "q")])
def test_a_sitemap_is_no_page_and_its_best_links_get_its_slot(
    strategy: str, chosen: str, tmp_path: Path
) -> None:
    sitemap = "http://a.com/s.xml.gz"
    crawl = Crawled(
        tmp_path, "http://a.com/", f"Sitemap: {sitemap}".encode(), host_cap=2, strategy=strategy
    )
    crawl.answer(GERMAN)
    assert [url for url, _ in crawl.queued()] == [sitemap]
    urls = ("http://a.com/1", "http://a.com/pic.png", "http://b.de/", "http://[/", "http://a.com/q")
    body = urlset(*urls).replace(
        b"</url></urlset>", b'<link hreflang="de" href="http://a.com/q"/></url></urlset>'
    )
    record = crawl.answer(gzip.compress(body), "application/x-gzip")
    assert record is not None
    assert record.outcome == "sitemap"
    assert record.counts == {"ignored_file": 1, "ignored_url": 1}
    # One slot is free: with `focus` the URL that is declared to be in the language takes it.
    assert sorted(url for url, _ in crawl.queued()) == [f"http://a.com/{chosen}", "http://b.de/"]
    counts = crawl.frontier.counts()
    assert (counts.pages, counts.queued) == (1, 2)
    depths = rows(tmp_path, "SELECT depth FROM urls WHERE url LIKE '%a.com/_'")
    assert depths == [(1,)]


@pytest.mark.parametrize(
    ("status", "body", "content_type"),
    [(200, GERMAN.encode(), "text/html"), (404, b"", "text/html"), (200, b"\0", "image/png")],
)
def test_a_file_that_was_chosen_as_a_sitemap_and_is_none_is_no_page(
    status: int, body: bytes, content_type: str, tmp_path: Path
) -> None:
    crawl = Crawled(tmp_path, "http://a.com/", b"Sitemap: http://a.com/s.xml.gz")
    crawl.answer(GERMAN)
    lease = crawl.lease()
    record = crawl.visitor.answered(lease, Download(lease.url, status, body, content_type))
    assert record is not None
    assert (record.outcome, crawl.frontier.counts().pages) == ("sitemap", 1)


def test_an_index_leads_to_a_bounded_number_of_files_also_after_a_restart(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, "http://a.de/index.xml", host_cap=0)
    crawl.answer(index(*(f"http://a.de/{i}.xml.gz" for i in range(99))), "text/xml")
    assert len(crawl.queued()) == SITEMAP_FILES - 1  # the index is one of the files
    crawl.crawl.close("finished")
    resumed = Crawled(tmp_path, "http://a.de/index.xml", host_cap=0)
    for _ in range(2):
        record = resumed.answer(index("http://a.de/late.xml"), "text/xml")
        assert record is not None
        assert record.outcome == "sitemap"
    assert len(resumed.queued()) == SITEMAP_FILES - 3


def test_indexes_in_indexes_end(tmp_path: Path) -> None:
    crawl = Crawled(tmp_path, "http://a.de/0")
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
