"""What every frontier promises of an ordering that learns."""

import sqlite3
import zlib
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import (
    FIRST_SCORE,
    PAGE,
    REDIRECT,
    Admission,
    Frontier,
    Lease,
    Record,
    Sending,
)
from langfocus.crawler.frontier.evidence_rows import Learner
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.shared.sharded import ShardedFrontier
from langfocus.crawler.strategies.filters import make_filter
from langfocus.crawler.strategies.focus.evidence import Evidence, probability_of
from langfocus.crawler.strategies.links import Link
from tests.crawler.frontier.test_frontier_contract import (
    Opener,
    lease_now,
    new_frontier,
    page,
    sent_now,
)
from tests.crawler.frontier.test_frontier_contract import new_sqlite_frontier as sqlite_frontier
from tests.support.crawls import rows
from tests.support.learning import PRIOR

__all__ = ["new_frontier"]

LEARNS: dict[str, Any] = {"prior": PRIOR, "doubts_up_to": 0.0}


def new_sqlite_frontier(folder: Path, **rules: Any) -> SqliteFrontier:
    return sqlite_frontier(folder, **(LEARNS | rules))


def link(url: str, named: float = 0.0, **facts: float) -> Link:
    return Link(f"http://{url}", 0.0, Evidence(named, **facts))


def leases(frontier: Frontier, number: int = 99, now: float = 0.0) -> list[str]:
    """Lease and settle URLs as pages without a label, and return them without `http://`."""
    found: list[str] = []
    while len(found) < number and (lease := frontier.next(now)):
        found.append(lease.url.removeprefix("http://"))
        assert frontier.send(lease, None, now=now) is Sending.NOW
        frontier.admit(lease, Record(PAGE, now, 200, True), now=now)
    return found


def settled(frontier: Frontier, language: str | None, *links: Link, now: float = 0.0) -> Lease:
    """Settle the best URL as a page in a language, with links."""
    lease = lease_now(frontier, now)
    if not lease.is_beyond_cap:
        assert frontier.send(lease, None, now=now) is Sending.NOW
    record = page(language) if language else Record(PAGE, 0.0, 200, True)
    frontier.admit(lease, record, links, now=now)
    return lease


def test_doubtful_urls_wait_while_leased_urls_will_bring_two_relevant_pages(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, **LEARNS, patience_s=2.0)
    if isinstance(frontier, ShardedFrontier):
        pytest.skip("each shard counts its own leases")
    frontier.seed([link(f"{n}.com/", -4.0) for n in range(20)], 0.0)
    leased: list[Lease] = []
    while lease := frontier.next(len(leased) / 10):
        leased.append(lease)
    chances = [probability_of(lease.score) for lease in leased]
    assert max(chances) < 0.5
    assert sum(chances[:-1]) < 2 <= sum(chances)
    assert frontier.ready_at(1.0) == pytest.approx(2.0)  # the first lease is expected no more
    frontier.release(leased[-1], now=1.0, not_before=1.0)
    assert lease_now(frontier, 1.0)
    assert frontier.next(1.9) is None
    assert lease_now(frontier, 2.0)
    assert frontier.next(2.0) is None


def test_doubtful_urls_that_bring_nothing_do_not_wait_for_each_other(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, **LEARNS, patience_s=2.0)
    frontier.seed([link(f"{n}.com/", -9.0) for n in range(20)], 0.0)
    assert [lease_now(frontier) for _ in range(20)]


def test_the_dropped_urls_of_a_full_host_are_expected_no_more(tmp_path: Path) -> None:
    frontier = new_sqlite_frontier(tmp_path, host_cap=1, is_expected_only=True)
    frontier.seed([link("a.de/", 4.0), link("a.de/1", -0.1), link("a.de/2", -9.0)], 0.0, 1)
    lease = sent_now(frontier)
    more = [link("a.de/"), link("a.de/3", 8.0), link("b.de/", 1.0)]
    answers = frontier.admit(lease, page(), more, now=0.0)
    assert answers == [Admission.SEEN, Admission.HOST_FULL, Admission.STORED]
    assert (frontier.counts().queued, frontier.counts().has_expected) == (1, True)
    assert leases(frontier) == ["b.de/"]
    assert (frontier.counts().has_expected, frontier.ready_at(0.0)) == (False, None)


