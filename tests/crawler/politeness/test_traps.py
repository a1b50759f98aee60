"""URLs that look endless."""

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
from crawler.url import normalise
from tests.support.crawls import ROOT

URLS = ROOT.parent / "shared/data/urls/train.tsv.gz"


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
