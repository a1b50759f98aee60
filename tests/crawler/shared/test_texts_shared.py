"""The merged texts of all workers of a shared crawl equal the texts of a single crawl."""

from pathlib import Path
from uuid import uuid4

import pytest

from langfocus.crawler.corpus.building import Corpus, TextOptions
from langfocus.crawler.corpus.export import export
from langfocus.crawler.corpus.texts import PartTexts
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.merging import merge
from langfocus.crawler.shared.stored import StoredCrawl
from tests.crawler.corpus.test_export import PAGES
from tests.support.keptpages import KeptPages
from tests.support.redisserver import RedisServer


def test_the_merged_texts_of_two_workers_are_those_of_one_crawl_byte_by_byte(
    redis_server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Corpus, "_in_parallel", lambda _, parts, number: map(PartTexts.make, parts))
    alone = KeptPages(tmp_path / "alone")
    alone.settle_all(PAGES)
    name = uuid4().hex
    workers = [KeptPages(tmp_path / f"w{n}", None, redis_server.url, name) for n in range(2)]
    for number, (url, body) in enumerate(PAGES):
        workers[number % 2].settle(url, body)
    for worker in workers:
        worker.kill()  # so that the last records are in Redis
    client = connect(redis_server.url)
    merge(tmp_path / "merged", [worker.folder for worker in workers], StoredCrawl(client, name))
    client.close()
    for kept in (False, True):
        options = TextOptions(keeps_copies=kept, keeps_repeated=kept)
        for run in ("alone", "merged"):
            export([tmp_path / run], tmp_path / f"{run}.txt", "txt", options)
        assert (tmp_path / "alone.txt").read_bytes() == (tmp_path / "merged.txt").read_bytes()
    assert (tmp_path / "merged.txt").stat().st_size > 1000
