"""Allowed imports between the rooms of the project."""

import ast
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TypeGuard

import pytest

from tests.support.crawls import ROOT

PACKAGES = ("langfocus", "crawler", "classifiers")
"""Folders of the checkout; `langfocus` links to the other two, and rooms are named without it."""

LABORATORY = (
    "classifiers.papers",
    "classifiers.training",
    "classifiers.datasets",
    "crawler.simulate",
    "crawler.census",
    "crawler.studies",
)
"""The rooms of the papers and their commands, which a crawl finds by name alone."""

MUST_NOT_KNOW = [
    ("classifiers", "langfocus"),
    ("classifiers", "crawler"),
    ("classifiers", "scrapy"),
    ("classifiers", "twisted"),
    ("classifiers.papers", "classifiers.training"),
    ("crawler", "langfocus"),
    ("crawler.strategies", "scrapy"),
    ("crawler.strategies", "crawler.frontier"),
    ("crawler.strategies", "sqlite3"),
    ("crawler.frontier", "scrapy"),
    ("crawler.frontier", "twisted"),
    ("crawler.shared", "scrapy"),
    ("crawler.politeness", "scrapy"),
    ("crawler.simulate", "scrapy"),
    ("crawler.sources", "scrapy"),
    ("crawler.report", "scrapy"),
    ("crawler.report", "crawler.session"),
    ("crawler.report", "crawler.spiders"),
    ("crawler.report", "crawler.commands"),
    ("crawler.session", "scrapy"),
    ("crawler.session", "crawler.report"),
    ("crawler.spiders", "crawler.commands"),
]
"""Room -> what no file in it may import."""

OF_SCIPY = ("scipy.sparse", "scipy.stats", "scipy.special", "scipy.optimize")
"""What scipy computes with, but for scipy.linalg, which numba loads."""

STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
"""Nodes that imports can be in."""

IS_OF_A_CRAWL = ("crawler.spiders", "crawler.session", "crawler.frontier")


def room_name(module: str) -> str:
    """Return the name of a module without the package that links to its room."""
    inner = module.removeprefix("langfocus.")
    return inner if inner.partition(".")[0] in PACKAGES else module


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    module_of(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))
}


@cache
def imports(module: str) -> frozenset[str]:
    """Return the modules that a file imports anywhere, also for its types only."""
    return frozenset(name for name, _ in _imports(FILES[module]))


@cache
def _imports(path: Path) -> frozenset[tuple[str, bool]]:
    """Return the modules that a file imports, each with True where it is for types only."""
    found = set()
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text(encoding="utf-8")), False)]
    while waiting:
        node, is_typing = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(name, is_typing) for name in _names(node)}
            continue
        for each in ast.iter_child_nodes(node):
            if isinstance(each, STATEMENTS):
                waiting.append((each, is_typing or (_is_typing(node) and each in node.body)))
    return frozenset(found)


def _is_typing(node: ast.AST) -> TypeGuard[ast.If]:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
    return False


