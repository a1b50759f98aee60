"""The laws of `benchmarks.fuzztargets`, on few inputs: the fuzzer tries many more."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz import NAMES, Journal, Trial, changed
from benchmarks.fuzztargets import FIELD, TARGETS, TOKENS
from tests.support.crawls import ROOT


def examples(number: int) -> settings:
    return settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def test_every_target_can_be_chosen() -> None:
    assert tuple(TARGETS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_seeds_of_a_target_keep_its_law(name: str) -> None:
    for seed in TARGETS[name].seeds()[:12]:
        TARGETS[name].law(seed)


@pytest.mark.parametrize("name", NAMES)
def test_changed_seeds_keep_the_law_of_their_target(name: str) -> None:
    target = TARGETS[name]
    seeds = [seed[:3000] for seed in target.seeds()[:12]]

    @examples(25)
    @given(st.integers(0, 2**32))
    def check(number: int) -> None:
        chance = random.Random(number)
        target.law(changed(chance.choice(seeds), chance.choice(seeds), TOKENS, chance))

    check()


@pytest.mark.parametrize("name", NAMES)
def test_any_bytes_and_tokens_keep_the_law_of_a_target(name: str) -> None:
    @examples(25)
    @given(st.lists(st.one_of(st.binary(max_size=20), st.sampled_from(TOKENS)), max_size=12))
    def check(pieces: list[bytes]) -> None:
        TARGETS[name].law(b"".join(pieces))

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
    TARGETS[name].law(data)


def test_a_failure_is_kept_once_and_shortened(tmp_path: Path) -> None:
    def law(data: bytes) -> None:
        if b"x" in data:
            raise ValueError(data)

    trial = Trial("url", law, Journal(tmp_path / "journal"), tmp_path)
    for data in (b"abc", b"abcxdef" * 9, b"ax"):
        trial(data)
    (failure,) = tmp_path.glob("*.json")
    assert failure.with_suffix("").read_bytes() == b"x"
    assert json.loads(failure.read_text())["kind"].startswith("ValueError")


def test_the_fuzzer_counts_what_it_tried(tmp_path: Path) -> None:
    command = "-m benchmarks.fuzz --target robots --seconds 0.3 --engine plain --save".split()
    done = subprocess.run(
        [sys.executable, *command, tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["target"] == "robots"
    assert told["inputs"] > 10
    assert told["failures"] == []
