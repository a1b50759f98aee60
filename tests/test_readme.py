"""The README's transcripts are what a person sees; the documents have their pages and figures."""

import re
import tomllib
from pathlib import Path

import pytest

from benchmarks.docs_tables import documents, stale
from tests.support.crawls import ROOT

DEVELOPERS = {"test", "lint", "docs"}
README = (ROOT / "README.md").read_text(encoding="utf-8")
GENERATED = re.compile(r"<!-- table: .*?<!-- end of table -->", re.DOTALL)
"""Tables whose date comes from their JSON file."""


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^    make (\w+)", README, flags=re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text()
    assert targets == {"demo", "test"}
    assert all(f"\n{target}: " in makefile for target in targets)


@pytest.mark.parametrize(
    ("page", "pattern"),
    [
        ("CONTRIBUTING.md", r"^ +make ([\w-]+)"),
        (".github/workflows/ci.yml", r"target: [\"\[]?([\w-]+)"),
    ],
)
def test_every_make_target_that_developers_are_shown_exists(page: str, pattern: str) -> None:
    targets = set(re.findall(pattern, (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert len(targets) > 4
    assert [
        each for each in targets if not re.search(rf"(?m)^[\w -]*\b{each}\b[\w -]*:", makefile)
    ] == []


def test_the_workflow_tests_every_python_that_the_project_names() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    tested = re.findall(r'"([\d.]+)"', workflow.partition("python: [")[2].partition("]")[0])
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert tested == re.findall(r"Python :: (3\.\d+)", project)


def test_every_extra_of_users_is_in_the_table_of_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs/extras.md").read_text(encoding="utf-8")
    table = page.partition("| `pip install '.[...]'`")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \| \S", table, flags=re.MULTILINE)
    assert listed == [name for name in project["optional-dependencies"] if name not in DEVELOPERS]


def test_every_page_that_the_docs_name_exists() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), f"{page.name} -> {target}"


def test_the_pictures_of_the_readme_exist_and_fetch_nothing() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([\w./-]+)\)", README)
    assert pictures == ["docs/pictures/panel.svg", "docs/pictures/report.png"]
    panel = (ROOT / pictures[0]).read_text(encoding="utf-8")
    assert "harvest" in panel
    assert not re.search(r"url\((?!#)|href=|@import", panel)
    assert (ROOT / pictures[1]).read_bytes().startswith(b"\x89PNG")


def test_every_room_of_the_house_exists() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    house = page.partition("## The house")[2].partition("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+/[\w./]*)`", house, re.MULTILINE))
    rooms = {"langfocus/", "crawler/", "classifiers/", "classifiers/models/"} | {
        f"{path.parent.relative_to(ROOT)}/"
        for package in ("classifiers", "crawler")
        for path in ROOT.glob(f"{package}/*/__init__.py")
        if path.parent.name != "tables"
    }
    assert named == rooms


def test_every_marked_table_equals_its_json_file() -> None:
    assert stale(documents(), write=False) == []


@pytest.mark.parametrize("page", documents(), ids=lambda page: page.name)
def test_tables_that_are_written_by_hand_stand_on_a_page_with_their_date(page: Path) -> None:
    text = GENERATED.sub("", page.read_text(encoding="utf-8"))
    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    measured = [table for table in tables if len(re.findall(r"\| \**\d[\d,]*\.\d", table)) > 4]
    assert not measured or re.search(r"as of 20\d\d-\d\d-\d\d at ", text)
