"""The laws of `benchmarks.fuzztargets`, on few inputs: the fuzzer tries many more."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz import NAMES
from benchmarks.fuzzseeds import FIELD, SEEDS
from benchmarks.fuzztargets import LAWS, TOKENS


@pytest.mark.parametrize("name", NAMES)
def test_the_seeds_of_a_target_keep_its_law(name: str) -> None:
    for seed in SEEDS[name][:12]:
        LAWS[name](seed)


@pytest.mark.parametrize("name", NAMES)
def test_changed_seeds_and_any_bytes_keep_the_law_of_their_target(name: str) -> None:
    seeds = [seed[:3000] for seed in SEEDS[name][:12]]
    pieces = st.lists(st.one_of(st.binary(max_size=20), st.sampled_from(TOKENS)), max_size=12)

    @settings(
        max_examples=50,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        seed = data.draw(st.one_of(st.sampled_from(seeds), pieces.map(b"".join)))
        for _ in range(data.draw(st.integers(0, 4))):
            start, end = sorted(data.draw(st.integers(0, len(seed))) for _ in range(2))
            new = data.draw(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=4)))
            seed = seed[:start] + new + seed[min(end, start + 16) :]
        LAWS[name](seed)

    check()


FOUND = {
    "url": [b"http://0xtp://a.de.:80/./b//c7f.1/", b"http://a.de/x?PHPSESSID=%b" % (b"0" * 32)],
    "archive": [
        FIELD.join([b"WARC/\r\nWARC-Type:response\r\ne\r\nWARC-Target-URI:http:\r\n"]),
        b"WARC/1.1\r\nWARC-Type: response\r\n\xc2\x85WARC-Target-URI: https:\r\n"
        b"Content-Length: 15\r\n\r\nHTTP/1.1 200 O\r\n\r\n\r\n",
    ],
}
"""Inputs that once broke a law, shortened."""


@pytest.mark.parametrize(
    ("name", "data"), [(n, data) for n, all_ in FOUND.items() for data in all_]
)
def test_what_was_found_once_stays_mended(name: str, data: bytes) -> None:
    LAWS[name](data)
