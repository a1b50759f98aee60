"""The relevance of a server or a directory is one rule in Python, in Lua and compiled."""

import json
from importlib import resources
from typing import Final

import pytest
import redis

from langfocus.classifiers.compiled import compiled
from langfocus.crawler.shared.script import FILES
from langfocus.crawler.simulate import kernel
from langfocus.crawler.strategies.filters import NOTHING, Tally, is_irrelevant, make_filter
from tests.support.redisserver import RedisServer

RELEVANT: Final = "relevant"
UNDECIDED: Final = "undecided"
IRRELEVANT: Final = "irrelevant"

CASES = [
    (0, 0, 0, UNDECIDED),
    (1, 0, 0, IRRELEVANT),
    (1, 1, 0, RELEVANT),
    (2, 1, 0, RELEVANT),
    (0, 0, 5, UNDECIDED),
    (4, 0, 5, UNDECIDED),
    (5, 0, 5, UNDECIDED),
    (6, 0, 5, IRRELEVANT),
    (6, 1, 5, RELEVANT),
    (6, 6, 5, RELEVANT),
    (10, 0, 10, UNDECIDED),
    (11, 0, 10, IRRELEVANT),
    (999, 1, 10, RELEVANT),
    (2**31 - 1, 0, 2**31 - 2, IRRELEVANT),
    (2**31 - 1, 0, 2**31 - 1, UNDECIDED),
]
"""N_a, N_r, T and the relevance of the unit (Tamura 2007, 4.1)."""

FILTERS = ("server-conservative", "directory-conservative", "both-conservative")

CASE = pytest.mark.parametrize(("downloaded", "relevant", "tolerance", "relevance"), CASES)


@CASE
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_knows_the_relevance_of_its_units(
    name: str, downloaded: int, relevant: int, tolerance: int, relevance: str
) -> None:
    rule, tally = make_filter(name, tolerance=tolerance), Tally(downloaded, relevant)
    assert rule.drops(tally) is (relevance == IRRELEVANT)
    assert rule.worst([Tally(9, 9), tally]) == (tally if relevance == IRRELEVANT else Tally(9, 9))
    leads_on = rule.accepts(page_is_relevant=False, source=tally, target=NOTHING)
    assert leads_on is (relevance == RELEVANT)


@pytest.mark.parametrize("name", ["none", "hard"])
def test_a_filter_without_relevance_drops_no_unit(name: str) -> None:
    assert not make_filter(name, tolerance=0).drops(Tally(99, 0))


@compiled
def compiled_rule(downloaded: int, relevant: int, tolerance: int) -> bool:
    return kernel.is_irrelevant(downloaded, relevant, tolerance)


@CASE
def test_the_simulator_compiles_the_rule(
    downloaded: int, relevant: int, tolerance: int, relevance: str
) -> None:
    assert is_irrelevant(downloaded, relevant, tolerance) is (relevance == IRRELEVANT)
    assert compiled_rule(downloaded, relevant, tolerance) is (relevance == IRRELEVANT)


@pytest.mark.parametrize(
    ("tolerance", "half_life", "n_pages", "limit"),
    [
        (8, 0, 10**6, 8),
        (8, 4, 3, 8),
        (8, 4, 4, 4),
        (8, 4, 15, 1),
        (8, 4, 16, 0),
        (0, 4, 9, 0),
        (2**30, 1, 10**6, 0),
    ],
)
def test_a_declining_tolerance_is_one_of_the_table(
    tolerance: int, half_life: int, n_pages: int, limit: int
) -> None:
    assert compiled_limit(tolerance, half_life, n_pages) == limit


@compiled
def compiled_limit(tolerance: int, half_life: int, n_pages: int) -> int:
    return kernel.declined(tolerance, half_life, n_pages)


ASKED = """
config = arguments
return (drops(arguments.downloaded, arguments.relevant) and 1 or 0)
  + (refuses({ page_is_relevant = false, source_relevant = arguments.relevant }, 'new') and 2 or 0)
"""


@CASE
@pytest.mark.parametrize("unit", ["server", "directory"])
def test_the_script_of_the_shared_frontier_has_the_rule(
    unit: str,
    downloaded: int,
    relevant: int,
    tolerance: int,
    relevance: str,
    redis_server: RedisServer,
) -> None:
    folder = resources.files("langfocus.crawler.shared").joinpath("lua")
    known = FILES[: FILES.index("admitting") + 1]
    parts = [folder.joinpath(f"{name}.lua").read_text(encoding="utf-8") for name in known]
    rules = {"uses_relevance": True, "is_conservative": True, "follows_irrelevant_pages": True}
    given = {**rules, "unit": unit, "tolerance": tolerance}
    arguments = json.dumps({**given, "downloaded": downloaded, "relevant": relevant})
    with redis.Redis.from_url(redis_server.url) as client:
        words = ["{relevance}:", "", "", 1, "0", "worker", arguments]
        answer = client.eval("\n".join([*parts, ASKED]), 1, *words)
    leads_nowhere = relevance != RELEVANT
    assert answer == (relevance == IRRELEVANT) + 2 * leads_nowhere
