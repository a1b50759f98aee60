"""The WARC files of all workers are in the folder of the merged run."""

from pathlib import Path

import pytest

from crawler.outputs.archived import gather
from crawler.outputs.package import write_index
from tests.crawler.outputs.test_warc import Kept, answers, lease


def worker(folder: Path, *numbers: int, unsettled: int | None = None) -> Path:
    """A worker's folder with settled exchanges, and one whose page is not in the folder."""
    kept = Kept(folder, worker=folder.name)
    for number in numbers:
        kept.settle(number)
    if unsettled is not None:
        kept.write_unsettled(unsettled)
    kept.end()
    return folder


def merged(folder: Path, pages: list[int], shares: list[Path]) -> Kept:
    run = Kept(folder)
    for number in pages:
        run.note(number)
    gather(run.connection, folder, shares)
    return run


def test_a_merged_run_has_the_exchanges_and_the_files_of_all_workers(tmp_path: Path) -> None:
    shares = [worker(tmp_path / "w1", 1, 2), worker(tmp_path / "w2", 3), tmp_path / "w3"]
    worker(shares[2])
    run = merged(tmp_path / "all", [1, 2, 3], shares)
    urls = [lease(number).url for number in (1, 2, 3)]
    assert sorted(run.rows()) == sorted(answers(run.folder)) == urls
    files = [path for share in shares[:2] for path in share.glob("pages-*")]
    assert all((run.folder / path.name).samefile(path) for path in files)
    run.end()
    assert write_index(run.folder) == 3


@pytest.mark.parametrize("pages", [[1, 2], [1]])
def test_the_last_exchange_of_a_dead_worker_counts_if_its_page_is_settled(
    tmp_path: Path, pages: list[int]
) -> None:
    """The record of the page is in Redis until the worker comes back."""
    share = worker(tmp_path / "w1", 1, unsettled=2)
    run = merged(tmp_path / "all", pages, [share])
    assert run.rows() == [lease(number).url for number in pages]
    run.end()


def test_the_last_exchange_of_a_dead_worker_is_that_of_the_worker_that_settled_the_url(
    tmp_path: Path,
) -> None:
    shares = [worker(tmp_path / "w1", 1, unsettled=2), worker(tmp_path / "w2", 2)]
    run = merged(tmp_path / "all", [1, 2], shares)
    assert run.rows() == [lease(1).url, lease(2).url]
    run.end()


def test_files_are_copied_where_no_link_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("another device")

    monkeypatch.setattr("crawler.outputs.archived.os.link", refuse)
    share = worker(tmp_path / "w1", 1)
    for _ in range(2):
        run = merged(tmp_path / "all", [], [share])
        assert answers(run.folder) == [lease(1).url]
        run.connection.execute("DELETE FROM archived")
        run.archive.close()
