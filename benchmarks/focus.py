"""Harvest of strategies against an oracle, on webs whose truth is known.

Each crawl runs in this process (`benchmarks.focus_crawl`) on a generated web
(`benchmarks.focus_webs`). The truth is the language that the web gives a page, never the crawl's
own answer. N pages are N pages answered with 200, each URL once, so errors cost nothing.

The oracle knows the language of each URL and nothing of the answer: among relevant URLs the one
found first goes first, and then among irrelevant ones. It obeys the cap of a crawl: an error and a
redirect take a slot of their host like a page. An ordering that scores each link by itself can
hardly do better.

A strategy is `ORDERING[:QUEUE][/FILTER]`: `svm`, `soft/server-conservative`, `svm:10` with ten URLs
of a host in the queue, as in Baykan 2013. A web is `plain-SEED`, `hard-SEED`, `unseen-plain-SEED`
or `unseen-hard-SEED`.

    python -m benchmarks.focus --cache FOLDER --langs ru,th --strategies svm,cctld \
        --webs plain-1,hard-1 --counts 1000,4000

Prints a JSON line for each crawl, then for each kind of web the relevant pages of each strategy
divided by those of the oracle, the mean over webs.
"""

import argparse
import json
import statistics
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.focus_crawl import KnownCrawl, Strategy
from benchmarks.focus_webs import GeneratedWeb, open_known
from benchmarks.proxyweb import require
from crawler.report.table import Table, markdown
from crawler.url import fingerprint, host_of, normalise

ORACLE = "oracle"

Line = dict[str, Any]


class OracleCrawl:
    """A crawl in memory that is told the language of each URL and pays each request."""

    def __init__(self, web: GeneratedWeb, lang: str) -> None:
        """Queue the seeds of a web for a language."""
        self._web, self._lang = web, lang
        self._cap = web.host_cap
        self._known: set[int] = set()
        self._sent: Counter[str] = Counter()
        self._relevant: deque[str] = deque()
        self._others: deque[str] = deque()
        self._learn(filter(None, map(normalise, web.seeds(lang))))

    def course(self, pages: int) -> list[bool]:
        """Return for each of the first pages, in their order, whether it is relevant."""
        course: list[bool] = []
        while len(course) < pages and (self._relevant or self._others):
            is_relevant = bool(self._relevant)
            url = (self._relevant or self._others).popleft()
            host = host_of(url)
            if self._sent[host] >= self._cap or self._web.is_forbidden(url):
                continue
            self._sent[host] += 1
            page = self._web.page_at(url)
            if page is not None and fingerprint(page) != fingerprint(url):
                self._learn([page])
            elif page is not None:
                course.append(is_relevant)
                self._learn(self._web.links(page))
        return course

    def _learn(self, urls: Iterable[str]) -> None:
        for url in urls:
            key = fingerprint(url)
            if key not in self._known:
                self._known.add(key)
                is_relevant = self._web.language(url) == self._lang
                (self._relevant if is_relevant else self._others).append(url)


def _oracle(web: GeneratedWeb, lang: str, counts: Sequence[int]) -> Line:
    """Return the line of the oracle."""
    return _line(web, lang, ORACLE, OracleCrawl(web, lang).course(counts[-1]), counts)


def _crawled(crawl: KnownCrawl, strategy: Strategy, counts: Sequence[int]) -> Line:
    """Return the line of a crawl with a strategy."""
    start = time.process_time()
    course = crawl.course(strategy, counts[-1])
    line = _line(crawl.web, crawl.lang, str(strategy), course, counts)
    return {**line, "cpu_s": round(time.process_time() - start, 1)}


def _line(
    web: GeneratedWeb, lang: str, strategy: str, relevant: Sequence[bool], counts: Sequence[int]
) -> Line:
    """Return a line with the relevant pages after some numbers of pages."""
    return {
        "web": web.name,
        "kind": web.kind,
        "lang": lang,
        "strategy": strategy,
        "pages": len(relevant),
        "relevant": {str(count): sum(relevant[:count]) for count in counts},
    }


def ratio_table(lines: Sequence[Line], kind: str, count: int) -> Table:
    """Return a table of the ratios to the oracle after a number of pages."""
    found = {
        (line["lang"], line["web"], line["strategy"]): line["relevant"][str(count)]
        for line in lines
        if line["kind"] == kind
    }
    langs, webs, names = (list(dict.fromkeys(part)) for part in zip(*found, strict=True))
    names.remove(ORACLE)
    rows = []
    for lang in langs:
        best = [found[lang, web, ORACLE] for web in webs]
        ratios = [
            statistics.fmean(
                found[lang, web, name] / max(1, found[lang, web, ORACLE]) for web in webs
            )
            for name in names
        ]
        rows.append([lang, f"{statistics.fmean(best):.0f}", *(f"{ratio:.3f}" for ratio in ratios)])
    title = f"{kind}, {count:,} pages, {len(webs)} webs: relevant pages of the oracle, ratios to it"
    return Table(title, ["language", ORACLE, *names], rows)


def _lines(arguments: argparse.Namespace, counts: Sequence[int]) -> Iterator[Line]:
    strategies = [Strategy.read(text) for text in arguments.strategies.split(",")]
    for name, lang in product(arguments.webs.split(","), arguments.langs.split(",")):
        web = open_known(name, arguments.cache)
        crawl = KnownCrawl(web, lang)
        yield _oracle(web, lang, counts)
        for strategy in strategies:
            yield _crawled(crawl, strategy, counts)


def main() -> None:
    """Crawl all webs in all languages with all strategies."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder of the unseen webs")
    parser.add_argument("--langs", default="de,fr,es,it,ru,ja")
    parser.add_argument("--strategies", default="svm,cctld,soft/server-conservative")
    parser.add_argument("--webs", default="plain-1,plain-2,plain-3")
    parser.add_argument("--counts", default="500,1000,2000,4000", help="numbers of pages")
    arguments = parser.parse_args()
    require()
    counts, lines = sorted(map(int, arguments.counts.split(","))), []
    for line in _lines(arguments, counts):
        lines.append(line)
        print(json.dumps(line), flush=True)
    for kind, count in product(dict.fromkeys(line["kind"] for line in lines), counts):
        table = ratio_table(lines, kind, count)
        print("\n".join(["", table.title, "", *markdown(table)]))


if __name__ == "__main__":
    main()
