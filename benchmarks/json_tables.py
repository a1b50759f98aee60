"""Takes some tables and their provenance from the JSON file of a command, for the documents.

    langfocus simulate web --random-webs 10 --json simulation.json
    python -m benchmarks.json_tables simulation.json docs/simulation/webs.json NAME...

The JSON of a command has much more: every curve of every crawl, or every confusion. Without names
all tables are taken. `benchmarks/docs_tables.py` writes them into the documents.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crawler.report.files import json_text, write_whole


def tables_in(content: Any) -> Iterator[dict[str, Any]]:
    """Yield the tables of a file, at any depth."""
    if isinstance(content, Mapping):
        if "name" in content and "rows" in content:
            yield dict(content)
            return
        content = list(content.values())
    if isinstance(content, list):
        for each in content:
            yield from tables_in(each)


def main() -> int:
    """Write the smaller file."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("source", type=Path, help="JSON file of a command")
    parser.add_argument("target", type=Path, help="JSON file to write")
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of tables (default: all)")
    given = parser.parse_args()
    content = json.loads(given.source.read_text(encoding="utf-8"))
    known = {table["name"]: table for table in tables_in(content)}
    unknown = [name for name in given.names if name not in known]
    if unknown:
        print(f"no table {unknown[0]!r}; there are {', '.join(known)}", file=sys.stderr)
        return 1
    tables = [known[name] for name in given.names or known]
    small = {"measured": content["measured"], "tables": tables}
    print(write_whole(given.target, json_text(small)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
