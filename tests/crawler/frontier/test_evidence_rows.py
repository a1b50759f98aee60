"""What a run has learned is read from its database again, or refused in one line."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import PAGE, Record
from langfocus.crawler.frontier.evidence_rows import Learner
from langfocus.crawler.frontier.learning import MOST_DOMAINS, MOST_VERSIONS
from langfocus.crawler.frontier.links import QueuedUrl
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.run.schema import SCHEMA
from langfocus.crawler.strategies.focus.belief import Belief
from langfocus.crawler.strategies.focus.prior import RARE, Prior


@pytest.mark.parametrize(
    ("labelled", "mean"), [(1, np.nan), (1, np.inf), ("many", 0.0)], ids=["nan", "inf", "text"]
)
def test_weights_that_are_no_numbers_are_refused(labelled: object, mean: float) -> None:
    prior = Prior.shipped()
    belief = Belief(prior)
    belief.mean[0] = mean
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        row = (labelled, 0, *belief.packed())
        connection.execute("INSERT INTO belief VALUES (1, ?, ?, ?, ?)", row)
        with pytest.raises(
            StorageError, match=r"belief of the run cannot be used: .*restore a copy"
        ):
            Learner(connection, prior, FrontierRules())


def test_a_run_keeps_its_weights_under_another_prior() -> None:
    begun = Belief(Prior.shipped())
    begun.learn((1.0, 0.0, 0.0, 1.0, 0.0), is_relevant=True)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        row = (begun.labelled, begun.relevant, *begun.packed())
        connection.execute("INSERT INTO belief VALUES (1, ?, ?, ?, ?)", row)
        learner = Learner(connection, Prior.shipped(RARE), FrontierRules())
    assert np.array_equal(learner._belief.mean, begun.mean)
    assert np.array_equal(learner._belief.covariance, begun.covariance)


def test_a_farm_offers_many_versions_of_its_mean_page() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        learner = Learner(connection, Prior.shipped(), FrontierRules())

        def is_farm(domain: str, versions: int, *, is_relevant: bool = True) -> bool:
            page = f"http://{domain}/"
            learner.note(page, Record(PAGE, 0.0, 200, True, is_relevant, "de", offered=versions))
            return learner.score(QueuedUrl(page, 5.0, 1), 5.0) < 5.0

        assert is_farm("many.com", 30)
        assert not any(is_farm("some.com", MOST_VERSIONS) for _ in range(20))
        assert not is_farm("other.com", 30, is_relevant=False)
        assert [is_farm("later.com", n) for n in (0, 0, 30, 30)] == [False, False, False, True]
        for number in range(MOST_DOMAINS):
            learner.note(f"http://{number}.com/", Record(PAGE, 0.0, 200, True, True, "de"))
        assert len(learner._offered) == MOST_DOMAINS
