"""What only a shared frontier promises: workers that join, share, die, and a server that goes."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from threading import Lock
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from langfocus.crawler.errors import SettingError, StorageError
from langfocus.crawler.frontier.base import (
    PAGE,
    Counts,
    HostStates,
    KeptRobots,
    Lease,
    LeaseError,
    Record,
    Sending,
)
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.shared import membership
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.membership import LAYOUT, Membership
from langfocus.crawler.shared.redis import RedisFrontier, SharedFrontier
from langfocus.crawler.shared.sharded import ShardedFrontier
from langfocus.crawler.shared.stored import Settled, StoredCrawl
from langfocus.crawler.strategies.filters import make_filter
from langfocus.crawler.strategies.links import Draw, Link
from langfocus.crawler.url import host_of
from langfocus.testing.frontiers import FrontierMachine
from tests.crawler.frontier.test_frontier_contract import lease_now, page
from tests.crawler.shared.conftest import Joiner
from tests.support.learning import PRIOR
from tests.support.redisserver import RedisServer

LEASE_S = 1000.0
POLL_S = 0.125


def forgetful(frontier: RedisFrontier) -> RedisFrontier:
    """Let a worker lose the answer to every call the first time, after it was done."""
    from redis import ConnectionError

    heard, run = set[bytes](), frontier.script._run

    def forget(values: Sequence[bytes]) -> Any:
        answer, call = run(values), values[3]
        if call not in heard:
            heard.add(call)
            raise ConnectionError("the answer was lost")
        return answer

    frontier.script._run = forget  # type: ignore[method-assign]
    return frontier


class Workers:
    """Workers of one crawl that take turns; the last worker loses every answer once."""

    def __init__(
        self, url: str, rules: FrontierRules, now: float, number: int = 2, shards: int = 1
    ) -> None:
        self.url, self.crawl, self.rules = url, uuid4().hex, rules
        self.now = now
        self.number, self.shards = number, shards
        self.workers = [self.join(place) for place in range(number)]
        self.owners: dict[int, int] = {}
        self.turn = 0

    def join(self, number: int) -> SharedFrontier:
        member = Membership(worker=f"worker{number}", lease_s=LEASE_S, poll_s=POLL_S)
        client = connect(self.url)
        if self.shards > 1:
            how: dict[str, Any] = {"shards": self.shards, "deliver_s": 0.0, "poll_s": 0.0}
            member = replace(member, **how)
        join = ShardedFrontier.join if self.shards > 1 else RedisFrontier.join
        frontier = join(client, self.crawl, self.rules, member, now=self.now, sleep=lambda _: None)
        is_last = number == self.number - 1
        return forgetful(frontier) if isinstance(frontier, RedisFrontier) and is_last else frontier

    def seed(self, links: Sequence[Link], now: float) -> object:
        return self.workers[0].seed(links, now)

    def next(self, now: float) -> Lease | None:
        self.turn = (self.turn + 1) % self.number
        lease = self.workers[self.turn].next(now)
        if lease is not None:
            self.owners[lease.fingerprint] = self.turn
        return lease

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return what the worker with a lease does with it: admit, send, retry, release."""

        def by_owner(lease: Lease, *values: Any, **how: Any) -> Any:
            owner = self.workers[self.owners[lease.fingerprint]]
            return getattr(owner, name)(lease, *values, **how)

        return by_owner

    def drop_blocked(self, is_blocked: Callable[[str], bool]) -> int:
        return self.workers[self.turn - 1].drop_blocked(is_blocked)

    def ready_at(self, now: float) -> float | None:
        return self.workers[0].ready_at(now)

    def host_states(self) -> HostStates:
        return self.workers[0].host_states()

    def counts(self) -> Counts:
        return self.workers[-1].counts()

    def settled(self) -> list[Settled]:
        return [one for worker in self.workers for one in worker.stored.records(worker.worker)]

    def lose(self, number: int, now: float) -> None:
        """Let a worker die and its leases expire; the other worker renews its own leases."""
        self.workers[1 - number].renew(now)
        self.now = now
        self.workers[number].stored.whole.client.close()
        self.workers[number] = self.join(number)

    def close(self) -> None:
        for worker in self.workers:
            worker.close()


