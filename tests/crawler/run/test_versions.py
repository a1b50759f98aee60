"""Runs outlive versions: every later schema reads them, and a crawl upgrades them."""

import json
import shutil
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.servers.processes import run_alone, wait_until
from langfocus import Run
from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.run import versions
from langfocus.crawler.run.folder import lock_run, maintaining, open_run, reading
from langfocus.crawler.run.schema import SCHEMA_VERSION, columns_of, expected_schema, schema_of
from langfocus.crawler.run.versions import STEPS
from tests.crawler.run.test_run_state import contents, no_file_beyond, someone_else, unprivileged
from tests.support.commandline import call
from tests.support.crawls import ROOT, crawl, environment, finished, rows, started, summary
from tests.support.pastruns import CRAWL, HOSTS, NAMES, SAMPLE_HOSTS, restore

EARLIER = [name for name in NAMES if name != f"schema-{SCHEMA_VERSION}"]
OLD = EARLIER[0]
COPY = f"run-{OLD}.db"
SETTINGS: dict[str, Any] = {"LANGFOCUS_SAMPLE_HOSTS": SAMPLE_HOSTS, "LANGFOCUS_LINKS": True}
GOAL = 40


def tables(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of all tables in the columns that this version reads, but for `meta`."""
    names = {row[1] for row in expected_schema() if row[0] == "table"} - {"meta"}
    with reading(path) as connection:
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def meta_of(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT key, value FROM meta"))


def change(folder: Path, script: str) -> None:
    with closing(sqlite3.connect(folder / "run.db")) as connection:
        connection.executescript(script)


def langfocus(*arguments: object) -> None:
    assert call(*arguments) == 0


def settings_of(folder: Path) -> dict[str, object]:
    """Return the settings with which `open_run` continues a run."""
    kept = meta_of(folder / "run.db")
    return {name: kept[name] for name in kept.keys() - {"schema", "readable_by"}}


def continued(folder: Path, settings: Mapping[str, object] | None = None) -> None:
    settings = settings_of(folder) if settings is None else settings
    with lock_run(folder):
        open_run(folder, settings, 1.0).connection.close()


def test_each_schema_has_a_stored_run_and_a_step_to_the_next() -> None:
    numbers = [*STEPS, SCHEMA_VERSION]
    assert numbers == list(range(numbers[0], SCHEMA_VERSION + 1))
    assert [f"schema-{number}" for number in numbers] == NAMES
    text = (ROOT / "docs" / "upgrades.md").read_text("utf-8")
    assert f"This version has schema {SCHEMA_VERSION}.\n" in text


def test_a_statement_changes_with_the_number_of_the_schema(tmp_path: Path) -> None:
    """After a change: raise SCHEMA_VERSION, add a step, and store runs of both schemas."""
    folder = restore(f"schema-{SCHEMA_VERSION}/crawl", tmp_path / "run")
    with closing(sqlite3.connect(folder / "run.db")) as connection:
        assert schema_of(connection) == expected_schema()


@pytest.mark.parametrize("name", NAMES)
def test_hosts_have_the_bytes_that_their_pages_had_in_a_run_of_any_schema(
    name: str, tmp_path: Path
) -> None:
    run = restore(f"{name}/crawl", tmp_path / "run")
    of_pages = "SELECT host, SUM(bytes) FROM pages GROUP BY host ORDER BY host"
    of_hosts = "SELECT host, received FROM hosts WHERE settled OR received ORDER BY host"
    for opened in (reading, maintaining):  # through a view, then upgraded
        with opened(run) as connection:
            found = connection.execute(of_hosts).fetchall()
            assert found == connection.execute(of_pages).fetchall() != []


@pytest.mark.parametrize("name", NAMES)
def test_commands_that_read_leave_a_run_of_each_schema_as_it_was(name: str, tmp_path: Path) -> None:
    folder = restore(f"{name}/crawl", tmp_path / "run")
    database = (folder / "run.db").read_bytes()
    langfocus("report", folder)
    assert summary(folder)["pages"] == 8
    langfocus("report", folder, "--explain", "http://www.kueche-arzt.de/")
    langfocus("report", folder, "--sample", tmp_path / "labels.tsv")
    langfocus("export", folder, "--output", tmp_path / "texts.jsonl")
    assert (tmp_path / "texts.jsonl").read_text("utf-8").count("\n") == 8
    langfocus("graph", "--from", folder, tmp_path / "graph", "--target", "de")
    assert [page.language for page in Run(folder).pages()] == ["de"] * 8
    assert contents(folder)["run.db"] == database
    assert not list(folder.glob("run.db-*")) + list(folder.glob("run-*"))


@pytest.mark.parametrize("name", NAMES)
def test_censuses_of_each_schema_are_counted_and_merged(name: str, tmp_path: Path) -> None:
    folders = [restore(f"{name}/{part}", tmp_path / part) for part in HOSTS]
    databases = [(folder / "run.db").read_bytes() for folder in folders]
    langfocus("census", *folders, "--json", tmp_path / "census.json")
    assert json.loads((tmp_path / "census.json").read_text("utf-8"))["decided"] == {"text": 2}
    langfocus("merge", tmp_path / "all", *folders)
    assert [page.language for page in Run(tmp_path / "all").pages()] == ["de"] * 2
    assert [(folder / "run.db").read_bytes() for folder in folders] == databases


def test_runs_of_two_schemas_are_merged(tmp_path: Path) -> None:
    folders = [restore(f"{OLD}/census-1", tmp_path / "before"), tmp_path / "now"]
    hosts = tmp_path / "hosts.txt"
    hosts.write_text(f"{HOSTS['census-2']}\n", "utf-8")
    finished(f"hosts={hosts}", "web=sample", JOBDIR=folders[1], LANGFOCUS_SAMPLE_HOSTS=SAMPLE_HOSTS)
    langfocus("merge", tmp_path / "all", *folders)
    assert len(list(Run(tmp_path / "all").pages())) == 2
    assert meta_of(tmp_path / "all" / "run.db")["schema"] == str(SCHEMA_VERSION)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_on_a_disk_without_writes_is_read(name: str) -> None:
    with unprivileged() as outer:
        folder = restore(f"{name}/crawl", outer / "run")
        folder.chmod(0o555)
        with someone_else():
            assert len(list(Run(folder).pages())) == 8
        folder.chmod(0o755)


@pytest.mark.parametrize("name", EARLIER)
def test_an_upgrade_keeps_every_row_and_a_copy(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = restore(f"{name}/crawl", tmp_path / "run")
    before, meta = tables(folder), meta_of(folder / "run.db")
    continued(folder)
    assert [record.getMessage() for record in caplog.records] == [
        f"{folder}: upgraded from schema {meta['schema']} to {SCHEMA_VERSION}; run-{name}.db is "
        "a copy of before"
    ]
    after = tables(folder)
    assert len(after.pop("sessions")) == len(before.pop("sessions")) + 1
    assert after == before
    with closing(sqlite3.connect(folder / "run.db")) as connection:
        assert schema_of(connection) == expected_schema()
    copy = tmp_path / "copy"
    copy.mkdir()
    (folder / f"run-{name}.db").rename(copy / "run.db")
    assert tables(copy) | {"sessions": []} == before | {"sessions": []}
    assert meta_of(copy / "run.db") == meta
    caplog.clear()
    continued(folder)
    assert not caplog.records
    assert not (folder / f"run-{name}.db").exists()


def has_pages(folder: Path, least: int) -> bool:
    return rows(folder, f"SELECT count(*) >= {least} FROM pages") == [(1,)]


@pytest.mark.parametrize("name", NAMES)
def test_a_crawl_of_each_schema_reaches_its_goal_through_kills(name: str, tmp_path: Path) -> None:
    folder = restore(f"{name}/crawl", tmp_path / "run")
    arguments = (*CRAWL, f"pages={GOAL}")
    for least in (12, 24):
        with started(*arguments, JOBDIR=folder, DOWNLOAD_DELAY=0.05, **SETTINGS) as command:
            wait_until(partial(has_pages, folder, least), command)
            command.kill()
    finished(*arguments, JOBDIR=folder, **SETTINGS)
    urls = [page.url for page in Run(folder).pages()]
    assert len(urls) == len(set(urls)) == summary(folder)["pages"] == GOAL
    assert rows(folder, "SELECT max(sent) <= 10 FROM hosts WHERE host LIKE '%.%'") == [(1,)]


def test_a_comparison_continues_a_crawl_of_an_earlier_schema(tmp_path: Path) -> None:
    folder = restore(f"{OLD}/crawl", tmp_path / "all" / "de-focus")
    arguments = [*CRAWL, "strategies=focus", "pages=8", "filter=both-conservative"]
    given = [word for argument in (*arguments, "host_queue=200") for word in ("-a", argument)]
    settings = ("-s", f"JOBDIR={tmp_path / 'all'}", "-s", f"LANGFOCUS_SAMPLE_HOSTS={SAMPLE_HOSTS}")
    langfocus("compare", *given, *settings)
    assert (folder / COPY).exists()
    assert (tmp_path / "all" / "compare.json").exists()


def test_a_crawl_since_a_run_of_an_earlier_schema_asks_for_its_pages(tmp_path: Path) -> None:
    before = restore(f"{OLD}/crawl", tmp_path / "before")
    folder = tmp_path / "run"
    finished(*CRAWL, "pages=8", f"since={before}", JOBDIR=folder, **SETTINGS)
    assert summary(folder)["changes"]["earlier"] == 8
    assert not (before / COPY).exists()


@pytest.mark.parametrize("is_upgraded", [False, True])
def test_a_take_down_leaves_no_copy_with_its_pages(is_upgraded: bool, tmp_path: Path) -> None:
    folder = restore(f"{OLD}/crawl", tmp_path / "run")
    if is_upgraded:
        continued(folder)
        assert (folder / COPY).exists()
    langfocus("takedown", folder, "kueche-arzt.de/")
    assert not (folder / COPY).exists()
    assert meta_of(folder / "run.db")["schema"] == str(SCHEMA_VERSION)
    assert {page.outcome for page in Run(folder).pages(with_failures=True)} == {
        "page",
        "taken_down",
    }


KILLED = """
import os, sys
from contextlib import closing
from pathlib import Path
from langfocus.crawler.run import versions
from langfocus.crawler.run.folder import connect

folder, left = Path(sys.argv[1]), int(sys.argv[2])

def count(*_):
    global left
    left -= 1
    if left < 0:
        os._exit(9)

def replaced(path, target, replace=Path.replace):
    count()
    replace(path, target)
    count()

Path.replace = replaced
with closing(connect(folder / "run.db")) as connection:
    connection.set_trace_callback(count)
    versions.upgrade(connection, folder, 24)
count()
"""


def test_an_upgrade_that_is_killed_anywhere_loses_nothing(tmp_path: Path) -> None:
    expected = tables(restore(f"{OLD}/crawl", tmp_path / "whole"))
    code, step = 9, 0
    while code == 9:
        folder = restore(f"{OLD}/crawl", tmp_path / str(step))
        line = (sys.executable, "-c", KILLED, str(folder), str(step))
        done = run_alone(*line, environment=environment(None))
        code, step = done.returncode, step + 1
        assert code in (0, 9), done.stderr
        assert tables(folder) == expected
        assert (folder / COPY).exists() or meta_of(folder / "run.db")["schema"] == "24"
        continued(folder)
        assert tables(folder) | {"sessions": []} == expected | {"sessions": []}
        assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    assert step > 12


def test_an_upgrade_without_room_is_refused_in_one_line_and_changes_no_row(tmp_path: Path) -> None:
    folder = restore(f"{OLD}/crawl", tmp_path / "run")
    expected, size = tables(folder), (folder / "run.db").stat().st_size
    settings, messages = settings_of(folder), list[str]()
    for room in range(0, size + 8192, 8192):
        try:
            with no_file_beyond(room):
                continued(folder, settings)
            break
        except RunFolderError as error:
            messages.append(str(error))
        assert tables(folder) == expected
        assert meta_of(folder / "run.db")["schema"] == "24"
        assert not [path.name for path in folder.iterdir() if path.name.startswith(".run")]
    assert len(messages) > size // 8192 // 2
    assert all("cannot be used as a run folder: " in line for line in messages)
    assert "\n" not in "".join(messages)
    continued(folder)
    assert tables(folder) | {"sessions": []} == expected | {"sessions": []}


def test_a_copy_is_no_link_into_another_folder(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("own")
    folder = restore(f"{OLD}/crawl", tmp_path / "run")
    (folder / COPY).symlink_to(own)
    continued(folder)
    assert own.read_text() == "own"
    assert not (folder / COPY).is_symlink()


NEXT = SCHEMA_VERSION + 1


def test_an_upgrade_takes_the_log_of_a_killed_run_along(tmp_path: Path) -> None:
    folder, killed = restore(f"{OLD}/crawl", tmp_path / "run"), tmp_path / "killed"
    with closing(sqlite3.connect(folder / "run.db")) as connection, connection:
        connection.execute("INSERT INTO counts VALUES ('something', 7)")
        connection.commit()
        killed.mkdir()
        for name in ("run.db", "run.db-wal"):
            shutil.copy(folder / name, killed)
    expected = tables(folder)
    assert ("something", 7) in expected["counts"]
    continued(killed)
    assert tables(killed) | {"sessions": []} == expected | {"sessions": []}
    (killed / COPY).replace(killed / "run.db")
    assert tables(killed) == expected


def test_a_reader_sees_the_run_as_it_was_during_an_upgrade(tmp_path: Path) -> None:
    folder = restore(f"{OLD}/crawl", tmp_path / "run")
    with reading(folder) as connection:
        rows = connection.execute("SELECT host, taken, files FROM hosts ORDER BY id")
        first = rows.fetchone()
        continued(folder)
        with reading(folder) as other:
            now = other.execute("SELECT host, taken, files FROM hosts ORDER BY id").fetchall()
        assert [first, *rows] == now
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (1,)


def test_a_copy_is_as_private_as_the_run(tmp_path: Path) -> None:
    folder = restore(f"{OLD}/crawl", tmp_path / "run")
    (folder / "run.db").chmod(0o640)
    continued(folder)
    assert (folder / COPY).stat().st_mode & 0o777 == 0o640


LATER = f"""
UPDATE meta SET value = '{NEXT}' WHERE key = 'schema';
UPDATE meta SET value = 'langfocus 7.8.9' WHERE key = 'version';
INSERT OR REPLACE INTO meta VALUES ('readable_by', '{SCHEMA_VERSION}');
"""
COMPATIBLE = f"""{LATER}
ALTER TABLE pages ADD COLUMN mood TEXT;
CREATE TABLE moods(mood TEXT);
DROP INDEX urls_queue;
"""


def later(tmp_path: Path, script: str) -> Path:
    folder = restore(f"schema-{SCHEMA_VERSION}/crawl", tmp_path / "run")
    change(folder, script)
    return folder


def test_a_run_of_a_later_schema_is_read_if_it_says_so(tmp_path: Path) -> None:
    expected = tables(restore(f"schema-{SCHEMA_VERSION}/crawl", tmp_path / "before"))
    folder = later(tmp_path, COMPATIBLE)
    assert tables(folder) == expected
    langfocus("report", folder)
    assert summary(folder)["pages"] == 8


def test_a_run_of_a_later_schema_is_not_changed(tmp_path: Path) -> None:
    folder = later(tmp_path, COMPATIBLE)
    before = contents(folder)
    message = (
        rf"made with schema {NEXT}; this version continues schemas 24 to "
        rf"{SCHEMA_VERSION}; use langfocus 7\.8\.9 or a later version$"
    )
    with pytest.raises(RunFolderError, match=message):
        continued(folder)
    with pytest.raises(RunFolderError, match=message), maintaining(folder):
        pass
    assert before.items() <= contents(folder).items()
    done = crawl(*CRAWL, "pages=9", JOBDIR=folder, **SETTINGS)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            COMPATIBLE + f"UPDATE meta SET value = '{NEXT}' WHERE key LIKE 'readable%'",
            rf"this version reads schemas 24 to {SCHEMA_VERSION}; use langfocus 7\.8\.9 or a later",
        ),
        (COMPATIBLE + "DELETE FROM meta WHERE key = 'readable_by'", r"use langfocus 7\.8\.9 or a"),
        (COMPATIBLE + "ALTER TABLE pages DROP COLUMN country", "no such column: country"),
        (LATER + "DROP TABLE visits", "no such table: main.visits"),
        (LATER + "CREATE VIEW moods AS SELECT 1", "its schema is not that of a run"),
        (
            LATER + "ALTER TABLE units ADD COLUMN endless AS (zeroblob(1000000000))",
            "units is not a plain table",
        ),
        (
            LATER + "DROP TABLE units; CREATE VIRTUAL TABLE Units USING rtree(id, least, most)",
            "units is not a plain table",
        ),
        ("UPDATE meta SET value = '23' WHERE key = 'schema'", "langfocus 0.1.0, or a new folder"),
        ("UPDATE meta SET value = 'x' WHERE key = 'schema'", "made with schema x; this version"),
        (f"UPDATE meta SET value = '{'9' * 5000}' WHERE key = 'schema'", "this version reads"),
        ("DELETE FROM meta WHERE key = 'schema'", "made with schema ; this version reads"),
    ],
)
def test_what_this_version_cannot_read_is_refused_in_one_line(
    script: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(RunFolderError, match=message) as caught:
        tables(later(tmp_path, script))
    assert "\n" not in str(caught.value)


@pytest.fixture
def two_steps(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what turns a run of schema 24 into one of a schema 23, which this test invents."""
    step = {
        "units": "SELECT unit, fetched AS downloaded, relevant FROM units",
        "hosts": "SELECT id, host, sent, settled, pages, delay_s, not_before, taken, earned AS"
        " relevant FROM hosts",
        "meta": "SELECT * FROM meta UNION SELECT 'colour', 'red'",
        "robots": "SELECT NULL AS origin, NULL AS fetched_at, NULL AS bytes, NULL AS text WHERE 0",
    }
    monkeypatch.setattr(versions, "STEPS", {23: step, **STEPS})
    return """
        ALTER TABLE units RENAME COLUMN downloaded TO fetched;
        ALTER TABLE hosts RENAME COLUMN relevant TO earned;
        DROP TABLE robots;
        UPDATE meta SET value = '23' WHERE key = 'schema';
    """


def test_two_steps_with_a_new_table_make_one_upgrade(two_steps: str, tmp_path: Path) -> None:
    expected = tables(restore(f"{OLD}/crawl", tmp_path / "before")) | {"robots": []}
    folder = restore(f"{OLD}/crawl", tmp_path / "run")
    change(folder, two_steps)
    assert tables(folder) == expected
    settings = settings_of(folder) | {"colour": "blue"}
    with pytest.raises(RunFolderError, match="holds a crawl with colour=red, not colour=blue"):
        open_run(folder, settings, 1.0, identity=["colour"])
    open_run(folder, settings | {"colour": "red"}, 1.0, identity=["colour"]).connection.close()
    assert tables(folder) | {"sessions": []} == expected | {"sessions": []}
    assert meta_of(folder / "run.db")["colour"] == "red"
    with closing(sqlite3.connect(folder / "run.db")) as connection:
        assert schema_of(connection) == expected_schema()
    assert (folder / "run-schema-23.db").exists()


@pytest.mark.parametrize("name", EARLIER)
def test_the_queries_of_the_steps_have_the_columns_in_order(name: str, tmp_path: Path) -> None:
    folder = restore(f"{name}/crawl", tmp_path / "run")
    with reading(folder) as connection:
        for table in STEPS[int(name.removeprefix("schema-"))]:
            cursor = connection.execute(f"SELECT * FROM {table}")
            assert tuple(column[0] for column in cursor.description) == columns_of(table)


def test_a_damaged_run_of_an_earlier_schema_is_refused(tmp_path: Path) -> None:
    folder = restore(f"{OLD}/crawl", tmp_path / "run")
    change(folder, "ALTER TABLE hosts DROP COLUMN taken")
    with pytest.raises(RunFolderError, match="no such column: taken"):
        continued(folder)
    assert not (folder / COPY).exists()