def test_seeds_are_expected_where_a_crawl_wants_no_other_urls(tmp_path: Path) -> None:
    seeds = [link("a.com/", -4.0), link("b.com/", -3.0), link("c.de/", 3.0), link("d.com/", -5.0)]
    frontier = new_sqlite_frontier(tmp_path, is_expected_only=True)
    frontier.seed(seeds, 0.0)
    assert frontier.counts().has_expected
    settled(frontier, "de")
    settled(frontier, "en", link("e.com/", -3.0), link("e.de/", 3.0))
    assert frontier.counts().has_expected
    assert leases(frontier) == ["e.de/", "b.com/", "d.com/"]
    assert frontier.counts().queued == 1
    lowest = new_sqlite_frontier(tmp_path / "all")
    lowest.seed(seeds, 0.0)
    assert leases(lowest) == ["c.de/", "b.com/", "a.com/", "d.com/"]


def test_urls_of_a_farm_that_is_linked_at_once_fall_and_end_at_the_cap(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, **LEARNS, domain_cap=20)
    farm = [link(f"h{n}.farm.de/", 9.0) for n in range(40)]
    frontier.seed([*farm, *[link(f"x{n}.com/", 0.5) for n in range(5)]], 0.0)
    for _ in range(2):  # a tenth of the cap has no fall
        assert settled(frontier, "en").host.endswith("farm.de")
    urls = [settled(frontier, None) for _ in range(43)]
    assert {lease.url for lease in urls[:5]} == {f"http://x{n}.com/" for n in range(5)}
    assert [lease.is_beyond_cap for lease in urls[5:]] == [False] * 18 + [True] * 20


# The embedded frontier: its database, and a crawl that is killed.


def state(folder: Path) -> list[object]:
    """Everything that the frontier of a folder learned."""
    tables = {"tallies": "unit", "belief": "id", "urls": "id"}
    return [rows(folder, f"SELECT * FROM {name} ORDER BY {key}") for name, key in tables.items()]


def test_expected_urls_of_a_farm_come_after_all_others_and_before_doubtful_ones(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, **LEARNS)
    if isinstance(frontier, ShardedFrontier):
        pytest.skip("each shard has an order of its own")
    seeds = [link("a.farm.com/", 8.0), link("b.farm.com/", 6.0), link("c.farm.com/", -6.0)]
    frontier.seed([*seeds, link("d.de/", 1.0), link("e.com/", -5.0)], 0.0)
    lease = sent_now(frontier)
    frontier.admit(lease, replace(page(), offered=30), [link("a.farm.com/1", 7.0)], now=0.0)
    found = leases(frontier)
    assert (found[0], {*found[1:3]}) == ("d.de/", {"a.farm.com/1", "b.farm.com/"})
    assert found[3:] == ["e.com/", "c.farm.com/"]


@pytest.mark.parametrize("fault", ["record", "disk"])
def test_a_settlement_that_fails_leaves_belief_and_tallies_as_they_were(
    tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "sound", tmp_path / "failed"]
    sound, failed = frontiers = [new_sqlite_frontier(folder) for folder in folders]
    for frontier in frontiers:
        frontier.seed([link("a.de/", 4.0), link("b.a.de/", 1.0), link("x.com/", 0.5)], 0.0)
        settled(frontier, "de", link("a.de/2", 0.4))
    lease, before = lease_now(failed), state(folders[1])
    links = [link("b.a.de/3", 0.1), link("x.com/")]
    if fault == "record":
        broken = Record(PAGE, 0.0, 200, True, True, "de", country=object())  # type: ignore[arg-type]  # cannot be stored
        with pytest.raises(sqlite3.Error):
            failed.admit(lease, broken, links, now=0.0)
    else:
        with monkeypatch.context() as patch:
            error = sqlite3.OperationalError("disk I/O error")
            patch.setattr(Learner, "write", Mock(side_effect=error))
            with pytest.raises(StorageError):
                failed.admit(lease, page("en"), links, now=0.0)
        failed = new_sqlite_frontier(folders[1])
    assert state(folders[1]) == before
    if fault == "record":
        failed.admit(lease, page("en"), links, now=0.0)
        settled(sound, "en", *links)
        learned = [rows(folder, "SELECT * FROM tallies, belief") for folder in folders]
        assert learned[0] == learned[1]
        assert leases(sound) == leases(failed)


def test_a_settlement_that_fails_in_a_group_leaves_what_the_others_learned(tmp_path: Path) -> None:
    learned = []
    for folder in (tmp_path / "sound", tmp_path / "failed"):
        frontier = new_sqlite_frontier(folder, filter=make_filter("server"))
        frontier.group(lambda commit: None)
        frontier.seed([link("a.de/", 4.0), link("a.de/1", 3.0), link("x.com/", 0.5)], 0.0)
        settled(frontier, "de", link("a.de/2", 0.4))
        if folder.name == "failed":
            broken = Record(PAGE, 0.0, 200, True, True, "de", country=object())  # type: ignore[arg-type]  # cannot be stored
            with pytest.raises(sqlite3.Error):
                frontier.admit(sent_now(frontier), broken, [link("c.de/")], now=0.0)
        frontier.close()
        tables = ("tallies", "belief", "units", "counts")
        learned.append([rows(folder, f"SELECT * FROM {name}") for name in tables])
    assert all(learned[0])
    assert learned[0] == learned[1]


