"""Requests of a spider's own code on the disk."""

import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy import Request, Selector

from langfocus.crawler.errors import StorageError
from langfocus.crawler.run.folder import REQUESTS
from langfocus.crawler.spiders.asked import AskedRequests, is_plain
from langfocus.crawler.url import fingerprint

URL = "http://a.example/"
RAN: list[str] = []


class Mine(scrapy.Item):
    text = scrapy.Field()


class Own(scrapy.Spider):
    name = "own"

    def detail(self, response: Any) -> None: ...


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[AskedRequests]:
    with closing(AskedRequests(tmp_path, Own())) as found:
        yield found


def again(tmp_path: Path) -> Request | None:
    with closing(AskedRequests(tmp_path, Own())) as found:
        return found.get(fingerprint(URL))


def test_a_request_is_the_same_in_the_next_session(asked: AskedRequests, tmp_path: Path) -> None:
    values = {"item": Mine(text="x"), "at": datetime(2026, 1, 2, tzinfo=UTC), "n": {1, 2}}
    spider: Any = asked._spider
    request = Request(URL, spider.detail, cb_kwargs=values, meta={"k": [1]}, headers={"X": "y"})
    asked.put(URL, request)
    asked.put(URL, Request(URL, spider.detail, cb_kwargs={"a": "later one"}))
    asked.close()
    found = again(tmp_path)
    assert found is not None
    assert found.to_dict(spider=spider)["callback"] == "detail"
    assert (found.cb_kwargs, found.meta, found.headers[b"X"]) == (values, {"k": [1]}, b"y")


def test_what_cannot_be_written_stays_in_memory_with_one_warning(
    asked: AskedRequests, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    for url in (URL, "http://b.example/"):
        asked.put(url, Request(url, callback=print))
    assert asked.get(fingerprint(URL)) is not None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert again(tmp_path) is None
    asked.end(fingerprint(URL))
    assert asked.get(fingerprint(URL)) is None


class Harm:
    def __reduce__(self) -> Any:
        return RAN.append, ("harm",)


@pytest.mark.parametrize("data", [pickle.dumps(Harm()), b"", b"cos\nsystem\n(S'true'\ntR.", b"x"])
def test_a_folder_of_a_stranger_runs_no_code(
    data: bytes, asked: AskedRequests, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    asked.put(URL, Request(URL, meta={"a": 1}))
    asked.close()
    with sqlite3.connect(tmp_path / REQUESTS) as connection:
        connection.execute("UPDATE requests SET request = ?", (data,))
    connection.close()
    assert again(tmp_path) is None
    assert "a request that the spider made cannot be read again" in caplog.text
    assert not RAN


def test_only_a_url_alone_is_plain() -> None:
    assert is_plain(Request(URL, meta={"depth": 3}, priority=5, dont_filter=True))
    for more in (
        {"callback": print},
        {"meta": {"a": 1}},
        {"headers": {"A": "b"}},
        {"cookies": {"a": "b"}},
    ):
        assert not is_plain(Request(URL, **more))


def test_a_file_that_cannot_be_written_is_a_storage_error_in_every_step(
    asked: AskedRequests, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.put(URL, Request(URL, headers={"X": "y"}))
    assert asked._connection is not None
    asked._connection.execute("DROP TABLE requests")
    monkeypatch.setattr("langfocus.crawler.spiders.asked._WRITTEN_AFTER_S", -1.0)
    with pytest.raises(StorageError, match="no such table"):
        asked.end(fingerprint(URL))
    with pytest.raises(StorageError, match="no such table"):
        asked.put(URL, Request(URL, headers={"X": "y"}))


def test_the_request_of_a_crawl_spider_keeps_its_callback(
    asked: AskedRequests, tmp_path: Path
) -> None:
    spider: Any = asked._spider
    text = Selector(text="<a>Wald</a>").root.xpath("//a/text()")[0]
    asked.put(URL, Request(URL, spider.detail, meta={"rule": 0, "link_text": text}))
    asked.close()
    found = again(tmp_path)
    assert found is not None
    assert (found.meta["link_text"], type(text).__name__) == ("Wald", "_ElementUnicodeResult")
