"""The figures of the README and the guide: measured, written into the pages, and checked.

    python -m benchmarks.figures [--all | --only harvest speed]
    python -m benchmarks.figures --check

Measures the groups of `benchmarks.live` whose code has changed since they were measured, writes
docs/figures.json, and renews the marked figures of the pages:

    <!-- =harvest.de.default.svm -->99.7<!-- = -->

`--check` measures nothing. It fails if the code of a group has changed, or if a page differs.
"""

import argparse
import ast
import hashlib
import inspect
import io
import json
import re
import sys
import textwrap
import tokenize
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from benchmarks.live import GROUPS, Group
from langfocus.crawler.report.formatting import json_text
from langfocus.crawler.report.provenance import ROOT, provenance
from langfocus.crawler.run.whole_file import write_whole

FILE: Final = ROOT / "docs" / "figures.json"
PACKAGES: Final = ("langfocus", "Scrapy", "scikit-learn", "numpy", "fasttext-numpy2-wheel")
MARK: Final = re.compile(r"(?s)(<!-- =([\w.-]+) -->)(.*?)(<!-- = -->)")


def pages() -> list[Path]:
    """Return the README and the pages of the guide."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", *(path for path in found if "research" not in path.parts)]


def code_of(source: str) -> str:
    """Return Python without comments, docstrings and empty lines."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=int(last)):
                lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def files(patterns: str, root: Path = ROOT) -> list[Path]:
    """Return the files of patterns and folders; LookupError if one has none."""
    found: set[Path] = set()
    for pattern in patterns.split():
        paths = [path for each in root.glob(pattern) for path in (each, *each.rglob("*"))]
        paths = [path for path in paths if path.is_file() and "__pycache__" not in path.parts]
        if not paths:
            raise LookupError(f"{pattern}: no file decides a figure")
        found.update(paths)
    return sorted(found)


def digest(group: Group, root: Path = ROOT) -> str:
    """Return a hash of all that decides the figures of a group, without comments."""
    whole = hashlib.sha256(code_of(textwrap.dedent(inspect.getsource(group.measure))).encode())
    for path in files(group.code, root):
        content = path.read_bytes()
        if path.suffix == ".py":
            content = code_of(content.decode()).encode()
        whole.update(b"\0%b\0%b" % (path.relative_to(root).as_posix().encode(), content))
    return whole.hexdigest()[:16]


def stale(content: Mapping[str, Any], root: Path = ROOT) -> list[str]:
    """Return the groups whose code is not that of their figures."""
    return [
        name
        for name, group in GROUPS.items()
        if content.get(name, {}).get("code") != digest(group, root)
    ]


def measured(name: str) -> dict[str, Any]:
    """Measure a group; return its figures with date, commit, command, versions and code."""
    group = GROUPS[name]
    print(f"{name}: about {group.minutes} minutes", flush=True)
    code = digest(group)
    figures = dict(group.measure())
    print(json.dumps(figures), flush=True)
    of = provenance(
        ["python", "-m", "benchmarks.figures", "--only", name], [], date.today(), PACKAGES
    )
    return {**of, "code": code, "figures": figures}


def filled(text: str, content: Mapping[str, Any]) -> str:
    """Return a page with its marked figures; LookupError for a mark of no figure."""

    def written(mark: re.Match[str]) -> str:
        group, _, name = mark[2].partition(".")
        try:
            value = content[group]["figures"][name]
        except KeyError:
            raise LookupError(f"{mark[2]}: there is no such figure") from None
        return f"{mark[1]}{value:,}{mark[4]}"

    return MARK.sub(written, text)


def different(content: Mapping[str, Any], *, write: bool = False) -> Iterator[Path]:
    """Yield the pages whose figures differ from the file, after writing them if asked."""
    for path in pages():
        text = path.read_text("utf-8")
        if (new := filled(text, content)) != text:
            if write:
                write_whole(path, new)
            yield path


def read() -> dict[str, Any]:
    """Return the figures of the last measurement, by group."""
    content: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    return content


def main() -> int:
    """Measure what is stale, or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=GROUPS, help="measure these groups")
    parser.add_argument("--all", action="store_true", help="measure all groups")
    parser.add_argument("--check", action="store_true", help="measure nothing")
    given = parser.parse_args()
    content = read()
    changed = stale(content)
    if given.check:
        paths = list(different(content))
        print(*(f"{name}: its code has changed; make figures" for name in changed), sep="\n")
        print(*(f"{path}: differs from docs/figures.json" for path in paths), sep="\n")
        return int(bool(changed or paths))
    for name in given.only or (GROUPS if given.all else changed):
        content[name] = measured(name)
        write_whole(FILE, json_text({each: content[each] for each in GROUPS if each in content}))
    for path in different(content, write=True):
        print(f"{path}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
