"""Harvest of strategies against the best that any ordering could do, on webs whose truth is known.

Each crawl runs in this process (`benchmarks.focus_crawl`) on a generated web or on an archive
(`benchmarks.focus_webs`). The truth is the language that the web gives a page, never the crawl's
own answer. The harvest rate is that of the judge of the generated web: relevant pages among those
answered with 200, each URL once. N pages are N pages answered with 200, so errors cost nothing.
The perfect crawl, and the oracle that does not look ahead, are `benchmarks.focus_perfect`.

A strategy is `ORDERING[:QUEUE][/FILTER][~KIND+KIND]`: `svm`, `soft/server-conservative`,
`svm:10` with ten URLs of a host in the queue, as in Baykan 2013,
`focus~host` without a kind of evidence. A web is
`plain-SEED`, `hard-SEED`, `unseen-plain-SEED`, `unseen-hard-SEED`, `docs` or `docs-directories`.

    python -m benchmarks.focus --cache FOLDER --langs ru,th --strategies svm,cctld \
        --webs plain-1,hard-1 --counts 1000,4000 --out results.jsonl

Prints a JSON line for each crawl, then for each kind of web the relevant pages of each strategy
divided by those of the perfect crawl: the mean over webs, with a 95 % interval (Student's t) if
there are several. `--with FILE` adds the lines of earlier crawls to the tables; of two lines of a
crawl the later one counts. A `*` marks crawls that ended before that number of pages.
"""

import argparse
import json
import math
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from scipy.stats import t as student

from benchmarks.focus_crawl import Course, KeptReadings, KnownCrawl, Strategy, reader_of
from benchmarks.focus_perfect import OracleCrawl, PageLinks, PerfectCrawl
from benchmarks.focus_webs import KnownWeb, open_known
from benchmarks.proxyweb import require
from crawler.report.calibration import calibration_from
from crawler.strategies.focus.odds import probability_of

PERFECT = "perfect"
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


def calibration(course: Course, counts: Sequence[int]) -> Line:
    """Return Brier score and expected calibration error of scores that are log-odds.

    Over all pages but the seeds, and between one number of pages and the next.
    """
    known = list(zip(course.scores, course.relevant, strict=True))
    parts = {"all": known[: counts[-1]]}
    for first, last in zip((0, *counts), counts, strict=False):
        parts[f"{first}-{last}"] = known[first:last]
    told = {}
    for name, part in parts.items():
        pairs = [(score, relevant) for score, relevant in part if score is not None]
        if pairs:
            told[name] = _errors(pairs)
    return told


def _errors(pairs: Sequence[tuple[float, bool]]) -> Line:
    told = calibration_from(pairs)
    return {
        "pages": len(pairs),
        "predicted": round(statistics.fmean(probability_of(score) for score, _ in pairs), 4),
        "relevant": round(statistics.fmean(relevant for _, relevant in pairs), 4),
        "brier": round(told.brier or 0.0, 5),
        "ece": round(told.error or 0.0, 5),
    }


class Cells:
    """The crawls of one web: of each language the perfect one and those of the strategies."""

    def __init__(self, web: KnownWeb, counts: Sequence[int], cache_folder: Path) -> None:
        """Crawl a web up to the last of these numbers of pages."""
        self._web, self._counts, self._cache = web, counts, cache_folder
        self._links = PageLinks(web)

    def told(self, lang: str, name: str) -> Line:
        """Return the line of the perfect crawl or of the oracle, from the cache if it is there."""
        path = self._cache / f"{name}-{self._web.name}-{lang}-{self._counts[-1]}.json"
        if path.exists():
            kept: Line = json.loads(path.read_text())
        else:
            is_perfect = name == PERFECT
            crawl: PerfectCrawl | OracleCrawl = OracleCrawl(self._web, lang)
            if is_perfect:
                crawl = PerfectCrawl(self._web, self._links, lang)
            course = crawl.course(self._counts[-1])
            most = self._web.most_relevant(lang)
            kept = {"most_relevant": most, "course": "".join(str(int(x)) for x in course)}
            path.write_text(json.dumps(kept))
        relevant = [x == "1" for x in kept["course"]]
        return {
            **self._head(lang, name),
            "at": harvest(relevant, self._counts),
            "most_relevant": kept["most_relevant"],
            "is_ended": len(relevant) < self._counts[-1],
        }

    def strategy(self, crawl: KnownCrawl, strategy: Strategy) -> Line:
        """Return the line of a crawl with a strategy."""
        start = time.process_time()
        course = crawl.course(strategy, self._counts[-1])
        told = sum(course.told) / max(1, len(course.told))
        line = {
            **self._head(crawl.lang, str(strategy)),
            "at": harvest(course.relevant, self._counts),
            "told_harvest_rate": round(told, 4),
            "hosts": len(course.hosts),
            "errors": course.errors,
            "is_ended": course.is_ended,
            "cpu_s": round(time.process_time() - start, 1),
        }
        if strategy.ordering in {"focus", "svm"}:
            line["calibration"] = calibration(course, self._counts)
        return line

    def _head(self, lang: str, strategy: str) -> Line:
        return {
            "web": self._web.name,
            "kind": self._web.kind,
            "lang": lang,
            "strategy": strategy,
        }


