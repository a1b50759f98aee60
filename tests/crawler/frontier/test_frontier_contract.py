"""What every frontier promises, checked step by step against one that looks at everything."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from langfocus.crawler.frontier.base import (
    PAGE,
    REDIRECT,
    Admission,
    Frontier,
    KnownUrlError,
    Lease,
    Record,
    Sending,
)
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.selection import Hosts, QueuedHost
from langfocus.crawler.frontier.slots import EARNED_SLOTS, LEAST_BYTES, QUEUED_BYTES
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.options.config import Config
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.redis import RedisFrontier, SharedFrontier
from langfocus.crawler.shared.sharded import ShardedFrontier
from langfocus.crawler.strategies.filters import make_filter
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.strategies.links import Draw, Link
from langfocus.crawler.strategies.versions import Versions
from langfocus.testing.frontiers import META, FrontierMachine
from tests.support.crawls import rows
from tests.support.dropped import dropped_run
from tests.support.learning import PRIOR
from tests.support.redisserver import RedisServer

TestFrontierMachine = FrontierMachine.TestCase
TestFrontierMachine.settings = settings(max_examples=80, stateful_step_count=60, deadline=None)


Opener = Callable[..., Frontier]
"""Opens the frontier of a folder, again and again, at a time and with some rules."""


def new_sqlite_frontier(folder: Path, now: float = 0.0, **rules: Any) -> SqliteFrontier:
    run = dropped_run(folder, META, 0.0)
    return SqliteFrontier(run.connection, FrontierRules(**rules), now=now)


_CRAWLS = count()


@pytest.fixture(params=["sqlite", "redis", "shards"])
def new_frontier(request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Every kind of frontier."""
    if request.param == "sqlite":
        yield new_sqlite_frontier
        return
    server: RedisServer = request.getfixturevalue("redis_server")
    opened: dict[Path, SharedFrontier] = {}
    number = next(_CRAWLS)  # the folder of a passed test may be that of the next one

    def new_redis_frontier(folder: Path, now: float = 0.0, **rules: Any) -> SharedFrontier:
        if folder in opened:
            opened[folder].close()
        client, name = connect(server.url), f"{folder} {number}"
        if request.param == "shards" and rules.get("draw") is not Draw.UNIFORM:
            # Of two shards, two are looked at: the best URL of all is the next.
            member = Membership(shards=2, deliver_s=0.0, poll_s=9.0)
            rules_of = FrontierRules(**rules)
            rules_of = replace(rules_of, robots_bytes=2 * rules_of.robots_bytes)
            opened[folder] = ShardedFrontier.join(client, name, rules_of, member, now=now)
        else:
            opened[folder] = RedisFrontier.join(client, name, FrontierRules(**rules), now=now)
        return opened[folder]

    yield new_redis_frontier
    for frontier in opened.values():
        frontier.close()


def page(language: str = "de") -> Record:
    return Record(PAGE, 0.0, 200, True, language == "de", language)


def test_only_expected_urls_are_leased_where_a_crawl_wants_no_others(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"is_expected_only": True, "doubts_up_to": 0.0}
    before = new_sqlite_frontier(tmp_path, **rules)
    before.seed([Link("http://a.de/", 1.0), Link("http://b.de/", 0.0)], 0.0)
    before.seed([Link("http://c.de/", -1.0)], 0.0)
    assert before.counts().has_expected
    frontier = new_sqlite_frontier(tmp_path, **rules)
    assert frontier.counts().has_expected
    lease = lease_now(frontier)
    assert (lease.url, frontier.next(0.0), frontier.ready_at(0.0)) == ("http://a.de/", None, None)
    assert (frontier.counts().has_expected, frontier.counts().queued) == (True, 2)
    frontier.admit(lease, page(), [Link("http://d.de/", 0.5), Link("http://e.de/", -1.0)], now=0.0)
    frontier.admit(lease_now(frontier), page(), now=0.0)
    assert (frontier.next(9.0), frontier.counts().has_expected) == (None, False)
    assert frontier.counts().queued == 3


