"""A crawl with several shards: what is exact of the whole, and what goes on without a shard."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from langfocus.crawler.errors import SettingError, StorageError
from langfocus.crawler.frontier.base import Admission, Lease, LeaseError, Sending
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.politeness.robots import HostFiles
from langfocus.crawler.run.folder import open_run
from langfocus.crawler.shared.addresses import SharedOccupancy
from langfocus.crawler.shared.keyspace import AwayError, KeySpace, connect, shard_of
from langfocus.crawler.shared.learner import MERGED_EVERY_S
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.merging import merge
from langfocus.crawler.shared.outbox import ask_entries, ask_targets, receive
from langfocus.crawler.shared.redis import RedisFrontier
from langfocus.crawler.shared.script import Script
from langfocus.crawler.shared.sharded import ShardedFrontier
from langfocus.crawler.shared.stored import StoredCrawl
from langfocus.crawler.shared.worker import Worker
from langfocus.crawler.spiders.watch import count_expected
from langfocus.crawler.strategies.filters import Filter
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.strategies.links import Draw, Link
from langfocus.crawler.strategies.orderings import Ordering
from langfocus.crawler.url import host_of
from langfocus.testing.frontiers import META
from tests.crawler.frontier.test_frontier_contract import lease_now, page
from tests.crawler.shared.test_frontier_redis import SharedMachine, Workers
from tests.crawler.shared.test_learning_shared import belief_of
from tests.support.learning import PRIOR
from tests.support.redisserver import RedisServer

SHARDS = 2


class ShardedMachine(SharedMachine):
    """Any order of what two workers do on two shards: both are looked at, so the order is exact."""

    keeps_order_of_ties = False

    def begin_with(
        self, draw: Draw, patience: float, rule: Filter, made: Ordering | None = None
    ) -> None:
        super().begin_with(Draw.FIRST, 0.0, rule)

    def open(self) -> None:
        rules = self.rules_of_crawl()
        self.model.counts_only_pages_of_addresses = True
        self.frontier = Workers(self.server.url, rules, self.now, shards=SHARDS)

    def answers(
        self, lease: Lease, links: Sequence[Link], expected: list[Admission]
    ) -> list[Admission]:
        home = shard_of(lease.host, SHARDS)
        are_own = [shard_of(host_of(link.url), SHARDS) == home for link in links]
        return [
            answer if is_own else Admission.SENT
            for answer, is_own in zip(expected, are_own, strict=True)
        ]

    def check_wake_up_of_the_exhausted(self, ready_at: float | None) -> None:
        assert ready_at is not None
        assert ready_at <= self.now

    def check_records(self, expected: list[tuple[str, str]]) -> None:
        rows = [each.row for each in self.frontier.settled()]
        assert sorted((row["url"], row["outcome"]) for row in rows) == sorted(expected)
        assert len({row["id"] for row in rows}) == len(rows)
        totals = self.frontier.workers[0].stored.totals()
        assert totals.get("lowered", 0) == self.model.lowered
        assert totals.get("outbox", 0) == 0


def test_two_workers_on_two_shards_behave_as_one_that_looks_at_everything(
    redis_server: RedisServer,
) -> None:
    class Machine(ShardedMachine):
        server = redis_server

    run_state_machine_as_test(
        Machine, settings=settings(max_examples=30, stateful_step_count=40, deadline=None)
    )


Sharded = Callable[..., ShardedFrontier]


@pytest.fixture
def join(redis_server: RedisServer) -> Iterator[Sharded]:
    """Let a worker join the crawl of this test on four shards; links are delivered on demand."""
    crawl, joined = uuid4().hex, []

    def join(worker: str = "worker", shards: int = 4, **rules: Any) -> ShardedFrontier:
        member = Membership(worker=worker, shards=shards, deliver_s=rules.pop("deliver_s", 1e9))
        client = connect(rules.pop("url", redis_server.url))
        values: dict[str, Any] = {"now": 0.0, "sleep": lambda _: None}
        joined.append(ShardedFrontier.join(client, crawl, FrontierRules(**rules), member, **values))
        joined[-1].delivery.delivered_at = 0.0
        return joined[-1]

    yield join
    for frontier in joined:
        frontier.close()


def links(*numbers: int) -> list[Link]:
    return [Link(f"http://h{number}.de/", -float(number)) for number in numbers]


@pytest.mark.parametrize("shards", [1, 3])
def test_a_worker_with_another_number_of_shards_is_refused(join: Sharded, shards: int) -> None:
    whole = join()
    kind = RedisFrontier if shards == 1 else ShardedFrontier
    message = f"was begun with shards=4, not with shards={shards}"
    with pytest.raises(SettingError, match=message):
        kind.join(
            whole.stored.whole.client,
            whole.stored.whole.crawl,
            FrontierRules(),
            Membership(shards=shards),
            now=0.0,
        )
    with pytest.raises(SettingError, match="drawn at random"):
        join(draw=Draw.UNIFORM)


def test_links_that_are_delivered_twice_are_admitted_once(join: Sharded) -> None:
    one, other = join("w1"), join("w2")
    one.seed(links(0), 0.0)
    answers = one.admit(lease_now(one), page(), links(*range(1, 40)), now=0.0)
    home = shard_of("h0.de", 4)
    keys = one.shards[home].keys
    entries = keys.read(*ask_entries(keys, keys.read(*ask_targets(keys))))
    assert answers.count(Admission.SENT) == sum(entry.number for entry in entries) > 9
    assert {entry.target for entry in entries} == {0, 1, 2, 3} - {home}
    for worker in (one, other):  # the first dies before it says that they were delivered
        for entry in entries:
            receive(worker.shards[entry.target].frontier, [entry], 0.0)
    assert one.stored.totals()["stored"] == 40
    assert one.counts().queued == 39 + answers.count(Admission.SENT)
    for worker in (one, other):
        worker.delivery.deliver({*range(4)}, 0.0)
    assert (one.stored.totals()["stored"], one.stored.totals()["seen"], one.counts().queued) == (
        40,
        0,
        39,
    )
    # An entry that comes after them is a new one.
    other.admit(lease_now(other), page(), links(*range(40, 80)), now=0.0)
    other.delivery.deliver({*range(4)}, 0.0)
    assert (one.stored.totals()["stored"], one.counts().queued) == (80, 78)


def test_the_links_of_two_shards_to_a_third_are_admitted_in_any_order(join: Sharded) -> None:
    worker, number_at = join(), {shard_of(f"h{n}.de", 4): n for n in range(40)}
    worker.seed(links(number_at[0], number_at[1]), 0.0)
    sources = []
    for _ in range(2):
        lease = lease_now(worker)
        found = [Link(f"http://h{number_at[2]}.de/{lease.host}", 0.0)]
        assert worker.admit(lease, page(), found, now=0.0) == [Admission.SENT]
        sources.append(shard_of(lease.host, 4))
    for source in reversed(sources):
        worker.delivery.deliver({source}, 0.0)
    assert (worker.stored.totals()["stored"], worker.counts().queued) == (4, 2)


def test_links_come_when_a_replica_with_a_slower_clock_has_taken_over(
    join: Sharded, own_server: RedisServer
) -> None:
    worker = join(url=own_server.url)
    home = worker.shards[shard_of("h0.de", 4)].keys
    client: Any = worker.stored.whole.client

    def crawl(numbers: range) -> list[Any]:
        """Settle a page of the shard with links, deliver them, return their outboxes."""
        worker.admit(lease_of(worker, home.place), page(), links(*numbers), now=0.0)
        worker.delivery.deliver({*range(4)}, 0.0)
        return list(client.keys(home.key("outbox:*")))

    worker.seed(links(0), 0.0)
    outboxes = crawl(range(1, 40))
    for key in outboxes:
        client.execute_command("XSETID", key, f"{2**60}-0")  # the clock of the first master
    crawl(range(40, 80))
    own_server.take_over()
    client.delete(*outboxes)  # the last entries did not come to the replica
    crawl(range(80, 120))
    assert worker.stored.totals()["stored"] == 120


def lease_of(worker: ShardedFrontier, place: int) -> Lease:
    """Return a lease of a shard; settle those of others."""
    while shard_of((lease := lease_now(worker)).host, 4) != place:
        worker.admit(lease, page(), now=0.0)
    return lease


def test_the_links_of_a_worker_that_died_come_when_nothing_else_is_left(join: Sharded) -> None:
    dead, other = join("w1"), join("w2")
    dead.seed(links(0), 0.0)
    dead.admit(lease_now(dead), page(), links(*range(1, 20)), now=0.0)
    dead.delivery.unsent.clear()
    found = []
    while lease := other.next(0.0):
        found.append(lease.url)
        other.admit(lease, page(), now=0.0)
    assert sorted(found) == sorted(link.url for link in links(*range(1, 20)))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the scripts that run, by command."""
    found, call = Counter[str](), Script.call

    def counted(script: Script, command: str, *others: Any, **arguments: Any) -> Any:
        found[command] += 1
        return call(script, command, *others, **arguments)

    monkeypatch.setattr(Script, "call", counted)
    return found


