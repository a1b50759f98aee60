"""The words and parts of URLs, and their n-grams against counts that share no code with them."""

import pickle
import re
import unicodedata
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.classifiers.papers.baykan.algorithms import vectorizer
from langfocus.classifiers.papers.baykan.grams import (
    NAMES,
    SPECIAL,
    Counts,
    Source,
    grams,
    parts,
    runs,
    words,
)

URLS = [
    "http://www.hi-fly.de",
    "http://weather.com/weather/",
    "http://www.xn--mnchen-3ya.de/caf%C3%A9",
    "http://1.2.3.4/",
    "",
]

texts = st.lists(
    st.one_of(
        st.from_regex(r"https?://[ab.]{1,8}\.de/[abé/]{0,12}", fullmatch=True), st.text(max_size=20)
    ),
    min_size=1,
    max_size=8,
)


def counted(url: str, smallest: int, largest: int, source: Source) -> Counter[str]:
    marked = ["".join(runs(url))]
    if source == "word":
        marked = [f"_{word}_" + "_" * (smallest - len(word) - 2) for word in words(url)]
    return Counter(
        text[start : start + size]
        for text in marked
        for size in range(smallest, largest + 1)
        for start in range(len(text) - size + 1)
        if text[start : start + size] != "_"
    )


def of(smallest: int, largest: int, source: Source) -> Counts:
    """The counts of n-grams of these sizes, in columns in the order in which they were met."""
    return Counts(
        partial(grams, smallest=smallest, largest=largest, source=source), is_sorted=False
    )


def learned_from(estimator: Any, urls: list[str]) -> Any:
    estimator.fit_transform(urls)
    return estimator


def counts(fitted: Any, url: str) -> dict[str, float]:
    row = fitted.transform([url])
    names = fitted.get_feature_names_out()
    return {str(names[column]): float(row[0, column]) for column in row.indices}


@settings(deadline=None)
@given(texts, st.integers(1, 7), st.integers(0, 4), st.sampled_from(["word", "url"]))
def test_n_grams_are_those_of_a_slow_count(
    urls: list[str], smallest: int, more: int, source: Source
) -> None:
    expected = [counted(url, smallest, smallest + more, source) for url in urls]
    estimator = of(smallest, smallest + more, source)
    if not any(expected):
        with pytest.raises(ValueError, match="empty vocabulary"):
            estimator.fit_transform(urls)
        return
    learned = estimator.fit_transform(urls)
    names = estimator.get_feature_names_out()
    assert set(names) == set().union(*expected)
    assert len(names) == learned.shape[1]
    for row, gram_counts in enumerate(expected):
        entries = learned[[row]]
        got = dict(zip(names[entries.indices], entries.data, strict=True))
        assert got == dict(gram_counts)


def test_columns_of_n_grams_are_in_the_order_in_which_they_were_met() -> None:
    fitted = learned_from(of(3, 4, "word"), ["http://zoo.de", "http://a-zoon.de"])
    expected = "_zo _zoo zoo zoo_ oo_ _de _de_ de_ zoon oon oon_ on_".split()
    assert list(fitted.get_feature_names_out()) == expected


def test_words_are_counted() -> None:
    fitted = learned_from(vectorizer("words"), ["http://vldb.org/vldb_journal/"])
    assert counts(fitted, "http://vldb.org/vldb/other") == {"vldb": 2, "org": 1}
    assert list(fitted.get_feature_names_out()) == ["journal", "org", "vldb"]


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("custom")])
def test_every_feature_set_is_a_matrix_of_counts(name: str) -> None:
    estimator = vectorizer(name)
    learned = estimator.fit_transform(URLS)
    assert learned.shape == (len(URLS), len(estimator.get_feature_names_out()))
    assert learned.dtype == np.float64
    assert learned.format == "csr"
    assert learned.has_canonical_format
    assert not learned[-1].nnz
    again = pickle.loads(pickle.dumps(estimator)).transform(URLS)
    assert (learned != again).nnz == 0
    assert estimator.transform([]).shape == (0, learned.shape[1])


