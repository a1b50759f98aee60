"""Responses of Scrapy as downloads."""

import pytest
from scrapy.http import Response

from langfocus.crawler.http.head import LONGEST_VALUE
from langfocus.crawler.spiders.messages import download_of


@pytest.mark.parametrize(
    ("length", "kept"), [(LONGEST_VALUE, LONGEST_VALUE), (LONGEST_VALUE + 1, None), (60_000, None)]
)
def test_a_validator_that_is_too_long_is_left_out(length: int, kept: int | None) -> None:
    value = "x" * length
    headers = {"ETag": value, "Last-Modified": value}
    download = download_of(Response("http://a.example/", headers=headers), 0.0)
    lengths = [None if one is None else len(one) for one in (download.etag, download.modified)]
    assert lengths == [kept, kept]


def test_a_content_type_is_cut() -> None:
    headers = {"Content-Type": "text/html; charset=utf-8;" + "x" * 60_000}
    kind = download_of(Response("http://a.example/", headers=headers), 0.0).content_type
    assert kind is not None
    assert kind.startswith("text/html; charset=utf-8;")
    assert len(kind) == LONGEST_VALUE
