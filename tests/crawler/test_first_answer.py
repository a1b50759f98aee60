"""A crawl that no server answers: when it ends, with which reason and which exit code."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket
from typing import Any

import pytest

from crawler.first_answer import FirstAnswer
from crawler.sources.contract import Answer
from tests.crawler.politeness.test_crawl_polite import FORBIDDING, linking, polite, rules, served
from tests.support.crawls import rows, summary
from tests.support.nameserver import name_server

NEVER = float("inf")
NAMES = {"TWISTED_DNS_RESOLVER": "crawler.spiders.names.CaresNames", "DNS_TIMEOUT": 0.2}
RESTING: dict[str, Any] = {"LANGFOCUS_RETRY_DELAY": 60}
"""A rest of hosts after a failure that is longer than the patience of a crawl."""


def told(done: Any) -> str:
    """Return the last line of standard error."""
    return str(done.stderr.splitlines()[-1])


def last_reason(folder: Path) -> Any:
    return summary(folder)["finish_reason"]


@contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port of this machine that refuses connections."""
    with socket(AF_INET, SOCK_STREAM) as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


# The watch.


def test_the_wait_begins_with_the_first_request_and_ends_with_any_answer() -> None:
    watch = FirstAnswer(15.0)
    assert watch.may_come(1e9)
    assert not watch.is_missing(1e9, None)
    watch.ask(100.0)
    watch.ask(110.0)
    assert (watch.may_come(114.9), watch.may_come(115.0)) == (True, False)
    assert (watch.is_missing(114.9, 114.9), watch.is_missing(115.0, 115.0)) == (False, True)
    watch.come()
    assert watch.may_come(1e9)
    assert not watch.is_missing(1e9, None)


@pytest.mark.parametrize(("ready_at", "is_missing"), [(110.0, False), (115.0, True), (None, True)])
def test_a_retry_that_would_come_too_late_is_not_waited_for(
    ready_at: float | None, is_missing: bool
) -> None:
    watch = FirstAnswer(15.0)
    watch.ask(100.0)
    assert not watch.is_missing(101.0, ready_at)
    watch.fail("a.de", "refused")
    assert watch.is_missing(101.0, ready_at) == is_missing


def test_a_host_counts_with_its_last_reason() -> None:
    watch = FirstAnswer(15.0)
    for host, reason in (("a.de", "dns"), ("b.de", "dns"), ("a.de", "refused")):
        watch.fail(host, reason)
    assert watch.reasons == {"dns": 1, "refused": 1}
    watch.come()
    assert not watch.reasons


def test_a_crawl_that_awaits_nothing_is_never_unanswered() -> None:
    watch = FirstAnswer(15.0, is_awaited=False)
    watch.ask(100.0)
    watch.fail("a.de", "dns")
    assert watch.deadline == NEVER
    assert not watch.is_missing(1e9, None)


# Crawls.


def test_names_that_nobody_knows_end_a_crawl(tmp_path: Path) -> None:
    done = polite(tmp_path, "http://a.de/", "http://b.de/", **RESTING)
    assert done.returncode == 1
    assert told(done) == (
        "langfocus: no seed answered: names cannot be resolved here; try -a web=sample"
    )
    assert last_reason(tmp_path) == "unanswered"
    assert rows(tmp_path, "SELECT * FROM pages") == []  # the same command with JOBDIR goes on


def test_name_servers_that_never_answer_end_a_crawl(tmp_path: Path) -> None:
    with name_server({}, "dead.de") as names:
        settings: dict[str, Any] = {**NAMES, **RESTING, "LANGFOCUS_DNS": names.address}
        done = polite(tmp_path, "http://x.dead.de/", "http://y.dead.de/", **settings)
    assert done.returncode == 1
    assert "names cannot be resolved here" in told(done)
    assert names.asked


def test_hosts_that_refuse_connections_end_a_crawl(tmp_path: Path) -> None:
    known = {"a.de": "127.0.0.1", "b.de": "127.0.0.1"}
    with closed_port() as port:
        seeds = [f"http://{name}:{port}/" for name in (*known, "c.de")]
        done = polite(tmp_path, *seeds, names=known, LANGFOCUS_PRIVATE_ADDRESSES=True, **RESTING)
    assert done.returncode == 1
    assert told(done) == (
        "langfocus: no seed answered; connection refused: 2 hosts, its host has no address: "
        "1 host; try -a web=sample"
    )


def test_without_retries_the_reason_is_the_same(tmp_path: Path) -> None:
    done = polite(tmp_path, "http://a.de/", RETRY_TIMES=0)
    assert done.returncode == 1
    assert "names cannot be resolved here" in told(done)
    assert rows(tmp_path, "SELECT outcome FROM pages") == [("dns",)]


def test_seeds_that_robots_txt_forbids_are_named_so(tmp_path: Path) -> None:
    with served() as (web, server):
        web.answers["/robots.txt"] = rules(FORBIDDING)
        done = polite(tmp_path, "http://a.de/", "http://b.de/", proxy=server.url)
    assert done.returncode == 1
    assert told(done) == "langfocus: no page was fetched; forbidden by robots.txt: 2 URLs"
    assert last_reason(tmp_path) == "finished"


def test_seeds_that_all_answer_with_an_error_are_a_failure(tmp_path: Path) -> None:
    with served() as (web, server):
        web.answers["/"] = Answer(403)
        done = polite(tmp_path, "http://a.de/", "http://b.de/", proxy=server.url)
    assert done.returncode == 1
    assert told(done) == "langfocus: no seed gave a page; status 403: 2 URLs"


def test_private_seeds_tell_the_setting_that_allows_them(tmp_path: Path) -> None:
    done = polite(tmp_path, "http://127.0.0.1:9999/")
    assert done.returncode == 1
    assert "LANGFOCUS_PRIVATE_ADDRESSES" in told(done)


def test_a_crawl_with_one_seed_that_answers_goes_on(tmp_path: Path) -> None:
    with served(start=linking("http://a.de:1024/next")) as (_, server):
        names = {"a.de": "127.0.0.1"}
        port = server.port
        done = polite(
            tmp_path,
            f"http://b.de:{port}/",
            f"http://a.de:{port}/start",
            names=names,
            LANGFOCUS_PRIVATE_ADDRESSES=True,
        )
    assert done.returncode == 0, done.stderr
    # Nobody listens at the port of a.de/next.
    assert summary(tmp_path)["outcomes"] == {"page": 1, "dns": 1, "refused": 1}
    assert last_reason(tmp_path) == "finished"
