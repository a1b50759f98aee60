"""The measured tables of the documents are those of their JSON files."""

import re

from benchmarks.docs_tables import documents, stale


def test_every_marked_table_equals_its_json_file() -> None:
    assert stale(documents(), write=False) == []


def test_every_table_of_the_url_study_is_marked() -> None:
    page = next(path for path in documents() if path.name == "url-study.md")
    text = page.read_text(encoding="utf-8")
    marks = re.findall(r"<!-- table: (\S+) (\S+) -->", text)
    assert len(marks) == len(set(marks)) > 10
    rest = re.sub(r"<!-- table: .*?<!-- end of table -->", "", text, flags=re.DOTALL)
    assert not [line for line in rest.splitlines() if line.startswith("|")]
