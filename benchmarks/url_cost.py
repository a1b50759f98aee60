"""Cost of the URL model besides scoring: seconds to start, and time and memory to train."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
WARM_STARTS = 5
POLL_S = 0.1

_FIRST_SCORE = """
import json, time
start = time.perf_counter()
from classifiers.urls.model import UrlModel
model = UrlModel.load()
loaded = time.perf_counter()
values = model.{call}
assert len(values) == 1
print(json.dumps([loaded - start, time.perf_counter() - start]))
"""
_CALLS = {
    "score": "score(['http://example.de/'], 'de')",
    "scores": "scores(['http://example.de/'])",
}


def start_up() -> dict[str, object]:
    """Seconds until the first scores of a process: with an empty numba cache, then a full one.

    The clock starts at the first import of the package, after the start of the interpreter.
    """
    result: dict[str, object] = {}
    for name, call in _CALLS.items():
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | {"NUMBA_CACHE_DIR": cache}
            _, cold = _start(call, environment)
            warm = [_start(call, environment) for _ in range(WARM_STARTS)]
        firsts = [first for _, first in warm]
        result[name] = {
            "cold_s": round(cold, 2),
            "warm_s": round(median(firsts), 3),
            "warm_spread_s": [round(min(firsts), 3), round(max(firsts), 3)],
            "of_it_import_and_load_s": round(median(load for load, _ in warm), 3),
        }
    return result


def _start(call: str, environment: Mapping[str, str]) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_SCORE.format(call=call)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    loaded, first = json.loads(done.stdout)
    return loaded, first


def training(data: Path, jobs: int, environment: Mapping[str, str]) -> dict[str, object]:
    """Wall clock and peak memory of `scrapy train` on a file, its children included.

    Memory is the sum over the processes: pages that they share count for each.
    """
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "model.npz"
        command = [sys.executable, "-m", "scrapy", "train", str(data), "--output", str(output)]
        command += ["--no-evaluate", "--jobs", str(jobs)]
        start, peak = time.monotonic(), 0
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=sys.stderr) as process:
            while process.poll() is None:
                peak = max(peak, sum(map(_resident, _family(process.pid))))
                time.sleep(POLL_S)
        seconds = time.monotonic() - start
        if process.returncode or not output.exists():
            raise SystemExit(f"training ended with exit code {process.returncode}")
        size = output.stat().st_size
    return {
        "jobs": jobs,
        "seconds": round(seconds, 1),
        "peak_rss_mb": round(peak / 1e6),
        "model_mb": round(size / 1e6, 2),
    }


def _family(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found = children.read_text().split()
        except OSError:  # the process has ended
            continue
        for child in found:
            yield from _family(int(child))


def _resident(pid: int) -> int:
    """Resident memory of a process in bytes; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
