"""A changed byte in a run is noticed, and a bad row does not stop the crawl."""

import logging
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from math import nan
from pathlib import Path
from random import Random

import pytest

from benchmarks.damage import damaged, is_allowed, outcome_of
from crawler.frontier.base import PAGE, Link, Record
from crawler.frontier.evidence_rows import Links, packed
from crawler.frontier.sqlite import SqliteFrontier
from crawler.run import connect, open_run
from crawler.strategies.focus.evidence import Evidence
from tests.support.crawls import rows
from tests.support.damagedrun import FOCUS_META, META, content, frontier_of, judged, make_run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return make_run(tmp_path_factory.mktemp("made")).read_bytes()


@pytest.fixture
def folder(made: bytes, tmp_path: Path) -> Path:
    (tmp_path / "run.db").write_bytes(made)
    return tmp_path


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return make_run(tmp_path_factory.mktemp("learnt"), meta=FOCUS_META).read_bytes()


@pytest.fixture
def learning(learnt: bytes, tmp_path: Path) -> Path:
    (tmp_path / "run.db").write_bytes(learnt)
    return tmp_path


def change(folder: Path, statement: str) -> None:
    """Change values and not the indexes of them, as a changed byte does."""
    with closing(connect(folder / "run.db")) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement)


def resumed(folder: Path, meta: Mapping[str, object] = META) -> SqliteFrontier:
    return frontier_of(open_run(folder, meta, 1e9 + 200).connection, 1e9 + 200)


def set_aside(folder: Path) -> list[tuple[str, str]]:
    return rows(folder, "SELECT source, reason FROM set_aside")


def test_a_run_that_was_not_damaged_has_no_bad_row(folder: Path) -> None:
    with closing(connect(folder / "run.db")) as connection:
        before = content(connection)
    assert judged(folder, before) == "harmless"


def test_a_run_that_learnt_and_was_not_damaged_has_no_bad_row(learning: Path) -> None:
    with closing(connect(learning / "run.db")) as connection:
        before = content(connection)
    assert all(before.rows[table] for table in ("tallies", "belief"))
    assert judged(learning, before, FOCUS_META) == "harmless"


CHANGES = {
    "UPDATE urls SET url = CAST(x'687474703a2f2fff' AS TEXT) WHERE id = 1": "fingerprint",
    "UPDATE urls SET url = url || 'x' WHERE id = 1": "fingerprint",
    "UPDATE urls SET fingerprint = fingerprint + 1 WHERE id = 1": "fingerprint",
    "UPDATE urls SET url = x'00' WHERE id = 1": "fingerprint",
    "UPDATE urls SET depth = depth + 1 WHERE id = 9": "checksum",
    "UPDATE urls SET parent = 1 << 62 WHERE id = 9": "checksum",
    "UPDATE urls SET parent = 'x' WHERE id = 9": "checksum",
    "UPDATE urls SET unit = 'x' WHERE id = 9": "checksum",
    "UPDATE urls SET host = host + 1 WHERE id = 9": "checksum",
    "UPDATE urls SET redirects = 1.5 WHERE id = 9": "checksum",
    "UPDATE urls SET score = 'high' WHERE id = 9": "score",
    "UPDATE urls SET tries = -1 WHERE id = 9": "tries",
    "UPDATE urls SET queued = 7 WHERE id = 9": "state",
    "UPDATE urls SET queued = 2 WHERE id = 9": "checksum",
    "UPDATE urls SET queued = 1 WHERE queued = 2": "checksum",
    "UPDATE urls SET url = url || 'y'"
    " WHERE id = (SELECT MIN(id) FROM urls WHERE url LIKE '%utm_source=x')": "checksum",
    "UPDATE urls SET inlinks = 'xyz' WHERE id = 9": "inlinks",
    "UPDATE urls SET inlinks = x'ff' WHERE id = 9": "inlinks",
    "UPDATE pages SET language = 'fr' WHERE id = 2": "checksum",
    "UPDATE pages SET host = CAST(x'ff' AS TEXT) WHERE id = 2": "host",
    "UPDATE pages SET status = 1 << 40 WHERE id = 2": "status",
    "UPDATE pages SET url = 'http://x.de/' WHERE id = 2": "fingerprint",
    "UPDATE hosts SET host = CAST(x'ff' AS TEXT) WHERE id = 1": "host",
    "UPDATE hosts SET host = 'other.de' WHERE id = 1": "it has the URL",
    "UPDATE hosts SET not_before = 'later' WHERE id = 1": "not_before",
    "UPDATE hosts SET sent = 999 WHERE id = 1": "counters are corrected",
    "UPDATE hosts SET pages = 999 WHERE id = 1": "counters are corrected",
    "UPDATE links SET urls = x'789c00' WHERE page = 2": "urls is impossible",
    "UPDATE links SET page = 77 WHERE page = 2": "its page is missing",
    "UPDATE counts SET value = 'many' WHERE name = 'stored'": "value is impossible",
    "UPDATE robots SET text = CAST(x'ff' AS TEXT)": "text is impossible",
    "UPDATE units SET downloaded = -1": "downloaded is impossible",
    "UPDATE sessions SET started_at = 9e999": "started_at is impossible",
}


