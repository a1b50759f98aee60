"""Command lines of crawls as a person starts them, and what they leave in the run folder."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from langfocus.crawler.run.folder import open_run

ROOT = Path(__file__).resolve().parents[1]
CONTACT = "crawls@example.org"

RUN: Mapping[str, object] = {"lang": "de", "ordering": "svm", "filter": "none", "seeds": []}
"""What a run folder without a crawl says of itself."""


def command(*arguments: str, spider: object = "langfocus", **settings: object) -> list[str]:
    """Return the command line of a crawl: spider arguments, then settings.

    A setting that is None is left as it is; `LANGFOCUS_CONTACT` is given unless it is named.
    """
    line = [sys.executable, "-m", "scrapy", "crawl", str(spider)]
    for argument in arguments:
        line += ["-a", argument]
    for name, value in {"LANGFOCUS_CONTACT": CONTACT, **settings}.items():
        line += [] if value is None else ["-s", f"{name}={value}"]
    return line


def environment(proxy: str | None, no_proxy: object = "") -> Mapping[str, str]:
    """Return the environment of a crawl through a proxy, None: through none."""
    clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    clean["SCRAPY_SETTINGS_MODULE"] = "langfocus.crawler.settings"
    return clean | ({"http_proxy": proxy, "no_proxy": str(no_proxy)} if proxy else {})


@cache
def new_run() -> bytes:
    """Return the database of a new run without a session, as a crawl makes it."""
    with TemporaryDirectory() as folder:
        run = open_run(Path(folder), RUN, now=0.0)
        with closing(run.connection) as connection:
            connection.execute("DELETE FROM sessions")
            connection.execute("PRAGMA journal_mode = DELETE")
            return connection.serialize()


def summary(folder: Path) -> dict[str, Any]:
    """Return the `summary.json` of a run."""
    facts: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return facts


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the answer of `run.db` to a query."""
    connection = sqlite3.connect(folder / "run.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


class Spent(NamedTuple):
    """Processor time of a command and of all that it started, at some moments of its run."""

    at: list[float]
    seconds: list[float]

    def until(self, time: float) -> float:
        """Return the processor seconds that were spent until a time, between two moments."""
        return float(np.interp(time, self.at, self.seconds))


def spent(command: Sequence[str], **options: Any) -> Spent:
    """Run a command; look at its processes ten times a second, since nobody waits for a reader."""
    seconds: dict[int, float] = {}
    found = Spent([time.time()], [0.0])
    with subprocess.Popen(command, start_new_session=True, **options) as crawl:
        while crawl.poll() is None:
            for pid, after_name in _processes():
                if int(after_name[3]) == crawl.pid:
                    seconds[pid] = sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")
            found.at.append(time.time())
            found.seconds.append(sum(seconds.values()))
            time.sleep(0.1)
    if crawl.returncode:
        raise subprocess.CalledProcessError(crawl.returncode, command)
    return found


def children(parent: int) -> list[int]:
    """Return the processes that a process started, found where the kernel lists them."""
    return [pid for pid, after in _processes() if int(after[1]) == parent and after[0] != "Z"]


def _processes() -> Iterator[tuple[int, list[str]]]:
    """Yield each process and the fields after its name, from its state on."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            yield int(stat.parent.name), stat.read_text().rpartition(")")[2].split()
