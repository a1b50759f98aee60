"""What all tests share: servers, the names of cases, and how Hypothesis searches.

`pytest --hypothesis-profile=search` looks for new failures in examples that differ each time.
"""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import scrapy.core.downloader.handlers.http11  # noqa: F401  # 0.1 s; 1.3 s after other packages
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

# The threads of BLAS wait for each other in a loop: all cores have tests to run.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

# Thousands of databases are written: on a disk the tests would wait for it half of their time.
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES:
    os.environ["TMPDIR"] = str(MEMORY)


# Modules and tests live to the end: looking for garbage among them is wasted until all are there.
gc.disable()

# Without bytecode each process rewrites the assertions of all files: 8 of its first 20 seconds.
sys.dont_write_bytecode = False


@pytest.fixture(autouse=True)
def _dropped_databases_are_closed() -> Iterator[None]:
    yield
    close_all()


def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than there are cores: two fifths of their time tests wait for servers."""
    return (os.cpu_count() or 1) + 2


def pytest_configure(config: pytest.Config) -> None:
    """Start what forks the commands of all tests once, before the processes that run the tests."""
    is_first = "PYTEST_XDIST_WORKER" not in os.environ and config.getoption("numprocesses", None)
    if is_first and config.args == config.getini("testpaths"):
        import_module("benchmarks.servers.processes").start_template()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each process begin with other files, so that they compile a part each, not all alike."""
    root, worker = session.config.rootpath, os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker or session.config.args != session.config.getini("testpaths"):
        return
    files = sorted(root.glob("tests/**/test_*.py"))
    number = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for file in files[int(worker.removeprefix("gw")) :: number]:
        with suppress(Exception, pytest.skip.Exception):  # pytest reports them
            import_module(".".join(file.relative_to(root).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Keep the garbage collector from what lives to the end: 7,600 tests and their modules."""
    gc.freeze()
    gc.enable()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case by its argument where its value is bytes or a long text.

    Such values fill memory and the terminal as names, and gzip writes the time into them: the
    processes of one run would not agree on the names of their tests.
    """
    is_long = isinstance(val, str) and len(val) > LONGEST_NAME
    return argname if is_long or isinstance(val, bytes) else None
