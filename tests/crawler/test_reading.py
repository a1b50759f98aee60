"""How a crawl reads a page: the evidence beside its bytes, and the header `Link` (RFC 8288)."""

import pytest

from crawler.reading import (
    MAX_HEADER_LINKS,
    Download,
    HeaderLink,
    header_links,
    page_method,
    page_reader,
)
from crawler.strategies.orderings import BreadthFirst

WITHOUT_TEXT = Download("http://www.beispiel.de/", 200, b"<img src=plakat.png>", "text/html")


@pytest.mark.parametrize(("method", "language"), [("top-level-domain", "de"), ("composite", None)])
def test_a_page_without_text_has_a_language_if_the_method_reads_urls(
    method: str, language: str | None
) -> None:
    reading = page_reader(page_method(method), BreadthFirst(), "de")(WITHOUT_TEXT, 1)
    assert reading.language == language


@pytest.mark.parametrize(
    ("value", "links"),
    [
        # RFC 8288, 3.5
        (
            '<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"',
            [HeaderLink("http://example.com/TheBook/chapter2", ("previous",))],
        ),
        ('</>; rel="http://example.net/foo"', [HeaderLink("/", ("http://example.net/foo",))]),
        (
            "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel, "
            "</TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel",
            [
                HeaderLink("/TheBook/chapter2", ("previous",)),
                HeaderLink("/TheBook/chapter4", ("next",)),
            ],
        ),
        (
            '<https://a.de/x,y;z>;rel=alternate;hreflang=de , <b>; rel="alternate Canonical"',
            [
                HeaderLink("https://a.de/x,y;z", ("alternate",), "de"),
                HeaderLink("b", ("alternate", "canonical")),
            ],
        ),
        (
            '<a>; rel="a\\"b;,"; rel=c; crossorigin, <b>',
            [HeaderLink("a", ('a\\"b;,',)), ("b", (), "")],
        ),
        ("no link", []),
        ("<open", []),
        ("<a>; rel=", [HeaderLink("a", ())]),
    ],
)
def test_links_are_read(value: str, links: object) -> None:
    assert list(header_links([value])) == links


def test_links_are_bounded_and_read_in_linear_time() -> None:
    assert len(header_links(["<a>," * 10_000])) == MAX_HEADER_LINKS
    assert header_links(["<a>" + "; x" * 30_000]) == (HeaderLink("a", ()),)
    assert header_links(["<" * 60_000, " " * 60_000, '<a>;x="' + "\\" * 60_000])[0].target == "a"
