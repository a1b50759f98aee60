"""The texts of a shared crawl: all workers' texts, merged, are those of one crawl."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from crawler.configuration import CrawlSettings
from crawler.crawl import Crawl, open_crawl
from crawler.options import CrawlOptions
from crawler.report.harvest import summarise
from crawler.shared.merging import merge
from crawler.shared.stored import StoredCrawl, connect
from crawler.strategies import SEED
from crawler.visit import Download
from langfocus import Run
from tests.crawler.outputs.test_crawl_texts import german, html
from tests.support.crawls import rows
from tests.support.redisserver import RedisServer
from tests.support.smallweb import SENTENCES

PAGES = [
    ("http://a.de/1", html("Menu der Seite", german(1))),
    ("http://b.de/2", html(german(1) + " anders")),
    ("http://a.de/3", html("Menu der Seite", german(3))),
    ("http://c.de/4", html(german(4), SENTENCES["en"] * 2)),
    ("http://a.de/5", html("Menu der Seite", german(5))),
    ("http://d.de/6", html(german(4), SENTENCES["en"] * 2)),
    ("http://e.de/7", html(SENTENCES["en"] * 9)),
]


class Workers:
    """Some workers that settle pages in turn; each has its folder."""

    def __init__(self, folder: Path, frontier: str | None = None, number: int = 1) -> None:
        self.folders = [folder / f"w{n}" for n in range(number)]
        self.name = uuid4().hex if frontier else None
        options = CrawlOptions("de", strategy="bfs", host_cap=0, web="sample")
        self.crawls: list[Crawl] = [
            open_crawl(
                options,
                CrawlSettings(
                    path, delay_s=0, sample_hosts=50, frontier=frontier, crawl_name=self.name
                ),
            )
            for path in self.folders
        ]

    def settle(self, pages: Sequence[tuple[str, bytes]]) -> None:
        for number, (url, body) in enumerate(pages):
            crawl = self.crawls[number % len(self.crawls)]
            crawl.frontier.seed(crawl.visitor.links([url], SEED), crawl.clock())
            lease = crawl.frontier.next(crawl.clock())
            assert lease is not None
            crawl.visitor.answered(lease, Download(url, 200, body, "text/html; charset=utf-8"))

    def kill(self) -> None:
        for crawl in self.crawls:
            crawl.run.connection.close()
            crawl.lock.close()

    def end(self) -> None:
        for crawl in self.crawls:
            crawl.close("finished")


@pytest.fixture
def stored(redis_server: RedisServer) -> Iterator[Any]:
    clients = []

    def read(name: str) -> StoredCrawl:
        clients.append(connect(redis_server.url))
        return StoredCrawl(clients[-1], name)

    yield read
    for client in clients:
        client.close()


def items(folder: Path) -> list[dict[str, object]]:
    return [{**asdict(item), "fetched_at": 0.0} for item in Run(folder).texts()]


@pytest.fixture
def alone(tmp_path: Path) -> list[dict[str, object]]:
    """The items of a crawl without other workers."""
    crawl = Workers(tmp_path / "alone")
    crawl.settle(PAGES)
    crawl.end()
    return items(crawl.folders[0])


def test_the_merged_texts_of_three_workers_are_those_of_one_crawl(
    alone: list[dict[str, object]], redis_server: RedisServer, stored: Any, tmp_path: Path
) -> None:
    workers = Workers(tmp_path, redis_server.url, number=3)
    workers.settle(PAGES)
    workers.kill()  # so that all texts are in Redis
    merged = tmp_path / "merged"
    merge(merged, workers.folders, stored(workers.name))
    assert items(merged) == alone
    assert [item["duplicate_of"] for item in alone].count(None) == 4
    for folder in workers.folders:
        assert rows(folder, "SELECT * FROM texts") == []


def test_texts_move_from_redis_into_the_folder_of_their_worker(
    alone: list[dict[str, object]], redis_server: RedisServer, stored: Any, tmp_path: Path
) -> None:
    workers = Workers(tmp_path, redis_server.url, number=2)
    workers.settle(PAGES)
    workers.end()
    merge(tmp_path / "merged", workers.folders)
    assert items(tmp_path / "merged") == alone
    own = [item for folder in workers.folders for item in items(folder)]
    assert sorted(str(item["url"]) for item in own) == sorted(str(item["url"]) for item in alone)
    assert all(item["duplicate_of"] is None for item in own)
    corpus = summarise(tmp_path / "merged").corpus
    assert (corpus.texts, corpus.duplicates) == (6, 2)
    assert rows(tmp_path / "merged", "SELECT * FROM bands") == []


@pytest.mark.parametrize("text", [[1, "!"], [1, "eJw="], [-1, ""], ["1", ""], 7])
def test_a_record_with_a_damaged_text_is_set_aside(
    redis_server: RedisServer, tmp_path: Path, text: object
) -> None:
    workers = Workers(tmp_path, redis_server.url)
    workers.settle(PAGES[:1])
    client: Any = connect(redis_server.url)
    worker = workers.crawls[0].worker
    assert worker is not None
    key = f"{{{workers.name}}}:records:{worker.name}"
    row = json.loads(client.xrange(key)[0][1]["row"])
    client.xadd(key, {"number": 2, "queued": 0, "row": json.dumps({**row, "text": text})})
    client.close()
    workers.end()
    [folder] = workers.folders
    assert len(items(folder)) == 1
    assert rows(folder, "SELECT COUNT(*) FROM set_aside") == [(1,)]


def test_a_damaged_text_in_a_folder_stays_as_it_is(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    workers = Workers(tmp_path, redis_server.url)
    workers.settle(PAGES[:3])
    crawl = workers.crawls[0]
    assert crawl.worker is not None
    crawl.worker.write_down()
    crawl.run.connection.execute("UPDATE texts SET content = x'00' WHERE page = 1")
    workers.end()
    merge(tmp_path / "merged", workers.folders)
    texts = Run(tmp_path / "merged").texts()
    assert [item.url for item in texts] == ["http://b.de/2", "http://a.de/3"]
