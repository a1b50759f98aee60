"""The header `Link` (RFC 8288)."""

import pytest

from crawler.link_header import MAX_LINKS, HeaderLink, links_of


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
    assert list(links_of([value])) == links


def test_links_are_bounded_and_read_in_linear_time() -> None:
    assert len(links_of(["<a>," * 10_000])) == MAX_LINKS
    assert links_of(["<a>" + "; x" * 30_000]) == (HeaderLink("a", ()),)
    assert links_of(["<" * 60_000, " " * 60_000, '<a>;x="' + "\\" * 60_000])[0].target == "a"
