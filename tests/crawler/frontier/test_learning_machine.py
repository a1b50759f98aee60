"""The frontier that learns, step by step against one that looks at everything."""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.strategies.filters import make_filter
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.strategies.links import Draw, Link
from langfocus.testing.frontiers import META, FrontierMachine
from tests.support.learning import PRIOR, ObviousLearner


class LearningMachine(FrontierMachine):
    """The same steps with an ordering that learns, whose scores the model computes too."""

    model: ObviousLearner

    @initialize(
        name=st.sampled_from(["none", "server-conservative", "directory-conservative"]),
        caps=st.tuples(*map(st.sampled_from, ([0, 2, 4], [0, 3, 20], [0, 3, 20]))),
        more_queued=st.sampled_from([None, 0, 3]),
        delay=st.sampled_from([0.0, 5.0]),
        seeds=st.integers(1, 4),
        host_bytes=st.sampled_from([0, 0, 150]),
    )
    def begin(
        self,
        name: str,
        caps: tuple[int, int, int],
        more_queued: int | None,
        delay: float,
        seeds: int,
        host_bytes: int,
    ) -> None:
        self.begin_with(Draw.FIRST, 0.0, make_filter(name, tolerance=1))
        host_queue = 0 if more_queued is None else caps[0] + more_queued
        self.model = ObviousLearner(self.filter, *caps, host_queue, delay)
        self.model.host_bytes = host_bytes
        self.meta = META | {"ordering": "focus", "host_cap": caps[0]}
        self.begin_crawl()
        self.open()
        hosts = ["a.de", "b.a.de", "b.de", "c.com"][:seeds]
        self.seed([Link(f"http://{host}/", 0.0, Evidence(1.0)) for host in hosts])

    def rules_of_crawl(self) -> FrontierRules:
        return replace(super().rules_of_crawl(), prior=PRIOR)

    def lease(self) -> None:
        before = len(self.leases)
        super().lease()
        for lease in self.leases[before:]:
            facts = lease.score, lease.reasons
            assert facts == self.model.explained(lease.url)


TestLearningMachine = LearningMachine.TestCase
TestLearningMachine.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
