"""Writes the measured tables of the documents from their JSON files.

Without arguments it takes README.md and docs/*.md. `--check` writes nothing and fails if a table
differs from its file. The marks are described in `crawler/report/document_tables.py`.

    python -m benchmarks.docs_tables
    python -m benchmarks.docs_tables --check docs/url-study.md
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from crawler.errors import SettingError
from crawler.report.document_tables import filled
from crawler.report.files import write_whole

ROOT = Path(__file__).resolve().parents[1]


def documents() -> list[Path]:
    """Return the documents of the project."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


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


def main() -> int:
    """Write or check the tables."""
    parser = argparse.ArgumentParser(description="Write the measured tables of the documents.")
    parser.add_argument("paths", metavar="FILE", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on differences")
    given = parser.parse_args()
    try:
        found = stale(given.paths or documents(), write=not given.check)
    except (SettingError, OSError) as error:
        print(f"docs_tables: {error}", file=sys.stderr)
        return 1
    for path in found:
        print(f"{path}: {'differs from its JSON file' if given.check else 'written'}")
    return 1 if found and given.check else 0


if __name__ == "__main__":
    sys.exit(main())
