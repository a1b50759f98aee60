"""The cache of compiled code follows every file whose code or constants it was compiled from."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from langfocus.classifiers.compiled import sources
from tests.support.crawls import ROOT

DECORATORS = {"compiled", "compiled_for_many", "inlined"}
FOREIGN = {"numpy", "numba", "math", "typing", "collections", "langfocus.classifiers.compiled"}
"""Packages whose functions numba compiles itself, and names of types."""

MODULE = """
from langfocus.classifiers.compiled import compiled

@compiled
def doubled(number):
    return {factor} * number
"""
ASK = """
from langfocus.classifiers.made import doubled
print(doubled(4), *doubled.dispatcher.stats.cache_hits.values(), end="")"""
SERVE = """
import json, os, sys
import numba

for line in sys.stdin:
    environment = json.loads(line)
    if os.fork() == 0:
        os.environ.clear()
        os.environ.update(environment)
        numba.config.reload_config()  # reads the variables
        sys.path.insert(0, environment["PYTHONPATH"])
        if terminal := environment.get("TERMINAL"):
            os.dup2(os.open(terminal, os.O_WRONLY | os.O_NOCTTY), 2)
        exec(os.environ["ASK"])
        print(end=" ", flush=True)
        os._exit(0)
    print("ended", os.wait()[1], flush=True)
"""
"""Runs `ASK` in a fork for each environment: the import of numba takes a second."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A package `langfocus` of the compiler's file and one compiled function."""
    room = tmp_path / "langfocus/classifiers"
    room.mkdir(parents=True)
    shutil.copy(ROOT / "classifiers/compiled.py", room)
    (room / "__init__.py").touch()
    (room / "made.py").write_text(MODULE.format(factor=2))
    return tmp_path / "langfocus"


COUNT = """
from langfocus.classifiers.made import doubled
gate, opener = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        os.close(opener)
        os.read(gate, 1)
        print(doubled(4), sum(doubled.dispatcher.stats.cache_misses.values()), flush=True, end=" ")
        os._exit(0)
os.close(opener)
codes = {os.wait()[1] for _ in range(3)}
assert codes == {0}"""
"""Calls the function in three processes once all have started; prints how often each compiled."""


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-P", "-c", SERVE]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=own(), text=True, **pipes) as process:
        yield process


def own(**environment: str) -> dict[str, str]:
    """Return the environment of a process, by default without a folder for the cache."""
    unset = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return unset | {"PYTHONDONTWRITEBYTECODE": "1"} | environment


@pytest.fixture
def ask(server: subprocess.Popen[str], root: Path) -> Callable[..., list[str]]:
    """Call the function in a process of its own: the result, and how often the cache was used."""

    def ask(program: str = ASK, **environment: str) -> list[str]:
        assert server.stdin
        assert server.stdout
        whole = own(PYTHONPATH=str(root.parent), ASK=program, **environment)
        print(json.dumps(whole), file=server.stdin, flush=True)
        answer = server.stdout.readline()
        assert answer.endswith("ended 0\n")
        return answer.split()[:-2]

    return ask


def test_a_change_in_any_compiled_file_compiles_anew_and_no_change_does_not(
    root: Path, ask: Callable[..., list[str]]
) -> None:
    assert ask() == ["8"]
    assert ask() == ["8", "1"]
    (root / "classifiers/other.py").write_text(
        "from langfocus.classifiers.compiled import inlined\n"
    )
    assert ask() == ["8"]
    (root / "classifiers/made.py").write_text(MODULE.format(factor=3))
    assert ask() == ["12"]
    assert ask() == ["12", "1"]


def test_of_processes_that_begin_at_once_one_compiles(ask: Callable[..., list[str]]) -> None:
    numbers = ask(COUNT)
    outputs = zip(numbers[::2], numbers[1::2], strict=True)
    assert sorted(outputs) == [("8", "0"), ("8", "0"), ("8", "1")]


def test_a_folder_that_cannot_be_written_is_no_error(
    root: Path, ask: Callable[..., list[str]]
) -> None:
    (root / "classifiers/__pycache__").write_text("a file in the folder's place")
    home = root / "home"
    home.write_text("a file, too")
    assert ask(HOME=str(home)) == ["8"]
    assert ask(NUMBA_CACHE_DIR=str(home / "cache")) == ["8"]


def test_the_folder_that_the_environment_names_is_used(
    root: Path, ask: Callable[..., list[str]]
) -> None:
    folder = root / "named"
    assert ask(NUMBA_CACHE_DIR=str(folder)) == ["8"]
    assert ask(NUMBA_CACHE_DIR=str(folder)) == ["8", "1"]
    assert list(folder.rglob("*.nbi"))


def test_a_person_at_a_terminal_is_told_once_why_to_wait(ask: Callable[..., list[str]]) -> None:
    terminal, stderr = os.openpty()
    assert ask(TERMINAL=os.ttyname(stderr)) == ["8"]
    assert ask(TERMINAL=os.ttyname(stderr)) == ["8", "1"]
    os.close(stderr)
    assert os.read(terminal, 4096).count(b"langfocus: compiling, once") == 1


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_compiled_code_reads_only_files_that_change_the_digest(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    files = (".".join(each.relative_to(ROOT).with_suffix("").parts) for each in sources())
    followed = {f"langfocus.{name}" for name in files}
    used = {node.id for one in _compiled(tree) for node in ast.walk(one) if hasattr(node, "id")}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module not in FOREIGN | followed:
            others = [each for each in node.names if f"{node.module}.{each.name}" not in followed]
            names = {alias.asname or alias.name for alias in others}
            assert not names & used, f"compiled code uses {names & used} of {node.module}"


def _compiled(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(each, ast.Name) and each.id in DECORATORS for each in node.decorator_list
        ):
            yield node