def test_a_budget_costs_few_calls_before_and_after_it_is_spent(
    join: Sharded, calls: Counter[str]
) -> None:
    worker = join(shards=16, budget_pages=200)
    worker.seed(links(*range(400)), 0.0)
    calls.clear()
    held = [lease_now(worker) for _ in range(200)]
    assert calls["next"] < 4 * 200
    assert calls["grant"] + calls["return_quota"] < 200
    assert worker.next(0.0) is None
    calls.clear()
    for lease in held:
        worker.admit(lease, page(), now=0.5)
        assert worker.next(0.5) is None
    assert calls["next"] + calls["grant"] <= 2 * 200
    assert calls["return_quota"] == 0


def test_a_worker_asks_only_the_shards_that_may_have_a_ready_url(
    join: Sharded, calls: Counter[str]
) -> None:
    worker = join(shards=16, delay_s=5.0)
    assert worker.next(0.0) is None
    worker.seed(links(*range(160)), 0.0)
    calls.clear()
    held = []
    while lease := worker.next(0.0):
        held.append(lease)
    assert len(held) == 160
    assert calls["next"] <= 3 * 160 + 16
    calls.clear()
    for lease in held:
        worker.admit(lease, page(), now=0.5)
        assert worker.next(0.5) is None
    assert calls["next"] == 0
    assert worker.next(1.5) is None
    assert calls["next"] == 16
    assert worker.ready_at(1.5) == 2.5


