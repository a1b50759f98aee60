"""Crawls whose pages get their language by several methods, on webs whose truth is known.

A crawl follows its own labels: they tell which hosts and links are good, and its harvest rate is
made of them. This benchmark crawls the same web with other methods of `-a identify=` and judges
each crawl by the truth (`benchmarks.focus` has the terms).

    python -m benchmarks.label_crawls --cache FOLDER --sib200 SIB200 --langs gl,is --pages 500

The generated web makes pages only in languages with 200 texts. `--sib200` adds the sentences of
SIB-200 in the languages that have fewer, such as Galician; the webs are then others. The text model
that ships has learned these sentences and those of the web, so its labels are better here than on
new pages.

Prints a JSON line for each crawl: its pages, the relevant ones among them, those that the crawl
held for relevant, and how many of these are. The ordering `svm` needs a language that the URL model
knows.
"""

import argparse
import csv
import gzip
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.focus_crawl import Course, KeptReadings, KnownCrawl, Strategy
from benchmarks.focus_unseen import unseen_model, unseen_urls
from benchmarks.focus_webs import GeneratedWeb
from benchmarks.proxyweb import TEXTS, require
from classifiers.pages.methods import names
from crawler.errors import SettingError

LEAST_TEXTS = 200
"""Texts from which the generated web makes pages in a language."""


def with_sentences(sib200: Path, langs: Sequence[str], folder: Path) -> Path:
    """Return the web's table of texts, with the sentences of SIB-200 in languages with too few."""
    with gzip.open(TEXTS, "rt", encoding="utf-8", newline="") as file:
        head, *lines = file.read().splitlines()
    rows = list(csv.DictReader([head, *lines], delimiter="\t", quoting=csv.QUOTE_NONE))
    counts = Counter(row["lang"] for row in rows if row["kind"] == "sentence")
    few = sorted(lang for lang in langs if counts[lang] < LEAST_TEXTS)
    path = folder / f"texts-with-{'-'.join(few) or 'none'}.tsv"
    with gzip.open(sib200, "rt", encoding="utf-8", newline="") as file:
        added = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        lines += [f"{row['text']}\t{row['lang']}\tsentence\tsib200" for row in added
                  if row["lang"] in few]  # fmt: skip
    path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    return path


def figures(course: Course) -> dict[str, Any]:
    """Return what a crawl found, by the truth and by its own labels."""
    pages, relevant, told = len(course.relevant), sum(course.relevant), sum(course.told)
    both = sum(a and b for a, b in zip(course.relevant, course.told, strict=True))
    return {
        "pages": pages,
        "relevant": relevant,
        "harvest_rate": round(relevant / pages, 4) if pages else None,
        "told": told,
        "told_harvest_rate": round(told / pages, 4) if pages else None,
        "precision": round(both / told, 4) if told else None,
        "recall": round(both / relevant, 4) if relevant else None,
        "is_ended": course.is_ended,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder of kept readings")
    parser.add_argument("--sib200", type=Path, help="table of news sentences")
    parser.add_argument("--langs", default="uk,gl,fa,sr,is")
    parser.add_argument("--strategies", default="svm,focus")
    parser.add_argument("--methods", default="composite,langdetect-arrays")
    parser.add_argument("--webs", default="unseen-plain-1,unseen-hard-1")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--out", type=Path, help="file to which the JSON lines are added")
    return parser.parse_args()


def _web(name: str, arguments: argparse.Namespace, langs: Sequence[str]) -> GeneratedWeb:
    """Return the web of unseen hosts, or that of all hosts."""
    folder, texts = arguments.cache, TEXTS
    if arguments.sib200:
        texts = with_sentences(arguments.sib200, langs, folder)
    if name.startswith("unseen-"):
        return GeneratedWeb(name, unseen_urls(folder), unseen_model(folder), texts)
    return GeneratedWeb(name, texts=texts)


def _found(crawl: KnownCrawl, strategy: Strategy, pages: int) -> dict[str, Any]:
    """Return the figures of a crawl, or why there is none."""
    try:
        return figures(crawl.course(strategy, pages))
    except SettingError as error:
        return {"refused": str(error).partition(";")[0]}


def main() -> None:
    """Crawl all webs in all languages with all strategies and methods."""
    arguments = _arguments()
    require()
    langs, methods = arguments.langs.split(","), arguments.methods.split(",")
    unknown = sorted(set(methods) - set(names()))
    if unknown:
        sys.exit(f"no such method: {', '.join(unknown)}")
    for name in arguments.webs.split(","):
        web = _web(name, arguments, langs)
        for method in methods:
            kept = KeptReadings(arguments.cache, f"{name}-labels-{method}")
            for lang in langs:
                for strategy in arguments.strategies.split(","):
                    crawl = KnownCrawl(web, lang, kept, web.url_model, identify=method)
                    head = {"web": name, "lang": lang, "strategy": strategy, "method": method}
                    found = _found(crawl, Strategy.read(strategy), arguments.pages)
                    line = {**head, "most_relevant": web.most_relevant(lang), **found}
                    print(json.dumps(line), flush=True)
                    if arguments.out:
                        with arguments.out.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
