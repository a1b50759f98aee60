"""A crawl needs nothing of a spider but its attribute `crawl`."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.servers import processes
from langfocus.crawler.errors import SettingError
from langfocus.crawler.spiders.fetches import crawl_of
from tests.support.crawls import command, environment, finished, rows, summary

FOREIGN = """
import scrapy
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.spiders.scrapy_settings import adapt, config_of

class Foreign(scrapy.Spider):
    name = "foreign"

    @classmethod
    def from_crawler(cls, crawler, **arguments):
        spider = super().from_crawler(crawler)
        spider.crawl = open_crawl(config_of(arguments, crawler.settings))
        adapt(crawler.settings, spider.crawl)
        return spider
"""
ARGUMENTS = ("lang=de", "web=sample", "pages=40")


def settings(folder: Path) -> dict[str, Any]:
    return {
        "JOBDIR": folder,
        "LANGFOCUS_SAMPLE_HOSTS": 300,
        "LANGFOCUS_RANDOM_STATE": 1,
        "LANGFOCUS_READERS": 0,
        "CONCURRENT_REQUESTS": 1,
    }


def test_a_spider_of_another_class_crawls_the_same_pages_in_the_same_order(tmp_path: Path) -> None:
    file = tmp_path / "foreign.py"
    file.write_text(FOREIGN)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    finished(*ARGUMENTS, **settings(ours))
    line = command(*ARGUMENTS, **settings(theirs))
    line[2:5] = ["scrapy", "runspider", str(file)]
    done = processes.run(*line[2:], environment=environment(None))
    assert done.returncode == 0, done.stderr
    order = "SELECT url, outcome, language, score FROM pages ORDER BY id"
    assert rows(theirs, order) == rows(ours, order)
    assert summary(theirs)["finish_reason"] == "pages"


@pytest.mark.parametrize("spider", [SimpleNamespace(name="plain"), None])
def test_a_spider_without_a_crawl_is_refused_in_one_line(spider: Any) -> None:
    crawler: Any = SimpleNamespace(spider=spider)
    with pytest.raises(
        SettingError, match=r"has no crawl: derive it from langfocus\.Spider, or set ADDONS"
    ):
        crawl_of(crawler)
