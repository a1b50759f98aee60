"""An archive that is crawled into WARC files comes back from them byte for byte.

    python -m benchmarks.warc_replay [--lang fr]

Crawls a recorded web from its portal with `LANGFOCUS_WARC`. Then each answer is read from both
archives by our own replay, and by warcio, which also checks all digests. Prints one JSON line; exit
code 1 if an answer differs or is missing.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from benchmarks.proxyweb import ROOT, SHARED
from crawler.sources.archive import ArchiveWeb
from tests.support.crawls import rows

ARCHIVE = SHARED / "data" / "docs.warc.gz"
PORTAL = "http://portal.invalid/"


def crawl(lang: str, folder: Path) -> None:
    """Crawl the whole archive into a run folder."""
    given = {"lang": lang, "strategy": "bfs", "host_cap": 0, "web": "archive"}
    command = [sys.executable, "-m", "scrapy", "crawl", "langfocus"]
    for name, value in {**given, "archive": ARCHIVE, "seeds": PORTAL}.items():
        command += ["-a", f"{name}={value}"]
    for setting in (f"JOBDIR={folder}", "LANGFOCUS_WARC=True", "LANGFOCUS_QUIET=True"):
        command += ["-s", setting]
    subprocess.run(command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)


def payloads(paths: list[Path]) -> Iterator[tuple[str, bytes | None]]:
    """Yield the URL and the payload of each answer by warcio; None: that of another record."""
    for path in paths:
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                url = record.rec_headers.get_header("WARC-Target-URI")
                if record.rec_type == "response":
                    yield url, record.raw_stream.read()
                elif record.rec_type == "revisit":
                    yield url, None


def judge(folder: Path) -> dict[str, Any]:
    """Compare what the run's files hold with the archive that was crawled."""
    paths = sorted(folder.glob("pages-*.warc.gz"))
    archived, kept = ArchiveWeb(ARCHIVE), ArchiveWeb(folder)
    settled = {url for (url,) in rows(folder, "SELECT url FROM pages WHERE status IS NOT NULL")}
    wrong = [
        f"{url}: another answer in our replay"
        for url in settled
        if kept.respond(url) != archived.respond(url)
    ]
    original = dict(payloads([ARCHIVE]))
    read = dict(payloads(paths))
    wrong += [f"{url}: not read by warcio" for url in settled - read.keys()]
    wrong += [
        f"{url}: another payload by warcio"
        for url, payload in read.items()
        if payload is not None and payload != original.get(url)
    ]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "answers": len(settled),
        "revisits": sum(payload is None for payload in read.values()),
        "bytes_of_the_archive": ARCHIVE.stat().st_size,
        "bytes_of_the_files": sum(path.stat().st_size for path in paths),
        "wrong": sorted(wrong)[:20],
        "wrong_in_all": len(wrong),
    }


def main() -> int:
    """Print the JSON line; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lang", default="fr")
    parser.add_argument("--folder", type=Path, help="keep the files of the crawl")
    arguments = parser.parse_args()
    if not ARCHIVE.exists():
        sys.exit(f"skipped: {ARCHIVE} is not here")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        crawl(arguments.lang, folder)
        result = judge(folder)
    print(json.dumps(result))
    return int(bool(result["wrong_in_all"]))


if __name__ == "__main__":
    sys.exit(main())
