"""A crawl fetches sitemaps over HTTP: in the turn of their host, and not as pages."""

import gzip
from pathlib import Path
from random import Random

from benchmarks.servers.hostileserver import PAGE, Exchange, answer, computes, hostile_web
from tests.support.crawls import finished, rows, summary

LARGE = "".join(f"<url><loc>http://robots-a.de/{i}</loc></url>" for i in range(9))
# Random letters in a comment: packed, the file is larger than media files that are read.
FILLING = "".join(f"<!--{Random(i).getrandbits(256):x}-->" for i in range(9_000))
SITEMAP = gzip.compress(f"<urlset>{LARGE}{FILLING}</urlset>".encode(), 1)
ROBOTS = b"User-agent: *\nCrawl-delay: 0\nSitemap: http://robots-a.de/s.xml.gz\n"


def site(exchange: Exchange) -> bytes:
    if exchange.path == "robots.txt":
        return answer(ROBOTS, kind=b"text/plain")
    if exchange.path == "s.xml.gz":
        return answer(SITEMAP, kind=b"application/octet-stream")
    return answer(PAGE + exchange.path.encode())


def test_a_sitemap_is_fetched_after_a_relevant_page_and_is_none_itself(tmp_path: Path) -> None:
    given = ("lang=de", "strategy=bfs", "seeds=http://robots-a.de/", "host_cap=5", "pages=4")
    settings = {"JOBDIR": tmp_path, "DOWNLOAD_DELAY": 0, "LANGFOCUS_SITEMAPS": True}
    with hostile_web({"robots-a.de": computes(site)}) as proxy:
        finished(*given, proxy=proxy.url, **settings)
    assert len(SITEMAP) > 256 * 1024
    asked = [path for _, path in proxy.log if path != ".well-known/tdmrep.json"]
    assert asked[:4] == ["robots.txt", "", "s.xml.gz", "0"]
    assert proxy.most_open == 1
    figures = summary(tmp_path)
    assert figures["pages"] == 4
    assert figures["outcomes"] == {"page": 4, "sitemap": 1}
    # The sitemap took no slot.
    assert rows(tmp_path, "SELECT sent FROM hosts WHERE host = 'robots-a.de'") == [(4,)]
    ((parent, robots),) = rows(tmp_path, "SELECT parent, robots_txt FROM pages WHERE id = 3")
    assert parent == "http://robots-a.de/s.xml.gz"
    assert robots.startswith("sha256:")
