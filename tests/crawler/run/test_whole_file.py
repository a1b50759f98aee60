"""Files that are complete or missing, and files that end."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from langfocus.classifiers.arrayfile import read_arrays
from langfocus.classifiers.errors import LangfocusError
from langfocus.classifiers.geoip import country_lookup
from langfocus.crawler.corpus.sources import source_of
from langfocus.crawler.politeness.blocking import Blocking
from langfocus.crawler.report.labels import read_labels
from langfocus.crawler.run.folder import lock_run
from langfocus.crawler.run.whole_file import read_regular, replacing
from langfocus.crawler.sources.archive import answers
from langfocus.crawler.sources.hosts import read_hosts
from langfocus.crawler.sources.seeds import read_seeds
from langfocus.crawler.sources.warc_reader import is_warc


def test_a_file_is_replaced_after_the_block(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as new:
        new.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_could_not_be_written_completely_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_half() -> None:
        with replacing(path) as new:
            new.write_text("half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_stays_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "no" / "a.txt") as new:
        new.write_text("x")
    assert list(tmp_path.iterdir()) == []


def ended_process() -> int:
    """Return the number of a process that has ended."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def test_the_unfinished_file_of_a_killed_process_is_deleted_by_the_next_writer(
    tmp_path: Path,
) -> None:
    dead, alive = ended_process(), os.getppid()
    for name in (f".a.txt.{dead}", f".a.txt.{dead}-wal", f".a.txt.{alive}", f".a.txt.b.{dead}"):
        (tmp_path / name).touch()
    with replacing(tmp_path / "a.txt") as new:
        new.write_text("new")
    left = {f".a.txt.{alive}", f".a.txt.b.{dead}", "a.txt"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_whoever_opens_a_run_next_deletes_what_killed_processes_left(tmp_path: Path) -> None:
    dead = ended_process()
    for name in (f".index.cdxj.{dead}", f".run.db.{dead}-shm", ".pages-1-2.warc.gz.part", ".own"):
        (tmp_path / name).touch()
    with lock_run(tmp_path):
        assert {path.name for path in tmp_path.iterdir()} == {"run.lock", ".own"}


def test_a_link_in_the_place_of_an_unfinished_file_is_not_followed(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("own")
    (tmp_path / f".a.txt.{os.getpid()}").symlink_to(own)
    with replacing(tmp_path / "a.txt") as new:
        new.write_text("new")
    assert (own.read_text(), (tmp_path / "a.txt").read_text()) == ("own", "new")


@pytest.mark.parametrize(
    "read",
    [
        lambda path: read_seeds(str(path), "-a seeds"),
        Blocking,
        lambda path: read_hosts(path, "-a hosts"),
        read_labels,
        lambda path: list(answers(path)),
        lambda path: list(answers(path.with_suffix(".wacz"))),
        lambda path: source_of(path, None),
        is_warc,
        country_lookup,
        lambda path: read_arrays(path, "a"),
    ],
    ids="seeds block hosts labels archive package export is_warc geoip model".split(),
)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_list_comes_from_a_file_that_ends(
    read: Callable[[Path], object], kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "list"
    for each in (path, path.with_suffix(".wacz")):
        if kind == "pipe":
            os.mkfifo(each)
        else:
            each.symlink_to("/dev/zero")
    with pytest.raises((LangfocusError, OSError), match="not a regular file"):
        read(path)


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(1 << 20))
    assert read_regular(path, 1 << 20) == bytes(1 << 20)
    path.write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(OSError, match="it has more than 1 MiB"):
        read_regular(path, 1 << 20)
