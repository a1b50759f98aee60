"""Pages per second of a crawl that keeps texts and WARC files, against one that keeps neither.

    python -m benchmarks.output_cost [--pages 1500] [--rounds 3]

Each kind of crawl fetches the same number of pages of one web (`benchmarks.proxyweb`) from a fresh
server; the kinds take turns in each round. Pages are the answers with status 200 in the server's
own log, seconds are the time span of the log. Prints a line for each crawl, then for each kind the
median of pages per second, its ratio to the plain crawl of the same round, and the megabytes of the
run folder and of the feed.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import proxyweb
from benchmarks.speed import home_pages, pages_per_second

_PLAIN = "plain"


def kinds(folder: Path) -> dict[str, dict[str, object]]:
    """Return the settings of each kind of crawl; a feed is written into a folder."""
    feed = json.dumps({str(folder / "feed.parquet"): {"format": "parquet"}})
    return {
        _PLAIN: {"LANGFOCUS_TEXT": "none"},
        "text": {"LANGFOCUS_TEXT": "relevant"},
        "text of all pages": {"LANGFOCUS_TEXT": "all"},
        "text, Parquet": {"LANGFOCUS_TEXT": "relevant", "FEEDS": feed},
        "WARC": {"LANGFOCUS_TEXT": "none", "LANGFOCUS_WARC": True},
        "text, Parquet, WARC": {"FEEDS": feed, "LANGFOCUS_WARC": True},
    }


def measure(kind: str, pages: int) -> dict[str, Any]:
    """Run one crawl on a fresh server and read its log."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with proxyweb.serve(folder / "web", seed=1) as web:
            seeds = folder / "seeds.txt"
            seeds.write_text("\n".join(home_pages(web.folder / "truth.tsv", 10_000)))
            given = ("lang=de", f"seeds={seeds}", f"pages={pages}")
            told = proxyweb.crawl(web, folder / "run", *given, **kinds(folder)[kind])
        speed, number = pages_per_second(folder / "web" / "log.tsv")
        size = sum(path.stat().st_size for path in (folder / "run").iterdir())
        feed = folder / "feed.parquet"
        if number < 0.8 * pages:
            sys.exit(f"{number} pages were fetched, not {pages}: nothing was measured")
        return {
            "kind": kind,
            "pages_per_second": round(speed, 1),
            "relevant": told["relevant"],
            "words": told["corpus"]["words"],
            "run_mb": round(size / 1e6, 2),
            "feed_mb": round(feed.stat().st_size / 1e6, 2) if feed.exists() else 0.0,
        }


def main() -> int:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    proxyweb.require()
    names = list(kinds(Path()))
    speeds: dict[str, list[float]] = {name: [] for name in names}
    last: dict[str, dict[str, Any]] = {}
    for number in range(options.rounds):
        for name in names:
            last[name] = measure(name, options.pages)
            print(json.dumps({"round": number, **last[name]}), flush=True)
            speeds[name].append(last[name]["pages_per_second"])
    for name in names:
        pairs = zip(speeds[name], speeds[_PLAIN], strict=True)
        ratio = statistics.median(one / plain for one, plain in pairs)
        sizes = f"{last[name]['run_mb']} MB run, {last[name]['feed_mb']} MB feed"
        print(
            f"{name}: {statistics.median(speeds[name]):.1f} pages/s, {ratio:.2f} of plain, {sizes}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
