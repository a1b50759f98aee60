"""Pages per second of a crawl against other crawlers, on one web in the same minutes.

    python -m benchmarks.speed [--pages 3000] [--rounds 3] [--kb 5 60] [--tls]
        [--rivals scrapy,crawlee]

All start from the home pages of 10,000 hosts with the same number of concurrent requests. langfocus
has its default settings (1 s between two requests to a host, identification, frontier on disk, WARC
files). The rivals have no delay, and but for `scrapy-langdetect` they identify nothing; only
`scrapy-without-robots` does not obey robots.txt. `trafilatura` follows links within sites, and only
those that look German. With `--tls` each page comes over TLS: a host has a connection of its own,
so all have more work, the server too. `svm` is this project's other ordering, whose
figure is divided by that of the default. Pages are the answers with status 200 in the server's own
log; seconds are the time span of the log. Crawls alternate. Slow rivals crawl fewer pages.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks import proxyweb
from benchmarks.claim import Claim, ratios

OURS: Final = "langfocus"
_SPREAD: Final = 0.75
"""The least ratio of a round to the median of five, on the machine of the tables."""
FLOORS: Final = {
    "scrapy": 3.0 * _SPREAD,
    "scrapy-without-robots": 1.0,
    "scrapy-langdetect": 3.0,
    "crawlee": 1.5,
    "trafilatura": 1.5,
}
"""The rivals, and how many times as fast the default is at least; 1.5 times over TLS."""
PAGES: Final = {"scrapy-langdetect": 300, "crawlee": 300, "trafilatura": 200}
"""The most pages that a slow rival crawls in a round; the others crawl 1,000."""
MOST_SVM: Final = 1.15 / _SPREAD
"""How many times as fast as the default `svm` may be."""

_BULK: Final = {5: 0, 60: 55_000}
"""Size of a page in KB -> bytes of script and style that the web adds."""


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


def pages_per_second(log: Path) -> tuple[float, int]:
    """Return pages with status 200 per second of the log's span, and their number."""
    with log.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    times = [float(r["time"]) for r in rows]
    pages = sum(r["kind"] == "page" and r["status"] == "200" for r in rows)
    return pages / (max(times) - min(times)), pages


def own(strategy: str, web: proxyweb.Served, seeds: Path, pages: int) -> None:
    """Crawl with this project."""
    arguments = ("lang=de", f"strategy={strategy}", f"seeds={seeds}", f"pages={pages}")
    proxyweb.crawl(web, seeds.parent / "run", *arguments)


def scrapy(given: str, obeys: bool, web: proxyweb.Served, seeds: Path, pages: int) -> None:
    """Crawl with plain Scrapy."""
    settings = {
        "CONCURRENT_REQUESTS": 64,
        "ROBOTSTXT_OBEY": obeys,
        # Scrapy counts each robots.txt as a page.
        "CLOSESPIDER_PAGECOUNT": 2 * pages if obeys else pages,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
    }
    spider = str(Path(__file__).with_name("rival_scrapy.py"))
    command = ["-m", "scrapy", "runspider", spider]
    command += ["-a", f"seeds={seeds}", "-a", f"identifies={given}"]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    _run(command, web, seeds.parent)


def rival(name: str, web: proxyweb.Served, seeds: Path, pages: int) -> None:
    """Crawl with the program that is written for a library."""
    script = str(Path(__file__).with_name(f"rival_{name}.py"))
    _run([script, web.address, str(seeds), str(pages)], web, seeds.parent)


def _run(arguments: Sequence[str], web: proxyweb.Served, folder: Path) -> None:
    command = [sys.executable, *arguments]
    subprocess.run(command, cwd=folder, env=web.environment, check=True, stderr=subprocess.DEVNULL)


Crawl = Callable[[proxyweb.Served, Path, int], None]

CRAWLS: Final[dict[str, Crawl]] = {
    OURS: lambda *crawl: own("focus", *crawl),
    "svm": lambda *crawl: own("svm", *crawl),
    "scrapy": lambda *crawl: scrapy("", True, *crawl),
    "scrapy-without-robots": lambda *crawl: scrapy("", False, *crawl),
    "scrapy-langdetect": lambda *crawl: scrapy("1", True, *crawl),
    "crawlee": lambda *crawl: rival("crawlee", *crawl),
    "trafilatura": lambda *crawl: rival("trafilatura", *crawl),
}
ONLY_HTTP: Final = {"crawlee", "trafilatura"}
"""These refuse a certificate that does not name its host."""


def measure(who: str, pages: int, kb: int, *, is_tls: bool = False) -> float:
    """Return the pages a second of one crawler on a fresh server."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with proxyweb.serve(folder / "web", seed=1, bulk=_BULK[kb]) as web:
            seeds = home_pages(web, 10_000, folder / "seeds.txt")
            if is_tls:
                seeds.write_text(seeds.read_text().replace("http://", "https://"))
            with proxyweb.over_tls(web) if is_tls else nullcontext(web) as reached:
                CRAWLS[who](reached, seeds, pages)
        speed, number = pages_per_second(folder / "web" / "log.tsv")
    if number < 0.8 * pages:
        sys.exit(f"{who} fetched {number} pages, not {pages}: nothing was measured")
    return speed


def claims(
    rounds: int,
    pages: int = 3000,
    kb: Sequence[int] = (5, 60),
    rivals: Sequence[str] = (),
    *,
    is_tls: bool = False,
) -> Iterator[Claim]:
    """Yield pages per second, and the ratios to the rivals that are installed."""
    proxyweb.require()
    found = [OURS, "svm", *(rivals or FLOORS)]
    missing = ONLY_HTTP if is_tls else {w for w in ONLY_HTTP if find_spec(w) is None}
    found = [who for who in found if who not in missing]
    for size in kb:
        sizes = f"{size} KB, TLS" if is_tls else f"{size} KB"
        speeds: dict[str, list[float]] = {who: [] for who in found}
        number = {
            who: min(pages, PAGES.get(who, 1000 if who in FLOORS else pages)) for who in found
        }
        for _ in range(rounds):
            for who, values in speeds.items():
                values.append(measure(who, number[who], size, is_tls=is_tls))
                print(f"{sizes} {who}: {values[-1]:.1f} pages/s", file=sys.stderr, flush=True)
        for who, values in speeds.items():
            yield Claim(f"{number[who]:,} pages crawled, {sizes}: {who}", values, "a second")
        for who, values in speeds.items():
            if who in FLOORS:
                name = f"pages crawled, {sizes}: times {who}"
                floor = 1.5 if is_tls else FLOORS[who]
                yield Claim(name, ratios(speeds[OURS], values), "", floor)
        slower = ratios(speeds[OURS], speeds["svm"])
        yield Claim(f"pages crawled, {sizes}: times svm", slower, "", 1 / MOST_SVM)


def main() -> None:
    """Print the claims."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kb", type=int, nargs="+", choices=_BULK, default=[5])
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--rivals", default=",".join(FLOORS))
    given = parser.parse_args()
    rivals = given.rivals.split(",")
    for claim in claims(given.rounds, given.pages, given.kb, rivals, is_tls=given.tls):
        print(claim, flush=True)


if __name__ == "__main__":
    main()
