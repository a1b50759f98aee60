"""The site's reference has all that is declared, and all that is used is declared."""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import langfocus
from langfocus.crawler.commands import COMMANDS
from langfocus.crawler.frontier.base import Admission, Sending
from langfocus.crawler.options.config import ARGUMENTS, SETTINGS
from langfocus.crawler.report.details import reasons
from langfocus.crawler.spiders.faults import _REASONS
from tests.support.crawls import ROOT

sys.path.append(str(ROOT / "docs"))
declared: Any = import_module("declared")

DOCS = ROOT / "docs"
KNOBS = {**ARGUMENTS, **SETTINGS}
UNITS = {"bytes"} | set(
    "URLs hosts hours number pages port processes requests retries seconds segments share "
    "words".split()
)
REFERENCE = "".join(path.read_text("utf-8") for path in (DOCS / "reference").glob("*.md"))
CODE = "".join(path.read_text("utf-8") for path in sorted((ROOT / "crawler").rglob("*.py")))
CODE += "".join(path.read_text("utf-8") for path in sorted((ROOT / "crawler").rglob("*.lua")))


@pytest.mark.parametrize("part", declared.PARTS)
def test_everything_declared_is_in_the_reference_with_its_meaning(part: str) -> None:
    entries = declared.PARTS[part]()
    assert len({one.name for one in entries}) == len(entries) > 10
    assert [one.name for one in entries if len(one.text) < 6] == []
    assert f"```{{declared}} {part}\n" in REFERENCE


def test_every_number_has_its_unit_and_every_default_its_reason() -> None:
    assert {declared.unit_of(knob) for knob in KNOBS.values()} - {""} <= UNITS
    has_default = {name for name, one in KNOBS.items() if one.default not in (None, "", ())}
    assert has_default == {name for name in has_default if KNOBS[name].why}
    text = declared.written("argument", declared.PARTS["argument"]())
    assert "*unit* URLs; *default* `10`; *reason* Baykan 2013" in text


def test_every_command_and_flag_is_in_the_reference() -> None:
    for name in COMMANDS:
        text = declared.command_text(name)
        assert all(f" {signature}\n" in text for signature, _ in declared.flags(name))
        assert "examples:" in text
    assert "{option} --output FILE\noutput file" in declared.command_text("export")
    public = set(langfocus.__all__) - {"__version__"}
    assert {name for name in public if f"langfocus.{name}\n" not in REFERENCE} == set()


def used_outcomes() -> Iterator[str]:
    yield from (value.value for value in Sending if value.value.endswith("_full"))
    yield from (reason for _, reason, _ in _REASONS)
    yield from re.findall(r'(?:_record\(|failed\(lease, )"(\w+)"', CODE)
    yield from re.findall(r'^[A-Z_]+(?:: Final)? = "(\w+)"\n"""The outcome', CODE, re.MULTILINE)
    yield from re.findall(r"page = \"(\w+)\"", CODE)
    yield from re.findall(r'CRASHED, TIMEOUT = "(\w+)", "(\w+)"', CODE)[0]


def used_counts() -> Iterator[str]:
    yield from (value.value for value in Admission if value is not Admission.SENT)
    yield from re.findall(r"""counts\["(\w+)"\] \+=""", CODE)
    yield from re.findall(r"""["'](ignored_\w+|dropped_(?!links)\w+)["']""", CODE)
    yield from ("blocked", "cut_short", "cut_long", "noarchive", "opted_out", "parser_lexbor-cut")


def test_every_outcome_and_counter_of_the_code_is_declared() -> None:
    assert len(set(used_outcomes())) > 20
    assert set(used_outcomes()) - {name for kind, name in reasons() if kind == "outcome"} == set()
    assert len(set(used_counts())) > 18
    assert set(used_counts()) - {name for kind, name in reasons() if kind != "outcome"} == set()


def test_every_page_is_in_a_table_of_contents() -> None:
    pages = ["index"]
    for page in pages:  # grows meanwhile
        text = (DOCS / f"{page}.md").read_text("utf-8")
        for block in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
            pages += [line for line in block.splitlines() if line and line[0] != ":"]
    found = {str(path.relative_to(DOCS))[:-3] for path in DOCS.rglob("*.md")}
    assert {page for page in found if not page.startswith("research/")} == set(pages)
