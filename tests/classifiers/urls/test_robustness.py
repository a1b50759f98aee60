"""Whatever stands in a link is scored, and what names one page scores alike."""

import time
from random import Random
from unicodedata import is_normalized, normalize
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.classifiers.urls.batch import MAX_CHARACTERS
from langfocus.classifiers.urls.model import Scores, UrlModel

PLAIN = "http://zeitung.de/nachrichten/politik?seite=2"

any_text = st.text(max_size=200) | st.text("%/:@.?#[]-xnAf0 \\\n\x00é\udc80ขї", max_size=200)
letters = st.text(st.characters(categories=["L"]), min_size=1, max_size=20).filter(
    lambda text: is_normalized("NFC", text)
)
host_names = st.from_regex(r"[a-z]{1,12}(\.[a-z]{1,12}){0,2}\.(de|com|co\.uk|org)", fullmatch=True)
paths = st.from_regex(
    r"(/[a-zA-Z0-9._~%-]{0,12}){1,4}(\?[a-z]{1,5}=[a-z0-9]{0,9})?", fullmatch=True
)


def scores_of(model: UrlModel, urls: list[str]) -> Scores:
    """Return the scores of URLs, checked to be finite and complete."""
    scores = model.scores(urls)
    assert scores.shape == (len(urls), len(model.languages))
    assert np.isfinite(scores).all()
    return scores


def assert_alike(model: UrlModel, *urls: str) -> None:
    scores = scores_of(model, list(urls))
    assert (scores == scores[0]).all(), urls


@pytest.mark.parametrize(
    "url",
    [
        "", "   ", "\t\r\n", "\x00", "\x00" * 3000, "http://", "https:///", "://", "@", ":", "?",
        "#", "%", "%0", "%zz", "%00%0a%ff", "http://[2001:db8::1]:8080/de/",
        "http://192.168.0.1/index.html", "http://user:p%40ss@host.de:99999999/", "http://a@b@c.de/",
        "mailto:someone@example.de", "javascript:void(0)", "data:text/html,<p>Guten Tag", "file:///C:/Dokumente",
        "tel:+49", "\ud800", "http://\udfff.de/\ud83d", "http://x.de/nach\nrich\x00ten",
        "http://..../....", "http://xn--/", "http://xn--a.xn--b.xn--c/", "http://xn--99999999999.de/",
        "\ufeff\u202e\u200d", "http://x.de/" + "%E4%F6%FC" * 40,
        "http://x.de/\N{GRINNING FACE}\U0010ffff",
    ],
)  # fmt: skip
def test_every_text_has_finite_scores_and_an_answer(model: UrlModel, url: str) -> None:
    assert np.isfinite(scores_of(model, [url])).all()
    answer = model.identify(url)
    assert 0 <= answer.confidence <= 1
    assert (answer.language is None) == (answer.confidence == 0)
    assert url.strip() or answer.language is None
    assert np.isfinite(model.shares([url])).all()


