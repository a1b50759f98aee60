"""The words of a language that a crawl takes from a generated web, and those that are there.

    python -m benchmarks.corpus_job [--lang is] [--words 50000] [--host-cap 10]

Serves a web in which half of the links leave the language, and crawls it with the arguments of
`docs/corpus.md`. Then each page that the web has in the language is fetched, and the words of its
main text are counted in the same way. Copies and repeated lines count there. Prints one JSON line.
"""

import argparse
import csv
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

from benchmarks.proxyweb import Served, crawl, require, serve
from crawler.outputs.extraction import make_extractor, paragraphs_of
from crawler.outputs.words import number_of_words
from crawler.settings import LANGFOCUS_EXTRACTOR


def pages_in(web: Served, lang: str) -> Iterator[tuple[str, bytes, str]]:
    """Yield URL, body and Content-Type of each page that the web has in a language."""
    opener = build_opener(ProxyHandler({"http": f"http://127.0.0.1:{web.port}"}))
    with (web.folder / "truth.tsv").open(encoding="utf-8", newline="") as file:
        urls = [row["url"] for row in csv.DictReader(file, delimiter="\t") if row["lang"] == lang]
    for url in urls:
        try:
            with opener.open(url.replace("https://", "http://", 1), timeout=30) as answer:
                yield url, answer.read(), answer.headers.get("Content-Type", "")
        except (HTTPError, OSError):
            continue  # a page that fails for a person too


def there_is(web: Served, lang: str) -> dict[str, int]:
    """Return the pages, hosts and words that a web has in a language."""
    extract = make_extractor(LANGFOCUS_EXTRACTOR)
    hosts, pages, words = set[str](), 0, 0
    for url, body, kind in pages_in(web, lang):
        hosts.add(urlsplit(url).netloc)
        pages += 1
        words += sum(map(number_of_words, paragraphs_of(body, kind, extract)))
    return {"pages": pages, "hosts": len(hosts), "words": words}


def job(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Crawl the web and count what there is."""
    options = {"hosts": arguments.hosts, "seed": arguments.seed, "is_hard": True}
    with serve(folder, **options) as web:
        goals = [f"lang={arguments.lang}", f"words={arguments.words}", "expected=only"]
        seeds = f"seeds={','.join(web.seeds[arguments.lang])}"
        caps = f"host_cap={arguments.host_cap}"
        contact = {"LANGFOCUS_CONTACT": "corpus@example.org", "DOWNLOAD_DELAY": arguments.delay}
        told = crawl(web, folder / "run", *goals, seeds, caps, **contact)
        found = there_is(web, arguments.lang)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "lang": arguments.lang,
        "host_cap": arguments.host_cap,
        "on_the_web": found,
        "finish_reason": told["finish_reason"],
        "pages": told["pages"],
        "relevant": told["relevant"],
        "words": told["corpus"]["words"],
        "duplicates": told["corpus"]["duplicates"],
        "share_of_words": round(told["corpus"]["words"] / max(1, found["words"]), 3),
        "seconds": told["seconds"],
    }


def main() -> int:
    """Print the JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lang", default="is")
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--host-cap", type=int, default=10)
    parser.add_argument("--hosts", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--delay", type=float, default=0.2, help="DOWNLOAD_DELAY, seconds")
    arguments = parser.parse_args()
    require()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(job(arguments, Path(folder))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
