"""An item pipeline that gives the items of a crawl the text of their page.

    -s 'ITEM_PIPELINES={"crawler.spiders.text_pipeline.TextPipeline": 500}' -O items.jsonl

It is off by default, because it extracts on the thread that talks to the network, and knows
neither copies nor repeated lines, which `langfocus export` leaves out.
"""

from dataclasses import replace

from scrapy.crawler import Crawler

from crawler.corpus.archived_pages import RunArchive
from crawler.corpus.extraction import EXTRACTORS, make_extractor, text_of
from crawler.corpus.item import PageItem


class TextPipeline:
    """Reads the text of each relevant page from the WARC files of the run."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._extract = make_extractor(EXTRACTORS[0])

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "TextPipeline":
        """Return the pipeline of a crawl."""
        return cls(crawler)

    def process_item(self, item: PageItem) -> PageItem:
        """Return the item with title and text; unchanged if the page is not kept."""
        run = self._crawler.spider.crawl.run  # type: ignore[union-attr]  # it is open
        with RunArchive(run.folder, run.connection) as archive:
            answer = archive.newest(item.url) if item.is_relevant else None
        if answer is None:
            return item
        return replace(item, **text_of(answer, item.language, self._extract))