def ratio_table(lines: Sequence[Line], kind: str, count: int, best: str = PERFECT) -> str:
    """Return a table of the ratios to the best crawl after a number of pages."""
    cells = {(x["lang"], x["web"], x["strategy"]): x for x in lines if x["kind"] == kind}
    langs = list(dict.fromkeys(lang for lang, _, _ in cells))
    names = list(dict.fromkeys(name for *_, name in cells if name != best))
    webs = list(dict.fromkeys(web for _, web, _ in cells))
    rows = [["", best, *names]]
    means: dict[str, list[float]] = {name: [] for name in names}
    for lang in langs:
        rates = [_relevant(cells, (lang, web, best), count, "harvest_rate") for web in webs]
        row = [lang, _mean_text([x for x in rates if x is not None])]
        for name in names:
            ratios = _ratios(cells, lang, (name, best), webs, count)
            means[name].extend([statistics.fmean(ratios)] if ratios else [])
            row.append(_mean_text(ratios) + _mark(cells, lang, name, webs, count))
        rows.append(row)
    for told, figure in (("least", min), ("mean", statistics.fmean)):
        rows.append([told, "", *(f"{figure(means[n]):.3f}" if means[n] else "-" for n in names)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    title = f"{kind}, {count:,} pages, {len(webs)} webs: harvest rate of {best}, ratios to it"
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


def calibration_table(lines: Sequence[Line]) -> str:
    """Return Brier scores and calibration errors, means over languages and webs."""
    rows = []
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        for part, told in line.get("calibration", {}).items():
            groups.setdefault((line["kind"], line["strategy"], part), []).append(told)
    for (kind, strategy, part), told in groups.items():
        brier = statistics.fmean(x["brier"] for x in told)
        ece = statistics.fmean(x["ece"] for x in told)
        rows.append(f"{kind:8} {strategy:24} {part:12} Brier {brier:.4f}  ECE {ece:.4f}")
    return "\n".join(["calibration, means over crawls", *rows])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder of kept readings")
    parser.add_argument("--langs", default="de,fr,es,it,ru,ja")
    parser.add_argument("--strategies", default="svm,cctld,soft/server-conservative")
    parser.add_argument("--webs", default="plain-1,plain-2,plain-3")
    parser.add_argument("--counts", default="500,1000,2000,4000", help="numbers of pages")
    parser.add_argument("--without", default="", help="kinds of evidence; focus runs without each")
    parser.add_argument("--url-model", type=Path, help="file of the URL model")
    parser.add_argument("--against", default=PERFECT, choices=(PERFECT, ORACLE))
    parser.add_argument("--out", type=Path, help="file to which the JSON lines are added")
    parser.add_argument("--with", type=Path, nargs="*", default=[], dest="earlier")
    return parser.parse_args()


def _crawl_all(arguments: argparse.Namespace) -> list[Line]:
    counts = sorted(map(int, arguments.counts.split(",")))
    readings = cache(lambda web: KeptReadings(arguments.cache, web))
    strategies = [Strategy.read(text) for text in filter(None, arguments.strategies.split(","))]
    for kind in filter(None, arguments.without.split(",")):
        strategies.append(replace(Strategy("focus"), without=(kind,)))
    lines = []
    for name in filter(None, arguments.webs.split(",")):
        web = open_known(name, reader_of(readings), arguments.cache)
        cells = Cells(web, counts, arguments.cache)
        kept = readings("docs" if name.startswith("docs") else name)
        for lang in arguments.langs.split(","):
            crawl = KnownCrawl(web, lang, kept, arguments.url_model or web.url_model)
            told = (partial(cells.told, lang, arguments.against),)
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
            print("\n" + ratio_table(lines, kind, count, arguments.against))
    print("\n" + calibration_table(lines))


if __name__ == "__main__":
    main()
