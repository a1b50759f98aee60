"""A large file of seeds is queued in batches while the crawl fetches."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest

from benchmarks.robotsstore import Store
from langfocus.crawler.errors import SettingError, StorageError
from langfocus.crawler.frontier.base import Record
from langfocus.crawler.session import queue as queueing
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.sources import seeds, unread_seeds
from langfocus.crawler.sources.seeds import SeedFile, first_of, read_seed_file
from langfocus.crawler.sources.unread_seeds import UnreadSeeds
from langfocus.crawler.strategies.links import SEED, Link
from tests.support.commandline import call
from tests.support.keptpages import begun
from tests.support.redisserver import RedisServer

NUMBER = 60
LINE = "http://seed{:02}.de/\n"
URLS = [LINE[:-1].format(n) for n in range(NUMBER)]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first block has 10 seeds, a batch 4; seeds are read while fewer than 6 are queued."""
    size = len(LINE.format(0))
    monkeypatch.setattr(seeds, "FIRST_BYTES", 10 * size + 1)
    monkeypatch.setattr(unread_seeds, "BATCH_BYTES", 4 * size + 1)
    monkeypatch.setattr(queueing, "MOST_WAITING", 6)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "many.txt"
    path.write_text("".join(LINE.format(n) for n in range(NUMBER)))
    return path


def settle(crawl: Crawl, most: int = 1000) -> list[str]:
    """Settle up to so many URLs; return them in their order."""
    found: list[str] = []
    while len(found) < most and (lease := crawl.queue.next()):
        crawl.visitor.refused(lease, "robots")
        found.append(lease.url)
    return found


def kill(crawl: Crawl) -> None:
    crawl.run.connection.close()
    crawl.resources.close()


def copies(folder: Path) -> list[Path]:
    return list(folder.glob("seeds-*.txt"))


@pytest.mark.parametrize("strategy", ["bfs", "focus", "random"])
def test_all_seeds_of_a_large_file_are_fetched_once(
    strategy: str, file: Path, tmp_path: Path
) -> None:
    crawl = begun(tmp_path / "run", seeds=str(file), strategy=strategy)
    assert crawl.queue.counts().queued == 10
    found = settle(crawl)
    assert (sorted(found), copies(tmp_path / "run")) == (URLS, [])
    assert not crawl.queue.has_more()
    kill(crawl)


def test_few_seeds_wait_at_a_time(file: Path, tmp_path: Path) -> None:
    crawl = begun(tmp_path / "run", seeds=str(file))
    queued = []
    while settle(crawl, 1):
        queued.append(crawl.queue.counts().queued)
    assert max(queued) < 10 + 4
    kill(crawl)


def test_a_random_order_of_late_seeds_is_the_same_every_time(file: Path, tmp_path: Path) -> None:
    orders = []
    for name in ("one", "two"):
        crawl = begun(tmp_path / name, seeds=str(file), strategy="random")
        orders.append(settle(crawl))
        kill(crawl)
    assert orders[0] == orders[1] != URLS


