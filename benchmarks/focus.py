"""Harvest of strategies against an oracle, on webs whose truth is known.

Each crawl runs in this process (`benchmarks.focus_crawl`) on a generated web
(`benchmarks.focus_webs`). The truth is the language that the web gives a page, never the crawl's
own answer. N pages are N pages answered with 200, each URL once, so errors cost nothing.

The oracle knows the language of each URL and nothing of the answer: among relevant URLs the one
found first goes first, and then among irrelevant ones. It obeys the cap of a crawl: an error and a
redirect take a slot of their host like a page. An ordering that scores each link by itself can
hardly do better.

A strategy is `ORDERING[:QUEUE][/FILTER][~KIND+KIND]`: `svm`, `soft/server-conservative`,
`svm:10` with ten URLs of a host in the queue, as in Baykan 2013, `focus~records` without a kind of
evidence. A web is `plain-SEED`, `hard-SEED`, `unseen-plain-SEED` or `unseen-hard-SEED`.

    python -m benchmarks.focus --cache FOLDER --langs ru,th --strategies svm,cctld \
        --webs plain-1,hard-1 --counts 1000,4000 --out results.jsonl

Prints a JSON line for each crawl, then for each kind of web the relevant pages of each strategy
divided by those of the oracle: the mean over webs, with a 95 % interval (Student's t) if there are
several. `--with FILE` adds the lines of earlier crawls to the tables; of two lines of a crawl the
later one counts. A `*` marks crawls that ended before that number of pages.
"""

import argparse
import json
import math
import statistics
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from scipy.stats import t as student

from benchmarks.focus_crawl import KnownCrawl, Strategy
from benchmarks.focus_webs import GeneratedWeb, open_known
from benchmarks.proxyweb import require
from crawler.url import fingerprint, host_of, normalise

ORACLE = "oracle"

Line = dict[str, Any]


def harvest(relevant: Sequence[bool], counts: Iterable[int]) -> dict[str, Line]:
    """Return pages, relevant pages and harvest rate after each number of pages."""
    found = {}
    for count in counts:
        first = relevant[:count]
        rate = round(sum(first) / len(first), 4) if first else None
        found[str(count)] = {"pages": len(first), "relevant": sum(first), "harvest_rate": rate}
    return found


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


class Cells:
    """The crawls of one web: of each language that of the oracle and those of the strategies."""

    def __init__(self, web: GeneratedWeb, counts: Sequence[int]) -> None:
        """Crawl a web up to the last of these numbers of pages."""
        self._web, self._counts = web, counts

    def oracle(self, lang: str) -> Line:
        """Return the line of the oracle."""
        relevant = OracleCrawl(self._web, lang).course(self._counts[-1])
        return {
            **self._head(lang, ORACLE),
            "at": harvest(relevant, self._counts),
            "is_ended": len(relevant) < self._counts[-1],
        }

    def strategy(self, crawl: KnownCrawl, strategy: Strategy) -> Line:
        """Return the line of a crawl with a strategy."""
        start = time.process_time()
        course = crawl.course(strategy, self._counts[-1])
        told = sum(course.told) / max(1, len(course.told))
        return {
            **self._head(crawl.lang, str(strategy)),
            "at": harvest(course.relevant, self._counts),
            "told_harvest_rate": round(told, 4),
            "hosts": len(course.hosts),
            "errors": course.errors,
            "is_ended": course.is_ended,
            "cpu_s": round(time.process_time() - start, 1),
        }

    def _head(self, lang: str, strategy: str) -> Line:
        return {
            "web": self._web.name,
            "kind": self._web.kind,
            "lang": lang,
            "strategy": strategy,
        }