def _names(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (room_name(alias.name) for alias in node.names)
    elif node.module:
        module = room_name(node.module)
        submodules = {f"{module}.{alias.name}" for alias in node.names} & FILES.keys()
        others = len(submodules) < len(node.names)
        yield from submodules | ({module} if others else set())


def is_in(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


@pytest.mark.parametrize(("room", "other"), MUST_NOT_KNOW)
def test_a_room_does_not_know_what_it_must_not_know(room: str, other: str) -> None:
    inside = [module for module in FILES if is_in(module, room)]
    assert inside
    guilty = {
        module: sorted(name for name in imports(module) if is_in(name, other)) for module in inside
    }
    assert {module: names for module, names in guilty.items() if names} == {}


def is_of_the_laboratory(module: str) -> bool:
    return any(is_in(module, room) for room in LABORATORY)


def test_nothing_outside_of_the_laboratory_imports_it() -> None:
    """Not for types either: a reader of the crawl never meets it."""
    assert all(any(is_in(module, room) for module in FILES) for room in LABORATORY)
    guilty = {
        module: names
        for module in FILES
        if not is_of_the_laboratory(module)
        and (names := sorted(filter(is_of_the_laboratory, imports(module))))
    }
    assert guilty == {}


def test_no_benchmark_imports_a_test() -> None:
    """What both need is in benchmarks."""
    for path in (ROOT / "benchmarks").rglob("*.py"):
        assert not [name for name, _ in _imports(path) if is_in(name, "tests")], path


def file_of(module: str) -> str:
    return module


def large_room_of(module: str) -> str:
    """Return the room as the house has it: `crawler.frontier`, or a file beside the rooms."""
    return ".".join(module.split(".")[:2])


@cache
def small_room_of(module: str) -> str:
    """Return the folder of a file if it holds no other folder, else the file itself."""
    path = FILES[module]
    has_rooms = any(path.parent.glob("*/__init__.py"))
    return module if has_rooms else module_of(path.parent / "__init__.py")


@pytest.mark.parametrize("room_of", [file_of, small_room_of, large_room_of])
def test_no_rooms_know_each_other_in_a_circle(room_of: Callable[[str], str]) -> None:
    graph: dict[str, set[str]] = {}
    for module in FILES:
        room = room_of(module)
        known = {room_of(name) for name in imports(module) if name in FILES}
        graph.setdefault(room, set()).update(known - {room})
    TopologicalSorter(graph).prepare()  # its error names the rooms of a circle


MOST_FLOORS = 14
"""Files of the longest chain of imports, those for types left out."""


@cache
def floor(module: str) -> int:
    """Return how many files the longest chain of imports has that begins with a file."""
    names = {name for name, is_typing in _imports(FILES[module]) if not is_typing} - {module}
    return 1 + max((floor(name) for name in names if name in FILES), default=0)


def test_no_chain_of_imports_is_long() -> None:
    assert max(map(floor, FILES)) <= MOST_FLOORS


def loaded_by(code: str, folder: Path) -> set[str]:
    """Return the modules that a process has loaded after some code."""
    code = textwrap.dedent(code) + "\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return set(map(room_name, done.stdout.split()))


def test_a_crawl_loads_nothing_of_the_laboratory(tmp_path: Path) -> None:
    loaded = loaded_by(
        """
        import sys, time
        from pathlib import Path
        from langfocus.crawler.spiders import langfocus, reporter, scheduler
        from dataclasses import replace
        from langfocus.crawler.options.config import Config
        from langfocus.crawler.session.opening import open_crawl
        from langfocus.crawler.http.download import Download

        config = Config.read({"lang": "de", "web": "sample"}, {"LANGFOCUS_SAMPLE_HOSTS": 300})
        crawl = open_crawl(replace(config, run_folder=Path(sys.argv[1]), delay_s=0))
        crawl.start()
        lease = crawl.frontier.next(time.time())
        answer = crawl.prepared.web.respond(lease.url)
        download = Download(lease.url, answer.status, answer.body, "text/html")
        assert crawl.visitor.answered(lease, download).language == "de"
        crawl.close("pages")
        """,
        tmp_path,
    )
    unwanted = (*LABORATORY, "sklearn", "joblib", "pyarrow", *OF_SCIPY)
    assert [name for name in sorted(loaded) if any(is_in(name, each) for each in unwanted)] == []
    assert all(any(is_in(name, each) for name in loaded) for each in IS_OF_A_CRAWL)


@pytest.mark.parametrize(
    "module",
    [
        "crawler.strategies",
        "crawler.frontier.sqlite",
        "crawler.session.opening",
        "crawler.session.visit",
    ],
)
def test_a_crawl_without_its_spider_loads_without_scrapy(module: str, tmp_path: Path) -> None:
    loaded = loaded_by(
        f"""
        import sys
        sys.modules['scrapy'] = sys.modules['twisted'] = None
        import langfocus.{module}
        """,
        tmp_path,
    )
    assert module in loaded
