"""Crawls as a person starts them: a process of their own, a folder, an exit code.

They read their pages themselves, unless `LANGFOCUS_READERS` is among their settings (None: as many
as by default). Most end before the first reader has loaded its models, which takes a second.
"""

from collections import defaultdict
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

from benchmarks.crawling import CONTACT, ROOT, command, environment, rows, summary
from benchmarks.servers import processes
from benchmarks.servers.loopback import Proxy
from benchmarks.servers.processes import Done, Forked

__all__ = ["CONTACT", "ROOT", "command", "environment", "rows", "summary"]


def crawl(
    *arguments: str,
    proxy: str | None = None,
    no_proxy: object = "",
    spider: object = "langfocus",
    **settings: object,
) -> Done:
    """Run a crawl to its end; `no_proxy` are the hosts that it contacts itself."""
    line = command(*arguments, spider=spider, **{"LANGFOCUS_READERS": 0, **settings})
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
    line = command(*arguments, spider=spider, **{"LANGFOCUS_READERS": 0, **settings})
    return processes.started(*line[2:], environment=environment(proxy), has_one_output=True)


def wait_for(proxy: Proxy, requests: int, *running: Forked) -> None:
    """Return when the proxy has had so many requests; all crawls run until then."""
    processes.wait_until(lambda: len(proxy.log) >= requests, *running)


def smallest_gap(proxy: Proxy) -> float:
    """The least seconds between two requests to one host."""
    times = defaultdict(list)
    for access in proxy.log:
        times[access.host].append(access.time)
    return min(b - a for of_host in times.values() for a, b in pairwise(of_host))
