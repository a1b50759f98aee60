"""UTF-8 that was encoded twice is read as it was meant, and no other text is changed."""
# ruff: noqa: RUF001 - the sentences are in their languages

import html

import pytest

from langfocus.classifiers.pages.charset.twice import repaired
from langfocus.classifiers.pages.methods import method
from langfocus.classifiers.pages.parse import parse_page
from tests.classifiers.pages.test_page_language import SENTENCES

BEYOND = {code: text for code, text in SENTENCES.items() if len(text.encode()) > len(text) + 4}
# From the first articles of the Universal Declaration of Human Rights.
BEYOND["hy"] = "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։"
BEYOND["ta"] = "மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும் சமமானவர்கள்."
BEYOND["ka"] = "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით."


def twice(text: str, encoding: str = "cp1252") -> str:
    """A text whose bytes are taken for another encoding, undefined ones for control characters."""
    octets = (bytes([octet]) for octet in text.encode())
    return "".join(octet.decode(encoding, "ignore") or octet.decode("latin-1") for octet in octets)


def language_of(body: str) -> str | None:
    page = parse_page(body.encode(), content_type="text/html; charset=utf-8", url="")
    return method().identify(page).language


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "cp1254", "cp1251", "cp1250", "cp437"])
@pytest.mark.parametrize("language", BEYOND)
def test_a_text_that_was_encoded_twice_is_read(language: str, encoding: str) -> None:
    text = BEYOND[language]
    assert repaired(twice(text, encoding)) == text
    assert repaired(twice(twice(text, encoding))) == text
    assert language_of(f"<p>{twice(text, encoding)}") == language


@pytest.mark.parametrize("language", ["hi", "ta", "th", "ru", "el", "hy"])
def test_a_text_that_lost_bytes_is_read(language: str) -> None:
    lost = BEYOND[language].encode().decode("cp1252", "replace")
    assert language_of(f"<p>{lost * 3}") == language
    cut = twice(BEYOND[language])[1:-1]
    assert language_of(f"<p>{cut}") == language


@pytest.mark.parametrize("language", ["hi", "th", "ru"])
def test_entities_and_spaces_that_do_not_break_are_halves_of_letters(language: str) -> None:
    written = twice(BEYOND[language]).encode("ascii", "xmlcharrefreplace").decode()
    assert language_of(f"<p>{written}") == language
    # ठ ends with such a space.
    assert "कोठी" in parse_page(twice("<p>बड़ी कोठी में").encode(), content_type=None, url="").text


def test_a_menu_that_is_not_encoded_twice_does_not_hide_the_text() -> None:
    menu = "<ul>" + "<li><a href=/a>Über uns</a><li><a href=/b>Home</a>" * 4 + "</ul>"
    assert language_of(f"{menu}<p>{twice(BEYOND['hi'] * 3)}") == "hi"


def test_links_stay_as_they_are_written() -> None:
    body = f"<a href='/{twice('ä')}'>a</a><p>{twice(BEYOND['hi'])}".encode()
    page = parse_page(body, content_type="text/html; charset=utf-8", url="http://a.org/")
    assert page.links == ["http://a.org/%C3%83%C2%A4"]


@pytest.mark.parametrize(
    "text",
    [
        *SENTENCES.values(),
        "L’ÉTÉ « CAFÉ » À L’ÎLE … « L’ŒUVRE »",
        "«ÁÉÍ» Ñ° Ã© Ðа",
        "l’æ d’é l’é s’é — à",
        "3 × 4 ² ± ½ ° ¼ © ® ™",
        "Â© 2020",
        "",
    ],
)
def test_no_other_text_is_changed(text: str) -> None:
    assert repaired(text) is text
    assert repaired(html.escape(text) + " \ud800 😀") == html.escape(text) + " \ud800 😀"
