"""The words and the parts of URLs."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.papers.baykan.words import SPECIAL, parts, runs, words

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


def test_what_follows_the_first_2048_characters_is_not_looked_at() -> None:
    assert words("http://a.de/" + "0" * 2036 + "/never") == ["de"]
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


@given(st.from_regex(r"https?://[a-zA-Z0-9.-]{1,30}(/[a-z%/?.0-9]{0,30})?", fullmatch=True))
def test_the_parts_have_the_words_of_the_url(url: str) -> None:
    host, rest = parts(url)
    assert words(host) + words(rest) == words(url)


@given(urls)
def test_every_text_has_parts(url: str) -> None:
    host, rest = parts(url)
    assert not set("/?#@") & set(host)
    assert url.endswith(rest)
