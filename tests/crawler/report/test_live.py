"""The state of a running crawl: what a meter counts, and the file that others read."""

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawler.errors import RunFolderError
from crawler.frontier.base import PAGE, Counts, HostStates, Lease, Record
from crawler.report.live import (
    LIVE_JSON,
    About,
    Goal,
    Meter,
    Snapshot,
    Standing,
    count_expected,
    drops_of,
    live_html,
    live_json,
    read_live,
)
from tests.support.report_run import Row, make_run

ABOUT = About("de focus", "de", "focus", "none", "live", False, True, 10)
HOSTS = HostStates(ready=3, resting=20, fetching=2, full=7)


class Crawl:
    """Settles URLs and tells them to a meter; the time passes when a test says so."""

    def __init__(self, run: sqlite3.Connection | None = None, pages: int = 0) -> None:
        self.now, self.pages, self.relevant = 500.0, pages, 0
        self.meter = Meter(ABOUT, self.counts(), self.now, run or make_run(None, []))

    def counts(self) -> Counts:
        return Counts(9, 2, 1, self.pages, self.pages, self.relevant)

    def settle(self, outcome: str = PAGE, language: str | None = "de", **lease: Any) -> None:
        is_relevant = language == "de"
        self.pages += outcome == PAGE
        self.relevant += outcome == PAGE and is_relevant
        told = {"url": "http://a.de/", "host": "a.de", "score": 0.0, **lease}
        record = Record(outcome, self.now, 200, True, is_relevant, language)
        self.meter.settle(Lease(1, depth=0, redirects=0, retries=0, **told), record)

    def look(self, seconds: float = 0.0, **standing: Any) -> Snapshot:
        self.now += seconds
        told = {"state": "running", "counts": self.counts(), "hosts": HOSTS, "elapsed_s": self.now}
        return self.meter.snapshot(Standing(**{**told, **standing}), self.now)


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
    goals = Goal("pages", 20, 100), Goal("relevant", 5, 10), Goal("hours", 90.0, 3600.0)
    found = crawl.look(10.0, goals=goals)
    assert [goal.left_s for goal in found.goals] == [40.0, 10.0, 3510.0]
    assert found.goal is not None
    assert found.goal.name == "relevant"
    assert Crawl().look(goals=(Goal("words", 1, 9),)).goal == Goal("words", 1, 9)
    assert Crawl().look().goal is None


def test_fetches_are_counted_by_their_seconds() -> None:
    crawl = Crawl()
    for seconds in (0.05, 0.1, 0.2, 31.0):
        crawl.meter.fetched(seconds)
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
    assert list(drops_of(run).items()) == [
        *(("ignored_file", 5), ("rejected", 3), ("dropped_blocked", 1))
    ]
    columns = "id, fingerprint, url, host, depth, redirects, tries, score, queued"
    rows: Iterable[tuple[object, ...]] = [
        (n, n, f"http://a.de/{n}", 1, 1, 0, 0, score, queued)
        for n, (score, queued) in enumerate(((0.0, 1), (0.1, 1), (5.0, 0), (-1.0, 1), (9.0, 1)))
    ]
    run.executemany(f"INSERT INTO urls ({columns}) VALUES (?,?,?,?,?,?,?,?,?)", rows)
    run.commit()
    assert count_expected(tmp_path, 0.0) == 2
    assert count_expected(tmp_path / "none", 0.0) is None


def test_the_file_gives_the_snapshot_back_and_anything_else_is_refused_in_one_line(
    tmp_path: Path,
) -> None:
    crawl = Crawl()
    crawl.settle(url='http://a.de/\x1b[31m\u202e"<script>')
    found = crawl.look(2.0, state="ending", reason="shutdown", limit="network", expected=4)
    (tmp_path / LIVE_JSON).write_text(live_json(found))
    assert read_live(tmp_path) == found
    whole = live_json(replace(found, last=()))
    for text in ("", "{}", "[]", whole[:-9], whole.replace('"layout":1', '"layout":2'), "\x00" * 9):
        (tmp_path / LIVE_JSON).write_text(text)
        with pytest.raises(RunFolderError, match="is not that of a crawl") as refused:
            read_live(tmp_path)
        assert "\n" not in str(refused.value)
    (tmp_path / LIVE_JSON).unlink()
    with pytest.raises(RunFolderError, match=r"has no live\.json"):
        read_live(tmp_path)


@pytest.mark.parametrize(("is_census", "rest"), [(False, "report.html"), (True, "census.html")])
def test_the_page_reloads_until_the_end_and_shows_urls_as_text(is_census: bool, rest: str) -> None:
    crawl = Crawl()
    crawl.settle(url="http://a.de/\x1b]0;x\x07\u202e'\"<script>alert(1)</script>")
    found = crawl.look(2.0, limit="reading", goals=(Goal("pages", 1, 5),), drops={"rejected": 4})
    found = replace(found, about=replace(ABOUT, is_census=is_census))
    page = live_html(found)
    assert '<meta http-equiv="refresh" content="10">' in page
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert "reading: answers wait for a reader" in page
    assert "<script" not in page
    assert not {"\x1b", "\x07", "\u202e"} & set(page)
    assert "http://a.de/?]0;x??&#39;&#34;&lt;script&gt;" in page
    end = live_html(replace(found, state="finished", reason="pages"))
    assert "refresh" not in end
    assert f'<a href="{rest}">' in end
    ending = live_html(replace(found, state="ending", in_flight=1234))
    assert "Ending: waits for 1,234 requests" in ending