def test_names_say_which_n_grams() -> None:
    url = "http://www.hi-fly.de/weather"
    assert vectorizer("allgrams-from-word").pieces(url) == grams(url, 3, 7, "word")
    assert vectorizer("3-4-5-grams-from-url").pieces(url) == grams(url, 3, 5, "url")
    assert len(NAMES) == len(set(NAMES)) == 25


urls = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from(
            ["http://", "//", "www.", ".de", "/en/", "%C3%BC", "%d0%b8", "%", "%4", "ГОРОД", "ไทย",
             "日本", "İ", "@", ":80", "?lang=fr", "#", "index.html", "a", "xn--bcher-kva", "\udcff"]
        ),
        max_size=12,
    ).map("".join),
)  # fmt: skip


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://vldb.org/vldb_journal/", "vldb org vldb journal"),
        ("http://www.internetwordstats.com/africa2.htm", "internetwordstats com africa"),
        ("https://WWW.Hi-Fly.DE/index.html", "hi fly de"),
        ("a.de/b/c", "de"),
        ("http://www.example.com/caf%C3%A9", "example com café"),
        ("http://xn--mnchen-3ya.de/", "münchen de"),
        ("http://XN--MNCHEN-3YA.de/", "münchen de"),
        ("http://ru.org/wiki/%D0%93%D0%BE%D1%80%D0%BE%D0%B4", "ru org wiki город"),
        ("http://a.de/cafe%CC%81", "de café"),
        ("http://a.de/stra%DFe", "de stra"),
        ("http://a.de/हिन्दी", "de हिन्दी"),
        ("x²y½zⅧ", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_words_are_runs_of_letters_without_the_special_ones(url: str, expected: str) -> None:
    assert words(url) == expected.split()
    assert words(url + " " * 2048 + "/never") == expected.split()
    assert words("%" * 2_000_000) == []


@given(urls)
def test_words_are_letters_in_lower_case(url: str) -> None:
    for word in words(url):
        assert len(word) >= 2
        assert word not in SPECIAL
        assert all(unicodedata.category(each)[0] in "LMC" for each in word)
        assert words(word) == [word]
    assert [run for run in runs(url) if len(run) > 1 and run not in SPECIAL] == words(url)


@pytest.mark.parametrize(
    ("url", "host", "rest"),
    [
        ("http://fr.search.yahoo.com/de/x", "fr.search.yahoo.com", "/de/x"),
        ("fr.yahoo.com/de", "fr.yahoo.com", "/de"),
        ("//fr.yahoo.com", "fr.yahoo.com", ""),
        ("http://user:secret@a.de:8080/x@y:80", "a.de", "/x@y:80"),
        ("http://a.de?u=http://b.fr/", "a.de", "?u=http://b.fr/"),
        ("a.de/?u=http://b.fr/", "a.de", "/?u=http://b.fr/"),
        ("http://a.de#top", "a.de", "#top"),
        ("HTTPS://A.de/", "A.de", "/"),
        ("http://[2001:db8::1]:80/a", "[2001:db8::1]", "/a"),
        ("/only/a/path", "", "/only/a/path"),
        ("http:///x", "", "/x"),
        ("", "", ""),
    ],
)
def test_a_url_has_a_host_and_a_rest(url: str, host: str, rest: str) -> None:
    assert parts(url) == (host, rest)


@given(urls | st.from_regex(r"https?://[a-z0-9.-]{1,30}(/[a-z%/?.0-9]{0,30})?", fullmatch=True))
def test_every_text_has_parts_and_those_of_a_url_have_its_words(url: str) -> None:
    host, rest = parts(url)
    if re.match(r"https?://[a-z0-9.-]+(/|$)", url):
        assert words(host) + words(rest) == words(url)
    assert not set("/?#@") & set(host)
    assert url.endswith(rest)
