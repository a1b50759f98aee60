"""Compiled functions and their cache on disk, in packages made for the test."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numba
import numpy as np
import pytest

from classifiers.compiled import source_digest, step
from tests.support.crawls import ROOT

_ENTRY = """
    from typing import NamedTuple
    import numpy as np
    from classifiers.compiled import compiled
    from made.helper import STEP, TABLE, helped
    from made.pair import Pair

    @compiled
    def asked(pair: Pair) -> int:
        return helped(pair.first) + STEP + TABLE[0]
"""
_HELPER = """
    import numpy as np
    from classifiers.compiled import inlined
    from made.deep import deeper

    STEP = 100
    TABLE = np.array([5000])

    @inlined
    def helped(number):
        return deeper(number)
"""
_DEEP = """
    from classifiers.compiled import inlined

    @inlined
    def deeper(number):
        return number + 20
"""
_PAIR = """
    from typing import NamedTuple

    class Pair(NamedTuple):
        first: int
        second: int
"""
_ALLOCATING = """
    import numpy as np
    from classifiers.compiled import compiled

    @compiled
    def made_array(size):
        return np.ones(size)
"""
_READ = """
import sys
import numpy as np
from made.allocating import made_array
from made.entry import asked
from made.pair import Pair

print(asked(Pair(1, 9)), made_array(3).sum(), sum(made_array.stats.cache_hits.values()))
print("numba.np.arraymath" in sys.modules)
print(made_array(np.int8(2)).sum(), "numba.np.arraymath" in sys.modules)
"""
_CALL = (
    "from made.entry import asked; from made.pair import Pair; "
    "print(asked(Pair(1, 9)), sum(asked.stats.cache_hits.values()))"
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `made` that can be imported; numba's cache is in `cache` beside it."""
    folder = tmp_path / "made"
    folder.mkdir()
    modules = {"__init__": "", "entry": _ENTRY, "helper": _HELPER, "deep": _DEEP, "pair": _PAIR}
    modules["allocating"] = _ALLOCATING
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it is a second too coarse
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    yield folder
    _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "made"]:
        del sys.modules[name]


def _ask(package: Path, tuple_name: str = "Pair") -> list[int]:
    """Import the package anew and call it: the sum, and how often the cache was used."""
    _forget()
    importlib.invalidate_caches()
    asked: Any = importlib.import_module("made.entry").asked
    pair = getattr(importlib.import_module("made.pair"), tuple_name)(1, 9)
    return [asked(pair), sum(asked.stats.cache_hits.values())]


def _ask_elsewhere(package: Path, code: str = _CALL) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(package.parent), *filter(None, sys.path)]),
        "NUMBA_CACHE_DIR": str(package.parent / "cache"),
    }
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def _change(package: Path, module: str, before: str, after: str) -> None:
    path = package / f"{module}.py"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_a_change_in_another_file_recompiles_and_no_change_does_not(package: Path) -> None:
    assert _ask(package) == [5121, 0]
    assert _ask(package) == [5121, 1]
    _change(package, "deep", "number + 20", "number + 30")
    assert _ask(package) == [5131, 0]
    _change(package, "helper", "STEP = 100", "STEP = 200")
    assert _ask(package) == [5231, 0]
    _change(package, "helper", "5000", "7000")
    assert _ask(package) == [7231, 0]
    assert _ask(package) == [7231, 1]


def test_a_named_tuple_with_its_fields_in_another_order_recompiles(package: Path) -> None:
    assert _ask(package) == [5121, 0]
    (package / "pair.py").write_text(
        dedent(_PAIR).replace("first", "x").replace("second", "first").replace("x", "second")
    )
    assert _ask(package) == [5129, 0]


def test_a_cache_that_names_a_class_that_is_gone_is_written_again(package: Path) -> None:
    assert _ask(package) == [5121, 0]
    _change(package, "pair", "Pair", "Two")
    _change(package, "entry", "Pair", "Two")
    assert _ask(package, "Two") == [5121, 0]
    assert _ask(package, "Two") == [5121, 1]


def test_two_processes_may_compile_at_once(package: Path) -> None:
    both = [_ask_elsewhere(package), _ask_elsewhere(package)]
    assert [process.communicate()[0].split()[0] for process in both] == ["5121", "5121"]
    assert _ask(package) == [5121, 1]


def test_the_compiler_is_loaded_only_to_compile(package: Path) -> None:
    assert _ask(package) == [5121, 0]
    made_array: Any = importlib.import_module("made.allocating").made_array
    assert made_array(3).sum() == 3
    told = _ask_elsewhere(package, _READ).communicate()[0].split()
    assert told == ["5121", "3.0", "1", "False", "2.0", "True"]


def test_a_cache_that_cannot_be_written_compiles_anew(package: Path) -> None:
    assert _ask(package) == [5121, 0]
    for path in _cached(package):
        path.unlink()
        path.mkdir()
    assert _ask(package) == [5121, 0]


def test_a_damaged_cache_is_compiled_anew_and_written_again(package: Path) -> None:
    assert _ask(package) == [5121, 0]
    for path in _cached(package):
        path.write_bytes(path.read_bytes()[:-9])
    assert _ask(package) == [5121, 0]
    assert _ask(package) == [5121, 1]


def _cached(package: Path) -> list[Path]:
    files = [path for path in (package.parent / "cache").rglob("*") if path.is_file()]
    assert files
    return files


def test_a_digest_tells_constants_and_code_apart() -> None:
    makers = [_adder(1), _adder(2), _adder(1.0), _adder(np.ones(1)), _adder(np.zeros(1))]
    digests = [source_digest(maker) for maker in makers]
    assert len(set(digests)) == len(makers)
    assert source_digest(_adder(1)) == digests[0]


def test_a_global_without_a_digest_is_refused() -> None:
    with pytest.raises(TypeError, match="for which there is no digest"):
        source_digest(_adder(object()))


def _adder(constant: object):  # type: ignore[no-untyped-def]
    def add(number):  # type: ignore[no-untyped-def]
        return number + constant

    return add


def test_no_function_that_borrows_its_arrays_returns_one() -> None:
    scalars = {"int", "bool", "float", "None", "uint32", "uint64", "float32"}
    of_scalars = {"np", "tuple", "Source", "SettledPage", "_Hashes"}
    found = {}
    for path in (*ROOT.glob("crawler/**/*.py"), *ROOT.glob("classifiers/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(one, ast.Name) and one.id in ("borrowing", "step")
                for one in node.decorator_list
            ):
                returned = re.findall(r"\w+", ast.unparse(node.returns) if node.returns else "?")
                found[node.name] = set(returned) - scalars - of_scalars
    assert len(found) > 30
    assert {name: kinds for name, kinds in found.items() if kinds} == {}


def test_a_function_for_compiled_code_is_compiled_once_and_refuses_a_call_from_python() -> None:
    @step
    def doubled(number: int) -> int:
        return 2 * number

    def asked(number: int) -> int:
        return doubled(number) + doubled(3) + doubled(4)

    njit: Any = numba.njit
    inner: Any = doubled
    assert njit(asked)(5) == 24
    assert len(inner.signatures) == 1
    with pytest.raises(TypeError, match="doubled is for compiled code"):
        doubled(5)
    assert inner.py_func(5) == 10
