"""The items of a crawl in Scrapy's feeds, also in formats that programs execute or reject."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

import pytest
from scrapy.exporters import BaseItemExporter
from scrapy.utils.misc import load_object

from langfocus.crawler import settings
from langfocus.crawler.corpus.item import FIELDS, PageItem
from tests.support.crawls import finished, rows, summary


def page(title: str, text: str) -> PageItem:
    values: dict[str, Any] = {field.name: None for field in fields(PageItem)}
    other = [{"language": "en", "text": text}]
    return PageItem(**{**values, "title": title, "text": text, "other_paragraphs": other})


def written(kind: str, item: PageItem) -> str:
    file = io.BytesIO()
    make: Callable[[IO[bytes]], BaseItemExporter] = load_object(str(settings.FEED_EXPORTERS[kind]))
    feed = make(file)
    feed.start_exporting()
    feed.export_item(item)
    feed.finish_exporting()
    return file.getvalue().decode()


@pytest.mark.parametrize("title", ["=cmd|'/c calc'!A0", "+1", "-1", "@SUM(1)", "\t=1"])
def test_no_cell_of_a_csv_feed_begins_like_a_formula(title: str) -> None:
    (row,) = csv.DictReader(io.StringIO(written("csv", page(title, "a"))))
    assert (row["title"], row["text"]) == (f"'{title}", "a")


def test_a_crawl_stops_at_its_words_and_its_feed_has_the_fields_of_an_export(
    tmp_path: Path,
) -> None:
    feed = tmp_path / "feed.jsonl"
    finished(
        *("lang=de", "web=sample", "words=900"),
        JOBDIR=tmp_path / "run",
        LANGFOCUS_SAMPLE_HOSTS=300,
        CONCURRENT_REQUESTS=1,
        LANGFOCUS_LINKS=True,
        LANGFOCUS_WARC=False,
        FEEDS=json.dumps({str(feed): {"format": "jsonl"}}),
    )
    assert summary(tmp_path / "run")["finish_reason"] == "words"
    read_words = rows(tmp_path / "run", "SELECT words_read FROM pages WHERE language = 'de'")
    words = [number for (number,) in read_words]
    assert sum(words[:-1]) < 900 <= sum(words)
    items = [json.loads(line) for line in feed.read_text(encoding="utf-8").splitlines()]
    recorded = rows(tmp_path / "run", "SELECT url, language FROM pages WHERE outcome = 'page'")
    assert [(item["url"], item["language"]) for item in items] == recorded
    assert all(list(item) == list(FIELDS) for item in items)
    assert all(item["links"] is not None for item in items if item["status"] == 200)
    assert {item["text"] for item in items} == {None}
    assert not list((tmp_path / "run").glob("pages-*"))