def test_the_shards_of_a_server_are_read_with_one_call(join: Sharded) -> None:
    worker = join(shards=16)
    worker.seed(links(*range(160)), 0.0)

    def reads_of(ask: Callable[[], object]) -> int:
        before = worker.stored.whole.client.info("stats")["total_reads_processed"]
        ask()
        return int(worker.stored.whole.client.info("stats")["total_reads_processed"] - before - 1)

    assert reads_of(worker.counts) == reads_of(worker.host_states) == 1
    assert reads_of(lambda: worker.delivery.deliver({*range(16)}, 0.0)) == 1
    assert worker.counts().queued == 160


@pytest.mark.parametrize("budget", ["pages", "relevant"])
def test_budgets_are_exact_over_shards_workers_and_changes(join: Sharded, budget: str) -> None:
    name = f"budget_{budget}"
    workers = [join(f"w{n}", **{name: 23}) for n in range(3)]
    workers[0].seed(links(*range(100)), 0.0)

    def crawl() -> int:
        held = [
            (worker, lease)
            for _ in range(40)
            for worker in workers
            if (lease := worker.next(0.0)) is not None
        ]
        for worker, lease in held:
            worker.admit(lease, page(), now=0.0)
        return workers[0].counts().pages

    assert [crawl(), crawl()] == [23, 23]
    workers.append(join("w4", **{name: 31}))
    assert [crawl(), crawl()] == [31, 31]


def test_a_budget_counts_the_pages_that_were_fetched_before_it_was_given(join: Sharded) -> None:
    worker = join()
    numbers = [n for n in range(100) if shard_of(f"h{n}.de", 4) == 0]
    worker.seed(links(*numbers), 0.0)
    for _ in numbers[3:]:
        worker.admit(lease_now(worker), page(), now=0.0)
    held = [lease_now(worker) for _ in range(3)]
    other = join("w2", budget_pages=len(numbers) + 7)
    worker.seed(links(*range(100)), 0.0)
    assert sum(worker.next(0.0) is not None for _ in range(100)) == 7
    for lease in held:
        worker.admit(lease, page(), now=0.0)
    assert other.next(0.0) is None


