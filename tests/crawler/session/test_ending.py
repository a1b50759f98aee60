"""When a crawl ends: at its goals, also after a kill, and soon if no server answers."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket
from sqlite3 import Connection, connect
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

_THOUSAND_IRRELEVANT = """\
WITH RECURSIVE series(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM series LIMIT 1000)
INSERT INTO pages (fingerprint, depth, confidence, score, reasons, url, host, status, outcome,
                   language, method, bytes, queued, fetched_at, is_copy, in_scope, needs_browser)
SELECT -value, 1, 0.9, -9, '[]', '', 'x.de', 200, 'page', 'en', 'text', 1, 1, 0, 0, 0, 0
FROM series"""

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


def last(pages: int, relevant: int, score: float, change: str = "") -> Connection:
    """Return a run of a seed and of pages whose last 1,000 have `relevant` relevant ones."""
    languages = ["de"] * (pages - 1000) + ["en"] * (1000 - relevant) + ["de"] * relevant
    run = make_run(None, [Row(), *(Row(language=language) for language in languages)])
    run.execute("UPDATE pages SET depth = 1, reasons = '[]', score = ? WHERE id > 1", (score,))
    run.execute(change or "SELECT 1")
    return run


@pytest.mark.parametrize(
    ("of_run", "given", "is_over"),
    [
        ((1000, 4, -7.0), {}, True),
        ((1000, 4, -7.0), {"least_yield": 0.003}, False),
        ((1000, 4, -7.0), {"least_yield": 0}, False),
        ((1000, 4, -7.0), {"since": "run"}, False),
        ((1000, 5, -7.0), {}, False),
        ((1000, 4, -5.0), {}, False),  # more is expected
        ((1000, 4, -7.0, "UPDATE pages SET depth = 0 WHERE id = 9"), {}, False),  # a late seed
        ((1000, 4, -7.0, "UPDATE pages SET reasons = NULL WHERE id = 9"), {}, False),
        ((4400, 4, -7.0), {}, False),  # of the last 1,100
    ],
)
def test_a_crawl_ends_when_neither_its_last_pages_nor_its_expectation_are_worth_more(
    of_run: tuple[Any, ...], given: dict[str, Any], is_over: bool
) -> None:
    goals = Ending.of_run(options(**given), last(*of_run), 0.0, awaits_answer=False)
    goals.look()
    assert goals.reached(counts(), 0.0) == ("least_yield" if is_over else "")
    assert goals.may_fetch(0.0) is not is_over
    assert not goals.is_over()  # what is in progress is settled


def test_the_last_pages_are_looked_at_while_a_crawl_runs() -> None:
    run = last(1022, 0, -7.0)
    goals = Ending.of_run(options(), run, 0.0, awaits_answer=False)
    assert goals.may_fetch(0.0)
    goals.count(Record("redirect", 0.0))
    assert goals.may_fetch(0.0)
    goals.count(with_words(9, language="en"))  # page 1,024
    assert not goals.may_fetch(0.0)


def test_crawls_end_at_their_goals_and_go_on_with_others(tmp_path: Path) -> None:
    """In one run: so many relevant pages, all that is expected, nothing more, and on from there."""
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
    with closing(connect(tmp_path / "run.db")) as run:
        run.execute(_THOUSAND_IRRELEVANT)
        run.commit()
    more = figures["pages"] + 1003
    for goals, reason in ((["least_yield=0.01"], "least_yield"), (["least_yield=0"], "pages")):
        finished(*given, *goals, f"pages={more}", JOBDIR=tmp_path, **settings)
        done = summary(tmp_path)
        assert (done["finish_reason"], more - done["pages"]) == (reason, 3 * (reason != "pages"))


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
