"""The measured tables of the documents are those of their JSON files, and their commands exist."""

import re
import shlex
from pathlib import Path

import pytest

from benchmarks.docs_tables import documents, outdated, stale
from classifiers.lab.study.catalogue import EVERY
from classifiers.lab.study.transfer import TRANSFER
from classifiers.pages.methods import names
from langfocus import dispatch

DOCS = Path(__file__).parents[1] / "docs"
PAPERS = (DOCS / "papers.md").read_text(encoding="utf-8")


def test_every_marked_table_equals_its_json_file() -> None:
    assert stale(documents(), write=False) == []


def test_no_figure_is_older_than_the_code_that_it_names() -> None:
    assert outdated(documents()) == []


def test_each_item_of_the_papers_has_a_command() -> None:
    numbers = re.findall(r"^\| ([0-9]+) \|.*`langfocus [a-z].*`", PAPERS, flags=re.MULTILINE)
    assert numbers == [str(number) for number in range(1, 28)]


@pytest.mark.parametrize("command", re.findall(r"`langfocus ([^`]+)`", PAPERS))
def test_every_command_on_the_papers_is_one_that_there_is(command: str) -> None:
    name, *arguments = shlex.split(command)
    parser = dispatch.parser_of(name, dispatch.command_of(name))
    given, rest = parser.parse_known_args(arguments)
    assert [text for text in rest if text.startswith("-")] == []
    if name == "evaluate":
        experiments = [text for text in rest[1:] if not given.methods]
        assert set(experiments) <= EVERY.keys() | TRANSFER.keys()
        assert set(given.methods or ()) <= set(names())
