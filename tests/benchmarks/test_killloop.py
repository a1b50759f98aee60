"""The loop that kills crawls finds what is wrong with one, and a short one finds nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.killloop import Row, asked_twice, main, misadmitted, misrecorded, smallest_gap
from benchmarks.killweb import HOST_CAP, KillWeb
from benchmarks.servers.loopback import Access

WEB = KillWeb(pages=150)
CROWDED = sorted(next(iter(WEB.crowds().values())))[HOST_CAP]


def access(began: float, ended: float, url: str, status: int = 200) -> Access:
    return Access(began, "GET", url, status, ended=ended)


def records() -> list[Row]:
    """What a crawl of the web that does everything right writes down."""
    rows = [Row(url, *what) for url, what in WEB.settled().items()]
    for urls in WEB.crowds().values():
        rows += [Row(url, "page", 200) for url in sorted(urls)[:HOST_CAP]]
    return rows


def first(kind: str) -> int:
    rows = records()
    return next(n for n, row in enumerate(rows) if WEB.resources[row.url].kind == kind)


def test_the_web_has_every_kind_of_url_and_hosts_of_every_size() -> None:
    kinds = {WEB.resources[url].kind for url in WEB.settled()}
    assert kinds == {"page", "flaky", "gone", "redirect", "forbidden", "sitemap"}
    assert all(len(urls) > HOST_CAP for urls in WEB.crowds().values())
    assert len(WEB.settled()) > 100


def test_a_crawl_that_does_everything_right_is_found_right() -> None:
    rows = records()
    assert misrecorded(WEB, rows) == []
    optional = [row.url for row in rows if WEB.is_optional(row.url)]
    assert optional
    assert misrecorded(WEB, [row for row in rows if row.url not in optional]) == []
    assert sum(row.outcome == "sitemap" for row in rows) > 8


def test_pages_of_sitemaps_are_missed_if_their_sitemap_is() -> None:
    fed = "http://mapped1.example.de/dir/d"
    [wrong] = misrecorded(WEB, [row for row in records() if row.url != fed])
    assert wrong == f"{fed}: no record"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda rows: rows.pop(), "URLs for a cap of 10"),
        (lambda rows: rows.append(Row(CROWDED, "page", 200)), "11 of"),
        (lambda rows: rows.pop(0), "no record"),
        (lambda rows: rows.append(rows[0]), "recorded 2 times"),
        (lambda rows: rows.append(Row("http://b.de/", "page", 200)), "not reachable in the web"),
        (lambda rows: rows.append(Row(rows.pop(first("gone")).url, "timeout", None)), "instead of"),
        (lambda rows: rows.append(Row(rows.pop().url, "timeout", None)), "timeout None"),
        (lambda rows: rows.append(Row(rows.pop().url, "page_crashed", 200)), "page_crashed 200"),
        (
            lambda rows: rows.append(Row(rows.pop(first("page")).url, "interrupted", None)),
            "instead of",
        ),
    ],
)
def test_a_wrong_record_is_found(change: Callable[[list[Row]], Any], expected: str) -> None:
    rows = records()
    change(rows)
    [wrong] = misrecorded(WEB, rows)
    assert expected in wrong


def test_gaps_and_caps_are_judged_by_the_servers_log() -> None:
    [host, urls] = next(iter(WEB.crowds().items()))
    log = [access(n, n + 0.25, url) for n, url in enumerate(sorted(urls)[: HOST_CAP + 1])]
    assert misadmitted(log, {host: 11}) == [f"{host}: asked for 11 URLs, with 11 slots"]
    assert misadmitted(log[1:], {host: 10}) == []
    assert misadmitted(log[2:], {host: 10}) == []
    assert misadmitted(log[1:], {host: 9}) == [f"{host}: asked for 10 URLs, with 9 slots"]
    assert smallest_gap(log) == 0.75
    log.insert(6, access(5.125, 5.5, f"http://{host}/robots.txt"))
    assert smallest_gap(log) == -0.125
    assert smallest_gap(log, [5.0, 5.25]) == -0.125
    assert smallest_gap(log, [5.0625]) == 0.0625


def test_a_fetch_after_an_answer_needs_a_kill_in_between() -> None:
    url, file = "http://a.de/x", "http://a.de/1.xml.gz"
    log = [access(1, 2, url, 503), access(3, 4, url), access(6, 7, url)]
    log += [access(3, 4, file), access(6, 7, file)]
    assert asked_twice(log, [5.0]) == []
    assert len(asked_twice(log, [2.5, 7.0])) == 2


def test_a_short_kill_loop_finds_nothing_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--kills=2", "--pages=60", "--latency=0.1", "--delay=0.05", f"--folder={tmp_path}"]
    # Both kills come while the most crowded host still has URLs to give, however fast the machine.
    line += ["--random-state=3"]
    assert main(line) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["expected"] <= printed["records"] < printed["reachable"]
    assert printed["sitemaps"] >= 9
    assert printed["smallest_gap_s"] >= 0.05