def lease_now(frontier: Frontier, now: float = 0.0) -> Lease:
    lease = frontier.next(now)
    assert lease is not None
    return lease


def sent_now(frontier: Frontier, now: float = 0.0, address: str | None = None) -> Lease:
    """Lease the next URL and send its request."""
    lease = lease_now(frontier, now)
    assert frontier.send(lease, address, now=now) is Sending.NOW
    return lease


def test_the_default_tolerance_closes_a_host_before_its_cap(
    tmp_path: Path, new_frontier: Opener
) -> None:
    """A server of pages in other languages is closed with its sixth page, Tamura 2007, 4.1."""
    rules = Config("de")
    filter = make_filter(rules.filter, tolerance=rules.tolerance)
    frontier = new_frontier(
        tmp_path, filter=filter, host_cap=rules.host_cap, host_queue=rules.queue_slots
    )
    frontier.seed([Link("http://a.com/", 1.0)], 0.0)
    # Each in a directory of its own: none of these is irrelevant by itself.
    found = [Link(f"http://a.com/d{n}/x", 0.0) for n in range(20)]
    frontier.admit(sent_now(frontier), page("en"), found, now=0.0)
    for number in range(2, 6):
        frontier.admit(sent_now(frontier), page("en"), now=0.0)
        assert frontier.counts().queued == 21 - number
    frontier.admit(sent_now(frontier), page("en"), now=0.0)
    assert (frontier.counts().queued, frontier.counts().pages) == (0, 6)
    assert dropped_by(frontier, tmp_path) == 15
    late = [Link("http://a.com/late/x", 9.0)]
    frontier.seed([Link("http://b.com/", 1.0)], 0.0)
    answers = frontier.admit(sent_now(frontier), page("en"), late, now=0.0)
    assert answers == [Admission.REJECTED]


def test_no_filter_rejects_or_drops_a_url_in_scope(tmp_path: Path, new_frontier: Opener) -> None:
    closing = make_filter("server", tolerance=1)
    frontier = new_frontier(tmp_path, filter=closing, in_scope=lambda url: "/in/" in url)
    frontier.seed([Link("http://a.com/", 9.0), Link("http://a.com/2", 8.0)], 0.0)
    found = [Link("http://a.com/in/1", 1.0), Link("http://a.com/out", 1.0)]
    taken = replace(page("en"), in_scope=1)
    assert values(frontier.admit(sent_now(frontier), taken, found, now=0.0)) == ["stored"] * 2
    frontier.admit(sent_now(frontier), page("en"), now=0.0)
    assert (frontier.counts().queued, dropped_by(frontier, tmp_path)) == (1, 1)
    frontier.seed([Link("http://b.com/", 9.0)], 0.0)
    late = [Link("http://a.com/in/2", 1.0), Link("http://a.com/out", 1.0)]
    answers = values(frontier.admit(sent_now(frontier), page("en"), late, now=0.0))
    assert answers == ["stored", "rejected"]
    counts = frontier.counts()
    assert (counts.pages, counts.labelled, counts.relevant) == (3, 3, 1)


@pytest.mark.parametrize(("language", "is_known"), [("de", True), ("en", False)])
def test_a_page_is_known_by_its_version_that_is_queued_or_relevant(
    language: str, is_known: bool, tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, versions=Versions("de"), doubts_up_to=0.0)
    frontier.seed([Link("http://a.com/", 9.0)], 0.0)
    names = ["en/x", "de/x", "x", "en/y"]  # in the order of their scores
    found = [Link(f"http://a.com/{name}", 9.0 - n) for n, name in enumerate(names)]
    frontier.admit(sent_now(frontier), page(), found, now=0.0)
    answers = {}
    for _ in found:
        lease = sent_now(frontier)
        answers[lease.url.removeprefix("http://a.com/")] = frontier.knows_version(lease)
        found_in = language if lease.url.endswith("de/x") else "en"
        frontier.admit(lease, page(found_in), now=0.0)
    assert answers == {"en/x": True, "de/x": False, "x": is_known, "en/y": False}


