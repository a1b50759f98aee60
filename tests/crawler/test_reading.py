"""How a crawl reads a page: the evidence beside its bytes, and the header `Link` (RFC 8288)."""

import pytest

from crawler.reading import (
    MAX_HEADER_LINKS,
    Download,
    HeaderLinks,
    header_links,
    page_method,
    page_reader,
)
from crawler.strategies.orderings import BREADTH_FIRST

WITHOUT_TEXT = Download("http://www.beispiel.de/", 200, b"<img src=plakat.png>", "text/html")


@pytest.mark.parametrize(("method", "language"), [("top-level-domain", "de"), ("composite", None)])
def test_a_page_without_text_has_a_language_if_the_method_reads_urls(
    method: str, language: str | None
) -> None:
    reading = page_reader(page_method(method), BREADTH_FIRST, "de")(WITHOUT_TEXT, 1)
    assert reading.language == language


@pytest.mark.parametrize(
    ("value", "translations", "canonical"),
    [
        ('<https://a.de/x,y;z>;rel=alternate;hreflang=de , </b>; rel="x CANONICAL"', "x,y;z", "b"),
        ('<x>; hreflang="de-AT"; title="a, b"; REL = alternate, <b>; rel=next', "x", None),
        ("<x>; rel=alternate; rel=canonical; hreflang=de", "x", None),
        ("</b>; rel=canonical, <c>; rel=canonical, <x>; rel=alternate", None, "b"),
        ("no link, <open", None, None),
        ("<http://[>; rel=canonical, <a>; rel=, <a>", None, None),
    ],
)
def test_links_of_headers_are_read(
    value: str, translations: str | None, canonical: str | None
) -> None:
    found = header_links([value], "https://a.de/")
    assert [url for url, _ in found.translations] == [
        f"https://a.de/{path}" for path in [translations] if path
    ]
    assert found.canonical == (canonical and f"https://a.de/{canonical}")


def test_links_of_headers_are_bounded_and_read_in_linear_time() -> None:
    many = header_links(["<a>; rel=alternate; hreflang=de," * 10_000], "http://a.de/")
    assert len(many.translations) == MAX_HEADER_LINKS
    for value in ("<" * 60_000, "<a>" + "; x" * 30_000, "<a>;rel=" + " " * 60_000):
        assert header_links([value, "<a>" + ";" * 60_000], "http://a.de/") == HeaderLinks()
