"""The relevant pages to be expected from the queue, and the order of the queue by a goal."""

from collections import defaultdict
from math import exp, ldexp
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.base import PAGE, REDIRECT, Counts, Link, Record, Sending
from crawler.frontier.evidence_rows import EvidenceRows
from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import FALL, SHRINKING, fallen, falls_of, unfallen
from crawler.frontier.sqlite import SqliteFrontier
from crawler.report.harvest import summarise
from crawler.run import open_run
from crawler.strategies.focus.belief import Prior
from crawler.strategies.focus.evidence import Evidence
from crawler.url import host_of

META = {"lang": "de", "ordering": "focus", "seeds": [], "host_cap": 3, "goal": "coverage"}


def frontier_of(folder: Path, **rules: Any) -> SqliteFrontier:
    run = open_run(folder, META | {"host_cap": rules.get("host_cap", 3)}, 0.0)
    given: dict[str, Any] = {"prior": Prior.shipped(), "doubts_up_to": 0.0, "host_cap": 3} | rules
    return SqliteFrontier(run.connection, FrontierRules(**given), now=0.0)


def link(url: str, named: float) -> Link:
    return Link(f"http://{url}", 0.0, Evidence(named))


def page(language: str = "de") -> Record:
    return Record(PAGE, 0.0, 200, True, language == "de", language)


@given(st.integers(-(2**38), 2**38), st.integers(0, 20), st.sampled_from([0.0, 1.0]))
def test_the_score_before_falls_is_known(grains: int, level: int, doubts_up_to: float) -> None:
    score = doubts_up_to + grains / FALL
    after = fallen(score, level, doubts_up_to)
    if doubts_up_to == 0.0 or not level or score <= doubts_up_to:
        assert unfallen(after, doubts_up_to) == score
        assert falls_of(after, doubts_up_to) == level


def by_looking_at_all(folder: Path, cap: int) -> float:
    """The expected relevant pages, from the rows of the queue and their numbers of falls."""
    connection = open_run(folder, META | {"host_cap": cap}, 0.0).connection
    slots = dict(connection.execute("SELECT host, settled FROM hosts"))
    hosts = defaultdict(list)
    for url in EvidenceRows(connection).after(0, 1_000_000):
        score = url.score
        falls = falls_of(score, 0.0)
        odds = ldexp(score, SHRINKING * falls) if score > 0 else score + falls * FALL
        hosts[host_of(url.url)].append((score, 1 / (1 + exp(-odds))))
    return sum(
        share
        for host, urls in hosts.items()
        for _, share in sorted(urls, reverse=True)[: max(0, cap - slots[host]) if cap else None]
    )


@pytest.mark.parametrize("cap", [0, 3])
def test_the_expected_pages_follow_every_change_of_the_queue(tmp_path: Path, cap: int) -> None:
    random = Random(cap)
    rules = {"goal": "coverage", "host_cap": cap, "domain_cap": 20, "address_cap": 20}
    frontier = frontier_of(tmp_path, **rules)

    def links(number: int) -> list[Link]:
        return [
            link(f"h{random.randrange(5)}.a.de/{random.randrange(40)}", random.uniform(-4, 4))
            for _ in range(number)
        ]

    frontier.seed(links(6), 0.0)
    for step in range(60):
        lease = frontier.next(0.0)
        if lease is None:
            break
        if frontier.send(lease, "192.0.2.1", now=0.0) is not Sending.NOW:
            continue
        record = page(language=random.choice(["de", "en"]))
        if step % 7 == 6:
            record = Record(REDIRECT, 0.0, 301)
        frontier.admit(lease, record, links(1 if step % 7 == 6 else 5), now=0.0)
        expected = by_looking_at_all(tmp_path, cap)
        assert frontier.counts().remaining == pytest.approx(expected, abs=1e-6)
        if step == 9:
            check_report(tmp_path, frontier.counts())
    assert step > 9
    again = frontier_of(tmp_path, **rules)
    assert again.counts() == frontier.counts()


def check_report(folder: Path, counts: Counts) -> None:
    """The report of a run has the estimate of its frontier, with an interval."""
    told = summarise(folder).goal
    assert told is not None
    assert counts.remaining
    assert counts.variance
    assert told.expected == pytest.approx(counts.remaining, abs=1e-6)
    found = counts.relevant + counts.remaining
    assert told.coverage == pytest.approx(counts.relevant / found)
    low = counts.relevant / (found + 1.96 * counts.variance**0.5)
    assert told.coverage_low == pytest.approx(low)
    assert low < counts.relevant / found < (told.coverage_high or 0.0) <= 1.0


def test_only_an_ordering_that_learns_has_a_goal() -> None:
    with pytest.raises(ValueError, match="only an ordering that learns seeks servers"):
        FrontierRules(goal="servers")