@pytest.mark.parametrize("host_queue", [2, 3, 4])
def test_so_many_urls_of_a_host_wait_or_got_a_request(
    host_queue: int, tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, host_cap=2, host_queue=host_queue)
    first, *found = urls_of("a.de", 6)
    answers = values(frontier.seed([first, *found], 0.0))
    assert answers == ["stored"] * host_queue + ["host_full"] * (6 - host_queue)
    late = [Link("http://a.de/late", 9.0)]
    assert values(frontier.admit(sent_now(frontier), page(), late, now=0.0)) == ["host_full"]
    # A URL that got no request frees its place.
    frontier.admit(lease_now(frontier), Record("robots", 0.0), now=0.0)
    assert frontier.counts().queued == host_queue - 2
    more = [*late, Link("http://a.de/later", 9.0)]
    assert values(frontier.seed(more, 0.0)) == ["stored", "host_full"]


def test_a_host_whose_answers_reached_its_budget_gets_no_request_and_queues_no_link(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, host_bytes=100)
    frontier.seed([*urls_of("a.de", 3), Link("http://b.de/", -9.0)], 0.0)
    frontier.retry(sent_now(frontier), now=0.0, not_before=0.0)
    frontier.seed([Link("http://a.de/best", 9.0), Link("http://a.de/good", 8.0)], 0.0)
    frontier.admit(sent_now(frontier), Record("timeout", 0.0, bytes=99), now=0.0)
    links = [Link("http://a.de/late", 9.0), Link("http://c.de/", -10.0)]
    last = sent_now(frontier)
    answers = values(frontier.admit(last, replace(page(), bytes=1), links, now=0.0))
    assert answers[0] == "host_bytes"
    assert dropped_by(frontier, tmp_path, "dropped_host_bytes") == 2
    retried = lease_now(frontier)
    assert retried.url == "http://a.de/0"
    for is_page in (False, True):
        answer = frontier.send(retried, None, now=0.0, is_page=is_page)
        assert answer is Sending.HOST_BYTES
    frontier.admit(retried, Record("host_bytes", 0.0, was_contacted=False), now=0.0)
    assert sent_now(frontier).url == "http://b.de/"
    frontier = new_frontier(tmp_path, host_bytes=100)
    assert values(frontier.seed(links, 0.0)) == ["host_bytes", "seen"]


def dropped_by(frontier: Frontier, folder: Path, reason: str = "dropped_irrelevant") -> int:
    """The URLs that were dropped for a reason: with an irrelevant server or directory."""
    if isinstance(frontier, SharedFrontier):
        return frontier.stored.totals()[reason]
    counts = dict(rows(folder, "SELECT name, value FROM counts"))
    return int(counts[reason])


def urls_of(host: str, number: int) -> list[Link]:
    return [Link(f"http://{host}/{n}", float(number - n)) for n in range(number)]


def values(answers: Sequence[Admission]) -> list[str]:
    return [answer.value for answer in answers]


