"""What all tests share: servers, the names of cases, and how Hypothesis searches.

`pytest --hypothesis-profile=search` looks for new failures in examples that differ each time.
"""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.dropped import close_all
from tests.support.redisserver import own_server, redis_server

__all__ = ["own_server", "redis_server"]

LONGEST_NAME = 60
MEMORY = Path("/dev/shm")
ROOM_BYTES = 2 * 1024**3

# A health check of the time for an example fails on a busy machine.
ANY_SPEED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("suite", **ANY_SPEED, derandomize=True, print_blob=True)
settings.register_profile("search", **ANY_SPEED, print_blob=True)
settings.load_profile("suite")

# Background jobs of a shell ignore Ctrl-C, those of nohup a hangup; commands of the tests would
# inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Thousands of databases are written: on a disk the tests would wait for it half of their time.
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES:
    os.environ["TMPDIR"] = str(MEMORY)


@pytest.fixture(autouse=True)
def _dropped_databases_are_closed() -> Iterator[None]:
    yield
    close_all()


def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than there are cores: two fifths of their time tests wait for servers."""
    return (os.cpu_count() or 1) + 2


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case by its argument where its value is bytes or a long text.

    Such values fill memory and the terminal as names, and gzip writes the time into them: the
    processes of one run would not agree on the names of their tests.
    """
    is_long = isinstance(val, str) and len(val) > LONGEST_NAME
    return argname if is_long or isinstance(val, bytes) else None
