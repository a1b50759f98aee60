"""A run folder is checked before it is used, and what cannot be written leaves all as it was."""

import os
import resource
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from struct import pack

import pytest

from benchmarks.servers.processes import run_alone
from langfocus.crawler.errors import RunFolderError, StorageError
from langfocus.crawler.frontier.base import PAGE, Record
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.options.config import IDENTITY
from langfocus.crawler.run.folder import lock_run, maintaining, open_run, reading
from langfocus.crawler.strategies.links import Link
from tests.crawler.frontier.test_frontier_contract import lease_now
from tests.support.crawls import crawl, environment, rows, summary

NOBODY = 65534
NOT_OURS = "run.db is not the database of a crawl; use another folder"
SCHEMA = "UPDATE meta SET value = '{}' WHERE key IN ('schema', 'readable_by')"
OTHER_TABLE = "CREATE TABLE birds(name TEXT)"
META_TABLE = "PRAGMA journal_mode = WAL; CREATE TABLE meta(key TEXT, value TEXT)"
TRIGGER = "CREATE TRIGGER t AFTER INSERT ON sessions BEGIN DELETE FROM urls; END"
META: dict[str, object] = {
    "lang": "de",
    "strategy": "bfs",
    "filter": "none",
    "tolerance": 10,
    "host_cap": 10,
    "domain_cap": 1000,
    "address_cap": 2000,
    "host_queue": 200,
    "directory_depth": 1,
    "web": "live",
    "identify": "composite",
    "shared": "",
    "seeds": ["http://a.de/"],
}


def make_run(folder: Path, urls: int = 1000) -> Path:
    """Make a run with something in it and return its database."""
    run = open_run(folder, META, 0.0)
    frontier = SqliteFrontier(run.connection, FrontierRules(), now=0.0)
    frontier.seed([Link(f"http://host{n}.de/", n % 7) for n in range(urls)], 0.0)
    run.connection.close()
    return folder / "run.db"


def changed_by(script: str, *, is_run: bool = True) -> Callable[[Path], None]:
    """Make a run, or the database of another program, with a script of SQL."""

    def make(folder: Path) -> None:
        path = make_run(folder) if is_run else folder / "run.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)

    return make


def holding(content: bytes, name: str = "run.db") -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


