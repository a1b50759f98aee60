"""What codes and names of languages in URLs say, on patterns written by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from langfocus.classifiers.urls.model import UrlModel

_PATTERNS = Path(__file__).with_name("codes.tsv")


def patterns() -> Iterator[tuple[str, set[str]]]:
    _, *lines = _PATTERNS.read_text(encoding="utf-8").splitlines()
    for line in lines:
        url, answers = line.split("\t")
        yield url, set(answers.split("|"))


@pytest.mark.parametrize(("half", "least"), [(0, 240), (1, 237)])
def test_most_codes_of_urls_name_their_language(model: UrlModel, half: int, least: int) -> None:
    rows = list(patterns())[half::2]
    named = model.identify_many([url for url, _ in rows])
    right = sum(got.language in answers for got, (_, answers) in zip(named, rows, strict=True))
    assert right >= least


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://example.com/my/en/home", "en"),
        ("https://example.com/?hl=iw", "he"),
        ("https://example.com/index.php?lang=gr", "el"),
        ("https://example.com/?language=hungarian", "hu"),
        ("https://example.com/?lang%5B%5D=pl", "pl"),
        ("https://example.com/srpski/", "sr"),
        ("https://example.com/%E6%97%A5%E6%9C%AC%E8%AA%9E/", "ja"),
        ("https://example.com/cz/", "cs"),
        ("https://example.com/ch/fr/", "fr"),
        ("https://example.com/en/ca/", "en"),
        ("https://example.com/deu/", "de"),
        ("https://example.com/norsk/", "no"),
        ("https://example.com/nb/", "no"),
        ("https://example.com/nb-no/", "no"),
        ("https://example.com/iw-il/", "he"),
        ("https://example.com/magyarul/", "hu"),
        ("https://example.com/gb/", "en"),
        ("https://cz.example.com/", "cs"),
        ("https://en.example.ir/", "en"),
        ("https://de.example.vn/", "de"),
        ("https://english.acme.jp/", "en"),
        ("https://cs.example.edu/", "en"),
        ("https://example.com/?jazyk=sk", "sk"),
        ("https://example.com/?ui_locales=fi", "fi"),
        ("https://example.com/uk/products", "en"),
        ("https://example.com/uk/novyny/", "uk"),
        ("https://example.com/?lang=uk", "uk"),
        ("https://example.ua/uk/", "uk"),
        ("https://example.com/es/eu/", "eu"),
        ("https://example.com/mt/en/shop", "en"),
        ("https://example.com/sr/vesti", "sr"),
        ("https://example.com/cs/", "cs"),
        ("https://example.com/sl/", "sl"),
        ("https://example.com/index.php?lang=kr", "ko"),
        ("https://example.com/?lang-id=ro", "ro"),
        ("https://example.com/?language_code=pt", "pt"),
        ("https://example.com/?languageCode=nl", "nl"),
        ("https://www.acme.com/index.de.html", "de"),
    ],
)
def test_old_codes_countries_names_and_pairs_are_codes(
    model: UrlModel, url: str, language: str
) -> None:
    assert model.identify(url).language == language


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://www.acme.com/uk/help/delivery", "en"),
        ("https://www.acme.com/ca/stores/toronto", "en"),
        ("https://www.acme.com/ca/botiga/contacte", "ca"),
        ("https://store.globex.com/ar/productos/zapatos", "es"),
        ("https://www.acme.com/ar/about-us", "ar"),
        ("https://www.acme.com/sv/tiendas/ofertas", "es"),
        ("https://www.acme.com/sv/om-oss", "sv"),
        ("https://www.acme.com/br/produtos", "pt"),
        ("https://www.acme.bzh/br/", "br"),
        ("https://www.acme.com/ga/produits/telephones", "fr"),
        ("https://www.acme.ie/ga/", "ga"),
        ("https://www.acme.am/am/", "hy"),
        ("https://www.acme.et/am/", "am"),
        ("https://si.acme.com/izdelki", "sl"),
        ("https://www.acme.lk/si/", "si"),
        ("https://www.acme.com.mt/mt/", "mt"),
        ("https://www.acme.com/mt/products", "en"),
    ],
)
def test_a_second_clue_decides_between_a_language_and_a_country(
    model: UrlModel, url: str, language: str
) -> None:
    assert model.identify(url).language == language


@pytest.mark.parametrize("url", ["/how/to/apply", "/who/am/i", "/and/so/on", "/this/will/be/fine"])
def test_an_english_word_below_another_directory_is_english(model: UrlModel, url: str) -> None:
    assert model.identify(f"https://www.acme.com{url}").language == "en"


def test_a_parameter_after_a_path_of_language_is_none_of_language(model: UrlModel) -> None:
    plain, named = (
        model.identify(f"https://www.acme.com/{path}?id=fi").confidence
        for path in ("a-b", "lang-b")
    )
    assert plain < 0.5
    assert named < 0.5


@pytest.mark.parametrize("code", ["am", "be", "ca", "ch", "la", "mt", "my", "si", "uk"])
def test_a_code_with_two_meanings_names_no_language_surely_alone(
    model: UrlModel, code: str
) -> None:
    assert model.identify(f"https://example.com/{code}/").confidence < 0.8
