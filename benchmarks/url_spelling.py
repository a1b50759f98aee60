"""Cost of a link: read, spelled, identified, compared with the usual ways in the same process.

The claim: a link costs one or two microseconds to be made absolute and spelled as in browsers, and
two more for its fingerprint; w3lib's functions take ten times as long. The links are those of the
real pages in ../shared, page by page with the page's own address as their base. Each way reads the
same pages in turn. `can_ada` is measured where it is installed; `different` counts links of which
it makes another URL than the parser `ada-url`. Prints one JSON line.

    taskset -c 1 python -m benchmarks.url_spelling --rounds 3
"""

import argparse
import json
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from statistics import median
from urllib.parse import urljoin

from ada_url import join_url
from w3lib.url import canonicalize_url, safe_url_string

from benchmarks.proxyweb import SHARED
from classifiers.lab.datasets.texts import LabelledPages
from classifiers.pages.html.links import Resolver
from crawler.url import fingerprint, normalise

Page = tuple[str, list[str]]
Way = Callable[[str, Sequence[str]], object]


def pages() -> list[Page]:
    """The address of each page, and its links as they are written."""
    from classifiers.pages.charset.encodings import decode
    from classifiers.pages.html.tree import read
    from classifiers.pages.parse import _target

    found = []
    for row in LabelledPages(SHARED / "data" / "pages"):
        raw = read(decode(row.body).utf8, 100)
        links = [link for link in map(_target, raw.elements) if link]
        found.append((normalise(row.url or "") or "http://example.org/a/b.html", links))
    return found


def resolved(base: str, links: Sequence[str]) -> list[str | None]:
    """Make links absolute as a crawl does."""
    return Resolver(base).resolve_all(links)


def spelled(base: str, links: Sequence[str]) -> list[str | None]:
    """Make links absolute and normalise them, as a crawl does."""
    return [url and normalise(url) for url in Resolver(base).resolve_all(links)]


def known(base: str, links: Sequence[str]) -> list[int]:
    """Make links absolute, normalise and identify them, as a crawl does."""
    return [fingerprint(url) for url in spelled(base, links) if url]


def by_ada(base: str, links: Sequence[str]) -> list[str | None]:
    """Make links absolute by the parser alone."""
    urls: list[str | None] = []
    for link in links:
        url = None
        with suppress(ValueError):
            url = join_url(base, link)
        urls.append(url)
    return urls


def by_can_ada(base: str, links: Sequence[str]) -> list[str | None]:
    """Make links absolute by the other binding of the parser."""
    from can_ada import parse  # pip install can-ada

    at = parse(base)
    urls: list[str | None] = []
    for link in links:
        url = None
        with suppress(ValueError, TypeError):
            url = (at + link).href
        urls.append(url)
    return urls


def by_w3lib(base: str, links: Sequence[str]) -> list[str]:
    """Make links absolute and normalise them as Scrapy does."""
    urls = []
    for link in links:
        with suppress(ValueError):
            urls.append(canonicalize_url(safe_url_string(urljoin(base, link))))
    return urls


def microseconds(way: Way, read: Sequence[Page]) -> float:
    """CPU time of a way for a link."""
    start = time.process_time()
    for base, links in read:
        way(base, links)
    return 1e6 * (time.process_time() - start) / sum(len(links) for _, links in read)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    read = pages()
    ways: dict[str, Way] = {
        "resolved": resolved, "spelled": spelled, "known": known, "ada-url": by_ada,
        "w3lib": by_w3lib,
    }  # fmt: skip
    if find_spec("can_ada"):
        ways["can_ada"] = by_can_ada
    costs: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, way in ways.items():
            costs[name].append(microseconds(way, read))
    result: dict[str, object] = {
        "benchmark": "url_spelling",
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "ada-url": version("ada-url"),
        "pages": len(read),
        "links": sum(len(links) for _, links in read),
        "microseconds": {name: round(median(each), 2) for name, each in costs.items()},
    }
    if "can_ada" in ways:
        result["different"] = sum(
            one != other
            for base, links in read
            for one, other in zip(by_ada(base, links), by_can_ada(base, links), strict=True)
        )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