@given(st.lists(any_text | host_names, max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_scores_and_names_depend_on_the_url_alone_not_on_its_batch(
    model: UrlModel, urls: list[str], random: Random
) -> None:
    scores = scores_of(model, urls)
    order = list(range(len(urls)))
    random.shuffle(order)
    assert (scores_of(model, [urls[at] for at in order]) == scores[order]).all()
    for row, url in enumerate(urls):
        assert (scores_of(model, [url])[0] == scores[row]).all()
    places, confidences = model.name(urls)
    named = np.flatnonzero(places >= 0)
    assert (confidences[places < 0] == 0).all()
    shares = model.shares(urls)[named]
    assert np.allclose(shares[np.arange(len(named)), places[named]], confidences[named], atol=1e-4)
    assert np.allclose(shares.max(axis=1, initial=0), confidences[named], atol=1e-4)


@given(host_names, letters)
@settings(max_examples=50, deadline=None)
def test_percent_encoding_does_not_change_what_is_read(
    model: UrlModel, host: str, word: str
) -> None:
    encoded = quote(word)
    raw = f"http://{host}/{word}?q={word}"
    assert_alike(
        model,
        raw,
        f"http://{host}/{encoded}?q={encoded}",
        f"http://{host}/{encoded.lower()}?q={word}",
    )


INTERNATIONAL = {
    "xn--mnchen-3ya.de": "münchen.de",
    "xn--e1afmkfd.xn--p1ai": "пример.рф",
    "www.xn--fiqs8s.xn--fiqs8s": "www.中国.中国",
    "xn--wgv71a119e.jp": "日本語.jp",
    "xn--o3cw4h.com": "ไทย.com",
    "straße.xn--bcher-kva.ch": "straße.bücher.ch",
}
SPELLINGS = {
    "//dw.de/themen": "http://dw.de/themen",
    "  //dw.de/themen": "http://dw.de/themen",
    "\\\\dw.de\\themen": "http://dw.de\\themen",
    "https:\\\\user@dw.de:80/themen": "http://dw.de/themen",
    "http://www.dw.de/": "http://dw.de/",
    "http://WWW.dw.de/": "http://dw.de/",
    "http://пример.РФ/": "http://%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.%D0%A0%D0%A4/",
    "http://x.пр.РФ/": "http://x.%D0%BF%D1%80.%d1%80%d1%84/",
    normalize("NFD", "http://münchen.de/über"): "http://münchen.de/über",
    **{around.format(PLAIN): PLAIN for around in (" {} ", "\n{}\n", "\t{}", "{}#", "\ufeff{}")},
    **{f"http://{ace}/über": f"http://{letters}/über" for ace, letters in INTERNATIONAL.items()},
    **{
        f"http://{ace.replace('xn--', 'XN--')}/%C3%BCber": f"http://{letters}/über"
        for ace, letters in INTERNATIONAL.items()
    },
}


@pytest.mark.parametrize(("url", "same"), SPELLINGS.items())
def test_spellings_of_one_address_score_alike(model: UrlModel, url: str, same: str) -> None:
    assert_alike(model, same, url)


@given(host_names, paths)
@settings(max_examples=50, deadline=None)
def test_scheme_port_credentials_and_a_final_dot_say_nothing(
    model: UrlModel, host: str, path: str
) -> None:
    assert_alike(
        model,
        f"http://{host}{path}",
        f"https://{host}{path}",
        f"HTTP://{host.upper()}{path}",
        f"{host}{path}",
        f"http://{host}:80{path}",
        f"https://{host}:8443{path}",
        f"http://name:secret@{host}{path}",
        f"http://{host}.{path}",
    )


@pytest.mark.parametrize(
    "url", ["http://www.{}/", "//zeitung.{}/", "http://a.b@zeitung.{}\\x.fr", "http://пример.{}/"]
)
def test_the_top_level_domain_of_any_spelling_counts(model: UrlModel, url: str) -> None:
    german, russian = scores_of(model, [url.format("de"), url.format("РФ")])
    assert (german != russian).any()


@pytest.mark.parametrize(
    "piece",
    ["ab/", "ü", "%", "\x00", "日本語", "xn--", "a-b.xn--", "@", "-", ".", "\udcff",
     "%E0%B8%A7", "a"],
)  # fmt: skip
def test_two_megabytes_cost_and_say_no_more_than_their_beginning(
    model: UrlModel, piece: str
) -> None:
    huge = "http://x.de/" + piece * (2_000_000 // len(piece))
    scores_of(model, [huge[:MAX_CHARACTERS]])
    start = time.process_time()
    scores_of(model, [huge])
    seconds = time.process_time() - start
    assert_alike(model, huge, huge[:MAX_CHARACTERS])
    assert seconds < 5  # against a scan per piece, which hangs; it takes milliseconds
