"""When a crawl ends: at its goals, also after a kill, and soon if no server answers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket
from typing import Any

import pytest

from langfocus.crawler.errors import SettingError, StorageError
from langfocus.crawler.frontier.base import PAGE, Counts, Record
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.ending import Ending
from langfocus.crawler.session.preparation import check_goals
from langfocus.crawler.sources.contract import Answer
from tests.crawler.politeness.test_crawl_polite import FORBIDDING, polite, rules, served
from tests.support.crawls import finished, rows, summary
from tests.support.report_run import Row, make_run

RESTING: dict[str, Any] = {"LANGFOCUS_RETRY_DELAY": 60}
"""A rest of hosts after a failure that is longer than the patience of a crawl."""


def options(**goals: Any) -> Config:
    return Config("de", **goals)


def with_words(words: int, language: str = "de") -> Record:
    return Record(PAGE, 0.0, 200, True, language == "de", language, words_read=words)


def counts(**numbers: Any) -> Counts:
    none: dict[str, Any] = dict.fromkeys(("leased", "pages", "labelled", "relevant"), 0)
    return Counts(**{"queued": 5, "hosts": 1, **none, **numbers})


@pytest.mark.parametrize(
    ("goals", "numbers", "name"),
    [
        ({"pages": 3}, {"pages": 3}, "pages"),
        ({"pages": 3, "relevant": 2}, {"pages": 2, "relevant": 2}, "relevant"),
        ({"relevant": 2}, {"pages": 9, "relevant": 1}, ""),
        ({"expected": "only"}, {"has_expected": False}, "expected"),
        ({"expected": "only"}, {"has_expected": True}, ""),
        ({"expected": "only"}, {"has_expected": False, "queued": 0}, ""),
    ],
)
def test_a_goal_that_the_frontier_counts_has_its_name(
    goals: dict[str, Any], numbers: dict[str, int], name: str
) -> None:
    assert Ending(options(**goals)).reached(counts(**numbers), 0.0) == name


def test_the_page_that_brings_enough_words_is_the_last() -> None:
    goals = Ending(options(words=100), words=60)
    goals.count(with_words(39))
    goals.count(with_words(99, language="en"))
    assert (goals.is_over(), goals.may_fetch(0.0)) == (False, True)
    goals.count(with_words(1))
    assert (goals.is_over(), goals.may_fetch(0.0)) == (True, False)
    assert goals.reached(counts(), 0.0) == "words"


def test_the_answer_that_brings_enough_bytes_is_the_last_also_over_sessions(tmp_path: Path) -> None:
    connection = make_run(tmp_path, [Row(bytes=60), Row(outcome="timeout", status=None, bytes=9)])
    goals = Ending.of_run(options(bytes=100), connection, 0.0, awaits_answer=False)
    goals.count(Record("timeout", 0.0, bytes=30))
    assert (goals.is_over(), goals.may_fetch(0.0)) == (False, True)
    assert list(goals.goals(counts(), 0.0)) == [("bytes", 99, 100)]
    goals.count(Record(PAGE, 0.0, 200, bytes=5))
    assert (goals.is_over(), goals.may_fetch(0.0)) == (True, False)
    assert goals.reached(counts(), 0.0) == "bytes"


def test_hours_count_over_all_sessions(tmp_path: Path) -> None:
    connection = make_run(tmp_path, [])
    connection.execute("DELETE FROM sessions")
    connection.executemany(
        "INSERT INTO sessions(started_at, ended_at) VALUES (?, ?)",
        [(0.0, 3000.0), (10_000.0, None)],
    )
    goals = Ending.of_run(options(hours=1.0), connection, 10_000.0, awaits_answer=False)
    assert goals.deadline == 10_600.0
    assert [goals.may_fetch(now) for now in (10_599.0, 10_600.0)] == [True, False]
    assert goals.reached(counts(), 10_600.0) == "hours"
    assert not goals.is_over()  # what is in progress is settled


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"words": 9, "frontier": "redis://r/0"}, "-a words: not for a shared crawl"),
        ({"bytes": 9, "frontier": "redis://r/0"}, "-a bytes: not for a shared crawl"),
        ({"since": "run", "frontier": "redis://r/0"}, "-a since: not for a shared crawl"),
        ({"expected": "only", "frontier": "redis://r/0"}, "-a expected: not for a shared crawl"),
        ({"keeps_links": True, "frontier": "redis://r/0"}, "LANGFOCUS_LINKS: not for a shared"),
        ({"expected": "only", "strategy": "bfs"}, "-a expected=only: this strategy expects no"),
    ],
)
def test_a_goal_that_cannot_be_kept_is_refused_in_one_line(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingError, match=message) as refused:
        check_goals(options(**given), doubts=given.get("strategy") != "bfs")
    assert "\n" not in str(refused.value)


def test_crawls_end_at_their_goals_and_go_on_with_others(tmp_path: Path) -> None:
    """In one run: so many relevant pages, then all that is expected."""
    given = ("lang=de", "web=sample", "host_cap=3")
    settings: dict[str, Any] = {"LANGFOCUS_SAMPLE_HOSTS": 300, "LANGFOCUS_QUIET": True}
    for goal, reason, relevant in (
        ("relevant=12", "relevant", 12),
        ("expected=only", "expected", None),
    ):
        finished(*given, goal, JOBDIR=tmp_path, **settings)
        figures = summary(tmp_path)
        assert figures["finish_reason"] == reason
        assert figures["relevant"] == (relevant or figures["relevant"])
    doubted = "SELECT COUNT(*) FROM pages WHERE score <= 0 AND depth > 0"
    assert rows(tmp_path, doubted) == [(0,)]
    assert rows(tmp_path, "SELECT COUNT(*) FROM urls WHERE queued = 1 AND score > 0") == [(0,)]


def last_line(done: Any) -> str:
    """Return the last line of standard error."""
    return str(done.stderr.splitlines()[-1])


@contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port of this machine that refuses connections."""
    with socket(AF_INET, SOCK_STREAM) as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


