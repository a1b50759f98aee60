"""No regular expression of the product can take more than linear time."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.backtracking import slow_text

ROOT = Path(__file__).parents[1]
_METHODS = {"match": (False, False), "fullmatch": (False, True)}  # searches, is_whole
_SEARCHES = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})
_BY_NAME = {**_METHODS, **dict.fromkeys(_SEARCHES, (True, False))}

OWN_TEXT = {
    "classifiers/training/texts.py": "training texts, by the patterns of a table that ships",
    "crawler/politeness/contact.py": "the settings of the person who crawls",
    "classifiers/pages/charset/twice.py": "made in a loop; one to four characters",
    "classifiers/pages/text/words.py": "made in a loop; one character",
}
"""Files whose patterns are not checked, and why."""


class Use(NamedTuple):
    """A pattern, where it is, and the ways in which it is matched: `searches`, `is_whole`."""

    place: str
    pattern: re.Pattern[Any]
    ways: frozenset[tuple[bool, bool]]


def _uses() -> Iterator[Use]:
    for folder in ("langfocus", "crawler", "classifiers"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            text = path.read_text(encoding="utf-8")
            if name not in OWN_TEXT and re.search(r"^import re$", text, re.MULTILINE):
                yield from _of_file(name, ast.parse(text))


def _of_file(name: str, tree: ast.Module) -> Iterator[Use]:
    dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    module = import_module(dotted if dotted.startswith("langfocus") else f"langfocus.{dotted}")
    by_variable: dict[str, set[str]] = {}
    variables: dict[ast.expr, str] = {}
    nodes = list(ast.walk(tree))
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=variable), attr=method) if method in _BY_NAME:
                by_variable.setdefault(variable, set()).add(method)
            case ast.Assign(targets=[ast.Name(id=variable)], value=value):
                variables[value] = variable
            case ast.AnnAssign(target=ast.Name(id=variable), value=ast.expr() as value):
                variables[value] = variable
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="compile")):
                methods = by_variable.get(variables.get(node, ""), set())
                # Other modules, and attributes of a call, use it in ways that are not seen here.
                ways = {_BY_NAME[each] for each in methods} or {(True, False), (False, True)}
                arguments = [*node.args, *(each.value for each in node.keywords)]
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method)) if (
                method in _BY_NAME
            ):
                ways, arguments = {_BY_NAME[method]}, node.args[:1]
            case _:
                continue
        values = [_value(each, vars(module)) for each in arguments]
        yield Use(f"{name}:{node.lineno}", re.compile(*values), frozenset(ways))


def _value(expression: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(expression), "pattern", "eval"), dict(names))


def test_all_patterns_of_the_product_take_linear_time() -> None:
    uses = list(_uses())
    assert len(uses) > 100
    slow = {
        (use.place, slow_text(use.pattern, searches=searches, is_whole=is_whole))
        for use in uses
        for searches, is_whole in use.ways
    }
    assert [each for each in slow if each[1] is not None] == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*=\s*",
        r"charset\s*=\s*[\"']?\s*([\w:.-]+)",
        r"(a+)+b",
        r"(?:a|ab|b)*c",
        r"<[^>]*>",
        r"x*+y",
        r"(?:ab)*c",
        r"(?=[^<>]*\brel\s*=\s*[\"']?[^\"';]*;)x",
        r"(?<=//)[^@]*@",
    ],
)
def test_a_search_that_tries_again_is_found(pattern: str) -> None:
    assert slow_text(re.compile(pattern)) is not None


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?<!\s)\s*=",
        r"\S+",
        r"[^\W\d_]\S*",
        r"<([^<>]*)>",
        r"^a*b",
        r"(?<!x)x*+y",
        r"<[^>]*(?:>|\Z)",
        r"charset\s*+=\s*+[\"']?\s*+([\w:.-]+)",
        r"a{2,50}b",
    ],
)
def test_a_search_that_does_not_try_again_is_not_found(pattern: str) -> None:
    assert slow_text(re.compile(pattern)) is None


def test_only_a_match_of_the_whole_text_tries_again_behind_a_match() -> None:
    pattern = re.compile(r"\w+\.\w+")
    twice = re.compile(r"[^ ]+\.[^ ]+")
    assert slow_text(pattern, searches=False, is_whole=True) is None
    assert slow_text(twice, searches=False, is_whole=True) is not None
