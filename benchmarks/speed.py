"""Pages per second and processor time of a crawl against other crawlers, on one web.

    python -m benchmarks.speed [--pages 4000] [--rounds 3] [--kb 5 240] [--tls]
        [--rivals scrapy,scrapy-wreq]

All start from the home pages of 10,000 hosts with the same number of concurrent requests and fetch
the same number of pages. langfocus has its default settings (1 s between two requests to a host,
identification, frontier on disk, WARC files). The rivals have no delay, and but for
`scrapy-langdetect` they identify nothing; only `scrapy-without-robots` does not obey robots.txt.
`scrapy-wreq` downloads with wreq, Scrapy's fastest handler. `trafilatura` follows links within
sites, and only those that look German. With `--tls` each page comes over TLS: a host has a
connection of its own, so all have more work, the server too. Pages of 240 KB are like real ones
(`benchmarks.heavy`). `svm` is this project's other ordering, whose figure is divided by that of the
default. Crawls alternate.

Pages are the answers with status 200 in the server's own log; seconds are the time span of the log.
Processor time is that of all processes of a crawler, without the server. The start ends with the
first request. A page's time is taken after a quarter of the pages: the first ones cost more.
"""

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL
from typing import Final, NamedTuple

from benchmarks import proxyweb
from benchmarks.claim import Claim, ratios
from benchmarks.crawling import ROOT, Spent, spent

OURS: Final = "langfocus"
HEAVY_KB: Final = 240
_SPREAD: Final = 0.75
"""The least ratio of a round to the median of five, on the machine of the tables."""
FLOORS: Final = {
    "scrapy": 3.0 * _SPREAD,
    "scrapy-wreq": 2.5 * _SPREAD,
    "scrapy-without-robots": 1.0,
    "scrapy-langdetect": 3.0,
    "crawlee": 1.5,
    "trafilatura": 1.5,
}
"""The rivals, and how many times as many pages a second the default fetches at least."""
FAST: Final = ("scrapy", "scrapy-wreq", "scrapy-without-robots")
SLOW: Final = ("scrapy-langdetect", "crawlee", "trafilatura")
LEAST_CPU: Final = 2.0 * _SPREAD
"""How many times the processor time of the default a rival needs at least for a page."""
MOST_START_S: Final = 2.0 / _SPREAD
"""The most processor time of the start, without the compilation of kernels."""
MOST_SVM: Final = 1.15 / _SPREAD
"""How many times as fast as the default `svm` may be."""


