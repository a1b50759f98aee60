"""Cost of what a crawl keeps of its pages: pages per second, processor time and disk space.

    python -m benchmarks.output_cost [--pages 1500] [--rounds 3] [--only plain WARC]

Each kind of crawl fetches the same number of pages of one web (`benchmarks.proxyweb`) from a fresh
server; the kinds take turns in each round. Pages are the answers with status 200 in the server's
own log, seconds are the time span of the log. Processor time is that of the crawl's process for
each page, its start included; other work on the machine changes it less than pages per second.
Prints a line for each crawl, then for each kind the medians, their ratios to the plain crawl of the
same round, and the megabytes of the run folder and of the feed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import proxyweb
from benchmarks.speed import home_pages, pages_per_second

_PLAIN = "plain"
_KINDS = (_PLAIN, "WARC", "WARC, feed", "WARC, feed with text")


def kinds(folder: Path) -> dict[str, dict[str, object]]:
    """Return the settings of each kind of crawl; a feed is written into a folder."""
    feed = json.dumps({str(folder / "feed.parquet"): {"format": "parquet"}})
    pipeline = json.dumps({"crawler.spiders.text_pipeline.TextPipeline": 500})
    settings: list[dict[str, object]] = [
        {"LANGFOCUS_WARC": False},
        {},
        {"FEEDS": feed},
        {"FEEDS": feed, "ITEM_PIPELINES": pipeline},
    ]
    return dict(zip(_KINDS, settings, strict=True))


def processor_s(command: Sequence[str], proxy: str) -> float:
    """Run a command and return the seconds of processor time that it took."""
    environment = os.environ | {"http_proxy": proxy}
    with subprocess.Popen(
        command, cwd=proxyweb.ROOT, env=environment, stderr=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def measure(kind: str, pages: int) -> dict[str, Any]:
    """Run one crawl on a fresh server and read its log."""
    with tempfile.TemporaryDirectory() as name:
        folder, run = Path(name), Path(name) / "run"
        with proxyweb.serve(folder / "web", seed=1) as web:
            seeds = folder / "seeds.txt"
            seeds.write_text("\n".join(home_pages(web.folder / "truth.tsv", 10_000)))
            command = [sys.executable, "-m", "scrapy", "crawl", "langfocus"]
            for argument in ("lang=de", f"seeds={seeds}", f"pages={pages}"):
                command += ["-a", argument]
            settings = {"JOBDIR": run, "LANGFOCUS_QUIET": True, **kinds(folder)[kind]}
            for setting in settings.items():
                command += ["-s", "{}={}".format(*setting)]
            seconds = processor_s(command, f"http://127.0.0.1:{web.port}")
        speed, number = pages_per_second(folder / "web" / "log.tsv")
        told = json.loads((run / "summary.json").read_text())
        size = sum(path.stat().st_size for path in run.iterdir())
        feed = folder / "feed.parquet"
        if number < 0.8 * pages:
            sys.exit(f"{number} pages were fetched, not {pages}: nothing was measured")
        return {
            "kind": kind,
            "pages_per_second": round(speed, 1),
            "processor_ms": round(1000 * seconds / number, 3),
            "relevant": told["relevant"],
            "downloaded_mb": round(told["bytes"] / 1e6, 2),
            "run_mb": round(size / 1e6, 2),
            "feed_mb": round(feed.stat().st_size / 1e6, 2) if feed.exists() else 0.0,
        }


def told(kind: str, rounds: Sequence[Mapping[str, Mapping[str, Any]]]) -> str:
    """Return the line of a kind: its medians, and their ratios to the plain crawl."""
    parts = []
    for figure, unit in (("pages_per_second", "pages/s"), ("processor_ms", "ms of processor")):
        values = [found[kind][figure] for found in rounds]
        ratio = statistics.median(found[kind][figure] / found[_PLAIN][figure] for found in rounds)
        parts.append(f"{statistics.median(values):.2f} {unit} ({ratio:.2f} of plain)")
    last = rounds[-1][kind]
    return f"{kind}: {', '.join(parts)}, {last['run_mb']} MB run, {last['feed_mb']} MB feed"


def main() -> int:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=_KINDS, default=_KINDS)
    options = parser.parse_args()
    proxyweb.require()
    names = [name for name in _KINDS if name == _PLAIN or name in options.only]
    rounds: list[dict[str, dict[str, Any]]] = []
    for number in range(options.rounds):
        rounds.append({})
        for name in names if number % 2 == 0 else names[::-1]:
            rounds[-1][name] = measure(name, options.pages)
            print(json.dumps({"round": number, **rounds[-1][name]}), flush=True)
    for name in names:
        print(told(name, rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
