"""What is read from the text of a page: paragraphs, words, languages, repeated lines, copies."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.configuration import SETTINGS
from crawler.outputs.extraction import EXTRACTORS, make_extractor, paragraphs_of
from crawler.outputs.near_duplicates import BANDS, THRESHOLD, bands_of, jaccard, runs_of
from crawler.outputs.paragraph_languages import differing_languages
from crawler.outputs.repeated_lines import MOST_LINES, PAGES_BEFORE, repeated
from crawler.outputs.words import number_of_words, units
from crawler.page_text import PageText, Paragraph, unpacked
from tests.support.smallweb import SENTENCES

GERMAN, ENGLISH = SENTENCES["de"] * 2, SENTENCES["en"] * 2
PAGE = f"""<html><head><title>T</title></head><body>
<nav><ul><li><a href=/>Start</a></li><li><a href=/x>Kontakt</a></li></ul></nav>
<main><article><h1>Überschrift der Seite</h1><p>{GERMAN}</p><p>{GERMAN[20:]}</p></article></main>
<footer><a href=/i>Impressum</a></footer><script>var x = "nichts";</script></body></html>"""


@pytest.mark.parametrize("name", EXTRACTORS)
def test_the_main_text_is_found_without_menu_and_footer(name: str) -> None:
    paragraphs = paragraphs_of(PAGE.encode(), "text/html; charset=utf-8", make_extractor(name))
    assert GERMAN in paragraphs
    assert not {"Start", "Kontakt", "Impressum"} & {*paragraphs}
    assert "nichts" not in " ".join(paragraphs)


def test_every_extractor_can_be_chosen() -> None:
    assert SETTINGS["LANGFOCUS_EXTRACTOR"].declared.choices == EXTRACTORS


def test_a_page_in_an_old_encoding_and_a_plain_text_have_their_letters() -> None:
    extract = make_extractor("resiliparse")
    html = PAGE.encode("iso-8859-1")
    assert "Überschrift der Seite" in paragraphs_of(html, "text/html; charset=latin1", extract)
    plain = b"Erste  Zeile\r\n\r\nzweite <b>"
    assert paragraphs_of(plain, "text/plain", extract) == ["Erste Zeile", "zweite <b>"]


def test_a_page_that_would_take_a_parser_too_long_ends_soon() -> None:
    extract = make_extractor("resiliparse")
    deep = b"<p>" + b"<b><a>" * 100_000 + b"text"
    assert isinstance(paragraphs_of(deep, "text/html", extract), list)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("Drei kurze Wörter - 17 & 4!", 3),
        ("हिन्दी की किताब", 3),
        ("中文维基百科是维基百科协作计划的中文版本", 12),
        ("ภาษาไทยเป็นภาษาราชการของประเทศไทย", 7),
        ("日本語のウィキペディア GNU", 5),
    ],
)
def test_words_are_counted_with_and_without_spaces(text: str, number: int) -> None:
    assert number_of_words(text) == number


def test_the_words_of_one_sentence_are_about_as_many_in_every_language() -> None:
    numbers = [number_of_words(text) for text in SENTENCES.values()]
    assert max(numbers) <= 1.5 * min(numbers)


def test_paragraphs_in_another_language_are_told_from_those_of_the_page() -> None:
    page = [GERMAN, ENGLISH, "Home", "Short English line", SENTENCES["fr"] * 2]
    assert differing_languages(page, "de") == [None, "en", None, None, "fr"]
    assert differing_languages(page, None) == [None] * 5
    assert differing_languages(page, "tlh") == [None] * 5


def test_a_line_of_each_page_is_repeated_from_the_third_page_on() -> None:
    state, menu = None, [f"menu {n}" for n in range(20)]
    for number in range(300):
        page = [*menu, *(f"line {number} {n}" for n in range(30)), "footer"]
        marks, state = repeated(page, state)
        assert marks == [number >= PAGES_BEFORE] * 20 + [False] * 30 + [number >= PAGES_BEFORE]
    assert state is not None
    assert len(state) <= MOST_LINES * 8
    assert repeated(["footer"], "no base 85: \x00")[0] == [False]


def test_a_line_twice_on_one_page_is_counted_once() -> None:
    state = repeated(["a", "a", "a"], None)[1]
    assert repeated(["a"], state)[0] == [False]


TEXTS = st.text(alphabet="abcdä \n中文ก", max_size=60)


@given(TEXTS, TEXTS)
def test_the_jaccard_index_is_that_of_the_sets_of_runs(a: str, b: str) -> None:
    def runs(text: str) -> set[tuple[str, ...]]:
        words = units(text) and [*units(text), *[""] * (3 - len(units(text)))]
        return {tuple(words[at : at + 3]) for at in range(len(words) - 2)}

    either = runs(a) | runs(b)
    expected = len(runs(a) & runs(b)) / len(either) if runs(a) and runs(b) else 0.0
    assert jaccard(runs_of(units(a)), runs_of(units(b))) == pytest.approx(expected)


def test_near_duplicates_share_a_band_and_others_seldom_do() -> None:
    random = Random(1)
    words = [f"w{n}" for n in range(5000)]
    hits = misses = others = 0
    for _ in range(150):
        text = random.choices(words, k=300)
        copy = list(text)
        for _ in range(random.randrange(30)):
            copy[random.randrange(300)] = random.choice(words)
        a, b = runs_of(text), runs_of(copy)
        shares = not {*bands_of(a)}.isdisjoint(bands_of(b))
        if jaccard(a, b) >= THRESHOLD:
            hits, misses = hits + shares, misses + (not shares)
        other = runs_of([*text[:60], *random.choices(words, k=240)])
        others += not {*bands_of(a)}.isdisjoint(bands_of(other))
    assert hits > 50
    assert misses <= 0.02 * hits
    assert others <= 3


def test_bands_are_the_same_in_every_process_and_fit_into_a_run() -> None:
    assert bands_of(runs_of(["ein", "Text", "wie", "dieser"]))[:2] == (
        8594177129234849,
        8552866829577829,
    )
    bands = bands_of(runs_of(units(GERMAN)))
    assert len(bands) == BANDS
    assert all(0 <= band < 1 << 53 for band in bands)
    assert bands_of(runs_of([])) == ()


PARAGRAPHS = st.builds(
    Paragraph, st.text(max_size=20), st.sampled_from([None, "de", "yue"]), st.booleans()
)


@given(st.text(max_size=20), st.lists(PARAGRAPHS, max_size=5))
def test_a_stored_text_comes_back_unchanged(title: str, parts: list[Paragraph]) -> None:
    text = PageText(title, tuple(parts), 7, 3)
    assert unpacked(text.packed(), 7, 3) == text


@pytest.mark.parametrize("content", [b"", b"x", PageText("t", (), 0).packed()[:-1]])
def test_a_damaged_text_is_one_kind_of_error(content: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpacked(content, 0, None)
