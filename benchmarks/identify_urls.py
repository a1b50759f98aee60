"""URLs per second of `langfocus identify urls` in each format, against py3langid on the same URLs.

The command reads a file, a gzipped file, or standard input, in a process of its own; its seconds
include the start. The rival reads the same URLs in this process. It names the language of a text
and is not made for URLs; it stands here for the cost of a fast identifier in Python. Rounds
alternate, and the ratios are medians. The peak of the command's memory is measured too: it must
not grow with the number of lines.

    python -m benchmarks.identify_urls URLS.txt --lines 2000000 --rounds 3
"""

import argparse
import gzip
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

CASES = ("tsv", "tsv-gz", "tsv-stdin", "json-short", "json")
SHARE = {"json": 0.1, "json-short": 0.5}
"""Part of the lines that a slower format reads."""
RIVAL_LINES = 20_000


def command(case: str, plain: Path, packed: Path) -> dict[str, object]:
    """Run the command on a file; return its lines, seconds and peak memory."""
    name = case.removesuffix("-gz").removesuffix("-stdin")
    line = [sys.executable, "-m", "langfocus", "identify", "urls", "--format", name]
    given: BinaryIO | int = subprocess.DEVNULL
    start = time.perf_counter()
    with plain.open("rb") as file, tempfile.TemporaryFile() as output:
        if case.endswith("-stdin"):
            given = file
        else:
            line.append(str(packed if case.endswith("-gz") else plain))
        process = subprocess.Popen(line, stdin=given, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        written = sum(block.count(b"\n") for block in iter(lambda: output.read(1 << 20), b""))
    if process.returncode:
        sys.exit(f"{' '.join(line)} ended with exit code {process.returncode}")
    return {"lines": written, "seconds": seconds, "peak_mb": usage.ru_maxrss // 1024}


def rival(urls: list[str]) -> float:
    """Return the URLs per second of py3langid."""
    py3langid = import_module("py3langid")
    py3langid.classify(urls[0])
    start = time.perf_counter()
    for url in urls:
        py3langid.classify(url)
    return len(urls) / (time.perf_counter() - start)


def write(urls: list[str], lines: int, folder: Path) -> tuple[Path, Path]:
    """Write that number of lines as text and gzipped; the URLs are repeated."""
    plain, packed = folder / f"{lines}.txt", folder / f"{lines}.txt.gz"
    if not plain.exists():
        chosen = itertools.islice(itertools.cycle(urls), lines)
        with plain.open("w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(f"{url}\n" for url in chosen)
        packed.write_bytes(gzip.compress(plain.read_bytes(), 1))
    return plain, packed


def measure(urls: list[str], lines: int, rounds: int, folder: Path) -> None:
    """Alternate all formats and the rival; print each run, then the medians."""
    ratios: dict[str, list[float]] = {case: [] for case in CASES}
    speeds: dict[str, list[float]] = {case: [] for case in CASES}
    for number in range(rounds):
        rivals = rival(urls[:RIVAL_LINES])
        for case in CASES:
            wanted = int(lines * SHARE.get(case, 1.0))
            run = command(case, *write(urls, wanted, folder))
            if run["lines"] != wanted:
                sys.exit(f"{case}: {run['lines']} lines of output for {wanted} of input")
            speed = wanted / float(str(run["seconds"]))
            speeds[case].append(speed)
            ratios[case].append(speed / rivals)
            print(json.dumps({"round": number, "case": case, **run, "rival": round(rivals)}))
    for case in CASES:
        print(
            f"{case}: {statistics.median(speeds[case]):,.0f} URLs/s, "
            f"{statistics.median(ratios[case]):.1f} times py3langid"
        )


def main() -> None:
    """Read URLs from a file, one a line, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("urls", type=Path)
    parser.add_argument("--lines", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    urls = arguments.urls.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    with tempfile.TemporaryDirectory() as folder:
        measure(urls, arguments.lines, arguments.rounds, Path(folder))


if __name__ == "__main__":
    main()
