"""The README's transcripts are what a person sees; the documents have their pages and figures."""

import doctest
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

import langfocus
from benchmarks.docs_tables import documents, outdated, stale
from crawler.commands.base import parser_of
from tests.support import processes
from tests.support.crawls import ROOT, environment
from tests.support.processes import Done

DEVELOPERS = {"test", "lint", "docs"}
README = (ROOT / "README.md").read_text(encoding="utf-8")
GENERATED = re.compile(r"<!-- table: .*?<!-- end of table -->", re.DOTALL)
"""The tables that have their date from their JSON file."""


def words(command: str) -> list[str]:
    """Return the words of a line `$ langfocus ...  # remark`."""
    return shlex.split(command.removeprefix("$ "), comments=True)


def as_a_person(command: str, folder: Path) -> Done:
    """Run a line of the README in a folder that is not a project."""
    program, *arguments = words(command)
    assert program == "langfocus"
    return processes.run("langfocus", *arguments, environment=environment(None), folder=folder)


def transcript(language: str, beginning: str) -> str:
    """Return the README's block of that language that begins so."""
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    return next(block for block in blocks if block.startswith(beginning))


def test_the_languages_of_the_readmes_urls_are_as_it_says() -> None:
    test = doctest.DocTestParser().get_doctest(
        transcript("pycon", ">>> import langfocus"), {}, "README", None, 0
    )
    assert doctest.DocTestRunner().run(test).failed == 0


def figures(told: str) -> dict[str, str]:
    """Return label and figure of each row of a plain table."""
    return dict(re.findall(r"^\| ([^|]*?) +\| +([^|]*?) \|$", told, flags=re.MULTILINE))


def test_the_readmes_crawl_ends_as_it_says(tmp_path: Path) -> None:
    command, _, told = transcript("console", "$ langfocus crawl").partition("\n")
    done = as_a_person(command, tmp_path)
    assert done.returncode == 0, done.stderr
    expected, found = figures(told), figures(done.stdout)
    assert list(expected) == list(found)
    assert found["pages"] == expected["pages"] == "500"
    assert found["finish reason"] == expected["finish reason"]
    rates = [float(table["harvest rate"].rstrip(" %")) for table in (expected, found)]
    assert rates[0] == pytest.approx(rates[1], abs=3.0)


def test_the_readmes_python_crawls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"langfocus": langfocus}
    exec(transcript("python", "run = langfocus.crawl").replace("500", "40"), names)
    assert names["run"].summary.pages == 40


def commands() -> list[str]:
    return transcript("console", "$ langfocus compare").splitlines()


@pytest.mark.parametrize("command", commands())
def test_every_command_of_the_readme_is_one_that_there_is(command: str) -> None:
    name, *arguments = words(command)[1:]
    assert parser_of(name).parse_known_intermixed_args(arguments)[1] == []


def test_the_readmes_graph_is_made_and_simulated(tmp_path: Path) -> None:
    for command in commands():
        if words(command)[1] in {"graph", "simulate"}:
            done = as_a_person(command, tmp_path)
            assert done.returncode == 0, done.stderr
    assert "soft" in done.stdout


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^    make (\w+)", README, flags=re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text()
    assert targets == {"demo", "test"}
    assert all(f"\n{target}: " in makefile for target in targets)


def test_every_extra_of_users_is_in_the_table_of_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs/extras.md").read_text(encoding="utf-8")
    table = page.partition("| `pip install 'langfocus[...]'`")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \| \S", table, flags=re.MULTILINE)
    assert listed == [name for name in project["optional-dependencies"] if name not in DEVELOPERS]


def test_every_page_that_the_docs_name_exists() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), f"{page.name} -> {target}"


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
