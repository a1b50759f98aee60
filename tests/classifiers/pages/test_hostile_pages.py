"""Bad pages of any kind are answered, with a reason, from a bounded part of their bytes."""

import time
from collections.abc import Callable

import pytest

from benchmarks.page_hostile import INPUTS, ordinary
from classifiers.pages.charset.encodings import decode
from classifiers.pages.html.hazards import MAX_HAZARDOUS_BYTES, MAX_TAGS, disarmed, is_hazardous
from classifiers.pages.methods import identify
from classifiers.pages.parse import parse_page

URL = "http://example.org/a/b.html"
SMALL = 60_000
# Far more than any of these pages costs on a slow machine, far less than what they cost undisarmed.
GUARD_S = 10.0

Maker = Callable[[int], bytes]


@pytest.mark.parametrize("make", INPUTS.values(), ids=INPUTS)
def test_a_bad_page_is_answered_with_a_reason(make: Maker) -> None:
    start = time.process_time()
    for size in (0, 1, 7, SMALL):
        page = parse_page(make(size), content_type=None, url=URL)
        answer = identify(page)
        assert answer.reason
        assert 0 <= answer.confidence <= 1
        assert (answer.language is None) == (answer.method == "none")
    assert time.process_time() - start < GUARD_S


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-16", "text/html; charset=gbk"])
@pytest.mark.parametrize("make", INPUTS.values(), ids=INPUTS)
def test_a_bad_page_is_decoded_whatever_its_header_says(make: Maker, content_type: str) -> None:
    decoded = decode(make(5_000), content_type)
    assert decoded.text
    assert decoded == decode(make(5_000), content_type)


@pytest.mark.parametrize("declared", ["utf-16", "utf-16le", "utf-32", "utf-7", "gbk", "nonsense"])
def test_an_ordinary_page_is_read_whatever_it_declares(declared: str) -> None:
    body = f"<meta charset={declared}>".encode() + ordinary(20_000)
    answer = identify(parse_page(body, content_type=f"text/html; charset={declared}", url=URL))
    assert answer.language == "de"


@pytest.mark.parametrize("cut", range(1, 6))
def test_a_page_that_ends_within_a_character_is_read(cut: int) -> None:
    body = ("<p>" + "Der Fluß liegt still über den Wiesen. " * 20 + "😀").encode()[:-cut]
    page = parse_page(body, content_type=None, url=URL)
    assert page.charset == "utf-8"
    assert identify(page).language == "de"


ENDLESS = {
    "quoted": [b'a%d=">"', b'a%d="<>"', b"a%d='<>'", b'a%d = "<b>"', b"a%d\n=\t'x<i>y</i>'"],
    "bare": [b"a%d", b"a%d=1", b"a%d=<", b"<%d"],
}


@pytest.mark.parametrize("pattern", [*ENDLESS["quoted"], *ENDLESS["bare"]])
@pytest.mark.parametrize(
    "before", [b"", b"<script>if (a <b) x = \"</script>' </script>", b"<!-- '"]
)
def test_a_tag_of_endless_attributes_is_found_and_loses_them(pattern: bytes, before: bytes) -> None:
    start = time.process_time()
    attributes = b" ".join(pattern % i for i in range(20_000))
    close = b"-->" if before.startswith(b"<!--") else b""
    body = before + close + b"<a href=/x " + attributes + b">inside</a><p>after"
    assert is_hazardous(body)
    assert not is_hazardous(disarmed(body))
    page = parse_page(body, content_type=None, url=URL)
    assert page.parser == "lexbor-disarmed"
    assert page.links == ["http://example.org/x"]
    assert page.text.endswith("inside after") or len(body) > MAX_HAZARDOUS_BYTES
    assert time.process_time() - start < GUARD_S


@pytest.mark.parametrize("per_tag", [600, 1_000, 2_000])
@pytest.mark.parametrize("pattern", [b"a%d", b'a%d="<>"'])
def test_many_tags_of_many_attributes_are_disarmed(per_tag: int, pattern: bytes) -> None:
    tag = b"<p " + b" ".join(pattern % i for i in range(per_tag)) + b">"
    body = tag * (450_000 // len(tag))
    assert is_hazardous(body)
    assert not is_hazardous(disarmed(body))


def test_one_value_with_markup_among_bare_attributes_hides_no_tag() -> None:
    bare = b" ".join(b"a%d" % i for i in range(30_000)).split(b" ")
    hidden = [b'%b="<b>"' % name if i % 1_000 == 0 else name for i, name in enumerate(bare)]
    assert is_hazardous(b"<a " + b" ".join(hidden) + b">x</a>")


@pytest.mark.parametrize(
    "piece",
    [
        b"<a title='x > y' href='/a'>x</a> ",
        b'<p data-card="<b>bold</b> <i>text</i>" class="c">some text = "quoted < more" </p>',
        b"<script>if (a<b) { s = '<a href=\"' + x + '\">' ; t = \"<b></b>\"; }</script><p>text</p>",
        b"<script>for(i=0;i<n;i++){x=y/z;s='a b c'}" + b"f(a, b, 'c');" * 300 + b"</script>",
        b"<p>" + b"a long paragraph, without an end, " * 60,
        b"<svg><path d='" + b"M 1 2 L 3 4 " * 400 + b"'/></svg>",
    ],
    ids=["quoted sign", "quoted markup", "script", "long script", "paragraphs", "drawing"],
)
def test_markup_in_values_scripts_and_long_texts_is_no_hazard(piece: bytes) -> None:
    assert not is_hazardous(piece * (60_000 // len(piece)))


def test_a_page_of_too_many_tags_is_read_to_the_last_that_counts() -> None:
    body = b"<br>x" * (MAX_TAGS + 1)
    assert is_hazardous(body)
    kept = disarmed(body)
    assert kept.count(b"<") == MAX_TAGS
    assert not is_hazardous(kept)
    assert not is_hazardous(body[: 5 * MAX_TAGS])


@pytest.mark.parametrize("name", ["one tag", "a million nested", "slashes", "opening signs"])
def test_what_is_read_of_a_hazardous_page_is_bounded(name: str) -> None:
    assert len(disarmed(INPUTS[name](2_000_000))) <= MAX_HAZARDOUS_BYTES
