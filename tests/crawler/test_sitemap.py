"""Sitemaps and feeds, well and badly made."""

import gzip

import pytest

from crawler.sitemap import MAX_ELEMENTS, MAX_LINKS, Entry, Sitemap, may_be_sitemap, read_sitemap

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n'
SITEMAP = f"""{HEAD}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    xmlns:xhtml="http://www.w3.org/1999/xhtml"
    xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <loc> http://a.de/en?a=1&amp;b=2 </loc><lastmod>2024-05-01</lastmod>
    <image:image><image:loc>http://a.de/i.html</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="de-AT" href="http://a.de/de"/>
    <xhtml:link rel="alternate" hreflang="x-default" href="http://a.de/any"/>
  </url>
  <url><loc>http://a.de/de</loc></url>
  <url><loc>mailto:a@a.de</loc><lastmod>2024</lastmod></url>
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


def read(body: str | bytes, content_type: str | None = "text/xml") -> Sitemap | None:
    return read_sitemap(body.encode() if isinstance(body, str) else body, A, content_type, "de")


def links(body: str | bytes, content_type: str | None = "text/xml") -> dict[str, bool] | None:
    found = read(body, content_type)
    return found and {url: entry.is_declared for url, entry in found.entries.items()}


def test_a_sitemap_gives_its_pages_and_their_translations() -> None:
    entries = {EN: Entry("2024-05-01", False), DE: Entry("2024-05-01", True)}
    assert read(SITEMAP) == Sitemap(entries, malformed=1)
    assert read(gzip.compress(SITEMAP.encode()), "application/x-gzip") == read(SITEMAP)


def test_an_index_gives_its_sitemaps() -> None:
    assert read(INDEX) == Sitemap({"http://a.de/1.xml.gz": Entry("2024")}, is_index=True)


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


def test_a_list_of_urls_is_a_sitemap_in_plain_text_only() -> None:
    body = "\nhttp://a.de/1\r\nhttps://a.de/2\nhttp://[\nand more\n"
    body = body.replace("http://[", "http://a.de/3\n" * 10 + "http://[")
    assert links(body, "text/html") is None
    found = read(body, "text/plain; charset=utf-8")
    assert found is not None
    assert list(found.entries) == ["http://a.de/1", "https://a.de/2", "http://a.de/3"]
    assert found.malformed == 2
    assert read("Text with http://a.de/\n", "text/plain") is None


@pytest.mark.parametrize(
    "body",
    [
        "",
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


def test_links_elements_and_bytes_are_bounded() -> None:
    many = "".join(f"<url><loc>http://a.de/{i}</loc></url>" for i in range(MAX_LINKS + 5))
    found = read(f"<urlset>{many}</urlset>")
    assert found is not None
    assert (len(found.entries), found.is_cut) == (MAX_LINKS, True)
    late = "<url><loc>http://a.de/</loc></url></urlset>"
    for filling in ("<a/>" * (MAX_ELEMENTS + 20_000), " " * 11_000_000, "<a>" * 400_000):
        found = read(gzip.compress(f"<urlset>{filling}{late}".encode(), 1))
        assert found is not None
        assert (found.entries, found.is_cut) == ({}, True)


def test_a_sitemap_is_expected_in_xml_and_packed_files_only() -> None:
    kinds = ("application/rss+xml; charset=utf-8", "application/x-gzip", "application/xml")
    assert all(map(may_be_sitemap, kinds))
    assert not any(map(may_be_sitemap, ("image/png", "application/pdf", "", None)))
