"""Items of pages for Scrapy's feeds: which fields they have is in `crawler.outputs.page_item`."""

from dataclasses import fields
from typing import IO, Any

from itemadapter import ItemAdapter
from scrapy.exporters import BaseItemExporter

from crawler.outputs.page_item import PageItem
from crawler.outputs.parquet import ParquetWriter

_FIELDS = tuple(field.name for field in fields(PageItem))


class ParquetFeed(BaseItemExporter):
    """Writes the items of a crawl as a Parquet file: `-O pages.parquet`."""

    def __init__(self, file: IO[bytes], **options: Any) -> None:
        """Begin a file; Scrapy's options for other formats have no effect."""
        super().__init__(dont_fail=True, **options)
        self._writer = ParquetWriter(file)

    def export_item(self, item: Any) -> None:
        """Add an item; a pipeline may have made another kind of item of a page."""
        values: dict[str, Any] = ItemAdapter(item).asdict()
        fields_of_page: dict[str, Any] = {name: values.get(name) for name in _FIELDS}
        self._writer.write(PageItem(**fields_of_page))

    def finish_exporting(self) -> None:
        """Write the end of the file."""
        self._writer.close()