class Crawled(NamedTuple):
    """What one crawl fetched and used: seconds of the start, milliseconds of a page."""

    pages: int
    seconds: float
    start_s: float
    page_ms: float

    @property
    def speed(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds


def home_pages(web: proxyweb.Served, number: int, file: Path) -> Path:
    """Write a seed file with home pages of a web's hosts, spread over all languages."""
    with (web.folder / "truth.tsv").open(encoding="utf-8") as rows:
        homes = [
            r["url"]
            for r in csv.DictReader(rows, delimiter="\t")
            if r["url"].count("/") == 3 and r["url"].endswith("/")
        ]
    file.write_text("\n".join(homes[:: max(1, len(homes) // number)][:number]))
    return file


def crawled(log: Path, cpu: Spent) -> Crawled:
    """Return the figures of a crawl, from the server's log and its processor time."""
    with log.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    times = sorted(float(r["time"]) for r in rows)
    pages = sorted(float(r["time"]) for r in rows if (r["kind"], r["status"]) == ("page", "200"))
    later = pages[len(pages) // 4 :]
    used_s = cpu.until(later[-1]) - cpu.until(later[0]) if later else 0.0
    page_ms = 1000 * used_s / max(1, len(later) - 1)
    return Crawled(len(pages), times[-1] - times[0], cpu.until(times[0]), page_ms)


def own(strategy: str, seeds: Path, pages: int) -> list[str]:
    """Return the command of a crawl with this project."""
    arguments = ("lang=de", f"strategy={strategy}", f"seeds={seeds}", f"pages={pages}")
    return proxyweb.command_of(seeds.parent / "run", *arguments)


def scrapy(seeds: Path, pages: int, **settings: object) -> list[str]:
    """Return the command of a crawl with plain Scrapy."""
    settings = {
        "CONCURRENT_REQUESTS": 64,
        "ROBOTSTXT_OBEY": True,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        **settings,
    }
    command = [sys.executable, "-m", "scrapy", "runspider", str(_program("scrapy"))]
    command += ["-a", f"seeds={seeds}", "-a", f"pages={pages}"]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    return command


def _program(name: str) -> Path:
    return Path(__file__).with_name(f"rival_{name}.py")


def rival(name: str, web: proxyweb.Served, seeds: Path, pages: int) -> list[str]:
    """Return the command of the program that is written for a library."""
    return [sys.executable, str(_program(name)), web.address, str(seeds), str(pages)]


WREQ: Final = "scrapy_download_handlers_incubator.WreqDownloadHandler"
HANDLERS: Final = json.dumps({"http": WREQ, "https": WREQ})

COMMANDS: Final[dict[str, Callable[[proxyweb.Served, Path, int], list[str]]]] = {
    OURS: lambda _, *crawl: own("focus", *crawl),
    "svm": lambda _, *crawl: own("svm", *crawl),
    "scrapy": lambda _, *crawl: scrapy(*crawl),
    "scrapy-wreq": lambda _, *crawl: scrapy(*crawl, DOWNLOAD_HANDLERS=HANDLERS),
    "scrapy-without-robots": lambda _, *crawl: scrapy(*crawl, ROBOTSTXT_OBEY=False),
    "scrapy-langdetect": lambda _, *crawl: [*scrapy(*crawl), "-a", "identifies=1"],
    "crawlee": lambda *crawl: rival("crawlee", *crawl),
    "trafilatura": lambda *crawl: rival("trafilatura", *crawl),
}
ONLY_HTTP: Final = {"crawlee", "trafilatura"}
"""These refuse a certificate that does not name its host."""


def measure(who: str, pages: int, kb: int, *, is_tls: bool = False) -> Crawled:
    """Crawl with one crawler on a fresh server; 240 KB are the weight of real pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with proxyweb.serve(folder / "web", seed=1) as web:
            seeds = home_pages(web, 10_000, folder / "seeds.txt")
            if is_tls:
                seeds.write_text(seeds.read_text().replace("http://", "https://"))
            has_front = is_tls or kb == HEAVY_KB
            front = proxyweb.fronted(web, is_heavy=kb == HEAVY_KB)
            with front if has_front else nullcontext(web) as reached:
                command = COMMANDS[who](reached, seeds, pages)
                where = ROOT if who in (OURS, "svm") else folder
                cpu = spent(command, cwd=where, env=reached.environment, stderr=DEVNULL)
        found = crawled(folder / "web" / "log.tsv", cpu)
    if found.pages < 0.8 * pages:
        sys.exit(f"{who} fetched {found.pages} pages, not {pages}: nothing was measured")
    return found


def claims(
    rounds: int,
    pages: int = 4000,
    kb: Sequence[int] = (5, HEAVY_KB),
    rivals: Sequence[str] = FAST,
    *,
    is_tls: bool = False,
) -> Iterator[Claim]:
    """Yield pages per second, processor time, and the ratios to the rivals that are installed."""
    proxyweb.require()
    missing = ONLY_HTTP if is_tls else {who for who in ONLY_HTTP if find_spec(who) is None}
    found = [OURS, "svm", *(who for who in rivals if who not in missing)]
    for size in kb:
        sizes = f"{size} KB, TLS" if is_tls else f"{size} KB"
        crawls: dict[str, list[Crawled]] = {who: [] for who in found}
        for _ in range(rounds):
            for who, done in crawls.items():
                done.append(measure(who, pages, size, is_tls=is_tls))
                print(f"{sizes} {who}: {done[-1]}", file=sys.stderr, flush=True)
        yield from _claims(f"{pages:,} pages, {sizes}", crawls)


def _claims(what: str, crawls: dict[str, list[Crawled]]) -> Iterator[Claim]:
    """Yield the figures of all crawlers, and the ratios of the default's to the others'."""
    speeds = {who: [one.speed for one in done] for who, done in crawls.items()}
    page_ms = {who: [one.page_ms for one in done] for who, done in crawls.items()}
    start_s = {who: [one.start_s for one in done] for who, done in crawls.items()}
    for who in crawls:
        yield Claim(f"{what}: {who}", speeds[who], "a second")
        yield Claim(f"{what}: {who}, processor time of a page", page_ms[who], "ms")
        yield Claim(f"{what}: {who}, processor time of the start", start_s[who], "s")
    for who in crawls.keys() & FLOORS:
        yield Claim(f"{what}: times {who}", ratios(speeds[OURS], speeds[who]), "", FLOORS[who])
        less = ratios(page_ms[who], page_ms[OURS])
        yield Claim(f"{what}: times less processor time than {who}", less, "", LEAST_CPU)
    yield Claim(f"{what}: times svm", ratios(speeds[OURS], speeds["svm"]), "", 1 / MOST_SVM)
    left = [MOST_START_S - s for s in start_s[OURS]]
    yield Claim(f"{what}: start, left of {MOST_START_S:.1f} s", left, "s", 0)


def main() -> None:
    """Print the claims."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kb", type=int, nargs="+", choices=(5, HEAVY_KB), default=[5])
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--rivals", default=",".join(FAST))
    given = parser.parse_args()
    rivals = given.rivals.split(",")
    for claim in claims(given.rounds, given.pages, given.kb, rivals, is_tls=given.tls):
        print(claim, flush=True)


if __name__ == "__main__":
    main()