def away(keys: KeySpace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the keys of a shard, or those of the whole crawl, not be reached."""
    monkeypatch.setattr(keys, "_until_done", Mock(side_effect=AwayError))


def test_a_worker_does_not_ask_in_vain_while_nobody_can_grant_more_of_a_budget(
    join: Sharded, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = join(budget_pages=23)
    worker.seed(links(*range(9)), 0.0)
    away(worker.stored.whole, monkeypatch)
    assert worker.next(0.0) is None
    assert worker.ready_at(0.0) == 1.0


def test_the_urls_of_the_other_shards_go_back_when_one_was_away_for_too_long(
    join: Sharded, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, other = join("w1"), join("w2")
    worker.seed(links(*range(9)), 0.0)
    held = [lease_now(worker) for _ in range(9)]
    lost = worker.shard(held[0].host)
    with monkeypatch.context() as patch:
        away(lost.keys, patch)
        lost.keys._away_since = -1e9
        with pytest.raises(StorageError):
            worker.release_all()
    assert other.counts().leased == sum(worker.shard(lease.host) is lost for lease in held) < 9


def test_files_are_chosen_while_the_shard_of_their_host_is_away(
    join: Sharded, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = join()
    files, part = HostFiles(worker, "sitemaps", 2), worker.shard("a.de")
    urls = [f"http://a.de/{n}.xml" for n in range(3)]
    with monkeypatch.context() as patch:
        away(part.keys, patch)
        assert files.choose(urls, 0.0) == []
    part.keys._rests_until = 0.0
    assert files.choose(urls, 0.0) == urls[:2]


def test_workers_tell_each_other_nothing_while_the_server_of_the_whole_crawl_is_away(
    join: Sharded, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = join()
    tender = Worker(worker, Mock(), Mock(), every_s=1.0)
    away(worker.stored.whole, monkeypatch)
    assert tender.share("{}") == {}


def test_a_doubtful_url_of_one_shard_is_no_hope_for_another(join: Sharded) -> None:
    worker = join(doubts_up_to=0.0)
    worker.seed([Link("http://a.de/", 0.0), Link("http://b.de/", 1.0)], 0.0)
    parts = [worker.shard(host) for host in ("a.de", "b.de")]
    assert all(worker.lease(part, inf, 0.0) for part in parts)
    assert [part.has_hopes for part in parts] == [False, True]


def test_a_url_that_was_to_go_back_when_its_shard_went_away_goes_back_later(
    join: Sharded, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = join(domain_cap=4, doubts_up_to=0.0)
    part = worker.shard("x.de")
    alike = next(f"y{n}.de" for n in range(99) if worker.shard(f"y{n}.de") is part)
    for number in range(2):
        worker.seed([Link(f"http://h{number}.x.de/", 3.0)], 0.0)
        lease = lease_now(worker)
        assert worker.send(lease, None, now=0.0) is Sending.NOW
        worker.admit(lease, page("en"), now=0.0)
    worker.seed([Link("http://h2.x.de/", 3.0), Link(f"http://{alike}/", 2.0)], 0.0)
    call = part.frontier.script.call

    def falls(command: str, *others: Any, **arguments: Any) -> Any:
        if "back" in arguments:
            raise AwayError
        return call(command, *others, **arguments)

    with monkeypatch.context() as patch:
        patch.setattr(part.frontier.script, "call", falls)
        assert worker.next(5.0) is None
    assert [lease_now(worker, now).host for now in (9.0, 15.0)] == [alike, "h2.x.de"]


def test_a_url_whose_shard_is_away_takes_no_slot_of_an_address(
    join: Sharded, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = join(address_cap=10)
    worker.seed(links(0), 0.0)
    held = lease_now(worker)
    part, home = worker.shard(held.host), worker.stored.at_address("ip 192.0.2.5")
    assert part.keys is not home
    with monkeypatch.context() as patch:
        patch.setattr(part.keys, "_rests_until", inf)
        assert worker.send(held, "192.0.2.5", now=0.0) is Sending.LATER
    client: Any = worker.stored.whole.client
    assert client.hgetall(home.key("taken")) == {}


def test_a_lease_that_has_ended_takes_no_slot_of_an_address(join: Sharded) -> None:
    worker, other = join("w1", address_cap=10), join("w2", address_cap=10)
    worker.seed(links(0), 0.0)
    held = lease_now(worker)
    assert lease_now(other, 1e6).url == held.url
    with pytest.raises(LeaseError):
        worker.send(held, "192.0.2.1", now=1e6)
    home = worker.stored.at_address("ip 192.0.2.1")
    client: Any = worker.stored.whole.client
    assert client.hgetall(home.key("taken")) in ({}, {"ip 192.0.2.1": "0"})


def test_the_slots_of_an_address_are_exact_over_shards(join: Sharded) -> None:
    worker = join(address_cap=10)
    worker.seed(links(*range(60)), 0.0)
    answers = []
    while lease := worker.next(0.0):
        answers.append(worker.send(lease, "192.0.2.1", now=0.0))
        if answers[-1] is not Sending.LATER:
            worker.admit(lease, page("en"), now=0.0)
    assert answers.count(Sending.NOW) == 10
    assert answers.count(Sending.ADDRESS_FULL) == 50


def test_a_url_with_the_penalties_of_its_address_is_sent_with_them(join: Sharded) -> None:
    worker = join(address_cap=100, prior=PRIOR, doubts_up_to=0.0)
    worker.seed([Link(f"http://h{n}.de/", 0.0, Evidence(1.0)) for n in range(30)], 0.0)
    sent = Counter[Sending]()
    while sent.total() < 90 and (lease := worker.next(0.0)):
        sent[worker.send(lease, "192.0.2.1", now=0.0)] += 1
        if lease.fingerprint in worker.shard(lease.host).frontier._held:
            worker.admit(lease, page("en"), now=0.0)
    assert sent[Sending.NOW] == 30


def test_a_page_whose_shard_went_away_while_it_was_settled_is_learned_once(
    join: Sharded, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = join(prior=PRIOR, doubts_up_to=0.0)
    worker.seed([Link("http://a.de/", 0.0, Evidence(1.0))], 0.0)
    lease = lease_now(worker)
    part = worker.shard(lease.host)
    with monkeypatch.context() as away:
        away.setattr(part.frontier, "_end", Mock(side_effect=AwayError))
        assert worker.admit(lease, page(), now=0.0) == []
    assert len(part.keys.late) == 1
    worker.renew(0.0)
    assert (worker.counts().pages, belief_of(worker).labelled, part.keys.late) == (1, 1, [])


def test_workers_on_shards_believe_what_all_of_them_learned(join: Sharded) -> None:
    one, other = (join(f"w{n}", prior=PRIOR, doubts_up_to=0.0, deliver_s=0.0) for n in range(2))
    seeds = [Link(f"http://h{n}.{('de', 'com')[n % 2]}/", 0.0, Evidence(1.0)) for n in range(60)]
    one.seed(seeds, 0.0)
    for turn, worker in enumerate([one, other] * 12):
        now = MERGED_EVERY_S * turn
        lease = lease_now(worker, now)
        found = [Link(f"http://x{lease.fingerprint % 99}.de/", 0.0, Evidence(1.0))]
        worker.admit(lease, page("de" if lease.host.endswith("de") else "en"), found, now=now)
    assert belief_of(other).labelled == 24
    assert belief_of(join("w3", prior=PRIOR, doubts_up_to=0.0)).labelled == 24


def test_a_merged_run_has_the_records_of_all_shards_and_misses_none(
    join: Sharded, tmp_path: Path
) -> None:
    worker = join()
    worker.seed(links(*range(30)), 0.0)
    run = open_run(tmp_path / "w1", {**META, "shared": worker.stored.whole.crawl, "shards": 4}, 0.0)
    occupancy = SharedOccupancy(worker.stored, 1, lambda: 0.0, lease_s=9.0)
    assert [occupancy.enter(address) for address in ("1", "1", "2", "3")] == [
        True,
        False,
        True,
        True,
    ]
    tender = Worker(worker, occupancy, run.connection, every_s=1.0)
    for number in range(30):
        worker.admit(lease_now(worker), page(), now=0.0)
        if number == 19:
            tender.tend(0.0)
    run.end_session(1.0, "finished")
    run.connection.close()
    stored = StoredCrawl(worker.stored.whole.client, worker.stored.whole.crawl, 4)
    assert merge(tmp_path / "some", [tmp_path / "w1"]) == (20, 0)
    assert merge(tmp_path / "all", [tmp_path / "w1"], stored) == (30, 0)
    assert stored.counts().pages == 30
    stored.remove()
    assert (stored.exists(), stored.totals()) == (False, {})


@pytest.mark.parametrize("shards", [1, 4])
def test_expected_urls_are_counted_on_all_shards_while_hosts_are_ready_rest_or_are_fetched(
    redis_server: RedisServer, shards: int
) -> None:
    rules = FrontierRules(delay_s=9.0, doubts_up_to=0.0)
    workers = Workers(redis_server.url, rules, 0.0, number=1, shards=shards)
    (frontier,) = workers.workers
    scores = {0: 2.0, 1: 0.0, 2: -1.0, 3: 0.001}  # `doubts_up_to` itself is doubtful
    urls = {f"http://h{n}.de/{path}": score for n in range(9) for path, score in scores.items()}
    frontier.seed([Link(url, score) for url, score in urls.items()], 0.0)
    stored = frontier.stored.apart()
    assert stored.expected(0.0) == 18
    frontier.admit(lease_now(frontier), page(), now=0.0)  # its host rests
    lease_now(frontier)  # a leased URL is counted until it is settled
    assert stored.expected(0.0) == 17
    assert stored.expected(1.0) == 8
    assert count_expected(stored, 0.0)[0] == 17
    workers.close()
