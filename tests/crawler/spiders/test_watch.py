"""What a watch counts of a crawl while it runs."""

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from langfocus.crawler.frontier.base import PAGE, Counts, HostStates, Lease, Record
from langfocus.crawler.report.live import Goal, Snapshot, live_json
from langfocus.crawler.session.traffic import Traffic
from langfocus.crawler.spiders import watch
from langfocus.crawler.spiders.watch import Watch, count_expected
from langfocus.crawler.strategies.focus.prior import Prior
from langfocus.crawler.strategies.orderings import learning
from tests.support.report_run import Row, make_run

HOSTS = HostStates(ready=3, resting=20, fetching=2, full=7)
CONFIG = {"lang": "de", "filter": "none", "web": "live", "is_census": False, "host_cap": 10}


class Crawl:
    """Settles URLs before a watch; the time passes when a test says so."""

    def __init__(self, run: sqlite3.Connection | None = None, pages: int = 0) -> None:
        self.now, self.pages, self.relevant = 500.0, pages, 0
        self.goals: tuple[tuple[str, float, float], ...] = ()
        self.crawl: Any = SimpleNamespace(
            config=SimpleNamespace(**CONFIG, title="de{}focus".format),
            prepared=SimpleNamespace(ordering=learning(lambda *_: [], Prior.shipped())),
            run=SimpleNamespace(connection=run or make_run(None, []), folder=Path("none")),
            visitor=SimpleNamespace(listeners=[], embeds=None),
            frontier=SimpleNamespace(host_states=lambda: HOSTS),
            ending=SimpleNamespace(goals=lambda *_: self.goals, fault="", finish_reason=""),
            traffic=Traffic(),
            clock=lambda: self.now,
            queue=SimpleNamespace(
                counts=lambda: Counts(9, 2, 1, self.pages, self.pages, self.relevant)
            ),
            worker=None,
        )
        self.engine: Any = SimpleNamespace(crawling=True, engine=None)
        self.watch = Watch(cast(Any, self.crawl), cast(Any, self.engine))

    def settle(self, outcome: str = PAGE, language: str | None = "de", **lease: Any) -> None:
        is_relevant = language == "de"
        self.pages += outcome == PAGE
        self.relevant += outcome == PAGE and is_relevant
        values = {"url": "http://a.de/", "host": "a.de", "score": 0.0, **lease}
        record = Record(outcome, self.now, 200, True, is_relevant, language)
        (settle,) = self.crawl.visitor.listeners
        settle(Lease(1, depth=0, redirects=0, retries=0, **values), record)

    def look(self, seconds: float = 0.0, **changed: Any) -> Snapshot:
        self.now += seconds
        return replace(self.watch.look(), **changed)


def test_outcomes_errors_and_refused_hosts_go_on_where_an_earlier_session_ended() -> None:
    earlier = [Row(outcome="robots", host="x.de", language=None), Row(outcome="dns", language=None)]
    crawl = Crawl(make_run(None, [*earlier, *[Row(), Row(language="en"), Row(language=None)]]), 3)
    for outcome, host in (("robots", "x.de"), ("blocked", "y.de"), ("timeout", "z.de")):
        crawl.settle(outcome, None, host=host)
    crawl.settle("redirect", None)
    crawl.settle("media", None)
    found = crawl.look()
    assert found.outcomes == {
        **{"page": 3, "robots": 2, "dns": 1},
        **{"blocked": 1, "timeout": 1, "redirect": 1, "media": 1},
    }
    assert found.errors == 2
    assert found.hosts == {**HOSTS._asdict(), "blocked": 2}
    assert found.course == ((1, 1), (0, 1), (0, 0))


@pytest.mark.parametrize("pages", [1, 60, 119, 120, 121, 1000, 5000])
def test_the_course_has_all_pages_in_few_equal_parts(pages: int) -> None:
    labels = ["de" if n % 3 else ("en" if n % 2 else None) for n in range(pages)]
    crawl = Crawl()
    for label in labels:
        crawl.settle(language=label)
    course = crawl.look().course
    assert len(course) <= 120
    assert len(course) >= min(60, pages)
    assert tuple(map(sum, zip(*course, strict=True))) == (
        labels.count("de"),
        pages - labels.count(None),
    )
    equal = Crawl()
    for _ in range(pages):
        equal.settle()
    assert len({labelled for _, labelled in equal.look().course[:-1]}) <= 1
    whole = Crawl(make_run(None, [Row(language=label) for label in labels]), pages)
    assert sum(relevant for relevant, _ in whole.look().course) == labels.count("de")


def test_the_last_pages_have_their_scores_and_the_last_200_their_rate() -> None:
    crawl = Crawl()
    for n in range(300):
        label = None if n % 4 == 0 else ("en" if n < 150 else "de")
        crawl.settle(language=label, url=f"http://a.de/{n}", score=n - 299.0)
    found = crawl.look()
    assert (found.last_relevant, found.last_labelled, found.harvest_last) == (113, 150, 113 / 150)
    newest = found.last[0]
    assert (len(found.last), newest.url, newest.score) == (10, "http://a.de/299", 0.5)
    assert (newest.language, newest.is_relevant, found.last[9].url[-3:]) == ("de", True, "290")


@pytest.mark.parametrize(("until", "then", "speed"), [(40, 5, 5.0), (55, 0, 50.0)])
def test_the_speed_is_that_of_the_last_ten_seconds(until: int, then: int, speed: float) -> None:
    crawl = Crawl()
    for second in range(60):
        for _ in range(100 if second < until else then):
            crawl.settle()
        found = crawl.look(1.0)
    assert found.pages_per_s == speed


