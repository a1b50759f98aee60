"""The measured tables of the documents are those of their JSON files, and their commands exist."""

from pathlib import Path

from benchmarks.docs_tables import documents, outdated, stale

DOCS = Path(__file__).parents[1] / "docs"


def test_every_marked_table_equals_its_json_file() -> None:
    assert stale(documents(), write=False) == []


def test_no_figure_is_older_than_the_code_that_it_names() -> None:
    assert outdated(documents()) == []