class SharedMachine(FrontierMachine):
    """Random sequences of actions of two workers, of which one may die."""

    server: RedisServer
    frontier: Any

    def begin_crawl(self) -> None:
        """Every crawl has a name of its own."""

    def open(self) -> None:
        self.frontier = Workers(self.server.url, self.rules_of_crawl(), self.now)

    def die_and_come_back(self) -> None:
        """Not as one process does; see `lose_a_worker`."""

    @rule(number=st.integers(0, 1))
    def lose_a_worker(self, number: int) -> None:
        self.now += LEASE_S
        self.frontier.lose(number, self.now)
        owners = self.frontier.owners
        dead = {e.url for e in self.leases if owners[e.fingerprint] == number}
        self.leases = [lease for lease in self.leases if lease.url not in dead]
        for known in self.model.known:
            if known.link.url in dead:
                known.is_leased = known.is_sent_now = False
                known.address = None
                self.model.ready_from[known.host] = self.now + self.model.delay_s

    def check_wake_up_of_the_exhausted(self, ready_at: float | None) -> None:
        assert ready_at in (None, self.now + POLL_S)

    def settled(self) -> list[tuple[str, str]]:
        rows = sorted((each.row for each in self.frontier.settled()), key=lambda row: row["id"])
        assert [row["id"] for row in rows] == list(range(1, len(rows) + 1))
        return [(row["url"], row["outcome"]) for row in rows]

    def lowered(self) -> int:
        return int(self.frontier.workers[0].stored.totals().get("lowered", 0))

    def end_crawl(self) -> None:
        self.frontier.close()


def test_two_workers_behave_as_one_that_looks_at_everything(redis_server: RedisServer) -> None:
    class Machine(SharedMachine):
        server = redis_server

    run_state_machine_as_test(
        Machine, settings=settings(max_examples=40, stateful_step_count=50, deadline=None)
    )


def links(*urls: str) -> list[Link]:
    return [Link(url, 0.0) for url in urls]


def test_two_workers_that_replace_a_text_do_it_one_after_the_other(join: Joiner) -> None:
    one, other = join(), join()
    assert one.set_robots("http://a.de/ sitemaps", "1", 0.1, None)
    assert not other.set_robots("http://a.de/ sitemaps", "2", 0.2, None)
    first = other.robots("http://a.de/ sitemaps")
    assert first == KeptRobots("1", 0.1)
    assert other.set_robots("http://a.de/ sitemaps", "1\n2", 0.3, first)
    assert not one.set_robots("http://a.de/ sitemaps", "1\n3", 0.4, first)
    assert one.robots("http://a.de/ sitemaps") == KeptRobots("1\n2", 0.3)


def test_a_lease_ends_by_itself_and_the_late_worker_settles_nothing(join: Joiner) -> None:
    dead, other = join(lease_s=60.0, delay_s=2.0), join(lease_s=60.0, delay_s=2.0)
    dead.seed(links("http://a.de/"), 0.0)
    lease = lease_now(dead)
    assert other.next(59.0) is None
    assert other.next(60.0) is None  # whoever had it may have contacted the host just now
    again = lease_now(other, 62.0)
    assert again.url == lease.url
    with pytest.raises(LeaseError):
        dead.admit(lease, page(), links("http://b.de/"), now=62.0)
    with pytest.raises(LeaseError):
        dead.release(lease, now=62.0)
    other.admit(again, page(), now=63.0)
    counts = other.counts()
    assert (counts.pages, counts.queued, counts.leased) == (1, 0, 0)


def test_a_worker_that_leaves_gives_its_leases_back(join: Joiner) -> None:
    one, other = join(), join()
    one.seed(links("http://a.de/"), 0.0)
    lease_now(one)
    one.close()
    assert lease_now(other).url == "http://a.de/"


def test_caps_and_budget_are_exact_and_no_url_is_fetched_twice_at_full_contention(
    join: Joiner,
) -> None:
    """Four workers at once; every page links to the same few hosts."""
    hosts = [f"h{n}.de" for n in range(12)]
    held: set[str] = set()
    fetched: list[str] = []
    lock = Lock()

    def work(worker: RedisFrontier) -> None:
        while lease := worker.next(0.0):
            assert worker.send(lease, None, now=0.0) is Sending.NOW
            with lock:
                assert lease.host not in held
                held.add(lease.host)
                fetched.append(lease.url)
                number = len(fetched)
            found = [f"http://{hosts[(number + i) % 12]}/{number % 30 + i}" for i in range(20)]
            with lock:
                held.remove(lease.host)
            worker.admit(lease, page(), links(*found), now=0.0)

    workers = [join(host_cap=7, host_queue=7, budget_pages=70) for _ in range(4)]
    workers[0].seed(links(*(f"http://{host}/" for host in hosts)), 0.0)
    while workers[0].counts().pages < 70:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, workers))
    counts = workers[0].counts()
    assert (counts.pages, counts.leased, len(fetched)) == (70, 0, 70)
    assert len(set(fetched)) == 70
    assert counts.queued == 12 * 7 - 70
    assert max(Counter(map(host_of, fetched)).values()) <= 7


