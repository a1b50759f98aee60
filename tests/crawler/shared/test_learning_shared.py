"""An ordering that learns, in workers that share a crawl."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from langfocus.crawler.frontier.base import PAGE, Record
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.shared.learner import MERGED_EVERY_S
from langfocus.crawler.shared.redis import SharedFrontier
from langfocus.crawler.strategies.focus.belief import Belief
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.strategies.focus.prior import Prior
from langfocus.crawler.strategies.links import Link
from tests.crawler.frontier.test_frontier_contract import lease_now, page
from tests.crawler.frontier.test_learning_machine import LearningMachine
from tests.crawler.shared.conftest import Joiner
from tests.crawler.shared.test_frontier_redis import SharedMachine, Workers
from tests.support.learning import PRIOR
from tests.support.redisserver import RedisServer


class LearningWorker(SharedMachine, LearningMachine):
    """Random sequences of actions of one worker, which loses each answer once."""

    def open(self) -> None:
        self.frontier = Workers(self.server.url, self.rules_of_crawl(), self.now, 1)

    def lose_a_worker(self, number: int) -> None:
        """Lessons since its last report to the others are lost."""


def test_a_worker_decides_as_one_that_looks_at_everything(redis_server: RedisServer) -> None:
    class Machine(LearningWorker):
        server = redis_server

    run_state_machine_as_test(
        Machine, settings=settings(max_examples=25, stateful_step_count=40, deadline=None)
    )


def settle_some(workers: Sequence[SharedFrontier], number: int, now: float) -> None:
    """Let workers fetch pages in turn; those of .de are relevant."""
    for turn in range(number):
        worker = workers[turn % len(workers)]
        lease = lease_now(worker, now)
        is_relevant = lease.host.endswith(".de")
        language = "de" if is_relevant else "en"
        worker.admit(lease, Record(PAGE, now, 200, True, is_relevant, language), now=now)


def belief_of(worker: SharedFrontier) -> Belief:
    assert worker._learner is not None
    return worker._learner._belief


def test_workers_believe_what_all_of_them_learned(redis_server: RedisServer) -> None:
    rules = FrontierRules(host_cap=0, doubts_up_to=0.0, prior=Prior.shipped())
    together = Workers(redis_server.url, rules, 1000.0)
    first, second = together.workers
    links = [
        Link(f"http://h{n}.{('de', 'com')[n % 2]}/", 0.0, Evidence(1.0 - n % 3)) for n in range(90)
    ]
    first.seed(links, 1000.0)
    settle_some([first, second], 40, 1000.0)
    assert belief_of(first).labelled < 40
    settle_some([second, first], 2, 1000.0 + MERGED_EVERY_S)
    assert belief_of(first).labelled == 42
    together.close()
    third = together.join(0)
    assert belief_of(third).labelled == 42
    assert np.allclose(belief_of(third).mean, belief_of(first).mean)
    assert not np.allclose(belief_of(third).mean, Belief(Prior.shipped()).mean, atol=0.05)
    third.close()


def test_the_sum_of_what_two_beliefs_learned_is_what_one_learns() -> None:
    """Close to it: each page is learned at the mean of its time."""
    prior = Prior.shipped()
    random, both, parts = Random(1), Belief(prior), [Belief(prior), Belief(prior)]
    for number in range(60):
        is_relevant = random.random() < 0.4
        named = random.gauss(2.0 if is_relevant else -2.0, 1.0)
        evidence = Evidence(named, 0.0, float(is_relevant))
        known = (*evidence, 1, 0, 0, 0, 3, is_relevant, 1, 1)
        for belief in (both, parts[number % 2]):
            belief.learn(known, is_relevant=is_relevant)
    before = Belief(prior).sums()
    merged = Belief(prior)
    merged.take_over(before + sum(part.sums() - before for part in parts))
    assert (merged.labelled, merged.relevant) == (both.labelled, both.relevant)
    apart, apart_before = (
        abs(belief.mean - both.mean) / np.sqrt(np.diagonal(np.array(prior.covariance)))
        for belief in (merged, parts[0])
    )
    assert apart.max() < 0.4 < apart_before.max()
    with pytest.raises(ValueError, match="of another version"):
        merged.take_over(np.zeros(7))
    assert (np.diagonal(merged.covariance) < np.diagonal(np.array(prior.covariance))).all()


def test_a_queued_url_whose_score_falls_by_a_link_moves_in_its_queue(join: Joiner) -> None:
    worker = join(prior=PRIOR, doubts_up_to=0.0)
    linked = Link("http://x.de/", 0.0, Evidence(1.0))
    worker.seed([Link("http://a.com/", 0.0, Evidence(4.0)), linked], 0.0)
    client: Any = worker.stored.whole.client
    lease, queue = lease_now(worker), worker.keys.key("queue:x.de")
    before = client.zrange(queue, 0, 0, withscores=True)[0][1]
    worker.admit(lease, page("en"), [linked], now=0.0)
    assert client.zrange(queue, 0, 0, withscores=True)[0][1] > before + 0.2
