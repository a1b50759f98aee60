"""A page is parsed once into its text, its links and its declarations."""

from dataclasses import replace
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from langfocus.classifiers.pages.html import tree
from langfocus.classifiers.pages.html.links import MAX_LINKS
from langfocus.classifiers.pages.parse import (
    MAX_BYTES,
    MAX_CHARACTERS,
    Declaration,
    ParsedPage,
    parse_page,
)

URL = "http://example.org/a/b.html"


def parse(html: str, **headers: str) -> ParsedPage:
    kept: dict[str, str | None] = {"content_type": "text/html; charset=utf-8"}
    return parse_page(html.encode(), url=URL, **{**kept, **headers})


def test_the_visible_text_is_kept_in_reading_order() -> None:
    page = parse(
        "<title>Head line</title><style>p{}</style><div>Menu</div><p>Some <b>bo</b>ld\n\n text"
        "<script>var x</script><!-- not this --> here</p><noscript><p>turn it on</noscript>"
        "<pre>code</pre><ul><li>one<li>two</ul><textarea>typed</textarea>"
        "<select><option>choice</select><button>press</button>after"
    )
    assert page.text == "Menu Some bold text here code one two press after"
    assert page.parser == "lexbor"


def test_text_of_neighbouring_elements_is_kept_apart() -> None:
    assert parse("<span>Home</span><span>Login</span>one<br>two").text == "Home Login one two"


def test_text_is_capped_by_its_characters_not_by_the_bytes_of_the_page() -> None:
    page = parse("<script>" + "x" * 200_000 + "</script><p>" + "wörter " * 1_000)
    assert len(page.text) in {MAX_CHARACTERS, MAX_CHARACTERS - 1}
    assert page.text.startswith("wörter wörter")


def test_links_come_from_anchors_areas_frames_and_neighbouring_pages() -> None:
    page = parse(
        '<link rel=stylesheet href=/s.css><link rel="alternate" hreflang=de href=/de>'
        '<link rel=alternate type=application/rss+xml href=/feed><link rel=next href="/2">'
        '<link rel=prev href="/0"><link rel=icon href=/i.png><a href=c.html#x>c</a>'
        '<map><area href="/area"></map><iframe src="/frame"></iframe><img src=/p.png>'
        '<script src=/s.js></script><a name=top>no</a><a href="c.html">again</a>'
    )
    assert page.links == [
        "http://example.org/de",
        "http://example.org/2",
        "http://example.org/0",
        "http://example.org/a/c.html",
        "http://example.org/area",
        "http://example.org/frame",
    ]


def test_the_frames_of_a_frameset_are_links() -> None:
    page = parse("<html><frameset><frame src=left.html><frame src=right.html></frameset></html>")
    assert page.links == ["http://example.org/a/left.html", "http://example.org/a/right.html"]


@pytest.mark.parametrize(
    ("href", "base"),
    [
        ("http://other.example/dir/", "http://other.example/dir/"),
        ("/root/", "http://example.org/root/"),
        ("http://[", URL),
        ("javascript:0", URL),
        ("", URL),
    ],
)
def test_links_are_relative_to_a_usable_base(href: str, base: str) -> None:
    page = parse(f'<base href="{href}"><a href="x.html">x</a>')
    assert page.links == [base.rsplit("/", 1)[0] + "/x.html"]


def test_links_over_the_limit_are_dropped_and_counted() -> None:
    page = parse("".join(f"<a href=/{i}>" for i in range(MAX_LINKS + 5)))
    assert len(page.links) == MAX_LINKS
    assert page.dropped_links == 5


def test_statements_are_read_after_any_number_of_links() -> None:
    links = "<a href=x>x</a>" * (tree.MAX_ELEMENTS + 1)
    page = parse(f"<meta name=robots content=noai>{links}<meta name=robots content=noarchive>")
    assert [content for _, content in page.statements] == ["noai", "noarchive"]


def test_statements_about_the_use_of_a_page_are_read() -> None:
    page = parse(
        '<meta name=" Robots" content="noindex, NOFOLLOW"><meta name=tdm-reservation content=1>'
        "<meta name=description content=nofollow>"
    )
    assert page.statements == (("robots", "noindex, NOFOLLOW"), ("tdm-reservation", "1"))


def test_only_a_link_to_a_license_of_rsl_is_one() -> None:
    link = '<link rel="{}" type="{}" href="/license.xml">'
    message = (
        ("License", "application/rsl+xml; x"),
        ("license", "text/html"),
        ("next", "application/rsl+xml"),
    )
    page = parse("<title>x</title>" + "".join(link.format(*each) for each in message))
    assert page.statements == (("license", "http://example.org/license.xml"),)


def test_a_link_is_nofollow_if_every_element_says_so() -> None:
    page = parse(
        "<a href=/a rel='UGC &#78;oFollow'>x</a><a href=/b rel=nofollow>x</a><a href=/b>x</a>"
        "<area href=/c rel=nofollow><a href=/d rel=me>x</a><link rel=next href=/e>"
    )
    assert page.nofollowed == {"http://example.org/a", "http://example.org/c"}
    assert page.nofollowed < set(page.links)
    assert parse("<a href=/a rel=me>nothing here</a>").nofollowed == frozenset()
    assert parse("<a href=/a rel=NOFOLLOW>x</a>").nofollowed == {"http://example.org/a"}


