"""Bad pages of any kind are answered, with a reason, from a bounded part of their bytes."""

import time
from collections.abc import Callable

import pytest

from benchmarks.page_hostile import INPUTS, made, ordinary
from langfocus.classifiers.pages.html.links import MAX_LINKS
from langfocus.classifiers.pages.html.tree import MOST_TAGS, affordable
from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import parse_page

URL = "http://example.org/a/b.html"
SMALL = 60_000
# Far more than any of these pages costs on a slow machine, far less than what they cost uncut.
GUARD_S = 10.0

Maker = Callable[[int], bytes]


@pytest.mark.parametrize("make", INPUTS.values(), ids=INPUTS)
def test_a_bad_page_is_answered_with_a_reason(make: Maker) -> None:
    start = time.process_time()
    for size in (0, 1, 7, SMALL):
        page = parse_page(make(size), content_type=None, url=URL)
        answer = method().identify(page)
        assert answer.reason
        assert 0 <= answer.confidence <= 1
        assert (answer.language is None) == (answer.method == "none")
    assert time.process_time() - start < GUARD_S


LARGE = (
    "one tag|a million nested|links|odd links|nulls|emoji|code|numbers|one text|cdata|"
    "tags of a thousand attributes|unclosed comments|tables|tables with formatting|"
    "framesets|links around blocks"
).split("|")


@pytest.mark.parametrize("name", LARGE)
def test_a_large_and_hostile_page_is_answered_soon(name: str) -> None:
    body = made(INPUTS[name], 20_000_000)
    start = time.process_time()
    page = parse_page(body, content_type=None, url=URL)
    assert time.process_time() - start < GUARD_S / 2
    assert page.parser in {"lexbor", "lexbor-cut"}
    assert len(page.links) <= MAX_LINKS


@pytest.mark.parametrize("declared", ["utf-16", "utf-16le", "utf-32", "utf-7", "gbk", "nonsense"])
def test_an_ordinary_page_is_read_whatever_it_declares(declared: str) -> None:
    html = b"<meta charset=%b>" % declared.encode() + ordinary(20_000)
    for body in (html, html.decode().encode("cp1252", "replace")):
        page = parse_page(body, content_type=f"text/html; charset={declared}", url=URL)
        assert method().identify(page).language == "de"


def numbered(pattern: bytes, number: int) -> bytes:
    return b" ".join(pattern % at for at in range(number))


COSTLY = {
    "nested": b"<div>" * 40_000,
    "nested and closed": b"<x-1>" * 40_000 + b"</x-1>" * 40_000,
    "nested in a script of a drawing": b"<svg><script>" + b"<DIV>" * 40_000,
    "mismatched": b"<div></b>" * 25_000,
    "formatting": numbered(b"<b id=%d><p>", 5_000),
    "formatting made again": numbered(b"<i id=%d>", 300) + b"<p>x</p>" * 30_000,
    "names of tags": numbered(b"<x%d>", 40_000),
    "attributes": b"<a " + numbered(b"a%d", 300_000) + b">",
    "attributes that look like tags": b"<p " + numbered(b'a%d="<b>"', 100_000) + b">",
    "attributes of bodies": numbered(b"<body a%d>", 200_000),
    "attributes behind a stray quote": b'<a " ' + numbered(b"<x%d='>'", 100_000) + b">",
}


@pytest.mark.parametrize("costly", COSTLY.values(), ids=COSTLY)
def test_of_a_page_that_would_cost_minutes_the_beginning_is_read(costly: bytes) -> None:
    start = time.process_time()
    body = b"<p>here <a href=/x>before</a>" + costly + b"<p>after</a>"
    page = parse_page(body, content_type=None, url=URL)
    assert page.parser == "lexbor-cut"
    assert page.text.startswith("here before")
    assert page.links == ["http://example.org/x"]
    assert time.process_time() - start < GUARD_S


@pytest.mark.parametrize(
    "piece",
    [
        b"<a title='x > y' href='/a'>x</a> ",
        b'<p data-card="<b>bold</b> <i>text</i>" class="c">some text = "quoted < more" </p>',
        b"<script>if (a<b) { s = '<a href=\"' + x + '\">' ; t = \"<b></b>\"; }</script><p>text</p>",
        b"<script>for(i=0;i<n;i++){x=y/z;s='a b c'}" + b"f(a, b, 'c');" * 300 + b"</script>",
        b"<p>" + b"a long paragraph, without an end, " * 60,
        b"<svg><path d='" + b"M 1 2 L 3 4 " * 400 + b"'/></svg>",
        b"<li>item<p>text<br>",
        b"<div><b>x</b><i>y</i></div>",
        b"<tr><td><font size=1>x</font>",
        b"<p " + numbered(b"a%d", 2_000) + b">",
        b"<img src='data:image/png;base64," + b"A" * 100_000 + b"'>",
    ],
)
def test_a_long_ordinary_page_is_read_to_its_end(piece: bytes) -> None:
    body = piece * (150_000 // len(piece) + 1)
    assert affordable(body) is body


ATTRIBUTES = {
    b"<p %b>": [b"a", b"a=1", b"a = '>'", b'a=">"', b"a='<b>'", b"<b", b"a/"],
    b"</p %b>": [b"a"],
    b'<p x="%b>': [b"a"],
}


@pytest.mark.parametrize(
    ("tag", "attribute"), [(tag, each) for tag, of in ATTRIBUTES.items() for each in of]
)
def test_a_page_ends_before_a_tag_of_more_than_3000_attributes(
    tag: bytes, attribute: bytes
) -> None:
    before, text = b"<b>text</b> " * 100 + b"long " * 10_000, b"<p title='> b'> and < so on"
    many, few = (before + tag % (b" " + b" ".join([attribute] * n)) for n in (3_001, 1_400))
    assert affordable(many + text) == before
    assert affordable(few + text) == few + text
    assert affordable(before + b"<!" + b"word " * 9_000) == before + b"<!" + b"word " * 9_000


def test_a_page_of_too_many_tags_is_read_to_the_last_that_counts() -> None:
    body = b"<br>x" * (MOST_TAGS + 1)
    assert affordable(body) == b"<br>x" * MOST_TAGS


@pytest.mark.parametrize(
    ("tags", "is_costly"),
    [
        (b"<b>", True),
        (b"<B x=1>", True),
        (b"<b>x</b>", False),
        (b"<b>x</B\n>", False),
        (b"<b></bb>", True),  # the end of another element
        (b"<b><i</b>", True),  # one name with a sign in it
        (b"</b><b>", False),
        (b"<big><a-long-name></a-long-name></big>", False),
        (b"<a-long-name>", False),
        (b"<li><br>", False),
    ],
)
def test_open_elements_end_a_page_if_they_are_many_and_costly(tags: bytes, is_costly: bool) -> None:
    body = tags * 6_000
    assert (len(affordable(body)) < len(body)) == is_costly


def test_a_page_is_read_to_its_sixteenth_root_element() -> None:
    roots = b"<html><BODY>" * 8
    assert affordable(roots + b"<body-x><p>") == roots
    assert affordable(roots + b"<bodyx><html5><p>") == roots + b"<bodyx><html5><p>"
    assert affordable(roots + b"<body") == roots