def ratio_table(lines: Sequence[Line], kind: str, count: int) -> str:
    """Return a table of the ratios to the oracle after a number of pages."""
    cells = {(x["lang"], x["web"], x["strategy"]): x for x in lines if x["kind"] == kind}
    langs = list(dict.fromkeys(lang for lang, _, _ in cells))
    names = list(dict.fromkeys(name for *_, name in cells if name != ORACLE))
    webs = list(dict.fromkeys(web for _, web, _ in cells))
    rows = [["", ORACLE, *names]]
    means: dict[str, list[float]] = {name: [] for name in names}
    for lang in langs:
        rates = [_relevant(cells, (lang, web, ORACLE), count, "harvest_rate") for web in webs]
        row = [lang, _mean_text([x for x in rates if x is not None])]
        for name in names:
            ratios = _ratios(cells, lang, (name, ORACLE), webs, count)
            means[name].extend([statistics.fmean(ratios)] if ratios else [])
            row.append(_mean_text(ratios) + _mark(cells, lang, name, webs, count))
        rows.append(row)
    for told, figure in (("least", min), ("mean", statistics.fmean)):
        rows.append([told, "", *(f"{figure(means[n]):.3f}" if means[n] else "-" for n in names)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    title = f"{kind}, {count:,} pages, {len(webs)} webs: harvest rate of {ORACLE}, ratios to it"
    return "\n".join(
        [title] + ["  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)) for row in rows]
    )


def _relevant(
    cells: dict[tuple[str, str, str], Line], key: tuple[str, str, str], count: int, name: str
) -> float | None:
    line = cells.get(key)
    found = None if line is None else line["at"].get(str(count))
    return None if found is None else found[name]


def _ratios(
    cells: dict[tuple[str, str, str], Line],
    lang: str,
    names: tuple[str, str],
    webs: Sequence[str],
    count: int,
) -> list[float]:
    """Return the relevant pages of the first strategy divided by those of the second."""
    ratios = []
    for web in webs:
        own, best = (_relevant(cells, (lang, web, name), count, "relevant") for name in names)
        if best and own is not None:
            ratios.append(own / best)
    return ratios


def _mark(
    cells: dict[tuple[str, str, str], Line], lang: str, name: str, webs: Sequence[str], count: int
) -> str:
    """Return a mark for crawls that ended before that number of pages."""
    pages = [_relevant(cells, (lang, web, name), count, "pages") for web in webs]
    return "*" if any(x is not None and x < count for x in pages) else " "


def _mean_text(values: Sequence[float]) -> str:
    if not values:
        return "-"
    mean = statistics.fmean(values)
    if len(values) == 1:
        return f"{mean:.3f}"
    error = statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:.3f}±{student.ppf(0.975, len(values) - 1) * error:.3f}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder of the unseen webs")
    parser.add_argument("--langs", default="de,fr,es,it,ru,ja")
    parser.add_argument("--strategies", default="svm,cctld,soft/server-conservative")
    parser.add_argument("--webs", default="plain-1,plain-2,plain-3")
    parser.add_argument("--counts", default="500,1000,2000,4000", help="numbers of pages")
    parser.add_argument("--without", default="", help="kinds of evidence; focus runs without each")
    parser.add_argument("--url-model", type=Path, help="file of the URL model")
    parser.add_argument("--out", type=Path, help="file to which the JSON lines are added")
    parser.add_argument("--with", type=Path, nargs="*", default=[], dest="earlier")
    return parser.parse_args()


def _crawl_all(arguments: argparse.Namespace) -> list[Line]:
    counts = sorted(map(int, arguments.counts.split(",")))
    strategies = [Strategy.read(text) for text in filter(None, arguments.strategies.split(","))]
    for kind in filter(None, arguments.without.split(",")):
        strategies.append(replace(Strategy("focus"), without=(kind,)))
    lines = []
    for name in filter(None, arguments.webs.split(",")):
        web = open_known(name, arguments.cache)
        cells = Cells(web, counts)
        for lang in arguments.langs.split(","):
            crawl = KnownCrawl(web, lang, arguments.url_model or web.url_model)
            told = (partial(cells.oracle, lang),)
            own = (partial(cells.strategy, crawl, each) for each in strategies)
            for line_of in (*told, *own):
                line = line_of()
                lines.append(line)
                print(json.dumps(line), flush=True)
                if arguments.out:
                    with arguments.out.open("a") as out:
                        out.write(json.dumps(line) + "\n")
    return lines


def main() -> None:
    """Crawl all webs in all languages with all strategies."""
    arguments = _arguments()
    require()
    lines = [json.loads(row) for path in arguments.earlier for row in path.open()]
    lines += _crawl_all(arguments)
    for kind in dict.fromkeys(line["kind"] for line in lines):
        for count in sorted(map(int, arguments.counts.split(","))):
            print("\n" + ratio_table(lines, kind, count))


if __name__ == "__main__":
    main()