# Faults.


def raising(error: Exception) -> Callable[[], object]:
    def work() -> object:
        raise error

    return work


def test_a_run_that_can_no_longer_be_written_ends_the_crawl_for_the_first_reason() -> None:
    ending = Ending(options())
    assert (ending.guard(lambda: 7), ending.fault) == (7, "")
    for reason in ("the disk is full", "no database"):
        assert ending.guard(raising(StorageError(reason)), "unread") is None
    assert ending.fault == "the disk is full"


def test_an_unexpected_fault_ends_the_crawl_only_where_it_has_a_name() -> None:
    ending = Ending(options())
    with pytest.raises(ZeroDivisionError):
        ending.guard(raising(ZeroDivisionError("x")))
    assert ending.may_fetch(0.0)
    ending.guard(raising(ZeroDivisionError("x\ny")), "no queue", remedy="; restore it")
    assert ending.fault == "no queue: ZeroDivisionError: x y; restore it"


# The wait for the first answer.


def awaiting() -> Ending:
    return Ending(options(first_answer_s=15.0), awaits_answer=True)


def test_the_wait_begins_with_the_first_request_and_ends_with_any_answer() -> None:
    watch = awaiting()
    assert watch.may_fetch(1e9)
    assert not watch.is_unanswered(1e9, None)
    watch.note_request(100.0)
    watch.note_request(110.0)
    assert (watch.may_fetch(114.9), watch.may_fetch(115.0)) == (True, False)
    assert (watch.is_unanswered(114.9, 114.9), watch.is_unanswered(115.0, 115.0)) == (False, True)
    watch.note_answer()
    assert watch.may_fetch(1e9)
    watch.note_failure("a.de", "dns")  # from now on a crawl is patient
    assert not watch.is_unanswered(1e9, None)


@pytest.mark.parametrize(("ready_at", "is_missing"), [(110.0, False), (115.0, True), (None, True)])
def test_a_retry_that_would_come_too_late_is_not_waited_for(
    ready_at: float | None, is_missing: bool
) -> None:
    watch = awaiting()
    watch.note_request(100.0)
    assert not watch.is_unanswered(101.0, ready_at)
    watch.note_failure("a.de", "refused")
    assert watch.is_unanswered(101.0, ready_at) == is_missing


def test_a_host_counts_with_its_last_reason() -> None:
    watch = awaiting()
    for host, reason in (("a.de", "dns"), ("b.de", "dns"), ("a.de", "refused")):
        watch.note_failure(host, reason)
    assert watch.failures == {"dns": 1, "refused": 1}
    watch.note_answer()
    assert not watch.failures


# Crawls.


def test_names_that_nobody_knows_end_a_crawl(tmp_path: Path) -> None:
    done = polite(tmp_path, "http://a.de/", "http://b.de/", **RESTING)
    assert done.returncode == 1
    assert last_line(done) == (
        "langfocus: no seed answered: names cannot be resolved here; try -a web=sample"
    )
    assert summary(tmp_path)["finish_reason"] == "unanswered"
    assert rows(tmp_path, "SELECT * FROM pages") == []  # the same command with JOBDIR goes on


def test_hosts_that_refuse_connections_end_a_crawl(tmp_path: Path) -> None:
    known = {"a.de": "127.0.0.1", "b.de": "127.0.0.1"}
    with closed_port() as port:
        seeds = [f"http://{name}:{port}/" for name in (*known, "c.de")]
        done = polite(tmp_path, *seeds, names=known, LANGFOCUS_PRIVATE_ADDRESSES=True, **RESTING)
    assert done.returncode == 1
    assert last_line(done) == (
        "langfocus: no seed answered; connection refused: 2 hosts, its host has no address: "
        "1 host; try -a web=sample"
    )


@pytest.mark.parametrize(
    ("path", "answer", "reason"),
    [
        ("/robots.txt", rules(FORBIDDING), "no page was fetched; forbidden by robots.txt: 2 URLs"),
        ("/", Answer(403), "no seed gave a page; status 403: 2 URLs"),
    ],
)
def test_seeds_that_give_no_page_are_named_with_the_reason(
    tmp_path: Path, path: str, answer: Answer, reason: str
) -> None:
    with served() as (web, server):
        web.answers[path] = answer
        done = polite(tmp_path, "http://a.de/", "http://b.de/", proxy=server.url)
    assert (done.returncode, last_line(done)) == (1, f"langfocus: {reason}")
    assert summary(tmp_path)["finish_reason"] == "finished"


def test_private_seeds_tell_the_setting_that_allows_them(tmp_path: Path) -> None:
    done = polite(tmp_path, "http://127.0.0.1:9999/")
    assert done.returncode == 1
    assert "LANGFOCUS_PRIVATE_ADDRESSES" in last_line(done)
