"""Feeds of pages whose texts come from the Web, in formats that programs execute or reject."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import fields
from typing import IO, Any
from xml.etree import ElementTree as ET

import pytest
from scrapy.exporters import BaseItemExporter
from scrapy.utils.misc import load_object

from crawler import settings
from crawler.corpus.item import PageItem


def page(title: str, text: str) -> PageItem:
    values: dict[str, Any] = {field.name: None for field in fields(PageItem)}
    other = [{"language": "en", "text": text}]
    return PageItem(**{**values, "title": title, "text": text, "other_paragraphs": other})


def written(kind: str, item: PageItem) -> str:
    file = io.BytesIO()
    make: Callable[[IO[bytes]], BaseItemExporter] = load_object(settings.FEED_EXPORTERS[kind])
    feed = make(file)
    feed.start_exporting()
    feed.export_item(item)
    feed.finish_exporting()
    return file.getvalue().decode()


@pytest.mark.parametrize("title", ["=cmd|'/c calc'!A0", "+1", "-1", "@SUM(1)", "\t=1"])
def test_no_cell_of_a_csv_feed_begins_like_a_formula(title: str) -> None:
    (row,) = csv.DictReader(io.StringIO(written("csv", page(title, "a"))))
    assert (row["title"], row["text"]) == (f"'{title}", "a")


def test_an_xml_feed_is_xml_whatever_the_texts_are() -> None:
    told = written("xml", page("a\x00\x1b[2Jb", "\x0b\ufffe\ud800ä\n\U0001f600"))
    item = ET.fromstring(told).find("item")
    assert item is not None
    assert item.findtext("title") == "a\ufffd\ufffd[2Jb"
    assert item.findtext("text") == "\ufffd\ufffd\ufffdä\n\U0001f600"
    assert json.dumps(item.findtext("other_paragraphs/value/text")).count("\\ufffd") == 3
