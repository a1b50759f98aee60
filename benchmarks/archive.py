"""Effect of the directory filter on real pages whose languages are three directories deep.

Crawls a recorded web from its portal and compares the run with the directory language of each page:
harvest rate by the crawl's own identification, coverage and pages against the record. Prints one
JSON line for each setting.

    python -m benchmarks.archive --lang fr
"""

import argparse
import csv
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.proxyweb import ROOT, SHARED

ARCHIVE = SHARED / "data" / "docs.warc.gz"
RECORD = SHARED / "data" / "docs.tsv"
PORTAL = "http://portal.invalid/"

RUNS = [
    ("none", 1),
    ("hard", 1),
    ("server", 1),
    ("directory-conservative", 1),
    ("directory-conservative", 2),
    ("directory-conservative", 3),
]


def crawl(lang: str, strategy: str, rule: str, depth: int, folder: Path) -> dict[str, object]:
    """Crawl the archive once and compare its pages with the record."""
    arguments = {
        "lang": lang,
        "strategy": strategy,
        "filter": rule,
        "directory_depth": depth,
        "tolerance": 10,
        "host_cap": 0,
        "web": "archive",
        "archive": ARCHIVE,
        "seeds": PORTAL,
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "langfocus"]
    for name, value in arguments.items():
        command += ["-a", f"{name}={value}"]
    command += ["-s", f"JOBDIR={folder}", "-s", "LANGFOCUS_QUIET=True"]
    subprocess.run(command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
    told = json.loads((folder / "summary.json").read_text())
    with RECORD.open(encoding="utf-8") as rows:
        wanted = {
            r["url"] for r in csv.DictReader(rows, delimiter="\t") if r["directory_lang"] == lang
        }
    connection = sqlite3.connect(folder / "run.db")
    crawled = [
        url
        for (url,) in connection.execute("SELECT url FROM pages WHERE outcome = 'page' ORDER BY id")
    ]
    connection.close()
    found = [url in wanted for url in crawled]
    return {
        "strategy": strategy,
        "filter": rule,
        "directory_depth": depth,
        "pages": told["pages"],
        "harvest_rate": round(told["harvest_rate"], 4),
        "directory_harvest": round(sum(found) / len(found), 4),
        "coverage": round(sum(found) / len(wanted), 4),
        "pages_to_95_percent": pages_to(found, 0.95 * len(wanted)),
        "dropped_irrelevant": told["counts"].get("dropped_irrelevant", 0),
        "rejected": told["counts"].get("rejected", 0),
        "seconds": round(told["seconds"], 1),
    }


def pages_to(found: list[bool], wanted: float) -> int | None:
    """Return the number of pages after which `wanted` of the wanted ones were crawled."""
    total = 0
    for number, is_wanted in enumerate(found, start=1):
        total += is_wanted
        if total >= wanted:
            return number
    return None


def main() -> None:
    """Crawl with each filter."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lang", default="fr")
    parser.add_argument("--strategies", default="svm,bfs")
    arguments = parser.parse_args()
    if not ARCHIVE.exists():
        sys.exit(f"skipped: {ARCHIVE} is not here")
    for strategy in arguments.strategies.split(","):
        for rule, depth in RUNS:
            with tempfile.TemporaryDirectory() as name:
                print(
                    json.dumps(crawl(arguments.lang, strategy, rule, depth, Path(name))), flush=True
                )


if __name__ == "__main__":
    main()
