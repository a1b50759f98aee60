"""Takes some tables and their provenance from the JSON file of a simulation, for the documents.

    langfocus graph --generate web --scale 0.1
    langfocus simulate web --random-webs 10 --json simulation.json
    python -m benchmarks.simulation_figures simulation.json docs/simulation/webs.json NAME...

The JSON of a simulation has every curve of every crawl; documents need the tables only. Without
names all tables are taken. `benchmarks/docs_tables.py` writes them into the documents.
"""

import argparse
import json
import sys
from pathlib import Path

from crawler.report.files import json_text, write_whole


def main() -> int:
    """Write the smaller file."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("simulation", type=Path)
    parser.add_argument("figures", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of tables (default: all)")
    given = parser.parse_args()
    content = json.loads(given.simulation.read_text(encoding="utf-8"))
    known = {table["name"]: table for table in content["tables"]}
    unknown = [name for name in given.names if name not in known]
    if unknown:
        print(f"no table {unknown[0]!r}; there are {', '.join(known)}", file=sys.stderr)
        return 1
    tables = [known[name] for name in given.names or known]
    for table in tables:
        if table["head"][-1] == "time":  # says nothing about the strategies
            table["head"] = table["head"][:-1]
            table["rows"] = [row[:-1] for row in table["rows"]]
    graph = {name: content["graph"][name] for name in ("pages", "vertices", "links", "servers")}
    small = {"measured": content["measured"], "graph": graph, "tables": tables}
    print(write_whole(given.figures, json_text(small)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
