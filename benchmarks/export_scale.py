"""Time and memory of an export of many pages, with one process and with two.

    python -m benchmarks.export_scale [PAGES.tar] [--pages 100000] [--processes 1 2]

Writes a WARC file with copies of real pages, in each of which one word in five is changed, so that
they are no near-duplicates. Then `langfocus export` makes a text file of it. Prints one JSON line
for each number of processes: seconds, seconds of processor time, the highest memory of the main
process and of a reading one in megabytes, and the SHA-256 of the file, which must be the same.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from crawler.outputs.exchange import Exchange
from crawler.outputs.warc_records import digest_of, pack_answer

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "pages" / "html.tar"
_WORD = re.compile(rb">[^<>]{40,}<")
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
_MEASURED = """\
import resource, sys
from langfocus.command_line import main
code = main()
from joblib.externals.loky import get_reusable_executor
get_reusable_executor().shutdown(wait=True)
kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
sizes = [resource.getrusage(kind).ru_maxrss // 1024 for kind in kinds]
print("measured", *sizes, file=sys.stderr)
sys.exit(code)
"""


def real_pages(archive: Path) -> list[bytes]:
    """Return the HTML of all pages of an archive that are not very large."""
    found = []
    with tarfile.open(archive) as pages:
        for member in pages:
            file = pages.extractfile(member)
            if file is not None:
                html = gzip.decompress(file.read())
                found += [html] if len(html) < 500_000 else []
    return found


def changed(html: bytes, number: int) -> bytes:
    """Return a page with one word in five of its long texts changed."""
    random = Random(number)

    def change(match: re.Match[bytes]) -> bytes:
        words = match[0].split(b" ")
        for at in range(1, len(words) - 1):
            if random.random() < 0.2:
                words[at] = b"%x" % random.getrandbits(24)
        return b" ".join(words)

    return _WORD.sub(change, html)


def write_pages(archive: Path, path: Path, number: int) -> None:
    """Write so many answers into a WARC file."""
    pages = real_pages(archive)
    with path.open("wb") as file:
        for at in range(number):
            body = changed(pages[at % len(pages)], at)
            exchange = Exchange(f"http://host{at % 997}.example/{at}", 1e9 + at, _HEAD, body)
            file.write(pack_answer(exchange, digest_of(body), "<urn:x>", None).data)


def measure(path: Path, processes: int) -> dict[str, Any]:
    """Export the pages once."""
    output = path.with_name("corpus.txt")
    line = ["export", str(path), "--output", str(output), "--processes", str(processes)]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *line, "--json", str(path.with_name("told.json"))],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    sizes = done.stderr.rpartition("measured ")[2].split()
    told = json.loads(path.with_name("told.json").read_text())
    return {
        "processes": processes,
        "seconds": round(time.monotonic() - began, 1),
        "processor_s": round(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1
        ),
        "main_mb": int(sizes[0]),
        "reader_mb": int(sizes[1]),
        "sha256": hashlib.sha256(output.read_bytes()).hexdigest()[:12],
        "load": round(os.getloadavg()[0], 1),
        **{name: told[name] for name in ("pages", "words", "copies", "repeated_lines", "left_out")},
    }


def main() -> int:
    """Print the JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("archive", type=Path, nargs="?", default=SHARED)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    if not options.archive.exists():
        print(f"skipped: {options.archive} is not here", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pages.warc.gz"
        write_pages(options.archive, path, options.pages)
        for processes in options.processes:
            print(json.dumps(measure(path, processes)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
