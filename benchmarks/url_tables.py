r"""Agreement with the test tables of other URL normalisers.

The claim: links are spelled as in browsers, and what other crawlers take for one page is one page
here, but for the differences that docs/urls.md judges. A table is a file of the other project:

- `.jsonl`: rows with `input`, `base`, `href` and `failure`, as in the table of the URL standard.
  Only http(s) counts, without fragments; our URL must be the same text.
- `.java`: calls `normalizeTest("...", "...")` (crawler-commons, Nutch). Both must be one page.
- `.py`: `assert f("...") == "..."` for the functions of `--function` (courlan, w3lib, surt).
- `.test`: a URL and its normal form on a line (Nutch's regular expressions).

Prints a JSON line for each table, with every difference.

    python -m benchmarks.url_tables ../shared/data/conformance/url_resolve.jsonl \
        BasicURLNormalizerTest.java courlan/tests/unit_tests.py w3lib/tests/test_url.py
"""

import argparse
import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crawler.same_page import page_key
from crawler.url import normalise

_STRING = r'"((?:[^"\\]|\\.)*)"'
_CALL = re.compile(rf"normalizeTest\(\s*{_STRING},\s*{_STRING}\s*\)")
FUNCTIONS = ("clean_url", "normalize_url", "canonicalize_url")


class Case(NamedTuple):
    """A URL, and the one that the other project makes of it, None if it refuses."""

    url: str
    base: str | None
    wanted: str | None


def cases(path: Path, functions: tuple[str, ...]) -> Iterator[Case]:
    """Yield the cases of a table."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        yield from map(_of_standard, text.splitlines())
    elif path.suffix == ".java":
        code = "\n".join(line for line in text.split("\n") if not line.strip().startswith("//"))
        for url, wanted in _CALL.findall(code):
            yield Case(json.loads(f'"{url}"'), None, json.loads(f'"{wanted}"'))
    elif path.suffix == ".py":
        yield from _of_asserts(ast.parse(text), functions)
    else:
        lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
        yield from (Case(pair[0], None, pair[1]) for pair in lines if len(pair) == 2)


def _of_standard(line: str) -> Case:
    row = json.loads(line)
    is_page = not row["failure"] and row["href"].startswith(("http:", "https:"))
    return Case(row["input"], row["base"], row["href"].partition("#")[0] if is_page else None)


def _of_asserts(tree: ast.Module, functions: tuple[str, ...]) -> Iterator[Case]:
    """Yield `assert f("...") == "..."` without further arguments, in the order of the file."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        call, wanted = node.left, node.comparators[0]
        if (
            isinstance(call, ast.Call)
            and _name(call.func) in functions
            and len(call.args) == 1
            and not call.keywords
            and isinstance(call.args[0], ast.Constant)
            and isinstance(wanted, ast.Constant)
            and isinstance(call.args[0].value, str)
            and isinstance(wanted.value, str)
        ):
            yield Case(call.args[0].value, None, wanted.value)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def agrees(case: Case, *, exactly: bool) -> bool:
    """Return True if our URL is the wanted one, or if both are one page."""
    ours = normalise(case.url, case.base)
    if exactly or ours is None or case.wanted is None:
        return ours == case.wanted
    wanted = normalise(case.wanted)
    return wanted is not None and page_key(ours) == page_key(wanted)


def compare(path: Path, functions: tuple[str, ...]) -> dict[str, object]:
    """Return the agreement with a table."""
    table = list(dict.fromkeys(cases(path, functions)))
    exactly = path.suffix == ".jsonl"
    different = [case for case in table if not agrees(case, exactly=exactly)]
    return {
        "benchmark": "url_tables",
        "table": path.name,
        "cases": len(table),
        "agree": len(table) - len(different),
        "differences": [
            [case.url, case.base, case.wanted, normalise(case.url, case.base)] for case in different
        ],
    }


def main() -> None:
    """Read the arguments, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--function", action="append", default=list(FUNCTIONS))
    options = parser.parse_args()
    for path in options.tables:
        print(json.dumps(compare(path, tuple(options.function)), ensure_ascii=False))


if __name__ == "__main__":
    main()
