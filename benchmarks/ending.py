"""What a crawl saves and loses by its end when nothing more is to be found (`-a least_yield`).

Crawls a web with `focus`, one URL at a time without delays (`benchmarks.focus`), with
`least_yield=0`, until nothing is left or `--downloads`. From the pages of the run follows where the
crawl would have ended: by the relevant share of its last downloads (`share`), by the mean
probability before their fetch (`expected`), and when both are below the value (`both`, the rule of
a crawl). Here a crawl looks after each page, there after 32 of 1,000. Lost pages are those of the
truth.

    python -m benchmarks.ending --webs graph-1,sites-1 --yields .02,.01,.005,.002
    python -m benchmarks.ending --webs graph-1 --langs gl,ga,is --filter none --downloads 6000
    python -m benchmarks.ending --webs plain-1 --langs de --cache FOLDER

Prints a JSON line for each crawl, condition and value.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from itertools import accumulate, product
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.focus import KnownCrawl, OracleCrawl, _Loop, _Time
from benchmarks.rare import add_webs, opened, require
from langfocus.crawler.options.config import Config
from langfocus.crawler.run.folder import reading
from langfocus.crawler.run.target import is_wanted, last_pages
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.strategies.focus.evidence import probability_of

_PAGES: Final = f"""\
SELECT url, depth, {is_wanted()} IS TRUE, score FROM pages WHERE outcome = 'page' ORDER BY id"""


class Page(NamedTuple):
    """A download of a crawl."""

    is_true: bool  # by the web
    depth: int
    is_relevant: bool  # by the crawl
    probability: float


def crawled(known: KnownCrawl, filter: str, downloads: int) -> tuple[list[Page], int]:
    """Return the pages of a crawl, and how many URLs were left in its queue."""
    web, time = known.web, _Time()
    with tempfile.TemporaryDirectory() as folder:
        config = Config(
            known.lang, filter=filter, host_cap=web.host_cap, seeds=tuple(web.seeds(known.lang)),
            run_folder=Path(folder) / "run", delay_s=0.0, retry_times=0, retry_delay_s=0.0,
            max_crawl_delay_s=0.0, patience_s=0.0, keeps_warc=False, least_yield=0.0,
            url_model=getattr(web, "url_model", None),
        )  # fmt: skip
        crawl = open_crawl(config, CrawlClock(time, time))
        try:
            _Loop(web, known.lang, crawl, time).run(downloads)
            queued = crawl.queue.count().queued
        finally:
            crawl.close("finished")
        with reading(Path(folder) / "run") as run:
            rows = run.execute(_PAGES, (known.lang,)).fetchall()
    return [
        Page(web.language(url) == known.lang, depth, bool(is_it), probability_of(score))
        for url, depth, is_it, score in rows
    ], queued


def end(pages: Sequence[Page], condition: str, least_yield: float) -> int | None:
    """Return after how many pages a crawl ends by a condition, None for never."""
    relevant = [0, *accumulate(page.is_relevant for page in pages)]
    expected = [0.0, *accumulate(page.probability for page in pages)]
    first = max((place for place, page in enumerate(pages, 1) if page.depth == 0), default=0)
    for number in range(len(pages) + 1):
        start = number - last_pages(number)
        values = {
            "share": relevant[number] - relevant[max(0, start)],
            "expected": expected[number] - expected[max(0, start)],
        }
        value = max(values.values()) if condition == "both" else values[condition]
        if start >= first and value < least_yield * (number - start):
            return number
    return None


def _lines(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for name in given.webs.split(","):
        web: Any = opened(name, given)
        for lang in given.langs.split(","):
            pages, queued = crawled(KnownCrawl(web, lang), given.filter, given.downloads)
            found = sum(page.is_true for page in pages)
            reach = sum(OracleCrawl(web, lang).course(4 * given.downloads))
            about = {"web": name, "lang": lang, "filter": given.filter, "downloads": len(pages)}
            about |= {"found": found, "reach": reach, "queued": queued}
            for least, condition in product(given.yields.split(","), ("share", "expected", "both")):
                number = end(pages, condition, float(least))
                rest = [] if number is None else pages[number:]
                lost = sum(page.is_true for page in rest)
                yield {**about, "least_yield": float(least), "condition": condition,
                       "ends": number, "saved": len(rest), "lost": lost}  # fmt: skip


def main() -> None:
    """Crawl all webs in all languages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_webs(parser)
    parser.add_argument("--filter", default="both-conservative")
    parser.add_argument("--downloads", type=int, default=8000)
    parser.add_argument("--yields", default=".005")
    given = parser.parse_args()
    require()
    for line in _lines(given):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
