"""The measured tables of the documents are those of their JSON files."""

from benchmarks.docs_tables import documents, stale


def test_every_marked_table_equals_its_json_file() -> None:
    assert stale(documents(), write=False) == []