def test_translations_and_feeds_are_read() -> None:
    page = parse(
        "<link rel=alternate hreflang=de-AT href=/de><link rel=alternate hreflang=x-default href=/>"
        "<link rel='Alternate' type=application/rss+xml href=/rss><link rel=stylesheet href=/s>"
        "<link rel=alternate hreflang=fr href='mailto:x'>"
        "<a rel=alternate hreflang=is href=/is>x</a><a hreflang=sv href=/sv>x</a>"
    )
    assert page.alternates == (("http://example.org/de", "de-AT"), ("http://example.org/is", "is"))
    assert page.tagged == (("http://example.org/sv", "sv"),)
    assert page.feeds == ("http://example.org/rss",)
    assert "http://example.org/rss" not in page.links


def test_declarations_are_listed_from_the_most_reliable() -> None:
    page = parse(
        '<html lang="de-AT" xml:lang="de"><head><meta property="og:locale" content="fr_FR">'
        '<meta http-equiv="Content-Language" content="it"><meta name="DC.Language" content="es">'
        '<meta name="language" content="Deutsch"><meta name="author" content="nl"></head>',
        content_language="pt",
    )
    assert page.declarations[:3] == (
        Declaration("html lang", "de-AT"),
        Declaration("html xml:lang", "de"),
        Declaration("HTTP Content-Language", "pt"),
    )
    assert {(d.source, d.tag) for d in page.declarations[3:]} == {
        ("og:locale", "fr_FR"),
        ("content-language", "it"),
        ("dc.language", "es"),
        ("meta language", "Deutsch"),
    }


def test_the_body_the_translations_and_the_data_of_a_page_declare_its_language() -> None:
    page = parse(
        '<link rel=canonical href="/own"><link rel=alternate hreflang=sv href="/own#top">'
        '<link rel=alternate hreflang=fi href="/fi"><link rel=alternate hreflang=sv-FI href=b.html>'
        "<link rel=alternate hreflang=x-default href=b.html>"
        '<script type="application/ld+json">{"inLanguage" : "sv-SE"}</script><body lang=sv>text'
    )
    assert page.canonical == "http://example.org/own"
    assert [(d.source, d.tag) for d in page.declarations] == [
        ("body lang", "sv"),
        ("hreflang self", "sv"),
        ("hreflang self", "sv-FI"),
        ("JSON-LD inLanguage", "sv-SE"),
    ]


def test_bytes_over_the_limit_are_ignored() -> None:
    body = b"<p>" + b" " * MAX_BYTES + b"beyond"
    assert parse_page(body, content_type=None, url=URL).text == ""


def test_what_lexbor_refuses_is_written_anew_and_read(monkeypatch: pytest.MonkeyPatch) -> None:
    html = (
        '<!DOCTYPE html><html lang="de"><head><title>T</title><base href="/x/"></head><body>'
        "<p>Some <b>bo</b>ld text<pre>code</pre><script>x</script></p><!-- c --> end"
        '<a href="y" class="a b" rel=nofollow>y</a><meta name=robots content=noai></body></html>'
    )
    expected = parse(html)

    def refusing(given: bytes, scripting: bool = False) -> LexborHTMLParser:
        if given == html.encode():
            raise ValueError("refused")
        return LexborHTMLParser(given, scripting=scripting)

    monkeypatch.setattr(tree, "LexborHTMLParser", refusing)
    assert parse(html) == replace(expected, parser="beautifulsoup")
    monkeypatch.setattr(tree, "LexborHTMLParser", None)
    assert parse(html).text == ""


@pytest.mark.parametrize("first", [MemoryError, ValueError])
def test_a_page_that_takes_too_much_memory_is_not_read_as_an_empty_one(
    first: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "LexborHTMLParser", Mock(side_effect=[first, MemoryError]))
    with pytest.raises(MemoryError):
        parse("<p>Text")


TAGS = "<div> </div> <p> </a> <b> <table> <td> <svg> <script> </script> <!-- --> é".split()
TAGS += ["<a href='/x'>", "x y", "<base href=//h/>", "<meta name=robots content="]


@settings(deadline=None)
@given(st.lists(st.sampled_from(TAGS), max_size=30).map("".join))
def test_any_soup_of_tags_parses_and_does_so_the_same_way_twice(html: str) -> None:
    page = parse(html)
    assert page == parse(html)
    assert len(set(page.links)) == len(page.links)
    assert all(link.startswith(("http://", "https://")) and "#" not in link for link in page.links)


def test_a_feed_or_a_page_that_turns_to_another_script_gives_pieces_of_all_its_text() -> None:
    english, japanese = "This text is free to copy. ", "吾輩は猫である。名前はまだ無い。"
    license_first = f"<p>{english * 100}<p>{japanese * 400}"
    assert japanese in parse(license_first).text
    spanish = f"<rss><title>{english * 200}</title><p>{'Hace frío hoy. ' * 400}</rss>"
    assert "Hace frío" in parse(spanish).text


def test_a_long_page_of_one_script_keeps_its_beginning() -> None:
    found = parse("<p>" + "".join(f"Wort{at} größer " for at in range(4000)))
    assert found.text.startswith("Wort0 größer Wort1")
    assert "Wort300 " not in found.text
    assert len(found.text) <= MAX_CHARACTERS
