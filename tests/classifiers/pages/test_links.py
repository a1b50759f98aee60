"""Links of a page are those that a browser would follow."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langfocus.classifiers.pages.html.links import MAX_LINKS, MAX_URL_LENGTH, Resolver, kept_links
from langfocus.classifiers.urls.standard import absolute

BASES = ["http://example.org/a/b.html?q=1", "https://example.org", "http://h.example:8080/x/y/"]
PIECES = [
    *"/ // . .. ./ ../ ? # ; : @ = & %20 é [ ] a b.html http: https: http:// :80 mailto:".split(),
    "host.example",
    "x y",
]


@given(st.sampled_from(BASES), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
@example("http://example.org", "a")
@example("http://example.org/a/b", "http://h.example/?")
@example("http://example.org/a/b", "//host.example/../x")
@example("http://example.org/a/b", "c//d")
@example("http://example.org/a/b", "http://host.example:80/x")
@example("http://example.org/a/b", "c%2e/%2e%2E/d")
def test_a_link_is_resolved_as_in_browsers(base: str, link: str) -> None:
    assert Resolver(base).resolve(link) == absolute(link, base)


LINKS = {
    "http://other.example/x?y=1#z": "http://other.example/x?y=1",
    "../c": "http://example.org/c",
    "?page=2": "http://example.org/a/b.html?page=2",
    "/one\n\ttwo": "http://example.org/onetwo",
    "/straße?ß": "http://example.org/stra%C3%9Fe?%C3%9F",
    "\\\\other.example\\x": "http://other.example/x",
    "http:/other.example": "http://example.org/other.example",
    **dict.fromkeys("mailto:a@b.c javascript:void(0) ftp://b.c/ http://b.c:99999/ //[".split()),
}


@pytest.mark.parametrize(("link", "url"), LINKS.items())
def test_a_link_to_a_page_becomes_absolute(link: str, url: str | None) -> None:
    assert Resolver("http://example.org/a/b.html").resolve(link) == url


@pytest.mark.parametrize("base", ["", "about:blank", "http://[", "not a url", "file:///x"])
def test_a_bad_base_leaves_absolute_links(base: str) -> None:
    resolver = Resolver(base)
    assert resolver.resolve("http://example.org/x") == "http://example.org/x"
    assert resolver.resolve("/x") is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_makes_resolving_raise(base: str, link: str) -> None:
    url = Resolver(base).resolve(link)
    assert url is None or url.startswith(("http://", "https://"))


def test_links_keep_their_order() -> None:
    written = ("/b", "/a", "/b#part", "/b", "http://example.org/a", "#top", "")
    kept, dropped = kept_links(written, Resolver("http://example.org/"))
    assert list(kept) == ["/b", "/a", "/b#part", "http://example.org/a"]
    assert list(dict.fromkeys(kept.values())) == ["http://example.org/b", "http://example.org/a"]
    assert dropped == 0


def test_links_too_many_too_long_and_broken_are_counted() -> None:
    written = [f"/{i}" for i in range(MAX_LINKS + 3)]
    written += ["/" + "x" * MAX_URL_LENGTH, "/" + "x" * 5 * MAX_URL_LENGTH, "http://["]
    written += ["mailto:someone@example.org", "/0", "/0#again"]
    kept, dropped = kept_links(written, Resolver("http://example.org/"))
    assert len(set(kept.values())) == MAX_LINKS
    assert "/0#again" in kept
    assert dropped == 6


@pytest.mark.parametrize(
    ("charset", "query"),
    [
        ("utf-8", "%D0%B0%20%E2%82%AC"),
        ("utf-16le", "%D0%B0%20%E2%82%AC"),
        ("windows-1251", "%E0%20%88"),
        ("koi8-r", "%C1%20%26%238364%3B"),
        ("shift_jis", "%84p%20%26%238364%3B"),
    ],
)
def test_a_query_is_written_in_the_encoding_of_its_page(charset: str, query: str) -> None:
    """URL Standard, "percent-encode after encoding"; browsers do so for links."""
    url = Resolver("http://example.org/", charset).resolve("/\u0430?\u0430 \u20ac#\u0430")
    assert url == f"http://example.org/%D0%B0?{query}"


def test_a_long_name_is_refused_before_its_conversion() -> None:
    resolver = Resolver("http://example.org/")
    long = ["http://" + letter * 1_900 + ".de/" for letter in "\u00fc\u4e2d"]
    long += ["http://" + "a" * 64 + ".de/", "http://" + "a." * 126 + "de/"]
    long += ["//" + "%C3%BC" * 300 + "/", "http://x@" + "\u00fc." * 127 + "de:80/"]
    assert resolver.resolve_all(long) == [None] * len(long)
    path = "stra\u00dfe" * 100
    assert resolver.resolve(path) is not None
