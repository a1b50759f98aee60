"""Crawls as a person starts them: a process of their own, a folder, an exit code."""

import json
import os
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Mapping
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.support import processes
from tests.support.loopback import Proxy
from tests.support.processes import Done, Forked

ROOT = processes.ROOT
CONTACT = "crawls@example.org"


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
    clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    clean["SCRAPY_SETTINGS_MODULE"] = "langfocus.crawler.settings"
    return clean | ({"http_proxy": proxy, "no_proxy": str(no_proxy)} if proxy else {})


def crawl(
    *arguments: str,
    proxy: str | None = None,
    no_proxy: object = "",
    spider: object = "langfocus",
    **settings: object,
) -> Done:
    """Run a crawl to its end; `no_proxy` are the hosts that it contacts itself."""
    line = command(*arguments, spider=spider, **settings)
    return processes.run(*line[2:], environment=environment(proxy, no_proxy))


def finished(*arguments: str, **how: Any) -> Done:
    """Run a crawl that ends well."""
    done = crawl(*arguments, **how)
    assert done.returncode == 0, done.stderr
    return done


def started(
    *arguments: str, proxy: str | None = None, spider: object = "langfocus", **settings: object
) -> AbstractContextManager[Forked]:
    """Start a crawl; the block decides how it ends, and at the end of the block it is killed."""
    line = command(*arguments, spider=spider, **settings)
    return processes.started(*line[2:], environment=environment(proxy), has_one_output=True)


def summary(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return told


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(folder / "run.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def wait_for(proxy: Proxy, requests: int, *running: Forked) -> None:
    """Return when the proxy has had so many requests; all crawls run until then."""
    processes.wait_until(lambda: len(proxy.log) >= requests, *running)


def smallest_gap(proxy: Proxy) -> float:
    """The least seconds between two requests to one host."""
    times = defaultdict(list)
    for access in proxy.log:
        times[access.host].append(access.time)
    return min(b - a for of_host in times.values() for a, b in pairwise(of_host))
