"""Cost of a page: parsed, identified, and both, compared with the usual ways in the same process.

The claim: parsing, links and language take at most 1.5 ms of CPU for a page of 150 kB, a twentieth
of BeautifulSoup(lxml) with langdetect. The process has at most 150 MB and answers within a second.

All ways read the same bytes in turn, page by page, so that a busy machine slows all of them alike.
Rivals read only every `--every`-th page; their ratio is to our time on those pages. Prints one JSON
line, and a table on stderr.

    taskset -c 1 python -m benchmarks.page_step --rounds 3
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import mean, median

from benchmarks.proxyweb import ROOT, SHARED
from classifiers.datasets.texts import LabelledPages
from classifiers.pages.methods import identify
from classifiers.pages.parse import ParsedPage, parse_page

PAGES = SHARED / "data" / "pages"
URL = "http://example.org/a/b.html"
PACKAGES = ("selectolax", "lxml", "beautifulsoup4", "langdetect", "scrapy", "trafilatura")
STARTS = 5

Way = Callable[[bytes], object]

_FRESH = """
import json, re, sys, time
from pathlib import Path
start = time.perf_counter()
from classifiers.pages.parse import parse_page
from {module} import {name} as answer
folder, all_pages = sys.argv[1], sys.argv[2] == "all"
page = b"<p>Das ist der erste Satz einer Seite, und hier ist noch einer."
assert answer(parse_page(page, content_type=None, url="http://example.org/")).language == "de"
first = time.perf_counter() - start
if all_pages:
    from classifiers.datasets.texts import LabelledPages
    for row in LabelledPages(folder):
        answer(parse_page(row.body, content_type=None, url="http://example.org/"))
# Not getrusage: its maximum is that of the process that started this one.
peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())
print(json.dumps([first, int(peak[1]) / 1024]))
"""


def parse(body: bytes) -> ParsedPage:
    """Parse a page by its bytes alone."""
    return parse_page(body, content_type=None, url=URL)


def parse_with_anchors(body: bytes) -> ParsedPage:
    """Parse a page, with the attributes and texts of its links."""
    return parse_page(body, content_type=None, url=URL, anchors=True)


def whole_step(body: bytes) -> object:
    """Parse a page and identify it, as the crawl does."""
    page = parse(body)
    return page.links, identify(page)


def rivals() -> dict[str, Way]:
    """The usual ways whose packages are installed, by name."""
    import langdetect
    from bs4 import BeautifulSoup
    from langdetect import DetectorFactory, LangDetectException

    warnings.simplefilter("ignore")  # some pages are XML
    from scrapy.http import HtmlResponse
    from scrapy.linkextractors import LinkExtractor

    DetectorFactory.seed = 0
    extractor = LinkExtractor()

    def language(text: str) -> str:
        try:
            return str(langdetect.detect(text))
        except LangDetectException:
            return ""

    def soup(body: bytes) -> object:
        tree = BeautifulSoup(body, "lxml")
        links = [tag.get("href") for tag in tree.find_all("a")]
        return links, language(tree.get_text(" "))

    def scrapy(body: bytes) -> object:
        response = HtmlResponse(URL, body=body)
        links = extractor.extract_links(response)
        text = " ".join(
            response.xpath("//body//text()[not(parent::script|parent::style)]").getall()
        )
        return links, language(text)

    ways: dict[str, Way] = {
        "BeautifulSoup(lxml) + langdetect": soup,
        "Scrapy LinkExtractor + langdetect": scrapy,
    }
    try:
        import trafilatura  # type: ignore[import-not-found,unused-ignore]  # not a dependency
    except ImportError:
        return ways

    def extract(body: bytes) -> object:
        return language(trafilatura.extract(body) or "")

    return {**ways, "trafilatura + langdetect (no links)": extract}


def measure(bodies: list[bytes], rounds: int, every: int) -> dict[str, dict[str, float]]:
    """CPU ms a page of each way: the least of `rounds` for each page, then mean and median."""
    ours: dict[str, Way] = {
        "parse": parse,
        "parse with anchors": parse_with_anchors,
        "whole step": whole_step,
    }
    best: dict[str, dict[int, float]] = defaultdict(dict)
    for turn in range(rounds):
        for i, body in enumerate(bodies):
            for name, way in ours.items():
                _keep(best[name], i, _cpu_ms(way, body))
            page = parse(body)
            _keep(best["identify"], i, _cpu_ms(lambda _, page=page: identify(page), body))  # type: ignore[misc]
        if turn == 0:
            for name, way in rivals().items():
                for i in range(0, len(bodies), every):
                    _keep(best[name], i, _cpu_ms(way, bodies[i]))
    return {name: _summary(times, best["whole step"]) for name, times in best.items()}


def _keep(times: dict[int, float], page: int, cost: float) -> None:
    times[page] = min(cost, times.get(page, cost))


def _cpu_ms(way: Way, body: bytes) -> float:
    start = time.process_time_ns()
    done = way(body)
    spent = (time.process_time_ns() - start) / 1e6
    assert done is not None
    return spent


def _summary(times: dict[int, float], ours: dict[int, float]) -> dict[str, float]:
    return {
        "pages": len(times),
        "mean_ms": round(mean(times.values()), 3),
        "median_ms": round(median(times.values()), 3),
        "most_ms": round(max(times.values()), 1),
        "times_whole_step": round(sum(times.values()) / sum(ours[i] for i in times), 2),
        "times_whole_step_median": round(median(times[i] / ours[i] for i in times), 2),
    }


def fresh(pages: str) -> list[float]:
    """Seconds to the first answer and peak MB of a process that reads one page or all pages."""
    code = _FRESH.format(module=identify.__module__, name=identify.__name__)
    done = subprocess.run(
        [sys.executable, "-c", code, str(PAGES), pages],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, megabytes = json.loads(done.stdout)
    return [seconds, megabytes]


def report(bodies: list[bytes], rounds: int, every: int) -> dict[str, object]:
    """All figures, ready for one JSON line."""
    ways = measure(bodies, rounds, every)
    starts = [fresh("one") for _ in range(STARTS)]
    return {
        "benchmark": "page_step",
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "pages": len(bodies),
        "mean_kB": round(mean(map(len, bodies)) / 1000, 1),
        "rounds": rounds,
        "ways": ways,
        "start_s": round(median(seconds for seconds, _ in starts), 3),
        "rss_one_page_mb": round(median(megabytes for _, megabytes in starts), 1),
        "rss_all_pages_mb": round(fresh("all")[1], 1),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def show(figures: dict[str, object]) -> None:
    """Print the table of ways on stderr."""
    ways = figures["ways"]
    assert isinstance(ways, dict)
    print(f"{'way':38}{'pages':>7}{'mean ms':>9}{'median':>8}{'ratio':>7}", file=sys.stderr)
    for name, row in ways.items():
        cells = f"{row['pages']:7}{row['mean_ms']:9.3f}{row['median_ms']:8.3f}"
        print(f"{name:38}{cells}{row['times_whole_step']:7.2f}", file=sys.stderr)
    for name in ("mean_kB", "start_s", "rss_one_page_mb", "rss_all_pages_mb"):
        print(f"{name:38}{figures[name]:>7}", file=sys.stderr)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=PAGES, help="pages.tsv and html.tar")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--every", type=int, default=15, help="rivals read only every N-th page")
    parser.add_argument("--least-bytes", type=int, default=0, help="leave out smaller pages")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = LabelledPages(options.folder)
    bodies = [row.body for row in rows if len(row.body) >= options.least_bytes]
    figures = report(bodies, options.rounds, options.every)
    show(figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
