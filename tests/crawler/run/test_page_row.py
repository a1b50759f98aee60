"""The columns of `pages` are declared once; the table, its rows and its readers follow."""

from pathlib import Path
from typing import Any, get_type_hints

from langfocus.crawler.frontier.base import PAGE, Record
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.run.folder import open_run
from langfocus.crawler.run.page_row import PageRow, read_pages
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import fingerprint
from tests.crawler.frontier.test_frontier_contract import lease_now

TOLD: dict[str, Any] = {
    "status": 200,
    "outcome": PAGE,
    "language": "de",
    "confidence": 0.9,
    "method": "text",
    "charset": "utf-8",
    "country": "DE",
    "address": "192.0.2.1",
    "directives": '{"page": ["noai"]}',
    "robots_txt": "404",
    "words_read": 80,
    "bytes": 1234,
    "fetched_at": 7.0,
    "is_copy": 1,
    "in_scope": 1,
    "needs_browser": 1,
}


def test_a_column_has_the_type_of_its_field_in_the_record() -> None:
    columns, fields = get_type_hints(PageRow), get_type_hints(Record)
    shared = columns.keys() & fields.keys()
    assert shared == TOLD.keys()
    assert {name: columns[name] for name in shared} == {name: fields[name] for name in shared}


def test_a_settled_url_is_read_as_it_was_recorded(tmp_path: Path) -> None:
    run = open_run(tmp_path, {"lang": "de", "seeds": []}, 0.0)
    frontier = SqliteFrontier(run.connection, FrontierRules(), now=0.0)
    frontier.seed([Link("http://a.de/", 0.5)], 0.0)
    for links in ([Link("http://b.de/", -1.0), Link("http://c.de/", -2.0)], []):
        record = Record(**TOLD, is_download=True, is_relevant=True)
        frontier.admit(lease_now(frontier, 1.0), record, links, now=1.0)
    rows = list(read_pages(run.connection))
    run.connection.close()
    assert rows[1] == PageRow(
        id=2,
        fingerprint=fingerprint("http://b.de/"),
        url="http://b.de/",
        host="b.de",
        parent="http://a.de/",
        depth=1,
        score=-1.0,
        reasons=None,
        queued=1,
        **TOLD,
    )
    assert (rows[0].parent, rows[0].queued) == (None, 2)
