"""Languages with hardly a labelled URL."""

from collections import Counter

import pytest

from langfocus.classifiers.pages.text.textengine import known_languages
from langfocus.classifiers.urls.further import FURTHER
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.posteriors import Prior


def test_a_url_can_name_each_language_of_the_text_model(model: UrlModel) -> None:
    named = Counter(model.named_languages)
    assert set(named.values()) == {1}
    assert set(known_languages()) <= set(named)


def test_no_url_rules_a_language_out(model: UrlModel) -> None:
    shares = model.shares(["http://www.example.com/", "http://www.a.org/x?id=7"])
    columns = [model.named_languages.index(code) for code in FURTHER]
    assert (shares[:, columns] > 0).all()
    assert shares[:, columns].sum(axis=1).max() < 0.2


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://www.acme.com/pidgin/articles", "pcm"),
        ("https://www.acme.com/afaanoromoo", "om"),
        ("https://www.acme.com/news/luganda", "lg"),
        ("https://www.acme.com/ln/nsango", "ln"),
        ("https://www.acme.com/hsb/startowa-strona", "hsb"),
        ("https://www.acme.com/?lang=kab", "kab"),
        ("https://www.voalingala.com/", "ln"),
        ("https://www.euskara-news.com/", "eu"),
        ("https://www.walonnews.org/", "wa"),
        ("https://namunyeluganda.com/", "lg"),
        ("https://lv.acme.lv/", "lv"),
        ("https://www.latgale.lv/zinas", "lv"),
        ("https://www.acme.ru/novosti", "ru"),
        ("https://www.acme.it/mi/contatti", "it"),
        ("https://www.acme.no/om/oss", "no"),
        ("https://www.acme.com/ba/proizvodi", "bs"),
        ("https://www.acme.com/kg/", "ky"),
        ("https://www.acme.com/bo/productos", "es"),
        ("https://www.acme.com/cooking/recipes/latin", "en"),
        ("https://www.kongo-reisen.de/", "de"),
        ("https://www.irishtimes.com/sport", "en"),
        ("https://kurdistan24.net/", "ar"),
    ],
)
def test_codes_and_names_count_and_places_and_words_do_not(
    model: UrlModel, url: str, language: str
) -> None:
    assert model.identify(url).language == language


@pytest.mark.parametrize("code", "ba bo bug ki lg nv om sc se sg su ts ug wa war".split())
def test_a_code_with_another_meaning_names_no_such_language_surely(
    model: UrlModel, code: str
) -> None:
    for url in (f"https://www.acme.com/{code}/x7", f"https://{code}.acme.com/"):
        answer = model.identify(url)
        assert answer.language != code or answer.confidence < 0.9


def test_the_domain_of_a_country_is_little_evidence(model: UrlModel) -> None:
    column = model.named_languages.index("ltg")
    home, abroad = model.shares(["https://www.acme7.lv/", "https://www.acme7.com/"])[:, column]
    assert home < 0.05
    crawled = model.shares(["https://x.lv/ltg/"], Prior.crawl("ltg"))[0, column]
    assert crawled > 0.5
    assert abroad > 0


def test_a_model_of_its_classifiers_alone_gets_no_further_language(model: UrlModel) -> None:
    evidence = model.posterior
    assert evidence.widened().languages == evidence.languages
    assert set(FURTHER) <= set(evidence.languages)