def test_the_goal_that_is_reached_first_is_told_with_its_time() -> None:
    crawl = Crawl()
    for _ in range(20):
        crawl.settle(language="de" if crawl.pages % 4 == 0 else "en")
    crawl.goals = ("pages", 20, 100), ("relevant", 5, 10), ("hours", 90.0, 3600.0), ("words", 1, 2)
    found = crawl.look(10.0)
    assert [goal.left_s for goal in found.goals] == [40.0, 10.0, 3510.0, None]
    assert found.goal is not None
    assert found.goal.name == "relevant"
    assert Crawl().look(goals=(Goal("words", 1, 9),)).goal == Goal("words", 1, 9)
    assert Crawl().look().goal is None


def test_fetches_are_counted_by_their_seconds() -> None:
    crawl = Crawl()
    for seconds in (0.05, 0.1, 0.2, 31.0):
        crawl.crawl.traffic.note_fetch(seconds)
    found = crawl.look()
    assert (round(found.fetch_s, 6), found.fetches) == (31.35, (2, 1, 0, 0, 0, 0, 0, 0, 1))


def test_drops_and_expected_urls_are_read_from_the_run(tmp_path: Path) -> None:
    counts = {
        "seen": 99,
        "rejected": 3,
        "ignored_file": 5,
        "parser_lexbor": 7,
        "dropped_blocked": 1,
    }
    run = make_run(tmp_path, [], counts=counts)
    drops = Crawl(run).look().drops
    assert list(drops.items()) == [("ignored_file", 5), ("rejected", 3), ("dropped_blocked", 1)]
    ended = Crawl(run)
    with run:
        run.execute("UPDATE counts SET value = 8 WHERE name = 'rejected'")
    ended.crawl.run.folder, ended.crawl.run.connection = tmp_path, None
    ended.crawl.ending.finish_reason = "pages"
    assert ended.look().drops == {"rejected": 8, "ignored_file": 5, "dropped_blocked": 1}
    columns = "id, fingerprint, url, host, depth, redirects, tries, score, queued"
    rows: Iterable[tuple[object, ...]] = [
        (n, n, f"http://a.de/{n}", 1, 1, 0, 0, score, queued)
        for n, (score, queued) in enumerate(((0.0, 1), (0.1, 1), (5.0, 0), (-1.0, 1), (9.0, 1)))
    ]
    run.executemany(f"INSERT INTO urls ({columns}) VALUES (?,?,?,?,?,?,?,?,?)", rows)
    run.commit()
    assert count_expected(tmp_path, 0.0)[0] == 2
    assert count_expected(tmp_path / "none", 0.0)[0] is None


@pytest.mark.parametrize(("counted", "shown"), [(None, None), (8, 8), (12, 9)])
def test_no_more_expected_urls_are_shown_than_queued_ones(
    monkeypatch: pytest.MonkeyPatch, counted: int | None, shown: int | None
) -> None:
    crawl = Crawl()
    monkeypatch.setattr(crawl.watch, "_count_expected", lambda: counted)
    assert (crawl.look().queued, crawl.look().expected) == (9, shown)


def test_a_worker_shows_the_others_at_once() -> None:
    crawl = Crawl()
    values = {"other": live_json(crawl.look())}
    crawl.crawl.worker = SimpleNamespace(name="own", share=lambda text: values)
    assert [worker.name for worker in crawl.look().workers] == ["other", "own"]


def test_a_worker_counts_the_expected_urls_of_the_shared_crawl(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[object, float]] = []

    def count(place: object, doubts_up_to: float) -> tuple[int, float]:
        asked.append((place, doubts_up_to))
        return 5, 0.1

    monkeypatch.setattr(watch, "count_expected", count)
    crawl = Crawl()
    stored = SimpleNamespace(apart=lambda: "redis")
    crawl.crawl.worker = SimpleNamespace(name="own", share=lambda text: {}, stored=stored)
    crawl.watch._due_s, crawl.watch._count = 0.0, None
    crawl.look()
    crawl.watch._threads.shutdown()
    assert crawl.look().expected == 5
    assert asked[-1] == ("redis", crawl.crawl.prepared.ordering.doubts_up_to)
    crawl.crawl.ending.finish_reason = "pages"
    assert crawl.look().expected == 5


@pytest.mark.parametrize(
    ("changed", "state", "limit"),
    [
        ({}, "running", "frontier"),
        ({"hosts": HOSTS._replace(ready=0)}, "running", "politeness"),
        ({"hosts": HostStates(0, 0, 2, 7)}, "running", "queue"),
        ({"is_full": True, "reading": 40}, "running", "reading"),
        ({"is_full": True, "reading": 10, "crawling": False}, "ending", "network"),
    ],
)
def test_a_snapshot_tells_what_the_next_page_waits_for(
    changed: dict[str, Any], state: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = Crawl()
    monkeypatch.setattr(watch, "in_progress", lambda _: 64)
    monkeypatch.setattr(watch, "_BUSY", 99.0)  # of a processor, which the machine may lack
    crawl.engine.crawling = changed.get("crawling", True)
    if changed.get("is_full"):
        downloader = SimpleNamespace(needs_backout=lambda: True)
        crawl.engine.engine = SimpleNamespace(downloader=downloader)
    crawl.crawl.traffic.reading = changed.get("reading", 0)
    crawl.crawl.frontier.host_states = lambda: changed.get("hosts", HOSTS)
    found = [crawl.look() for _ in range(6)][-1]
    assert (found.state, found.limit) == (state, limit)
    crawl.crawl.ending.finish_reason = "pages"
    assert (crawl.look().state, crawl.look().reason) == ("finished", "pages")
