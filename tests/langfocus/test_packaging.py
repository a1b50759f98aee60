"""The wheel and the environment that it asks for."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.support.crawls import ROOT

PACKAGES = ("langfocus", "crawler", "classifiers")
LINKED = ("crawler", "classifiers", "seeds")
"""Folders of the checkout that are in the package by links."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
UNPUBLISHED = {"ray"}
"""Packages that may be used if they are there, and that no extra brings."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the names of the files in the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with ZipFile(built) as archive:
        return set(archive.namelist())


class TestWheel:
    def test_it_brings_one_name(self, wheel: set[str]) -> None:
        folders = {name.partition("/")[0] for name in wheel}
        assert {name for name in folders if not name.endswith(".dist-info")} == {"langfocus"}

    def test_it_has_every_file_of_the_linked_folders(self, wheel: set[str]) -> None:
        files = {
            f"langfocus/{path.relative_to(ROOT)}".replace("langfocus/langfocus/", "langfocus/")
            for folder in ("langfocus", *LINKED)
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and path.suffix not in {".pyc", ".nbc", ".nbi"}
        }
        assert (
            len([name for name in files if re.fullmatch(r"langfocus/seeds/\w+\.txt", name)]) >= 100
        )
        assert "langfocus/classifiers/models/url-v3.npz" in files
        assert files <= wheel

    def test_it_is_typed_and_has_the_command(self, wheel: set[str]) -> None:
        assert "langfocus/py.typed" in wheel
        assert any(name.endswith(".dist-info/entry_points.txt") for name in wheel)


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~;, ]", each, maxsplit=1)[0].lower() for each in requirements}


DEPENDENCIES = names(PROJECT["dependencies"])
EXTRAS = names([each for extra in PROJECT["optional-dependencies"].values() for each in extra])


def imported(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the packages of others that a file imports, and whether it does so at its top."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        for module in modules:
            package = module.partition(".")[0]
            if package not in sys.stdlib_module_names and package not in PACKAGES:
                yield package, node in tree.body


@cache
def _installed() -> Mapping[str, list[str]]:
    return packages_distributions()


def distributions(package: str) -> set[str]:
    known = _installed().get(package, [package])
    return {name.lower() for name in known} | {package.lower()}


FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def test_what_is_imported_is_declared() -> None:
    missing = []
    for path in FILES:
        for package, is_at_top in imported(path):
            allowed = DEPENDENCIES if is_at_top else DEPENDENCIES | EXTRAS | UNPUBLISHED
            if not distributions(package) & allowed:
                missing.append(f"{path.relative_to(ROOT)} imports {package}")
    assert missing == []
