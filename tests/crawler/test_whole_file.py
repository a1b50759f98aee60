"""Files that are complete or missing, and files that end."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from langfocus.crawler.errors import SettingError
from langfocus.crawler.politeness.blocking import Blocking
from langfocus.crawler.report.labels import read_labels
from langfocus.crawler.sources.hosts import read_hosts
from langfocus.crawler.sources.seeds import read_seeds
from langfocus.crawler.whole_file import read_regular, replacing


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
    ],
    ids=["seeds", "block", "hosts", "labels"],
)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_list_comes_from_a_file_that_ends(
    read: Callable[[Path], object], kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "list" if kind == "pipe" else Path("/dev/zero")
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(SettingError, match="it is not a regular file"):
        read(path)


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(1 << 20))
    assert read_regular(path, 1 << 20) == bytes(1 << 20)
    path.write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(OSError, match="it has more than 1 MiB"):
        read_regular(path, 1 << 20)