class Web:
    """A small random web; about half of its pages are German, by directory and by host."""

    def __init__(self, chance: Random) -> None:
        self.urls = [
            f"{host}.{domain}/{path}/{n}"
            for domain in ("a.de", "b.com", "c.fr")
            for host in ("www", "de", "x")
            for path in ("de", "en", "x/de")
            for n in range(4)
        ]
        self.languages = {
            url: "de" if chance.random() < 0.1 + 0.7 * ("/de" in url or "de." in url) else "en"
            for url in self.urls
        }
        self.links = {url: chance.sample(self.urls, 9) for url in self.urls}
        self.named = {url: chance.uniform(-2.0, 2.0) for url in self.urls}

    def link(self, url: str) -> Link:
        return link(url, self.named[url], code=float("/de/" in url))

    def fetch(self, frontier: Frontier, lease: Lease, now: float) -> None:
        url = lease.url.removeprefix("http://")
        kind = zlib.crc32(url.encode()) % 10
        links = [self.link(target) for target in self.links[url]]
        if kind == 0:
            frontier.admit(lease, Record("timeout", now), now=now)
        elif kind == 1:
            frontier.admit(lease, Record(REDIRECT, now, 301), links[:1], now=now)
        else:
            frontier.admit(lease, page(self.languages[url]), links, now=now)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("every", [1, 7])
def test_a_crawl_that_is_killed_anywhere_leases_as_one_that_is_not(
    tmp_path: Path, seed: int, every: int
) -> None:
    web = Web(Random(seed))
    rules = {"host_cap": 5, "domain_cap": 30}

    def crawl(name: str, *, is_killed: bool) -> list[tuple[str, float]]:
        chance, found = Random(seed), list[tuple[str, float]]()
        frontier = new_sqlite_frontier(tmp_path / name, **rules)
        frontier.seed([web.link(url) for url in web.urls[::20]], 0.0)
        while (lease := frontier.next(0.0)) and len(found) < 70:
            if is_killed and chance.randrange(every) == 0:
                frontier = new_sqlite_frontier(tmp_path / name, **rules)
                again = frontier.next(0.0)
                assert again == lease
            found.append((lease.url, lease.score))
            web.fetch(frontier, lease, 0.0)
        return found

    whole = crawl("whole", is_killed=False)
    assert len(whole) > 30
    assert crawl("killed", is_killed=True) == whole
    learned = "SELECT unit, t.labelled, t.relevant, mean, covariance FROM tallies AS t, belief"
    assert rows(tmp_path / "whole", learned) == rows(tmp_path / "killed", learned)


def test_pages_of_an_earlier_run_keep_their_score_and_are_explained_by_their_evidence(
    tmp_path: Path,
) -> None:
    rules: dict[str, Any] = {"is_expected_only": True, "domain_cap": 10}
    frontier = new_sqlite_frontier(tmp_path, **rules)
    earlier = [replace(link(f"{name}.de/", -2.0), score=FIRST_SCORE) for name in "abc"]
    frontier.seed([*earlier[:2], replace(earlier[2], score=FIRST_SCORE + 1)], 0.0, 1)
    first = settled(frontier, "en", link("a.de/"), link("new.de/", 5.0))
    assert (first.url, first.score < 0, first.reasons != "") == ("http://c.de/", True, True)
    assert leases(frontier) == ["a.de/", "b.de/", "new.de/"]


def test_an_earlier_page_whose_score_fell_is_still_expected(tmp_path: Path) -> None:
    frontier = new_sqlite_frontier(tmp_path, is_expected_only=True, address_cap=10)
    frontier.seed([replace(link("a.de/", -2.0), score=FIRST_SCORE)], 0.0, 1)
    frontier.seed([replace(link("b.de/", -2.0), score=FIRST_SCORE)], 0.0, 1)
    assert frontier.send(lease_now(frontier), "192.0.2.1", now=0.0) is Sending.NOW
    other = lease_now(frontier)
    assert frontier.send(other, "192.0.2.1", now=0.0) is Sending.LATER
    assert lease_now(frontier).url == other.url
