"""What each goal of the strategy `focus` brings, on webs whose truth is known.

Each crawl is one of `benchmarks.focus`, and its truth is the same. After a number of pages the
table has relevant pages and servers with one.

For `focus@coverage` a second table has the page after which the crawl would have ended for a wanted
coverage, and the true coverage there: of all relevant pages that the host cap allows, and of those
that the whole crawl found, which leaves out pages that no link leads to. `first` is the first page
at which that second coverage really was the wanted one.

    python -m benchmarks.focus_goals --cache FOLDER --langs de,uk --webs plain-1,hard-1 \
        --counts 500,1000 --out results.jsonl
"""

import argparse
import json
import time
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.focus_crawl import Course, KeptReadings, KnownCrawl, Strategy, reader_of
from benchmarks.focus_webs import open_known
from benchmarks.proxyweb import require
from crawler.strategies.focus.goal import COVERAGE, GOALS, RELEVANT

COVERAGES = (0.5, 0.8, 0.9, 0.95, 0.99)

Line = dict[str, Any]


def gains(course: Course, counts: Sequence[int]) -> Line:
    """Return pages, relevant pages and relevant servers after each number of pages."""
    told = {}
    for count in counts:
        relevant = course.relevant[:count]
        pairs = zip(course.servers, relevant, strict=False)
        found = [server for server, is_relevant in pairs if is_relevant]
        told[str(count)] = {
            "pages": len(relevant),
            "relevant": len(found),
            "servers": len(set(found)),
        }
    return told


def coverages(course: Course, most: int) -> Line:
    """Return where the crawl would have ended for each coverage, and the truth there."""
    found = list(accumulate(map(int, course.relevant)))
    known = list(accumulate(map(int, course.told)))
    told = {}
    for wanted in COVERAGES:
        ends = (
            place
            for place, left in enumerate(course.remaining)
            if left is not None and known[place] and known[place] >= wanted * (known[place] + left)
        )
        end = next(ends, len(found) - 1)
        first = next(place for place, number in enumerate(found) if number >= wanted * found[-1])
        told[str(wanted)] = {
            "pages": end + 1,
            "of_found": round(found[end] / found[-1], 4),
            "of_all": round(found[end] / most, 4),
            "first": first + 1,
        }
    return told


def table(lines: Sequence[Line], count: str) -> str:
    """Return the gains after a number of pages."""
    rows = [f"{'web':16} {'lang':4} {'goal':10} pages relevant servers"]
    for line in lines:
        if line["goal"] != COVERAGE:
            at = line["at"][count]
            rows.append(
                f"{line['web']:16} {line['lang']:4} {line['goal']:10} {at['pages']:5} "
                f"{at['relevant']:8} {at['servers']:7}"
            )
    return "\n".join(rows)


def coverage_table(lines: Sequence[Line]) -> str:
    """Return the ends for each wanted coverage, with the true coverage."""
    rows = [f"{'web':16} {'lang':4} wanted  ended   first  of found  of all"]
    for line in lines:
        for wanted, at in line.get("coverage", {}).items():
            rows.append(
                f"{line['web']:16} {line['lang']:4} {wanted:6} {at['pages']:6} {at['first']:7} "
                f"{at['of_found']:9.3f} {at['of_all']:7.3f}"
            )
    return "\n".join(rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder of kept readings")
    parser.add_argument("--langs", default="de,uk")
    parser.add_argument("--webs", default="plain-1,hard-1")
    parser.add_argument("--goals", default=",".join(GOALS))
    parser.add_argument("--counts", default="500,1000", help="numbers of pages")
    parser.add_argument("--to", type=int, default=20_000, help="pages of the crawls for coverage")
    parser.add_argument("--out", type=Path, help="file to which the JSON lines are added")
    return parser.parse_args()


def main() -> None:
    """Crawl all webs in all languages for all goals."""
    arguments = _arguments()
    require()
    counts = sorted(map(int, arguments.counts.split(",")))
    readings = cache(lambda web: KeptReadings(arguments.cache, web))
    lines = []
    for name in arguments.webs.split(","):
        web = open_known(name, reader_of(readings), arguments.cache)
        for lang in arguments.langs.split(","):
            for goal in arguments.goals.split(","):
                start, is_covering = time.process_time(), goal == COVERAGE
                crawl = KnownCrawl(
                    web,
                    lang,
                    readings(name),
                    web.url_model,
                )
                strategy = Strategy("focus", goal=goal or RELEVANT)
                course = crawl.course(strategy, arguments.to if is_covering else counts[-1])
                line = {
                    "web": name,
                    "lang": lang,
                    "goal": goal,
                    "at": gains(course, counts),
                }
                if is_covering:
                    line["most_relevant"] = web.most_relevant(lang)
                    line["coverage"] = coverages(course, line["most_relevant"])
                line["cpu_s"] = round(time.process_time() - start, 1)
                lines.append(line)
                print(json.dumps(line), flush=True)
                if arguments.out:
                    with arguments.out.open("a") as out:
                        out.write(json.dumps(line) + "\n")
    for count in map(str, counts):
        print("\n" + table(lines, count))
    print("\n" + coverage_table(lines))


if __name__ == "__main__":
    main()
