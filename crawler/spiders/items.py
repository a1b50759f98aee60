"""Items of pages for Scrapy's feeds: which fields they have is in `crawler.corpus.item`."""

from collections.abc import Mapping
from typing import Any

from scrapy.exporters import CsvItemExporter

from crawler.report.labels import safe_cell


class CsvFeed(CsvItemExporter):
    """Writes the items of a crawl as CSV; no cell begins like a formula of a spreadsheet."""

    def serialize_field(self, field: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the value of a cell, after `'` if a spreadsheet program could run it."""
        cell = super().serialize_field(field, name, value)
        return safe_cell(cell) if isinstance(cell, str) else cell
