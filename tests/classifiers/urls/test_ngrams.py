"""The compiled features against the slow ones that name them, and the buffer they are made of."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.urls import ngrams
from classifiers.urls.batch import encode
from classifiers.urls.explain import features_of

BITS = 17

urls = st.one_of(
    st.from_regex(
        r"https?://[a-z0-9.-]{1,20}\.(de|com|co\.uk|ru)(:80)?/[a-zA-Z0-9/._?=&%-]{0,60}",
        fullmatch=True,
    ),
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ["http://", "//", "www.", "de", "/en/", "%C3%BC", "%d0%b8", "%", "%4", "ГОРОД", "ไทย",
             "日本", "İ", "ǅ", "@", ":", "..", "?lang=fr", "#", "index", "html", "a", "ß", "\udcff",
             "\\\\", "\n", " ", "xn--mnchen-3ya", "XN--p1ai", "u\u0308", "nachrichten", ".РФ"]
        ),
        max_size=12,
    ).map("".join),
)  # fmt: skip


def reference(url: str) -> list[tuple[int, float]]:
    """Return the sorted buckets and values of the slow features."""
    return sorted((each.bucket, each.value) for each in features_of(url, BITS))


def compiled(url: str) -> list[tuple[int, float]]:
    batch = encode([url])
    pointers = ngrams.count_features(batch.buffer, len(batch), BITS)
    indices, values = np.empty(pointers[-1], np.int32), np.empty(pointers[-1], np.float32)
    ngrams.fill_features(batch.buffer, BITS, pointers, indices, values)
    return sorted(zip(indices.tolist(), values.tolist(), strict=True))


def assert_same(url: str) -> None:
    ours, theirs = compiled(url), reference(url)
    assert [bucket for bucket, _ in ours] == [bucket for bucket, _ in theirs]
    assert np.allclose([value for _, value in ours], [value for _, value in theirs])


@given(urls)
@settings(max_examples=400, deadline=None)
def test_compiled_features_are_those_of_the_reference(url: str) -> None:
    assert_same(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://www.hi-fly.de/wetter/Berlin/index.html",
        "https://de.wikipedia.org/wiki/%C3%9Cbersicht?lang=de&x=en-us",
        "http://user:secret@example.co.uk:8080/a/bb/ccc",
        "http://kremlin.ru./" + "%D0%9F%D1%80%D0%B5" * 30,
        "http://x.com/%cf%f0%e8%e2%e5%f2",
        "",
        "http://",
        "/de/" * 400,
        "a" * 5000,
    ],
)
def test_typical_and_odd_urls_have_the_features_of_the_reference(url: str) -> None:
    assert_same(url)


def test_percent_encoded_letters_are_the_letters() -> None:
    assert compiled("http://x.de/%C3%BCber") == compiled("http://x.de/über")


def test_an_internationalised_host_reads_as_its_letters() -> None:
    assert compiled("http://xn--mnchen-3ya.de/") == compiled("http://münchen.de/")


def test_a_broken_internationalised_label_stays_as_it_is() -> None:
    assert bytes(encode(["http://xn--9999999999.de/"]).buffer) == b"http://xn--9999999999.de/"


def test_one_string_is_refused_as_a_batch() -> None:
    with pytest.raises(TypeError, match="sequence of URLs"):
        encode("http://example.de/")


def test_a_huge_url_costs_no_more_than_its_first_bytes() -> None:
    batch = encode(["http://x.de/" + "ab/" * 700_000])
    pointers = ngrams.count_features(batch.buffer, len(batch), BITS)
    assert 0 < pointers[-1] < ngrams.MAX_BYTES * 12
