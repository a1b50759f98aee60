"""Items of pages for Scrapy's feeds: which fields they have is in `crawler.corpus.item`."""

import re
from collections.abc import Mapping
from typing import Any

from scrapy.exporters import CsvItemExporter, XmlItemExporter

from crawler.report.labels import safe_cell

_NOT_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class CsvFeed(CsvItemExporter):
    """Writes the items of a crawl as CSV; no cell begins like a formula of a spreadsheet."""

    def serialize_field(self, field: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the value of a cell, after `'` if a spreadsheet program could run it."""
        cell = super().serialize_field(field, name, value)
        return safe_cell(cell) if isinstance(cell, str) else cell


class XmlFeed(XmlItemExporter):
    """Writes the items of a crawl as XML; U+FFFD replaces letters that XML 1.0 does not have."""

    def serialize_field(self, field: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the value of an element."""
        return _as_xml(super().serialize_field(field, name, value))


def _as_xml(value: Any) -> Any:
    if isinstance(value, str):
        return _NOT_XML.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [_as_xml(each) for each in value]
    return {k: _as_xml(each) for k, each in value.items()} if isinstance(value, dict) else value
