"""URLs that look endless, and session ids."""

import gzip
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.politeness.traps import (
    MAX_EQUAL,
    MAX_EQUAL_PARAMETERS,
    MAX_IN_A_ROW,
    MAX_PARAMETERS,
    MAX_SEGMENTS,
    is_trap,
)
from crawler.url import fingerprint, normalise, without_session
from tests.support.crawls import ROOT

URLS = ROOT.parent / "shared/data/urls/train.tsv.gz"
HEX = "d467eae2e2b379fbffdf3f72b57009f3"


@pytest.mark.parametrize(
    "path",
    [
        "/a" * (MAX_IN_A_ROW + 1) + "/",
        "/" * 5,
        "/a/b" * (MAX_EQUAL + 1) + "/",
        "".join(f"/{number}" for number in range(MAX_SEGMENTS + 1)),
        "/?" + "&".join(f"p{number}=1" for number in range(MAX_PARAMETERS + 1)),
        "/?x=1&" + "&".join(["color=red"] * (MAX_EQUAL_PARAMETERS + 1)),
    ],
)
def test_what_repeats_or_does_not_end_is_a_trap(path: str) -> None:
    assert is_trap("http://a.de" + path)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a" * MAX_IN_A_ROW + "/",
        "/a/b" * (MAX_EQUAL - 1) + "/",
        "".join(f"/{number}" for number in range(MAX_SEGMENTS)),
        "/?" + "&".join(f"p{number}=1" for number in range(MAX_PARAMETERS)),
        "/?" + "&".join(["color=red"] * MAX_EQUAL_PARAMETERS),
        "/2013/06/01/2013/",
        "/go?to=http://b.de/x/x/x/x/x",
    ],
)
def test_what_may_occur_on_an_honest_server_is_none(path: str) -> None:
    assert not is_trap("http://a.de" + path)


@given(st.lists(st.sampled_from(["a", "b", ""]), max_size=30))
def test_a_path_that_is_a_trap_stays_one_whatever_follows(segments: list[str]) -> None:
    url = "http://a.de/" + "/".join(segments)
    longer = [url + "/" + end for end in ("c", "a", "")]
    assert not is_trap(url) or all(map(is_trap, longer))


@pytest.mark.skipif(not URLS.exists(), reason="no labelled URLs here")
def test_hardly_a_real_url_is_taken_for_a_trap() -> None:
    with gzip.open(URLS, "rt", encoding="utf-8") as lines:
        urls = [line.partition("\t")[0] for line in islice(lines, 1, None, 5)]
    normal = [url for url in map(normalise, urls) if url]
    assert len(normal) > 100_000
    assert sum(map(is_trap, normal)) < 0.001 * len(normal)


@pytest.mark.parametrize(
    "url",
    [
        f"http://a.de/x?sid={HEX}",
        f"http://a.de/x?s={HEX}",
        f"http://a.de/x?PHPSESSID={HEX[:26]}",
        f"http://a.de/x;jsessionid={HEX.upper()}.node1",
        f"http://a.de/x?PHPSESSID={HEX}?PHPSESSID={HEX}",
        "http://a.de/x?CFID=1234567&CFTOKEN=88776655",
    ],
)
def test_urls_that_differ_in_their_session_are_one(url: str) -> None:
    assert without_session(url) == "http://a.de/x"
    assert fingerprint(url) == fingerprint("http://a.de/x")


def test_the_rest_of_a_query_stays_as_it_is() -> None:
    assert without_session(f"http://a.de/x?f=3&sid={HEX}&t=4") == "http://a.de/x?f=3&t=4"
    assert without_session(f"http://a.de/x;jsessionid={HEX}?f=3&") == "http://a.de/x?f=3"


@pytest.mark.parametrize(
    "query",
    [
        "s=berlin",
        "sid=42",
        f"sid={HEX[:31]}",
        "session_id=17",
        f"article={HEX}",
        f"is={HEX}",
        "s=&a=",
    ],
)
def test_a_parameter_that_may_mean_a_page_is_no_session(query: str) -> None:
    url = f"http://a.de/x?{query}"
    assert without_session(url) == url