@pytest.mark.parametrize("statement", CHANGES)
def test_a_changed_value_is_set_aside_and_named_and_the_crawl_goes_on(
    folder: Path, statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    queued = rows(folder, "SELECT COUNT(*) FROM urls WHERE queued = 1")[0][0]
    change(folder, statement)
    frontier = resumed(folder)
    told = [reason for _, reason in set_aside(folder)]
    assert any(CHANGES[statement] in reason for reason in told)
    assert CHANGES[statement] in caplog.text
    assert dict(rows(folder, "SELECT name, value FROM counts"))["set_aside"] == len(told)
    assert abs(frontier.counts().queued - queued) <= 1
    settled = 0
    while lease := frontier.next(2e9 + settled):
        frontier.release(lease, now=0.0, not_before=1e12)
        settled += 1
    assert settled >= 1
    again = open_run(folder, META, 1e9 + 300).connection
    assert again.execute("SELECT COUNT(*) FROM set_aside").fetchone()[0] == len(told)


def test_a_url_whose_page_is_set_aside_is_fetched_again(folder: Path) -> None:
    ((url,),) = rows(folder, "SELECT url FROM pages WHERE id = 2")
    change(folder, "UPDATE pages SET language = 'fr' WHERE id = 2")
    resumed(folder)
    assert rows(folder, f"SELECT queued FROM urls WHERE url = '{url}'") == [(1,)]


@pytest.mark.parametrize("queued", [0, 1])
def test_a_url_is_queued_if_and_only_if_it_has_no_page(folder: Path, queued: int) -> None:
    change(folder, f"UPDATE urls SET queued = {queued}")
    resumed(folder)
    wrong = "SELECT url FROM urls WHERE queued = (url IN (SELECT url FROM pages))"
    assert rows(folder, wrong) == []


def test_a_host_that_is_set_aside_is_made_again_with_its_slots(folder: Path) -> None:
    before = rows(folder, "SELECT id, host, sent, settled, pages FROM hosts")
    change(folder, "UPDATE hosts SET host = CAST(x'ff' AS TEXT) WHERE id = 3")
    resumed(folder)
    assert rows(folder, "SELECT id, host, sent, settled, pages FROM hosts") == before


def test_an_index_that_differs_from_its_table_is_made_again(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "run.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        ((statement,),) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'urls_queue'"
        )
        # While the index is said to be of other rows, these are not in it.
        connection.execute(
            "UPDATE sqlite_master SET sql = ? WHERE name = 'urls_queue'",
            (statement.replace("queued = 1", "queued = 5"),),
        )
    with closing(sqlite3.connect(folder / "run.db", isolation_level=None)) as connection:
        connection.execute("UPDATE urls SET score = score + 1")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = ? WHERE name = 'urls_queue'", (statement,)
        )
    resumed(folder)
    assert [source for source, _ in set_aside(folder)] == ["index"]
    assert rows(folder, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("seed", range(30))
def test_no_changed_byte_stops_a_run_without_a_reason(made: bytes, seed: int, folder: Path) -> None:
    logging.disable(logging.WARNING)
    with closing(connect(folder / "run.db")) as connection:
        before = content(connection)
    outcome = outcome_of(damaged(made, Random(seed)), before)
    logging.disable(logging.NOTSET)
    assert is_allowed(outcome), outcome


BAD_EVIDENCE = [
    packed(Evidence(named=9e99), Links()),
    packed(Evidence(decision=nan), Links()),
    packed(Evidence(code=-7.0), Links()),
    packed(Evidence(), Links(relevant_here=200)),
    packed(Evidence(), Links())[1:],
]
_COVARIANCE = "UPDATE belief SET covariance = CAST(zeroblob(2040) || x'{}' AS BLOB)"
LEARNT_CHANGES = {
    **{
        f"UPDATE urls SET evidence = {value} WHERE queued = {state}": "evidence is impossible"
        for state, value in [
            *((1, f"x'{changed.hex()}'") for changed in BAD_EVIDENCE),
            (1, "CAST(x'ff' AS TEXT)"),
            (1, "7"),
            (0, f"x'{packed(Evidence(), Links()).hex()}'"),
        ]
    },
    "UPDATE tallies SET relevant = labelled + 1": "numbers are impossible",
    "UPDATE tallies SET labelled = 'many'": "labelled is impossible",
    "UPDATE tallies SET unit = CAST(x'ff' AS TEXT) WHERE unit = 'h0.de/'": "unit is impossible",
    "UPDATE belief SET labelled = -1": "numbers are impossible",
    "UPDATE belief SET relevant = 1 << 40": "numbers are impossible",
    "UPDATE belief SET swept = 'here'": "numbers are impossible",
    "UPDATE belief SET id = 7": "id is impossible",
    "UPDATE belief SET mean = x'00'": "the weights are of another version",
    "UPDATE belief SET mean = CAST(mean AS TEXT)": "the weights are",
    _COVARIANCE.format("000000000000f8ff"): "not finite",
    _COVARIANCE.format("000000000000f0bf"): "no covariance",
}


@pytest.mark.parametrize("statement", LEARNT_CHANGES)
def test_changed_evidence_is_set_aside_and_the_crawl_goes_on(
    learning: Path, statement: str
) -> None:
    change(learning, statement)
    frontier = resumed(learning, FOCUS_META)
    assert any(LEARNT_CHANGES[statement] in reason for _, reason in set_aside(learning))
    lease = frontier.next(2e9)
    assert lease is not None
    record = Record(PAGE, 2e9, 200, True, True, "de")
    frontier.admit(lease, record, [Link("http://new.de/", 0.0, Evidence(1.0))], now=2e9)
    again = rows(learning, "SELECT labelled, relevant, length(mean) FROM belief")
    assert len(again) == 1
    assert again[0][0] >= again[0][1] > 0


def test_lost_weights_are_learnt_again_from_the_rate_of_the_crawl(learning: Path) -> None:
    before = rows(learning, "SELECT labelled, relevant FROM belief")
    change(learning, "UPDATE belief SET mean = x'00'")
    frontier = resumed(learning, FOCUS_META)
    lease = frontier.next(2e9)
    assert lease is not None
    frontier.admit(lease, Record("timeout", 2e9), now=2e9)
    assert rows(learning, "SELECT labelled, relevant FROM belief") == before


@pytest.mark.parametrize("seed", range(12))
def test_no_changed_byte_stops_a_run_that_learns_without_a_reason(
    learnt: bytes, seed: int, learning: Path
) -> None:
    logging.disable(logging.WARNING)
    with closing(connect(learning / "run.db")) as connection:
        before = content(connection)
    outcome = outcome_of(damaged(learnt, Random(seed)), before, FOCUS_META)
    logging.disable(logging.NOTSET)
    assert is_allowed(outcome), outcome