@pytest.mark.parametrize("is_file_there", [True, False])
def test_a_killed_crawl_goes_on_where_it_stood(
    is_file_there: bool, file: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    crawl = begun(run, seeds=str(file))
    found = settle(crawl, 21)
    kill(crawl)
    given = str(file) if is_file_there else URLS[0]
    if not is_file_there:
        file.unlink()
    crawl = begun(run, seeds=given)
    assert crawl.queue.has_more()
    assert crawl.queue.counts().queued < 15
    found += settle(crawl)
    assert found == URLS
    kill(crawl)
    crawl = begun(run, seeds=given)
    assert (settle(crawl), copies(run)) == ([], [])
    kill(crawl)


def test_a_batch_that_was_queued_just_before_a_kill_is_queued_once(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = begun(tmp_path / "run", seeds=str(file))
    found = settle(crawl, 9)

    def killed(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(crawl.frontier, "set_robots", killed)
    with pytest.raises(KeyboardInterrupt):
        settle(crawl)
    monkeypatch.undo()
    kill(crawl)
    with pytest.MonkeyPatch.context() as again:
        again.setattr(unread_seeds, "BATCH_BYTES", 4 * len(LINE.format(0)) + 1)
        again.setattr(queueing, "MOST_WAITING", 6)
        crawl = begun(tmp_path / "run", seeds=URLS[0])
        found += settle(crawl)
    assert sorted(found) == URLS
    kill(crawl)


def test_links_do_not_keep_the_last_seeds_out(file: Path, tmp_path: Path) -> None:
    crawl = begun(tmp_path / "run", seeds=str(file))
    links = crawl.visitor.links([f"http://link{n}.de/" for n in range(200)], SEED)
    lease = crawl.queue.next()
    assert lease is not None
    crawl.frontier.admit(lease, Record("redirect", 0.0), links, now=crawl.clock())
    settle(crawl, 47)
    assert crawl.queue.unread
    settle(crawl, 10)
    assert (bool(crawl.queue.unread), crawl.queue.counts().queued) == (False, 202)
    kill(crawl)


def test_a_crawl_of_expected_urls_reads_all_seeds_before_it_ends(
    file: Path, tmp_path: Path
) -> None:
    crawl = begun(tmp_path / "run", seeds=str(file), strategy="cctld", expected="only")
    low = [Link(f"http://link{n}.fr/x", 0.0) for n in range(20)]
    lease = crawl.queue.next()
    assert lease is not None
    crawl.frontier.admit(lease, Record("redirect", 0.0), low, now=crawl.clock())
    assert sorted([lease.url, *settle(crawl)]) == URLS
    assert (crawl.queue.has_more(), crawl.queue.goal_reached()) == (False, "expected")
    kill(crawl)


def test_seeds_that_are_named_again_do_not_end_a_crawl(file: Path, tmp_path: Path) -> None:
    file.write_text(LINE.format(0) * 100 + LINE.format(1))
    crawl = begun(tmp_path / "run", seeds=str(file))
    found = []
    while crawl.queue.has_more():
        assert crawl.queue.ready_at() is not None
        found += settle(crawl)
    assert found == URLS[:2]
    kill(crawl)


def test_blocked_seeds_and_those_of_a_take_down_are_not_fetched(file: Path, tmp_path: Path) -> None:
    run, block = tmp_path / "run", tmp_path / "block.txt"
    block.write_text("seed50.de\n")
    file.write_text("# seed51.de wants this\n" + file.read_text())
    crawl = begun(run, seeds=str(file), block=str(block))
    found = settle(crawl, 3)
    crawl.close("finished")
    call("takedown", str(run), "seed51.de", "seed02.de")
    (copy,) = copies(run)
    assert copy.stat().st_size == file.stat().st_size
    assert ("seed51" in copy.read_text(), "seed52" in copy.read_text()) == (False, True)
    crawl = begun(run, seeds=str(file), block=str(block))
    found += settle(crawl)
    assert sorted(found) == [url for n, url in enumerate(URLS) if n not in (50, 51)]
    kill(crawl)


def test_a_malformed_line_late_in_a_file_is_named_before_the_crawl(file: Path) -> None:
    with file.open("a") as more:
        more.write("\nno url\n")
    with pytest.raises(SettingError, match=f"many.txt: line {NUMBER + 2} is not an http"):
        read_seed_file(file, "-a seeds")


def test_a_file_of_one_block_is_a_list(file: Path) -> None:
    few = "".join(LINE.format(n) for n in range(10))
    file.write_text(few)
    assert read_seed_file(file, "-a seeds") == tuple(URLS[:10])
    file.write_text(few + "#" * 200)
    assert first_of(read_seed_file(file, "-a seeds")) == tuple(URLS[:10])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blocks_end_with_lines_of_every_kind(end: str, file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + end.join(URLS).encode())
    read = read_seed_file(file, "-a seeds")
    assert isinstance(read, SeedFile)
    assert read.number == NUMBER
    crawl = begun(tmp_path / "run", seeds=str(file))
    assert settle(crawl) == URLS
    kill(crawl)


def test_a_file_that_changes_after_its_check_is_refused(file: Path, tmp_path: Path) -> None:
    checked = read_seed_file(file, "-a seeds")
    assert isinstance(checked, SeedFile)
    crawl = begun(tmp_path / "run")
    file.write_text(file.read_text().replace("seed59", "seed60"))
    with pytest.raises(StorageError, match="changed after it was checked"):
        crawl.queue.unread.add(checked, 0.0)
    assert copies(tmp_path / "run") == []
    kill(crawl)


@pytest.mark.parametrize("shards", [1, 2])
def test_the_seeds_of_a_worker_that_ended_are_read_by_another(
    shards: int, redis_server: RedisServer, file: Path, tmp_path: Path
) -> None:
    shared = {
        "LANGFOCUS_FRONTIER": redis_server.url,
        "LANGFOCUS_CRAWL": uuid4().hex,
        "LANGFOCUS_SHARDS": shards,
    }
    seconds = count()

    def joined(name: str) -> Crawl:
        clock = CrawlClock(lambda: 1e9, elapsed=lambda: float(next(seconds)))
        return begun(tmp_path / name, clock, shared, seeds=str(file))

    one, two = joined("one"), joined("two")
    found = settle(one, 15)
    one.close("shutdown")
    assert two.queue.has_more()
    while two.queue.unread or two.queue.counts().queued:
        found += settle(two)
    assert sorted(found) == URLS
    assert copies(tmp_path / "two") == []
    kill(two)


def test_a_worker_waits_five_seconds_for_one_that_reads(file: Path, tmp_path: Path) -> None:
    store = Store()
    checked = read_seed_file(file, "-a seeds")
    assert isinstance(checked, SeedFile)
    readers = {}
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        readers[name] = UnreadSeeds(tmp_path / name, store, name)
        readers[name].add(checked, 0.0)

    def read(name: str, now: float) -> list[str]:
        found: list[str] = []

        def queue(urls: Sequence[str]) -> int:
            found.extend(urls)
            return len(urls)

        readers[name].read(queue, now, is_low=True)
        return found

    assert [read("a", 1.0), read("b", 5.9), read("a", 5.9)] == [URLS[10:14], [], URLS[14:18]]
    assert [read("b", 10.8), read("b", 10.9), read("a", 11.0)] == [[], URLS[18:22], []]