@pytest.mark.parametrize(
    ("draw", "doubts_up_to", "score"),
    [(Draw.UNIFORM, None, 0.0), (Draw.FIRST, None, -3.0), (Draw.FIRST, 0.0, 2.5)],
)
def test_a_farm_waits_until_others_of_its_kind_were_fetched(
    tmp_path: Path, new_frontier: Opener, draw: Draw, doubts_up_to: float | None, score: float
) -> None:
    rules: dict[str, Any] = {"draw": draw, "doubts_up_to": doubts_up_to, "domain_cap": 50}
    frontier = new_frontier(tmp_path, **rules)
    farm = [f"http://h{n}.farm.de/" for n in range(20)]
    others = [f"http://b{n}.de/" for n in range(9)]
    frontier.seed([Link(url, score) for url in farm], 0.0)
    frontier.seed([Link("http://doubtful.de/", score - 5.0)], 0.0)
    frontier.seed([Link(url, score) for url in others], 0.0)
    order = [sent_now(frontier).url for _ in range(30)]
    if doubts_up_to is None:  # the last in its kind, or first in another
        order.remove("http://doubtful.de/")
        order.append("http://doubtful.de/")
    # Each time that the number of slots doubles, the next URLs get one more penalty.
    groups = order[:14], order[14:19], order[19:29], order[29:]
    assert [sum("farm" in url for url in group) for group in groups] == [5, 5, 10, 0]
    assert set(others) < set(groups[0])
    assert order[29] == "http://doubtful.de/"
    assert len(set(order)) == 30


def test_every_request_takes_a_slot_of_its_domain_until_its_host_gives_a_page(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, domain_cap=8)
    frontier.seed([Link(f"http://h{n}.a.de/", -float(n)) for n in range(9)], 0.0)
    first = lease_now(frontier)
    for _ in range(3):  # robots.txt, tdmrep.json, the page
        assert frontier.send(first, None, now=0.0, is_page=False) is Sending.NOW
    assert frontier.send(first, None, now=0.0) is Sending.NOW
    frontier.admit(first, page("en"), now=0.0)  # one slot is taken
    for _ in range(3):
        barren = lease_now(frontier)
        assert frontier.send(barren, None, now=0.0, is_page=False) is Sending.NOW
        frontier.admit(barren, Record("robots", 0.0), now=0.0)
    retried = sent_now(frontier)
    frontier.retry(retried, now=0.0, not_before=0.0)
    retried = sent_now(frontier)
    frontier.admit(retried, Record(PAGE, 0.0, 503), now=0.0)
    assert not lease_now(frontier).is_beyond_cap  # six are taken
    assert [frontier.ask_file("x.a.de", None, now=0.0) for _ in range(3)] == [
        *(Sending.NOW, Sending.NOW, Sending.DOMAIN_FULL)
    ]
    again = new_frontier(tmp_path, domain_cap=8)
    assert lease_now(again, 1e6).is_beyond_cap


