"""Pages per second of a langfocus crawl against plain Scrapy, on one web in the same minutes.

Both start from the home pages of 10,000 hosts and obey robots.txt with the same number of
concurrent requests. langfocus keeps its default settings (1 s between two requests to a host,
identification, frontier on disk). Scrapy has no delay and identifies nothing; langfocus with the
strategy `svm` is a third rival. Pages are the
answers with status 200 in the server's own log; seconds are the time span of the log. Runs
alternate; the result is the median ratio.

    python -m benchmarks.speed --pages 3000 --rounds 3
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import proxyweb

OWN = {"langfocus": "focus", "langfocus-svm": "svm"}
"""Crawls of this project -> their strategy."""


def home_pages(truth: Path, number: int) -> list[str]:
    """Return the home pages of a web's hosts, spread over all languages."""
    with truth.open(encoding="utf-8") as rows:
        homes = [
            r["url"]
            for r in csv.DictReader(rows, delimiter="\t")
            if r["url"].count("/") == 3 and r["url"].endswith("/")
        ]
    return homes[:: max(1, len(homes) // number)][:number]


def pages_per_second(log: Path) -> tuple[float, int]:
    """Return pages with status 200 per second of the log's span, and their number."""
    with log.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    times = [float(r["time"]) for r in rows]
    pages = sum(r["kind"] == "page" and r["status"] == "200" for r in rows)
    return pages / (max(times) - min(times)), pages


def plain(web: proxyweb.Served, seeds: Path, pages: int, *, robots: bool) -> None:
    """Run the rival."""
    settings = {
        "CONCURRENT_REQUESTS": 64,
        "ROBOTSTXT_OBEY": robots,
        # The rival counts each robots.txt as a page.
        "CLOSESPIDER_PAGECOUNT": 2 * pages if robots else pages,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
    }
    spider = Path(__file__).with_name("plain_scrapy.py")
    command = [sys.executable, "-m", "scrapy", "runspider", str(spider), "-a", f"seeds={seeds}"]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    environment = os.environ | {"http_proxy": f"http://127.0.0.1:{web.port}"}
    subprocess.run(command, cwd=seeds.parent, env=environment, check=True)


def measure(seed: int, pages: int, who: str) -> dict[str, object]:
    """Run one crawler on a fresh server and read its log."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with proxyweb.serve(folder / "web", seed=seed) as web:
            seeds = folder / "seeds.txt"
            seeds.write_text("\n".join(home_pages(web.folder / "truth.tsv", 10_000)))
            if who in OWN:
                told = ("lang=de", f"strategy={OWN[who]}", f"seeds={seeds}", f"pages={pages}")
                proxyweb.crawl(web, folder / "run", *told)
            else:
                plain(web, seeds, pages, robots=who == "scrapy")
        speed, number = pages_per_second(folder / "web" / "log.tsv")
    if number < 0.8 * pages:
        sys.exit(f"{who} fetched {number} pages, not {pages}: nothing was measured")
    return {"who": who, "pages_per_second": round(speed, 1), "pages": number}


def main() -> None:
    """Alternate both crawlers and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rivals", default="scrapy,scrapy-without-robots,langfocus-svm")
    arguments = parser.parse_args()
    proxyweb.require()
    ratios: dict[str, list[float]] = {who: [] for who in arguments.rivals.split(",")}
    for number in range(arguments.rounds):
        runs = {who: measure(1, arguments.pages, who) for who in ("langfocus", *ratios)}
        for run in runs.values():
            print(json.dumps({"round": number, **run}), flush=True)
        for who, values in ratios.items():
            values.append(
                float(str(runs["langfocus"]["pages_per_second"]))
                / float(str(runs[who]["pages_per_second"]))
            )
    for who, values in ratios.items():
        rounds = [round(value, 2) for value in values]
        print(f"langfocus / {who}: {statistics.median(values):.2f} (all: {rounds})")


if __name__ == "__main__":
    main()
