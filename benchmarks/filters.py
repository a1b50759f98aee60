"""What Tamura's tolerance (2007, 4.1 to 4.3) brings a crawl, with and without a cap of hosts.

Each crawl runs in this process on a web whose truth is known (`benchmarks.focus_webs`), once with
each filter and tolerance. The figure is the number of relevant pages among the first N that were
answered with 200. A crawl that ended before has `*`: its filter left nothing to fetch.

    python -m benchmarks.filters --cache FOLDER --webs hard-1,docs --langs sv,uk \
        --strategies focus,svm --filters none,server:10,directory-conservative:5 \
        --host-caps 10,0 --counts 500,2000 --depth 1 --out results.jsonl
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.focus_crawl import KeptReadings, KnownCrawl, Strategy, reader_of
from benchmarks.focus_webs import open_known
from benchmarks.proxyweb import require


def crawls(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the line of each crawl."""
    counts = sorted(map(int, arguments.counts.split(",")))
    readings = cache(lambda web: KeptReadings(arguments.cache, web))
    for name in arguments.webs.split(","):
        web = open_known(name, reader_of(readings), arguments.cache)
        kept = readings("docs" if name.startswith("docs") else name)
        for lang in arguments.langs.split(","):
            for host_cap in map(int, arguments.host_caps.split(",")):
                web.host_cap = host_cap
                crawl = KnownCrawl(web, lang, kept, web.url_model)
                for text in arguments.strategies.split(","):
                    for rule in arguments.filters.split(","):
                        strategy = replace(Strategy.read(f"{text}/{rule}"), depth=arguments.depth)
                        course = crawl.course(strategy, counts[-1])
                        yield {
                            "web": name,
                            "lang": lang,
                            "host_cap": host_cap,
                            "strategy": text,
                            "filter": rule,
                            "depth": arguments.depth,
                            "relevant": {n: sum(course.relevant[:n]) for n in counts},
                            "pages": len(course.relevant),
                            "hosts": len(course.hosts),
                            "is_ended": course.is_ended,
                        }


def main() -> None:
    """Crawl all webs with all filters; print and keep a JSON line for each crawl."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder of kept readings")
    parser.add_argument("--webs", default="hard-1")
    parser.add_argument("--langs", default="sv,uk")
    parser.add_argument("--strategies", default="focus,svm")
    parser.add_argument("--filters", default="none,server:10,directory-conservative:10")
    parser.add_argument("--host-caps", default="10,0")
    parser.add_argument("--counts", default="500,1000,2000", help="numbers of pages")
    parser.add_argument("--depth", type=int, default=1, help="path segments of a directory")
    parser.add_argument("--out", type=Path, help="file to which the JSON lines are added")
    arguments = parser.parse_args()
    require()
    for line in crawls(arguments):
        print(json.dumps(line), flush=True)
        if arguments.out:
            with arguments.out.open("a") as out:
                out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
