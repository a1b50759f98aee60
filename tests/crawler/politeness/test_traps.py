"""URLs that look endless."""

import gzip
from collections.abc import Callable
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.crawler.politeness.traps import (
    MAX_EQUAL,
    MAX_EQUAL_PARAMETERS,
    MAX_IN_A_ROW,
    MAX_PARAMETERS,
    MAX_SEGMENTS,
    is_trap,
)
from langfocus.crawler.url import normalise
from tests.support.crawls import ROOT

URLS = ROOT.parent / "shared/data/urls/train.tsv.gz"


@pytest.mark.parametrize(
    ("path", "most"),
    [
        (lambda n: "/a" * n + "/", MAX_IN_A_ROW),
        (lambda n: "/a/b" * n + "/", MAX_EQUAL),
        (lambda n: "".join(f"/{number}" for number in range(n)), MAX_SEGMENTS),
        (lambda n: "/?" + "&".join(f"p{number}=1" for number in range(n)), MAX_PARAMETERS),
        (lambda n: "/?" + "&".join(["color=red"] * n), MAX_EQUAL_PARAMETERS),
        (lambda n: "/" * n, MAX_IN_A_ROW),
    ],
)
def test_what_repeats_or_does_not_end_is_a_trap(path: Callable[[int], str], most: int) -> None:
    assert not is_trap("http://a.de" + path(most))
    assert is_trap("http://a.de" + path(most + 1))


@pytest.mark.parametrize("path", ["/", "/2013/06/01/2013/", "/go?to=http://b.de/x/x/x/x/x"])
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
