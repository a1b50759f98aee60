"""Writes the measured tables of the documents from their JSON files.

Without arguments it takes README.md and docs/**/*.md. `--check` writes nothing and fails if a table
differs from its file, or if the code that a file names has changed since it was measured. Then
measure it again, or say that its figures are as of their date. The marks are described in
`benchmarks/document_tables.py`.

    python -m benchmarks.docs_tables
    python -m benchmarks.docs_tables --check docs/research/url-study.md
    python -m benchmarks.docs_tables --as-of docs/research/census.json
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.document_tables import filled, sources
from crawler.errors import SettingError
from crawler.report.files import json_text, write_whole
from crawler.report.provenance import ROOT


def documents() -> list[Path]:
    """Return the documents of the project."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def stale(paths: Sequence[Path], *, write: bool) -> list[Path]:
    """Return the documents with a table that differs from its file, after writing it if asked."""
    found = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        if (new := filled(text, path.parent)) != text:
            found.append(path)
            if write:
                write_whole(path, new)
    return found


def outdated(paths: Sequence[Path], root: Path = ROOT) -> list[str]:
    """Return a line for each file of figures whose code has changed and that does not say so."""
    files = {file for path in paths for file in sources(path.read_text("utf-8"), path.parent)}
    found = {file: _change(json.loads(file.read_text("utf-8")), root) for file in sorted(files)}
    return [f"{file}: {change}" for file, change in found.items() if change]


def _change(content: Any, root: Path) -> str:
    measured = content["measured"]
    if measured.get("as_of"):
        return ""
    if not measured.get("modules"):
        return "names no modules"
    # A commit that is not there, or was measured with changes, is no commit of this code.
    words = ["git", "diff", "--quiet", f"{measured['commit']}", "--"]
    words += [f":(glob){module}" for module in measured["modules"]]
    words += [f":(glob){module}/**" for module in measured["modules"]]
    done = subprocess.run(words, cwd=root, capture_output=True, check=False)
    if done.returncode == 0:
        return ""
    return f"{', '.join(measured['modules'])}: changed since {measured['date']}"


def mark_as_of(file: Path) -> None:
    """Say in a file that its figures are as of the day on which they were measured."""
    content = json.loads(file.read_text("utf-8"))
    content["measured"]["as_of"] = content["measured"]["date"]
    write_whole(file, json_text(content))


def main() -> int:
    """Write or check the tables."""
    parser = argparse.ArgumentParser(description="Write the measured tables of the documents.")
    parser.add_argument("paths", metavar="FILE", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on differences")
    parser.add_argument(
        "--as-of", metavar="JSON", nargs="+", type=Path, default=[], help="figures of changed code"
    )
    given = parser.parse_args()
    try:
        for file in given.as_of:
            mark_as_of(file)
        paths = given.paths or documents()
        found = stale(paths, write=not given.check)
        changed = outdated(paths)
    except (SettingError, OSError) as error:
        print(f"docs_tables: {error}", file=sys.stderr)
        return 1
    for path in found:
        print(f"{path}: {'differs from its JSON file' if given.check else 'written'}")
    for line in changed:
        print(f"{line}; measure again, or --as-of")
    return 1 if changed or (found and given.check) else 0


if __name__ == "__main__":
    sys.exit(main())
