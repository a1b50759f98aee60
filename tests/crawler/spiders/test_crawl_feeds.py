"""The items of a crawl in Scrapy's feeds, with the texts of an item pipeline and without."""

import json
from pathlib import Path
from typing import Any

from crawler.corpus.building import TextOptions
from crawler.corpus.export import export
from crawler.corpus.item import FIELDS
from tests.support.crawls import crawl, rows, summary

PIPELINE = {"crawler.spiders.text_pipeline.TextPipeline": 500}
OF_TEXT = {"title", "text", "words", "other_paragraphs"}


def crawled(folder: Path, **settings: Any) -> None:
    done = crawl(
        *("lang=de", "web=sample", "words=900"),
        JOBDIR=folder / "run",
        LANGFOCUS_SAMPLE_HOSTS=300,
        CONCURRENT_REQUESTS=1,
        **settings,
    )
    assert done.returncode == 0, done.stderr
    assert summary(folder / "run")["finish_reason"] == "words"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_crawl_stops_at_its_words_and_its_feeds_have_the_texts_of_its_export(
    tmp_path: Path,
) -> None:
    feeds = {tmp_path / f"feed.{kind}": {"format": kind} for kind in ("jsonl", "parquet")}
    crawled(
        tmp_path,
        LANGFOCUS_LINKS=True,
        ITEM_PIPELINES=json.dumps(PIPELINE),
        FEEDS=json.dumps({str(path): told for path, told in feeds.items()}),
    )
    read_words = rows(tmp_path / "run", "SELECT words_read FROM pages WHERE language = 'de'")
    words = [number for (number,) in read_words]
    assert sum(words[:-1]) < 900 <= sum(words)
    feed = read(tmp_path / "feed.jsonl")
    assert all(list(item) == list(FIELDS) for item in feed)
    assert all(item["links"] is not None for item in feed if item["status"] == 200)
    kept = TextOptions(keeps_copies=True, keeps_repeated=True)
    export([tmp_path / "run"], tmp_path / "x.jsonl", "jsonl", kept)
    texts = {item["url"]: {name: item[name] for name in OF_TEXT} for item in feed if item["words"]}
    exported = {item["url"]: item for item in read(tmp_path / "x.jsonl")}
    assert texts == {url: {name: exported[url][name] for name in OF_TEXT} for url in exported}
    assert all(item["text"] is None for item in feed if not item["is_relevant"])
    from pyarrow import parquet  # type: ignore[import-untyped]

    assert parquet.read_table(tmp_path / "feed.parquet").to_pylist() == feed


def test_without_the_pipeline_or_the_warc_files_items_have_no_text(tmp_path: Path) -> None:
    feed = {tmp_path / "feed.jsonl": {"format": "jsonl"}}
    crawled(
        tmp_path,
        LANGFOCUS_WARC=False,
        ITEM_PIPELINES=json.dumps(PIPELINE),
        FEEDS=json.dumps({str(path): told for path, told in feed.items()}),
    )
    assert {item["text"] for item in read(tmp_path / "feed.jsonl")} == {None}
    assert not list((tmp_path / "run").glob("pages-*"))
