"""Parts are found by name: built in, installed, at a dotted path; a broken one is named."""

import sys
from pathlib import Path
from typing import Any

import pytest

from langfocus.classifiers.errors import PluginError
from langfocus.classifiers.plugins import Plugin, Registry
from tests.support.plugins import install

PARTS = Registry[Any]("part", "langfocus.parts", {"path": "os.path:join", "own": len})


@pytest.mark.parametrize(("name", "part"), [("path", __import__("os").path.join), ("own", len)])
def test_a_built_in_part_is_loaded_without_a_look_at_metadata(
    name: str, part: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langfocus.classifiers.plugins.entry_points", None)
    assert PARTS.plugin(name) is None
    assert PARTS.load(name) is part
    assert list(PARTS) == ["path", "own"]


def test_an_installed_plug_in_is_found_with_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = {"parts": "mine = parts_a:Mine [extra]\nown = parts_a:Mine"}
    install(tmp_path, "parts_a", "class Mine: pass", points, version="2.1", patch=monkeypatch)
    plugin = Plugin("part", "mine", "parts_a:Mine", "my-parts_a", "2.1")
    assert PARTS.plugin("mine") == plugin
    assert str(plugin) == "plug-in mine (my-parts_a 2.1)"
    assert "parts_a" not in sys.modules
    assert PARTS.load("mine").__name__ == "Mine"
    assert PARTS.names() == ["path", "own", "mine"]
    assert PARTS.load("own") is len
    assert PARTS.knows("mine")
    assert not PARTS.knows("yours")
    with pytest.raises(KeyError):
        PARTS.load("yours")


def test_a_dotted_path_may_lie_in_a_distribution_or_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts_b.py").write_text("class Outer:\n    class Inner: pass\n")
    (tmp_path / "json.py").write_text("raise ValueError('shadows the standard library')")
    assert PARTS.plugin("pytest:raises") == (
        *("part", "pytest:raises", "pytest:raises", "pytest", pytest.__version__),
    )
    assert PARTS.load("parts_b:Outer.Inner").__name__ == "Inner"
    assert PARTS.load("json:dumps").__module__ == "json"
    assert str(PARTS.plugin("parts_b:Outer")) == "plug-in parts_b:Outer"
    # Some distributions bring a top-level package `tests`, but not this module.
    assert str(PARTS.plugin(f"{__name__}:PARTS")) == f"plug-in {__name__}:PARTS"


@pytest.mark.parametrize("name", ["a.b", "a:", ":b", "http://a.de/", "a.de:80", "a b:c", "1a:b"])
def test_other_names_are_no_dotted_paths(name: str) -> None:
    assert PARTS.plugin(name) is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def broken(:", "SyntaxError: "),
        ("raise SystemExit('good\\nbye')", "SystemExit: good bye"),
        ("other = 1", "AttributeError: module 'parts_c' has no attribute 'Mine'"),
    ],
)
def test_a_plug_in_that_cannot_be_loaded_is_named_in_one_line(
    code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "parts_c", code, {"parts": "mine = parts_c:Mine"}, patch=monkeypatch)
    monkeypatch.delitem(sys.modules, "parts_c", raising=False)
    with pytest.raises(PluginError) as raised:
        PARTS.load("mine")
    assert str(raised.value).startswith(f"plug-in mine (my-parts_c 1.0): {said}")
    assert "\n" not in str(raised.value)


def test_a_name_in_two_distributions_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("parts_d", "parts_e"):
        point = {"parts": f"mine = {module}:Mine"}
        install(tmp_path / module, module, "class Mine: pass", point, patch=monkeypatch)
    with pytest.raises(PluginError, match=r"several distributions: my-parts_e.+my-parts_d"):
        PARTS.plugin("mine")


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt(), LookupError("no answer")])
def test_what_is_no_fault_of_a_plug_in_passes(error: BaseException) -> None:
    with pytest.raises(type(error)), Plugin("part", "mine", "a:b").blamed(LookupError):
        raise error