def alone(server: RedisServer, **how: Any) -> RedisFrontier:
    """Return the only worker of a server that the test may kill."""
    member = Membership(wait_s=5.0)
    return RedisFrontier.join(connect(server.url), "crawl", FrontierRules(), member, now=0.0, **how)


@pytest.mark.parametrize(("try_s", "least_s", "most_s"), [(0.0, 5.0, 6.0), (3.0, 0.0, 2.0)])
def test_a_server_that_stays_away_is_a_storage_error(
    try_s: float,
    least_s: float,
    most_s: float,
    own_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Waits and tries have five seconds together; a try takes `try_s`."""
    waits: list[float] = []
    frontier = alone(own_server, sleep=waits.append)
    own_server.kill()
    clock = SimpleNamespace(monotonic=partial(next, count(0.0, try_s)))
    monkeypatch.setattr("langfocus.crawler.shared.keyspace.time", clock)
    with pytest.raises(StorageError, match="could not be reached for"):
        frontier.next(0.0)
    assert least_s <= sum(waits) <= most_s


@pytest.mark.parametrize("trouble", ["busy", "copy"])
def test_a_server_that_is_busy_or_only_a_copy_is_waited_for(
    own_server: RedisServer, trouble: str
) -> None:
    from redis import ResponseError

    client: Any = connect(own_server.url)
    client.config_set("busy-reply-threshold", "10")

    def mend(_: float) -> None:
        # Asked for again while it ends, the server may have ended it already.
        with suppress(ResponseError):
            client.script_kill() if trouble == "busy" else client.replicaof("NO", "ONE")

    frontier = alone(own_server, sleep=mend)
    if trouble == "busy":
        connection: Any = client.connection_pool.get_connection()
        connection.send_packed_command(connection.pack_command("EVAL", "while true do end", 0))
    else:
        client.replicaof("127.0.0.1", "1")
    assert frontier.seed(links("http://a.de/"), 0.0)[0].value == "stored"
    frontier.close()
    client.close()


def test_a_server_that_asks_for_another_password_is_a_wrong_setting(
    own_server: RedisServer,
) -> None:
    client = connect(own_server.url)
    client.config_set("requirepass", "secret")
    with pytest.raises(SettingError, match="refuses the user or password"):
        StoredCrawl(connect(own_server.url), "crawl").exists()
    StoredCrawl(connect(own_server.url + "?password=secret"), "crawl").exists()


def test_a_server_that_keeps_no_file_says_so(own_server: RedisServer) -> None:
    client = connect(own_server.url)
    frontier = RedisFrontier.join(client, "crawl", FrontierRules(), now=0.0)
    assert frontier.stored.is_durable()
    client.config_set("appendonly", "no")
    assert not frontier.stored.is_durable()
    client.acl_setuser("plain", True, nopass=True, commands=["+@all", "-config", "-info"], keys="*")
    plain = connect(f"{own_server.url}?username=plain&password=x")
    other = RedisFrontier.join(plain, "crawl", FrontierRules(), now=0.0)
    assert other.stored.is_durable()
    other.close()
    frontier.close()


def test_a_server_without_memory_takes_nothing_rather_than_half(own_server: RedisServer) -> None:
    client = connect(own_server.url)
    frontier = alone(own_server)
    frontier.seed(links("http://a.de/"), 0.0)
    lease = lease_now(frontier)
    client.config_set("maxmemory", "1")
    with pytest.raises(StorageError, match="cannot store more"):
        frontier.admit(lease, page(), links("http://b.de/"), now=0.0)
    client.config_set("maxmemory", "0")
    assert frontier.counts().leased == 1
    assert frontier.admit(lease, page(), links("http://b.de/"), now=0.0)[0].value == "stored"
    frontier.close()


@pytest.mark.parametrize(
    "change",
    [
        {"host_cap": 11},
        {"delay_s": 0.5},
        {"host_queue": 99},
        {"draw": Draw.UNIFORM},
        {"lifts": True},
        {"doubts_up_to": 0.0},
        {"filter": make_filter("hard")},
        {"filter": make_filter("server", tolerance=3)},
        {"prior": None},
        {"prior": replace(PRIOR, strength=3.0)},
    ],
    ids="-".join,
)
def test_a_worker_with_other_rules_is_refused(join: Joiner, change: dict[str, Any]) -> None:
    rules: dict[str, Any] = {"delay_s": 1.0, "prior": PRIOR if "prior" in change else None}
    join(**rules)
    join(**rules, budget_pages=3)
    with pytest.raises(SettingError, match="was begun with"):
        join(**(rules | change))


def test_a_crawl_of_another_layout_is_refused_with_the_way_out(
    join: Joiner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(membership, "LAYOUT", LAYOUT - 1)
        join()
    message = (
        rf"has layout {LAYOUT - 1} in Redis, this version has {LAYOUT}: finish it with the version "
        r"that began it, or merge the folders of its workers and begin another crawl \(LANGFOCUS_"
    )
    with pytest.raises(SettingError, match=message):
        join(delay_s=9.0)
    monkeypatch.setattr(membership, "LAYOUT", LAYOUT - 1)
    join()  # nothing was changed


def test_a_worker_that_dies_keeps_nobody_in_doubt(join: Joiner) -> None:
    dead, other = (join(doubts_up_to=0.0, patience_s=9.0, lease_s=3.0) for _ in range(2))
    dead.seed([Link("http://a.de/", 1.0), Link("http://b.com/", -1.0)], 0.0)
    lease_now(dead)
    assert other.next(2.0) is None
    assert lease_now(other, 3.0).url == "http://a.de/"


def test_what_is_no_name_and_no_address_is_refused(join: Joiner) -> None:
    with pytest.raises(SettingError, match="not the address"):
        connect("http://localhost")
    with pytest.raises(SettingError, match="must not be empty or contain braces"):
        RedisFrontier.join(connect("redis://h"), "a{b", FrontierRules(), now=0.0)
    with pytest.raises(ValueError, match="not a number"):
        join().seed([Link("http://a.de/", float("nan"))], 0.0)


def test_the_budget_that_the_last_worker_asked_for_holds_for_all(join: Joiner) -> None:
    one = join(budget_pages=1)
    one.seed(links("http://a.de/", "http://b.de/"), 0.0)
    one.admit(lease_now(one), page(), now=0.0)
    assert one.next(0.0) is None
    join(budget_pages=2)
    assert lease_now(one).url == "http://b.de/"


def test_hosts_that_wake_in_many_batches_still_give_the_best_first(join: Joiner) -> None:
    frontier = join(delay_s=10.0, host_cap=0)
    hosts = 1200
    frontier.seed([Link(f"http://h{n}.de/", 1.0) for n in range(hosts)], 0.0)
    for _ in range(hosts):
        lease = lease_now(frontier)
        better = Link(f"http://{lease.host}/2", float(lease.host == "h777.de"))
        frontier.admit(lease, page(), [better], now=0.0)
    assert frontier.next(9.0) is None
    assert lease_now(frontier, 10.0).url == "http://h777.de/2"


def test_records_stay_with_the_name_of_their_worker_until_they_are_forgotten(join: Joiner) -> None:
    worker, other = join(worker="w1"), join(worker="w2")
    worker.seed([Link("http://a.de/", 0.25)], 0.0)
    record = Record(PAGE, 12.5, 200, True, True, "de", 0.5, "text", "utf-8", "DE", 99)
    worker.admit(lease_now(worker), record, links("http://b.de/"), now=0.0)
    worker.admit(lease_now(worker), page(), now=0.0)
    worker.close()
    assert other.stored.records(other.worker) == []
    assert other.stored.workers() == ["w1", "w2"]
    first, second = other.stored.records("w1")
    values = {"id": 1, "url": "http://a.de/", "parent": None, "score": 0.25, "queued": 1}
    values |= {"outcome": PAGE, "fetched_at": 12.5, "confidence": 0.5, "country": "DE", "bytes": 99}
    assert {name: first.row[name] for name in values} == values
    values = {"id": 2, "parent": "http://a.de/", "depth": 1, "queued": 0}
    assert {name: second.row[name] for name in values} == values
    other.stored.forget([first.entry], "w1")
    assert other.stored.records("w1") == [second]


@pytest.mark.parametrize("draw", Draw)
def test_scores_of_any_size_keep_their_order(join: Joiner, draw: Draw) -> None:
    """Also where servers and clients write them in different ways."""
    frontier = join(draw=draw)
    scores = [1e300, 1.0, 1 / 3, 0.1, 1e-7, 0.0, -0.1, -1e22, float("-inf")]
    for number, score in enumerate(scores):
        frontier.seed([Link(f"http://h{number}.de/{n}", score) for n in range(3)], 0.0)
        frontier.seed([Link(f"http://other{number}.de/", score)], 0.0)
    leased = []
    while lease := frontier.next(0.0):
        frontier.release(lease, now=0.0)
        lease = lease_now(frontier)
        leased.append(lease.score)
        frontier.admit(lease, page(), now=0.0)
    assert leased == [score for score in scores for _ in range(4)]


@pytest.mark.parametrize("draw", Draw)
@pytest.mark.parametrize("cap", [0, 2500])
def test_a_page_may_have_thousands_of_links_and_all_may_be_dropped(
    join: Joiner, draw: Draw, cap: int
) -> None:
    rules: dict[str, Any] = {"draw": draw, "host_cap": cap, "host_queue": cap}
    frontier = join(filter=make_filter("server", tolerance=0), **rules)
    frontier.seed(links("http://a.de/"), 0.0)
    found = [f"http://b.de/{n % 3000}" for n in range(4000)]
    answers = frontier.admit(lease_now(frontier), page(), links(*found), now=0.0)
    stored = cap or 3000
    kinds = ["stored"] * stored + ["host_full"] * (3000 - stored) + ["seen"] * 1000
    assert [answer.value for answer in answers] == kinds
    frontier.admit(lease_now(frontier), page("en"), now=0.0)
    assert frontier.stored.totals()["dropped_irrelevant"] == stored - 1
    assert frontier.counts().queued == 0
    frontier.seed(links(found[-1]), 0.0)
    assert frontier.counts().queued == 1


def test_what_a_worker_counted_stands_apart_and_adds_up(join: Joiner) -> None:
    caps: dict[str, Any] = {"host_cap": 1, "host_queue": 1}
    one, other = join(worker="w1", **caps), join(worker="w2", **caps)
    one.seed(links("http://a.de/", "http://b.de/"), 0.0)
    found = links("http://b.de/2", "http://c.de/", "http://c.de/2", "http://b.de/")
    of_page = {"ignored_file": 2, "ignored_trap": 1, "cut_short": 1, "parser_lxml": 1}
    record = Record(PAGE, 0.0, 200, counts=of_page)
    other.admit(lease_now(other), record, found, now=0.0)
    other.retry(lease_now(other), now=0.0, not_before=0.0)
    assert one.stored.worker_counts(one.worker) == {"stored": 2}
    counted = {"stored": 1, "seen": 1, "host_full": 2, "retried": 1}
    counted |= of_page
    assert one.stored.worker_counts("w2") == counted
    totals = one.stored.totals()
    assert {name: totals[name] for name in counted} == {**counted, "stored": 3}
    assert (totals["queued"], totals["leased"], totals["pages"]) == (2, 0, 1)


def test_what_a_crawl_left_is_found_by_its_name_and_can_be_removed(
    redis_server: RedisServer,
) -> None:
    names = [f"all*[of]?{uuid4().hex}", f"all-o?{uuid4().hex}"]
    for name in names:
        frontier = RedisFrontier.join(connect(redis_server.url), name, FrontierRules(), now=0.0)
        frontier.seed(links("http://a.de/"), 0.0)
        frontier.admit(lease_now(frontier), page(), now=0.0)
        frontier.close()
    stored, kept = (StoredCrawl(connect(redis_server.url), name) for name in names)
    assert stored.workers() == ["worker"]
    assert [settled.row["url"] for settled in stored.records("worker")] == ["http://a.de/"]
    assert stored.totals()["pages"] == 1
    stored.remove()
    assert (stored.exists(), stored.totals(), kept.exists()) == (False, {}, True)
    stored.close()
    kept.close()


def test_any_url_comes_back_as_it_went_in(join: Joiner) -> None:
    frontier = join()
    urls = ["http://a.de/\ud800", "http://b.de/\x00'\"{}", "http://ü.de/ß"]
    frontier.seed(links(*urls), 0.0)
    for url in urls:
        lease = lease_now(frontier)
        assert lease.url == url
        frontier.retry(lease, now=0.0, not_before=9.0)