def test_a_domain_may_queue_so_many_bytes_of_urls_and_more_with_relevant_pages(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier, number = new_frontier(tmp_path, domain_cap=2), 0

    def stored(pad: int) -> int:
        nonlocal number
        number += 100
        urls = [f"http://h{n}.a.de/{'x' * pad}" for n in range(number, number + 100)]
        return values(frontier.seed([Link(url, 1.0) for url in urls], 0.0)).count("stored")

    others = [Link(f"http://b{n}.de/", 2.0) for n in range(100)]
    assert stored(0) == 2 * QUEUED_BYTES // LEAST_BYTES
    assert values(frontier.seed(others, 0.0)) == ["stored"] * 100
    assert values(frontier.seed(urls_of("a.de", 3), 0.0)) == ["stored"] * 3  # its host queue
    frontier.seed([Link("http://a.de/de", 9.0)], 0.0)
    frontier.admit(sent_now(frontier), page(), now=0.0)
    assert 0 < stored(1000) <= EARNED_SLOTS * QUEUED_BYTES // 1000
    frontier = new_frontier(tmp_path, domain_cap=2)
    assert stored(1000) == 0


def test_a_random_draw_is_uniform_over_what_is_queued_now(
    tmp_path: Path, new_frontier: Opener
) -> None:
    """Early and late URLs on hosts of many sizes, before and after a restart: chi-square.

    Each score is a draw of its own, because the highest score goes first.
    """
    frontier = new_frontier(tmp_path, draw=Draw.UNIFORM, host_cap=0)
    drawn, late = [0] * 16, 0
    for score in range(320):
        if score == 160:
            frontier = new_frontier(tmp_path, draw=Draw.UNIFORM, host_cap=0, random_state=1)
        urls = [f"http://h{int(n**0.5)}.de/{score}/{n}" for n in range(20)]
        frontier.seed([Link(url, score) for url in urls[16:]], 0.0)
        for _ in range(4):
            frontier.admit(lease_now(frontier), page(), now=0.0)
        for some in (urls[:8], urls[8:16]):
            frontier.seed([Link(url, score) for url in some], 0.0)
        lease = lease_now(frontier)
        frontier.release(lease, now=0.0)  # its robots.txt came; now the page
        assert lease_now(frontier).url == lease.url
        drawn[urls.index(lease.url)] += 1
        frontier.admit(lease, page(), [Link(f"http://late.de/{score}", score)], now=0.0)
        lease = lease_now(frontier)
        late += lease.host == "late.de"
        frontier.admit(lease, page(), now=0.0)
    chi_square = sum((n - 20) ** 2 / 20 for n in drawn)
    assert chi_square < 37.7  # 15 degrees of freedom, p = 0.001
    assert 6 <= late <= 38  # 20 expected; p = 0.001


def test_a_url_that_is_drawn_while_its_host_rests_is_leased_when_the_host_is_ready(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, draw=Draw.UNIFORM, delay_s=9.0)
    frontier.seed([Link(f"http://a.de/{n}", 0.0) for n in range(4)], 0.0)
    lease = lease_now(frontier)
    frontier.release(lease, now=0.0)
    frontier.seed([Link(f"http://h{n}.de/", 0.0) for n in range(9)], 0.0)
    for _ in range(9):
        frontier.admit(lease_now(frontier), page(), now=0.0)
    frontier.seed([Link(f"http://g{n}.de/", 0.0) for n in range(99)], 0.0)
    assert lease_now(frontier, 9.0).url == lease.url


def test_a_url_that_was_not_fetched_can_be_given_back_for_later(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, delay_s=5.0)
    frontier.seed(urls_of("a.de", 1), 0.0)
    lease = lease_now(frontier)
    frontier.release(lease, now=0.0, not_before=2.0)
    assert (frontier.next(1.9), frontier.ready_at(1.9), frontier.next(2.0)) == (None, 2.0, lease)


def test_a_crawl_delay_outlives_a_restart(tmp_path: Path) -> None:
    frontier = new_sqlite_frontier(tmp_path)
    frontier.seed([Link("http://a.de/1", 0.0), Link("http://a.de/2", 0.0)], 0.0)
    frontier.set_delay("a.de", 9.0)
    frontier.admit(lease_now(frontier), page(), now=100.0)
    assert frontier.next(108.9) is None
    again = new_sqlite_frontier(tmp_path, now=200.0)
    assert again.next(208.9) is None
    assert again.next(209.0) is not None


def stored_robots(frontier: Frontier) -> list[int]:
    found = [frontier.robots(f"http://h{number}.a.de") for number in range(101)]
    return [number for number, kept in enumerate(found) if kept is not None]


def test_the_oldest_robots_files_make_room_for_new_ones(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, robots_bytes=30_000)
    for number in range(100):
        frontier.set_robots(f"http://h{number}.a.de", "x" * 1000, float(number))
    kept = stored_robots(frontier)
    assert kept == list(range(100 - len(kept), 100))
    assert 15 <= len(kept) <= 27
    again = new_frontier(tmp_path, robots_bytes=30_000)
    for _ in range(50):
        again.set_robots("http://h99.a.de", "x" * 1000, 99.0)
    assert stored_robots(again) == kept
    again.set_robots("http://h100.a.de", "x" * 300_000, 1.0)
    assert stored_robots(again) == [100]


@pytest.mark.parametrize("lifts", [False, True])
def test_a_redirect_to_another_scheme_is_fetched_there_in_the_same_slot(
    tmp_path: Path, new_frontier: Opener, lifts: bool
) -> None:
    rules: dict[str, Any] = {"host_cap": 1, "host_queue": 9, "lifts": lifts}
    frontier = new_frontier(tmp_path, filter=make_filter("directory-conservative"), **rules)
    frontier.seed([Link("http://a.de/en", 0.5)], 0.0)
    frontier.retry(sent_now(frontier), now=0.0, not_before=2.0, url="https://www.a.de/en/")
    assert frontier.next(1.9) is None
    both = [Link("http://a.de/en", 9.0), Link("https://www.a.de/en/", 9.0)]
    assert values(frontier.seed(both, 0.0)) == ["seen"] * 2
    lease = sent_now(frontier, 2.0)
    facts = lease.url, lease.is_respelled, lease.retries, lease.redirects
    assert facts == ("https://www.a.de/en/", True, 0, 1)
    frontier.admit(lease, page(), now=0.0)
    assert (frontier.next(9.0), frontier.counts().pages) == (None, 1)
    new_frontier(tmp_path, filter=make_filter("directory-conservative"), **rules)


def test_a_spelling_that_was_found_before_stays_a_url_of_its_own(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, host_cap=2)
    frontier.seed([Link("http://a.de/x", 1.0), Link("https://a.de/x", 0.0)], 0.0)
    lease = sent_now(frontier)
    with pytest.raises(KnownUrlError):
        frontier.retry(lease, now=0.0, not_before=0.0, url="https://a.de/x")
    target = [Link("https://a.de/x", 0.0)]
    assert values(frontier.admit(lease, Record(REDIRECT, 0.0, 301), target, now=0.0)) == ["seen"]
    assert sent_now(frontier).url == "https://a.de/x"


def test_a_doubtful_url_waits_while_better_may_come_from_a_page_on_its_way(
    tmp_path: Path, new_frontier: Opener
) -> None:
    frontier = new_frontier(tmp_path, doubts_up_to=0.0, patience_s=2.0)
    frontier.seed([Link("http://a.de/", 1.0), Link("http://b.com/", -1.0)], 0.0)
    lease = lease_now(frontier)
    assert frontier.next(0.0) is None
    assert frontier.ready_at(0.0) == 2.0
    frontier.admit(lease, page(), [Link("http://c.de/", 0.5)], now=1.0)
    assert lease_now(frontier, 1.0).url == "http://c.de/"
    assert frontier.next(1.5) is None
    assert frontier.ready_at(1.5) == 3.5
    assert lease_now(frontier, 3.5).url == "http://b.com/"


@pytest.mark.parametrize(("delay_s", "url"), [(1.0, None), (5.0, "http://b.com/")])
def test_a_doubtful_url_waits_for_a_host_that_rests_no_longer_than_the_patience(
    tmp_path: Path, new_frontier: Opener, delay_s: float, url: str | None
) -> None:
    frontier = new_frontier(tmp_path, doubts_up_to=0.0, patience_s=2.0, delay_s=delay_s)
    frontier.seed([*urls_of("a.de", 2), Link("http://b.com/", -1.0)], 0.0)
    frontier.admit(lease_now(frontier), page(), now=0.0)
    lease = frontier.next(0.0)
    assert (lease and lease.url) == url
    assert lease_now(frontier, delay_s).url == "http://a.de/1"


def plan_of(folder: Path, statement: str) -> str:
    connection = sqlite3.connect(folder / "run.db")
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    connection.close()
    return "; ".join(row[3] for row in rows)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a growing list of the SQL statements of frontiers, with values filled in."""
    asked: list[str] = []

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = sqlite3.Connection(*arguments, **options)
        connection.set_trace_callback(asked.append)
        return connection

    monkeypatch.setattr("langfocus.crawler.run.folder.sqlite3.connect", traced)
    return asked


@pytest.mark.parametrize(
    "rules",
    [
        {"filter": make_filter("server", tolerance=0)},
        {"filter": make_filter("directory-conservative", tolerance=0), "draw": Draw.UNIFORM},
        {"prior": PRIOR, "doubts_up_to": 0.0, "domain_cap": 9},
    ],
    ids=["server", "drawn", "learns"],
)
def test_no_step_of_a_crawl_scans_a_table_or_sorts(
    tmp_path: Path, statements: list[str], rules: dict[str, Any]
) -> None:
    frontier = new_sqlite_frontier(tmp_path, host_cap=3, host_queue=9, **rules)
    frontier.seed([Link(f"http://{c}.de/", 0.0) for c in "abc"], 0.0)
    statements.clear()
    links = [Link(f"http://{c}.de/en/{n}", 0.0, Evidence(1.0)) for c in "abd" for n in range(4)]
    frontier.admit(sent_now(frontier), page(), links, now=0.0)
    frontier.retry(sent_now(frontier), now=0.0, not_before=0.0)
    frontier.release(lease_now(frontier), now=0.0)
    frontier.set_delay("a.de", 1.0)
    while frontier.counts().pages < 9 and (lease := frontier.next(0.0)):
        frontier.send(lease, None, now=0.0)
        frontier.admit(lease, page("en"), links, now=0.0)
    asked = [s for s in statements if s.split()[0] in ("SELECT", "UPDATE", "DELETE", "INSERT")]
    assert any(s.startswith("DELETE FROM urls") for s in asked)
    for statement in asked:
        plan = plan_of(tmp_path, statement).replace("SCAN json_each", "")
        assert "SCAN" not in plan.replace("SCAN belief", ""), (statement, plan)  # it has one row
        assert "TEMP B-TREE" not in plan, (statement, plan)


def test_a_host_whose_better_urls_keep_coming_leaves_no_trace_in_the_heap() -> None:
    hosts = Hosts(FrontierRules(), lambda _: (-1.0, 1), list)
    host = QueuedHost(1, 0.0, 0.0)
    hosts.enter(host)
    hosts.add(host, 1.0, 1, 0.0)
    for url_id in range(2, 5000):
        hosts.add(host, 2.0, url_id, 0.0)
        assert hosts.take(0.0) == url_id
        hosts.leave(1, 1)
        hosts.rest(host, 0.0, 0.0)
    assert len(hosts._heap) < 2000


def waiting_hosts(rested_at: float, *, leased: Sequence[float] = ()) -> Hosts:
    """Return hosts at 0 s: one has a doubtful URL, a good one is at another that rests."""
    rules = FrontierRules(doubts_up_to=0.0, patience_s=10.0)
    hosts = Hosts(rules, lambda _: (0.0, 0), lambda: [(0.0, score) for score in leased])
    for host, score in ((QueuedHost(1, 0.0, 0.0), -1.0), (QueuedHost(2, 0.0, rested_at), 5.0)):
        hosts.enter(host)
        hosts.add(host, score, host.id, 0.0)
    return hosts


@pytest.mark.parametrize(("rested_at", "is_waiting"), [(9.0, True), (10.0, True), (10.5, False)])
def test_a_doubtful_url_waits_for_a_host_that_is_ready_when_the_patience_ends(
    rested_at: float, is_waiting: bool
) -> None:
    assert (waiting_hosts(rested_at).take(0.0) is None) is is_waiting


@pytest.mark.parametrize(("rested_at", "ready_at"), [(3.0, 3.0), (15.0, 10.0)])
def test_the_next_url_comes_after_a_rest_or_when_the_patience_ends(
    rested_at: float, ready_at: float
) -> None:
    hosts = waiting_hosts(rested_at, leased=[5.0])
    assert hosts.take(0.0) is None
    assert hosts.ready_at(0.0) == ready_at
