"""The language of a page is that of its main text, wherever that stands and whatever is around."""
# ruff: noqa: RUF001 - the sentences are in their languages

import pytest

from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import parse_page

ENGLISH = "The old ferry left the harbour long before sunrise. "
GERMAN = "Am Abend gingen wir durch die stillen Gassen nach Hause. "
RWANDA = (
    "Abanyeshuri bose bagomba kwiga amasomo yabo neza kugira ngo bazatsinde ibizamini bisoza."
    " Ubuyobozi bwasabye abaturage kwitabira umuganda rusange no gukora isuku mu ngo zabo."
)
HAWAIIAN = (
    "<p>ʻO kēia ka ʻaoʻao o ka hale kula o mākou. Ua hele mai nā keiki i ke kula i kēia kakahiaka."
    "<p>Makemake au e aʻo i ka ʻōlelo Hawaiʻi no ka mea he ʻōlelo nani ia na koʻu mau kūpuna."
)
MENU = (
    "Home News Events Members Gallery Shop Contact Register Search Archives Categories Privacy "
    "Policy Terms of Use Log In Help Centre Site Map Careers Customer Service Shopping Cart "
) * 2


def language_of(body: str) -> str | None:
    page = parse_page(
        f"<html>{body}</html>".encode(), content_type="text/html; charset=utf-8", url=""
    )
    return method().identify(page).language


@pytest.mark.parametrize("form", ["<nav>{}</nav>", "<div>{}</div>", "<p>{}"])
def test_an_english_menu_does_not_name_a_short_page(form: str) -> None:
    assert language_of(f"{form.format(MENU)}<p>{GERMAN * 4}") == "de"
    assert language_of(f"{form.format(MENU)}<p>{RWANDA}") == "rw"


@pytest.mark.parametrize("words", [ENGLISH, f"We use cookies. {ENGLISH}"])
def test_a_consent_form_does_not_name_the_article_behind_it(words: str) -> None:
    form = f"<p>{words * 3}</p>" * 8
    assert language_of(f"<div>{form}</div><article>{f'<p>{GERMAN * 3}</p>' * 30}") == "de"


@pytest.mark.parametrize(
    ("beginning", "article", "language"),
    [
        (ENGLISH * 16, GERMAN * 12, "de"),  # a form in English, without a word of forms
        (GERMAN * 8, RWANDA * 4, "rw"),
        (GERMAN * 16, ENGLISH * 12, "de"),  # more than half
        (ENGLISH * 8, GERMAN * 4 + ENGLISH * 8, "en"),  # a quotation
    ],
)
def test_a_beginning_in_another_language_does_not_name_the_rest(
    beginning: str, article: str, language: str
) -> None:
    assert language_of(f"<p>{beginning}</p><p>{article}") == language


@pytest.mark.parametrize(
    "form",
    [
        '<div id="cookie-notice">{}</div>',
        '<div id="BorlabsCookieBox"><div>{}</div></div>',
        '<div class="cc-window cc-banner" role="dialog">{}</div>',
        '<section class="fc-consent-root">{}</section>',
        '<div role="alertdialog" aria-modal="true"><h2>Ihre Wahl</h2>{}</div>',
    ],
)
def test_a_form_is_known_by_its_markup_in_any_words(form: str) -> None:
    words = f"<p>{ENGLISH * 3}</p>" * 8
    assert language_of(f"{form.format(words)}<div><p>{GERMAN * 10}</div>") == "de"
    assert language_of(f"<div>{words}</div><div><p>{GERMAN * 10}</div>") == "en"


def test_the_main_element_has_the_main_text() -> None:
    before = f"<p>{ENGLISH * 3}</p>" * 8
    assert language_of(f"{before}<MAIN><p>{GERMAN * 6}</MAIN>") == "de"
    assert language_of(f"{before}<main><p>Kontakt</main>") == "en"


@pytest.mark.parametrize(
    "page",
    [
        '<body class="cookies-not-set">{}',
        '<body><div class="no-cookie"><h1>Abend</h1>{}</div>',
        '<body><div class="category-cookies"><article>{}</article></div>',
        '<body><article class="category-cookies">{}</article>',
        '<body><div id="cookiewall">{}</div>',
    ],
)
def test_an_article_in_an_element_with_the_name_of_a_form_is_read(page: str) -> None:
    footer = f"<div><p>{ENGLISH * 3}</p></div>"
    assert (
        language_of(page.format(f"<p>{GERMAN * 20}") + (footer if "wall" not in page else ""))
        == "de"
    )


def test_a_declaration_settles_which_half_of_a_page_is_its_main_text() -> None:
    halves = f"<p>{ENGLISH * 8}</p><p>{GERMAN * 6}</p>"
    assert language_of(f"<body lang=de>{halves}") == "de"
    assert language_of(f"<body lang=en>{halves}") == "en"


@pytest.mark.parametrize("name", ["pre", "tt", "button", "samp", "code"])
def test_text_in_an_element_of_typography_is_text(name: str) -> None:
    assert language_of(f"<{name}>{GERMAN * 2}</{name}>") == "de"


@pytest.mark.parametrize(
    "form",
    [
        "<div hidden>{}</div>",
        "<div hidden><p hidden>{}</p></div>",
        "<div aria-hidden=true>{}</div>",
        '<div style="color:red; Display : NONE">{}</div>',
        '<p style="visibility:hidden">{}</p>',
        "<dialog>{}</dialog>",
        "<noframes>{}</noframes>",
        "<noembed>{}</noembed>",
        "<ruby>a<rp>{}</rp></ruby>",
        "<textarea>{}</textarea>",
        "<template>{}</template>",
    ],
)
def test_hidden_text_is_no_text(form: str) -> None:
    assert language_of(f"<body>{form.format(GERMAN * 18)}<p>{ENGLISH * 3}") == "en"


@pytest.mark.parametrize(
    "form", ["<body hidden>{}", "<div style='visibility:hidden'>{}</div>", "<dialog open>{}"]
)
def test_a_page_that_hides_all_or_opens_it_is_read(form: str) -> None:
    assert language_of(form.format(GERMAN * 4)) == "de"


@pytest.mark.parametrize("sign", "\u00ad\u200b\u200c\u2060\ufeff")
def test_signs_that_nobody_sees_do_not_part_words(sign: str) -> None:
    parted = " ".join(sign.join((word[:3], word[3:])) for word in RWANDA.split())
    assert language_of(f"<p>{parted}") == language_of(f"<p>{RWANDA}") == "rw"


def test_letters_of_apostrophes_are_apostrophes() -> None:
    for sign in "ʻʼ’‘'":
        assert language_of(HAWAIIAN.replace("ʻ", sign)) == "haw"


@pytest.mark.parametrize("first", [0x1D41A, 0x1D44E + 26 * 2, 0x24D0, 0xFF41])
def test_other_forms_of_letters_are_letters(first: int) -> None:
    forms = {ord("a") + at: first + at for at in range(26)}
    assert language_of(f"<p>{ENGLISH.lower().translate(forms)}") == "en"


def test_small_capitals_are_letters() -> None:
    forms = str.maketrans("abcdefghijklmnoprstuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ")
    assert language_of(f"<p>{ENGLISH.lower().translate(forms)}") == "en"
    assert language_of(f"<p>{GERMAN.lower().translate(forms)}") == "de"