def cut_in_half(folder: Path) -> None:
    database = make_run(folder)
    os.truncate(database, database.stat().st_size // 2)


def overwritten_in_the_middle(folder: Path) -> None:
    database = make_run(folder)
    content = bytearray(database.read_bytes())
    middle = len(content) // 2 // 2048 * 2048
    content[middle : middle + 2048] = b"\x5a" * 2048
    database.write_bytes(content)


def a_folder(folder: Path) -> None:
    (folder / "run.db").mkdir()


def a_link(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "run.db").symlink_to(make_run(folder / "other"))


def a_log_elsewhere(folder: Path) -> None:
    make_run(folder)
    (folder / "own.txt").write_text("own")
    (folder / "run.db-wal").symlink_to(folder / "own.txt")


def with_a_journal(folder: Path) -> None:
    """SQLite deletes the file that a journal names as the one above it."""
    own = folder / "own.txt"
    own.write_text("own")
    name, magic = str(own).encode(), bytes.fromhex("d9d505f920a163d7")
    head = magic + pack(">IIIII", 0, 1, make_run(folder).stat().st_size // 2048, 512, 2048)
    place = pack(">I", 0x40000000 // 2048 + 1)
    end = place + name + pack(">II", len(name), sum(name)) + magic
    (folder / "run.db-journal").write_bytes(head.ljust(512, b"\0") + end)


def of_rows_without_end(table: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        with closing(sqlite3.connect(make_run(folder))) as connection:
            query = f"SELECT group_concat('1 AS ' || name) FROM pragma_table_info('{table}')"
            ((columns,),) = connection.execute(query)
            connection.executescript(
                f"DROP TABLE {table}; CREATE VIEW {table} AS WITH RECURSIVE n AS "
                f"(SELECT 1 UNION ALL SELECT 1 FROM n) SELECT {columns} FROM n"
            )

    return make


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (changed_by(SCHEMA.format(99)), "made with schema 99; this version continues schemas 24"),
        (changed_by(SCHEMA.format(3)), "made with schema 3; this version continues schemas 24 to"),
        (changed_by(OTHER_TABLE, is_run=False), NOT_OURS),
        (changed_by(META_TABLE, is_run=False), NOT_OURS),
        (changed_by("DROP TABLE robots"), "run.db is damaged: its schema is not that of a run"),
        (changed_by(TRIGGER), "run.db is damaged: its schema is not that of a run; restore"),
        (holding(b""), "run.db is damaged: it is empty; restore a copy or use a new folder"),
        (cut_in_half, "run.db is damaged: "),
        (overwritten_in_the_middle, "run.db is damaged: "),
        (holding(b"I am a poem.\n" * 100), "run.db is damaged: file is not a database; restore"),
        # A new database beside it would take its pages for its own.
        (holding(b"x", "run.db-wal"), "run.db is damaged: it is missing, but its log run.db-wal"),
        (a_folder, "run.db is not a regular file; use another folder"),
        (a_link, "run.db is not a regular file; use another folder"),
        (a_log_elsewhere, "run.db-wal is not a regular file; use another folder"),
        (with_a_journal, "run.db-journal is not a file of a run; remove it"),
        (of_rows_without_end("meta"), NOT_OURS),
        (of_rows_without_end("pages"), "run.db is damaged: its schema is not that of a run"),
    ],
)
def test_a_folder_that_is_no_sound_run_is_refused_by_all_and_left_as_it_was(
    tmp_path: Path, make: Callable[[Path], object], expected: str
) -> None:
    make(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(RunFolderError) as caught:
        open_run(tmp_path, META, 1.0)
    assert str(caught.value).startswith(f"{tmp_path}: {expected}")
    assert "\n" not in str(caught.value)
    assert contents(tmp_path) == before
    if make in (cut_in_half, overwritten_in_the_middle, a_link):
        return  # only a crawl checks the whole file, and the place of a link to one
    with pytest.raises(RunFolderError), reading(tmp_path):
        pass
    with pytest.raises(RunFolderError), maintaining(tmp_path):
        pass
    assert before.items() <= contents(tmp_path).items()


def test_tables_and_indexes_that_a_user_made_are_no_damage(tmp_path: Path) -> None:
    with closing(sqlite3.connect(make_run(tmp_path))) as connection:
        connection.execute("CREATE INDEX mine ON pages(language, url)")
        connection.execute("CREATE TABLE notes(text TEXT UNIQUE)")
        connection.execute("ANALYZE")
    open_run(tmp_path, META, 1.0).connection.close()
    with reading(tmp_path) as connection:
        assert connection.execute("SELECT COUNT(*) FROM urls").fetchone() == (1000,)


def test_a_lock_holds_after_its_file_was_deleted(tmp_path: Path) -> None:
    with lock_run(tmp_path):
        (tmp_path / "run.lock").unlink()
        with pytest.raises(RunFolderError, match="another process is crawling in it"):
            lock_run(tmp_path)
    lock_run(tmp_path).close()


def test_a_lock_changes_no_file_to_which_it_is_a_link(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("own")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.lock").symlink_to(own)
    with pytest.raises(RunFolderError, match="cannot be used as a run folder"):
        lock_run(folder)
    assert own.read_text() == "own"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "focus"}, "strategy=bfs, not strategy=focus; use the same arguments, or"),
        ({"identify": "nfc"}, "identify=composite, not identify=nfc; use the same arguments, or"),
        ({"tolerance": 5}, "tolerance=10, not tolerance=5; use -a tolerance=10, or another folder"),
    ],
)
def test_a_run_of_another_crawl_is_refused_by_the_name_of_the_argument(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    open_run(tmp_path, META, 0.0).connection.close()
    with pytest.raises(RunFolderError, match=message):
        open_run(tmp_path, META | change, 1.0, identity=IDENTITY)


def test_a_killed_run_that_is_refused_keeps_its_log(tmp_path: Path) -> None:
    run = open_run(tmp_path, META, 0.0)
    copy = tmp_path / "copy"
    copy.mkdir()
    run.connection.execute("INSERT INTO counts VALUES ('something', 7)")
    for name in ("run.db", "run.db-wal"):
        (copy / name).write_bytes((tmp_path / name).read_bytes())
    run.connection.close()
    before = contents(copy)
    with pytest.raises(RunFolderError, match="holds a crawl with lang=de, not lang=fr"):
        open_run(copy, {**META, "lang": "fr"}, 1.0, identity=IDENTITY)
    assert {**contents(copy), "run.db-shm": b""} == {**before, "run.db-shm": b""}
    open_run(copy, META, 1.0).connection.close()
    assert rows(copy, "SELECT value FROM counts") == [(7,)]


@contextmanager
def unprivileged() -> Iterator[Path]:
    """Yield a folder that others may enter, and be one of these if the process may do anything."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def someone_else() -> Iterator[None]:
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_folder_that_may_not_be_written_is_refused_and_left_as_it_was(is_new: bool) -> None:
    with unprivileged() as folder:
        if not is_new:
            make_run(folder).chmod(0o444)
        before = contents(folder)
        folder.chmod(0o555)
        with someone_else():
            with pytest.raises(RunFolderError, match=r"cannot be used as a run folder: .*denied"):
                lock_run(folder)
            with pytest.raises(RunFolderError, match="cannot be used as a run folder: "):
                open_run(folder, META, 1.0)
        folder.chmod(0o755)
        assert contents(folder) == before


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """Let every write that makes a file longer fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_run_that_finds_no_room_leaves_nothing_behind(tmp_path: Path) -> None:
    with no_file_beyond(16_384), pytest.raises(RunFolderError, match="cannot be used"):
        open_run(tmp_path, META, 0.0)
    assert list(tmp_path.iterdir()) == []


def test_a_frontier_whose_file_is_damaged_while_it_is_open_says_so(tmp_path: Path) -> None:
    database = make_run(tmp_path)
    run = open_run(tmp_path, META, 1.0)
    frontier = SqliteFrontier(run.connection, FrontierRules(), now=1.0)
    lease = lease_now(frontier, 2.0)
    run.connection.execute("PRAGMA cache_size = 0")
    run.connection.execute("PRAGMA shrink_memory")
    with database.open("r+b") as file:
        file.seek(2048)
        file.write(b"\x5a" * (database.stat().st_size - 2048))
    with pytest.raises(StorageError, match=r"can no longer be read: .* malformed"):
        frontier.next(3.0)
    with pytest.raises(StorageError, match=r"can no longer be read: .* malformed"):
        frontier.robots("http://a.de")
    with pytest.raises(StorageError, match=r"can no longer be written: .* malformed"):
        frontier.admit(lease, Record(PAGE, 3.0, 200), now=3.0)
    run.connection.close()


def test_a_report_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    arguments = ("lang=de", "strategy=bfs", "web=sample", "pages=3")
    done = crawl(*arguments, JOBDIR=tmp_path, LANGFOCUS_SAMPLE_HOSTS=50)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    *_, last = done.stderr.splitlines()
    assert last.startswith("langfocus: the report cannot be written: ")
    assert last.endswith(f"; the same command with -s JOBDIR={tmp_path} continues")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    assert summary(tmp_path)["pages"] == 3


def test_a_system_without_locks_is_named_in_one_line() -> None:
    line = "import sys; sys.modules['fcntl'] = None; import langfocus.crawler.run.folder"
    done = run_alone(sys.executable, "-c", line, environment=environment(None))
    assert done.returncode == 1
    assert "CrawlError: crawls need a POSIX system" in done.stderr
