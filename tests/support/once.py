"""What takes long to make is made once for all processes of one run of the tests."""

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import TypeVar

import pytest

Made = TypeVar("Made")


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Made]) -> Made:
    """Return what `make` makes in a folder of its own; other processes wait for it and read it.

    Without this, each process to which a test of a module comes makes the fixture of the module.
    """
    run = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent
    kept = run / f"{name}.pickle"
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            made = pickle.dumps(make(Path(mkdtemp(prefix=name, dir=run))))
            kept.write_bytes(made)
    found: Made = pickle.loads(kept.read_bytes())
    return found
