"""Folders of workers become one run, whatever they hold twice and in whatever order they come."""

import tempfile
from collections.abc import Sequence
from contextlib import closing
from itertools import permutations
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.crawler.errors import RunFolderError
from langfocus.crawler.frontier.base import PAGE, Lease, Record
from langfocus.crawler.run.folder import connect, open_run
from langfocus.crawler.run.page_row import insert_pages, page_values
from langfocus.crawler.shared.merging import merge
from langfocus.crawler.url import fingerprint
from langfocus.testing.frontiers import META
from tests.support.crawls import rows


class Kept(NamedTuple):
    """A page of a worker's folder: its number, the number of its URL, and when it was fetched."""

    id: int
    url: int
    fetched_at: float


def share(folder: Path, pages: Sequence[Kept], started_at: float = 0.0) -> Path:
    """Make the folder of a worker with these pages."""
    run = open_run(folder, {**META, "shared": "crawl"}, started_at)
    run.connection.executemany(insert_pages(), [values(page, folder) for page in pages])
    run.connection.execute("INSERT INTO counts VALUES ('stored', ?)", (len(pages),))
    run.end_session(started_at + 10.0, folder.name)
    run.connection.close()
    return folder


def values(page: Kept, folder: Path) -> dict[str, object]:
    host = f"h{page.url}.de"
    lease = Lease(fingerprint(f"http://{host}/"), f"http://{host}/", host, 0.0, 0, 0, 0)
    record = Record(PAGE, page.fetched_at, 200, language="de", method=folder.name)
    return page_values(lease, record) | {"id": page.id, "queued": 0}


def content(folder: Path) -> list[list[tuple[object, ...]]]:
    tables = ("pages", "counts", "sessions", "meta")
    return [rows(folder, f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]


PAGES = st.lists(
    st.builds(
        Kept,
        st.integers(1, 12) | st.just(1 << 53),
        st.integers(0, 15),
        st.sampled_from([0.0, 1.0, 2.0]),
    ),
    unique_by=(lambda page: page.id, lambda page: page.url),
    max_size=8,
)


@settings(max_examples=12, deadline=None)
@given(st.lists(PAGES, min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_folders_with_any_overlap_become_the_same_run_in_any_order(
    folders: list[list[Kept]], random: Random
) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        shares = [share(place / f"w{n}", pages, float(n % 2)) for n, pages in enumerate(folders)]
        merged = merge(place / "all", shares)
        urls = {page.url for pages in folders for page in pages}
        assert merged.settled == len(urls)
        kept = rows(place / "all", "SELECT id, url, fetched_at FROM pages ORDER BY id")
        assert sorted(url for _, url, _ in kept) == sorted(f"http://h{url}.de/" for url in urls)
        first = {
            url: min(page.fetched_at for pages in folders for page in pages if page.url == url)
            for url in urls
        }
        assert {url: at for _, url, at in kept} == {
            f"http://h{u}.de/": at for u, at in first.items()
        }
        numbers = {page.id for pages in folders for page in pages}
        assert merged.missing == max(numbers, default=0) - len(numbers)
        before = content(place / "all")
        random.shuffle(shares)
        assert merge(place / "all", shares) == merged
        assert content(place / "all") == before


def test_pages_are_numbered_in_the_order_of_their_fetches(tmp_path: Path) -> None:
    """After a power cut the server gave the numbers 3 and 4 again."""
    one = share(tmp_path / "w1", [Kept(1, 1, 1.0), Kept(3, 3, 3.0), Kept(4, 4, 4.0)])
    two = share(
        tmp_path / "w2", [Kept(2, 2, 2.0), Kept(3, 5, 5.0), Kept(4, 6, 6.0), Kept(5, 7, 7.0)]
    )
    for number, shares in enumerate(permutations([one, two])):
        folder = tmp_path / f"all{number}"
        assert merge(folder, shares) == (7, 0)
        kept = rows(folder, "SELECT id, url FROM pages ORDER BY id")
        assert kept == [(number, f"http://h{number}.de/") for number in range(1, 8)]


def test_a_folder_with_a_text_that_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    one, two = (share(tmp_path / f"w{n}", [Kept(n, n, 0.0)]) for n in (1, 2))
    with closing(connect(two / "run.db")) as connection:
        connection.execute("UPDATE pages SET language = CAST(x'ff' AS TEXT)")
    with pytest.raises(RunFolderError, match=f"{two}: run.db is damaged: .*restore a copy"):
        merge(tmp_path / "all", [one, two])
    assert not (tmp_path / "all" / "run.db").exists()


def test_a_folder_that_cannot_be_read_is_named_with_the_real_error(tmp_path: Path) -> None:
    one, two = (share(tmp_path / f"w{n}", [Kept(n, n, 0.0)]) for n in (1, 2))
    database = two / "run.db"
    content = database.read_bytes()
    database.write_bytes(content[:4096] + b"\x5a" * (len(content) - 4096))
    with pytest.raises(RunFolderError, match=rf"{database} cannot be read as a run: .*malformed"):
        merge(tmp_path / "all", [one, two])
    assert not (tmp_path / "all" / "run.db").exists()
