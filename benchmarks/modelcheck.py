"""Compares the frontiers with a slow, obvious model for many thousands of steps.

    python -m benchmarks.modelcheck [--steps 20000] [--frontier sqlite|redis] [--random-state 1]

Runs the state machines of `tests/crawler/frontier/test_frontier_contract.py` and
`tests/crawler/shared/test_frontier_redis.py`. The test suite runs them for some hundred short
crawls. This script runs rounds of longer crawls, each with another random state, until the number
of steps is reached. A step is a rule: seeds, a lease, a settled page, a retry, a URL given back,
time that passes, a process that dies and restarts. After each step all counts and the wake-up time
are compared too. Prints one JSON line with the steps by rule. A disagreement is printed as the
shortest program that shows it, with exit code 1.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import (
    INITIALIZE_RULE_MARKER,
    RULE_MARKER,
    RuleBasedStateMachine,
    run_state_machine_as_test,
)

from tests.crawler.frontier.test_frontier_contract import FrontierMachine
from tests.crawler.shared.test_frontier_redis import SharedMachine
from tests.support.redisserver import RedisServer

_CRAWLS_A_ROUND = 100


def count_rules(machine: type[RuleBasedStateMachine], steps: Counter[str]) -> None:
    """Make every rule of a machine count its steps."""
    for name in dir(machine):
        # Hypothesis stores a rule as an attribute of its method.
        for marker in (RULE_MARKER, INITIALIZE_RULE_MARKER):
            made = getattr(getattr(machine, name), marker, None)
            if made is not None:
                made.function = _counted(made.function, steps)


def _counted(function: Callable[..., Any], steps: Counter[str]) -> Callable[..., Any]:
    @wraps(function)
    def counted(*arguments: Any, **named: Any) -> Any:
        steps[function.__name__] += 1
        return function(*arguments, **named)

    return counted


def check(
    machine: type[RuleBasedStateMachine], steps: int, crawl_steps: int, random_state: int
) -> tuple[Counter[str], int, str]:
    """Return the steps by rule, the number of rounds, and the disagreement, "" if there is none."""
    taken: Counter[str] = Counter()
    count_rules(machine, taken)
    rounds = 0
    while taken.total() < steps:
        state = random_state * 1_000_000 + rounds
        rounds += 1
        try:
            run_state_machine_as_test(
                seed(state)(machine),
                settings=settings(
                    max_examples=_CRAWLS_A_ROUND,
                    stateful_step_count=crawl_steps,
                    deadline=None,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        except Exception:
            return taken, rounds, f"random state {state}\n{traceback.format_exc()}"
    return taken, rounds, ""


@contextmanager
def machine_of(frontier: str) -> Iterator[type[FrontierMachine]]:
    """Yield the machine of a frontier, with a server if it needs one."""
    if frontier == "sqlite":
        yield FrontierMachine
        return
    if shutil.which("redis-server") is None:
        sys.exit("skipped: there is no redis-server to start")
    with tempfile.TemporaryDirectory() as folder:
        redis = RedisServer(Path(folder))
        redis.start()
        try:
            yield type("Machine", (SharedMachine,), {"server": redis})
        finally:
            redis.kill()


def main(line: Sequence[str] | None = None) -> int:
    """Print the JSON line; 1 if frontier and model disagree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--frontier", choices=("sqlite", "redis"), default="sqlite")
    parser.add_argument("--steps", type=int, default=20_000, help="least number of steps")
    parser.add_argument("--crawl-steps", type=int, default=200, help="most steps of one crawl")
    parser.add_argument("--random-state", type=int, default=1)
    arguments = parser.parse_args(line)
    began_at = time.monotonic()
    with machine_of(arguments.frontier) as machine:
        taken, rounds, disagreement = check(
            machine, arguments.steps, arguments.crawl_steps, arguments.random_state
        )
    result = {
        "date": time.strftime("%Y-%m-%d"),
        "frontier": arguments.frontier,
        "random_state": arguments.random_state,
        "steps": taken.total(),
        "by_rule": dict(taken.most_common()),
        "crawls": taken["begin"],
        "rounds": rounds,
        "seconds": round(time.monotonic() - began_at, 1),
        "agrees": not disagreement,
    }
    print(json.dumps(result))
    print(disagreement, end="", file=sys.stderr)
    return int(bool(disagreement))


if __name__ == "__main__":
    sys.exit(main())
