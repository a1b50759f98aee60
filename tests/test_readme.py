"""The README's transcripts are what a person sees."""

import doctest
import re
import tomllib
from pathlib import Path

import pytest

from tests.support.crawls import ROOT, crawl

DEVELOPERS = {"test", "lint"}
README = (ROOT / "README.md").read_text(encoding="utf-8")


def transcript(language: str, beginning: str) -> str:
    """Return the README's block of that language that begins so."""
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    return next(block for block in blocks if block.startswith(beginning))


def test_the_languages_of_the_readmes_urls_are_as_it_says() -> None:
    test = doctest.DocTestParser().get_doctest(
        transcript("pycon", ">>> from classifiers"), {}, "README", None, 0
    )
    assert doctest.DocTestRunner().run(test).failed == 0


def figures(told: str) -> dict[str, str]:
    """Return label and figure of each row of a plain table."""
    return dict(re.findall(r"^\| ([^|]*?) +\| +([^|]*?) \|$", told, flags=re.MULTILINE))


def test_the_readmes_crawl_ends_as_it_says(tmp_path: Path) -> None:
    command, _, told = transcript("console", "$ scrapy crawl").partition("\n")
    arguments = re.findall(r"-a (\S+)", command)
    done = crawl(*arguments, JOBDIR=tmp_path)
    assert done.returncode == 0, done.stderr
    expected, found = figures(told), figures(done.stdout)
    assert set(expected) <= set(found)
    assert found["pages"] == expected["pages"] == "500"
    assert found["finish reason"] == expected["finish reason"]
    rates = [float(table["harvest rate"].rstrip(" %")) for table in (expected, found)]
    assert rates[0] == pytest.approx(rates[1], abs=3.0)


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^    make (\w+)", README, flags=re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text()
    assert targets == {"demo", "test"}
    assert all(f"\n{target}: " in makefile for target in targets)


def test_every_extra_of_users_is_in_the_readmes_table() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = README.partition("| `pip install 'langfocus[...]'`")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \| \S", table, flags=re.MULTILINE)
    assert listed == [name for name in project["optional-dependencies"] if name not in DEVELOPERS]


def test_every_page_that_the_docs_name_exists() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")):
        for target in re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), f"{page.name} -> {target}"


def test_every_room_of_the_house_exists() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    house = page.partition("## The house")[2].partition("\n## ")[0]
    rooms = re.findall(r"^\| `((?:classifiers|crawler)/[\w./]+)`", house, flags=re.MULTILINE)
    assert len(rooms) > 15
    for room in rooms:
        assert (ROOT / room).exists(), room
    assert {path.parent.name for path in ROOT.glob("classifiers/*/__init__.py")} <= {
        Path(room).name for room in rooms
    }
