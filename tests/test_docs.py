"""Measured figures of the documents are those of their JSON files, or have a date."""

import re
from pathlib import Path

import pytest

from benchmarks.docs_tables import documents, outdated, stale

GENERATED = re.compile(r"<!-- table: .*?<!-- end of table -->", re.DOTALL)
"""The tables that have their date from their JSON file."""


def test_every_marked_table_equals_its_json_file() -> None:
    assert stale(documents(), write=False) == []


def test_no_figure_is_older_than_the_code_that_it_names() -> None:
    assert outdated(documents()) == []


@pytest.mark.parametrize(
    "page", [page for page in documents() if page.name not in ("README.md", "languages.md")]
)
def test_tables_that_are_written_by_hand_stand_on_a_page_with_their_date(page: Path) -> None:
    text = GENERATED.sub("", page.read_text(encoding="utf-8"))
    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    measured = [table for table in tables if len(re.findall(r"\| \**\d[\d,]*\.\d", table)) > 4]
    assert not measured or re.search(r"as of 20\d\d-\d\d-\d\d at ", text)
