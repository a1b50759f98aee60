"""The extractors of main texts on pages whose main text a person has marked.

python -m benchmarks.extractors WCXB.tar

The file is the development half of WCXB (CC BY 4.0): NNNN.html.gz and NNNN.json. The F1 is that of
words in lower case as a multiset; the figures are means over pages. A digest of a page's name puts
it into one of two halves: choose on one, judge on the other.
"""

import argparse
import gzip
import hashlib
import json
import re
import tarfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

from langfocus.crawler.corpus import extraction

_WORD: Final = re.compile(r"\w+")


class Page(NamedTuple):
    """A page, its type, and its main text as a person marked it."""

    name: str
    kind: str
    html: bytes
    text: str


def pages_of(path: Path) -> list[Page]:
    """Return the pages of WCXB in the order of their names."""
    with tarfile.open(path) as file:
        files = {each.name: file.extractfile(each) for each in file.getmembers()}
        parts = {name: part.read() for name, part in files.items() if part}
    found = []
    for name in sorted(each for each in parts if each.endswith(".json")):
        facts = json.loads(parts[name])
        html = gzip.decompress(parts[name.removesuffix("json") + "html.gz"])
        kind, text = facts["_internal"]["page_type"]["primary"], facts["ground_truth"]
        found.append(Page(name.removesuffix(".json"), kind, html, text["main_content"]))
    return found


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def f1(text: str, expected: str) -> float:
    """Return the F1 of the words of a text."""
    found, right = Counter(words_of(text)), Counter(words_of(expected))
    total = sum(found.values()) + sum(right.values())
    return 2 * sum((found & right).values()) / total if total else 1.0


def half_of(page: Page) -> int:
    """Return the half of a page, by a digest of its name."""
    return hashlib.sha256(page.name.encode()).digest()[0] % 2


def exported(page: Page, extractor: str) -> str:
    """Return the paragraphs that an export has of a page."""
    return "\n".join(extraction.main_text_of(page.html, None, extractor).paragraphs)


def scores_of(name: str, pages: Sequence[Page]) -> list[float]:
    """Print the F1 of an extractor by type of page, and its processor time; return it by page."""
    by_kind, began = defaultdict(list), time.process_time()
    texts = [exported(page, name) for page in pages]
    ms = (time.process_time() - began) / len(pages) * 1000
    scores = [f1(text, page.text) for text, page in zip(texts, pages, strict=True)]
    for page, score in zip(pages, scores, strict=True):
        for kind in ("all", page.kind, f"half {half_of(page)}"):
            by_kind[kind].append(score)
    means = (f"{kind} {fmean(each):.3f}" for kind, each in sorted(by_kind.items()))
    print(f"{name}: {', '.join(means)}, {ms:.0f} ms", flush=True)
    return scores


def main() -> None:
    """Print the rows, and how far the better of two extractors for each page would reach."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wcxb", type=Path)
    pages = pages_of(parser.parse_args().wcxb)
    rows = {name: scores_of(name, pages) for name in extraction.EXTRACTORS}
    for one, other in combinations(rows, 2):
        best = fmean(map(max, rows[one], rows[other]))
        print(f"the better of {one} and {other} for each page: {best:.3f}")


if __name__ == "__main__":
    main()
