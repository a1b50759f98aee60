"""How often the language of a page is right, and what that costs.

One JSON line per method: accuracy on the real pages of ../shared/data/pages in the languages
that langdetect knows (`feeds`: test files of feed parsers, whose text is often English, are
counted apart), and CPU milliseconds per page for parsing and for identifying. A last line gives
the cost on small pages like those of a crawl (5 to 40 sentences, 20 to 30 links).

    python benchmarks/page_identification.py [--pages FOLDER]
"""

import argparse
import csv
import gzip
import hashlib
import json
import random
import sys
import tarfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from classifiers.pages.engines import TextEngine, engine, engine_names
from classifiers.pages.identify import identify
from classifiers.pages.parse import ParsedPage, parse_page

PAGES = Path(__file__).parents[2] / "shared" / "data" / "pages"
URL = "http://example.org/folder/page.html"

WORDS = "der die und ein zug fährt heute nach norden wir sehen weite felder am fluss"

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Labelled:
    """A page, its language and where it came from."""

    body: bytes
    language: str
    kind: str


def read_pages(folder: Path) -> list[Labelled]:
    """The labelled pages of a folder with `pages.tsv` and `html.tar`."""
    with (folder / "pages.tsv").open(encoding="utf-8", newline="") as lines:
        table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = {row["id"]: row for row in table}
    pages = []
    with tarfile.open(folder / "html.tar") as archive:
        for member in archive:
            content = archive.extractfile(member)
            row = rows.get(member.name.removesuffix(".html.gz"))
            if content is not None and row is not None:
                body = gzip.decompress(content.read())
                pages.append(Labelled(body, row["lang"], row["kind"]))
    return pages


def small_pages(n: int = 400) -> list[bytes]:
    """Pages of made-up words with the shape of a small web page."""
    rng = random.Random(1)
    words = WORDS.split()
    return [_small_page(rng, words) for _ in range(n)]


def _small_page(rng: random.Random, words: list[str]) -> bytes:
    texts = [" ".join(rng.choices(words, k=12)) for _ in range(rng.randrange(5, 40))]
    links = [f"http://host{rng.randrange(999)}.example/p/{i}" for i in range(rng.randrange(20, 30))]
    items = "".join(f'<li><a href="{link}">{rng.choice(words)}</a></li>' for link in links)
    paragraphs = "".join(f"<p>{text}.</p>" for text in texts)
    head = '<meta http-equiv="Content-Type" content="text/html; charset=utf-8"><title>x</title>'
    return f"<html><head>{head}</head><body>{paragraphs}<ul>{items}</ul></body></html>".encode()


def timed(work: Callable[[T], R], items: Iterable[T]) -> tuple[list[R], float]:
    """Results and CPU milliseconds per item."""
    start = time.process_time()
    results = [work(item) for item in items]
    return results, (time.process_time() - start) * 1_000 / max(1, len(results))


def parse(body: bytes) -> ParsedPage:
    """A page as the crawl parses it, without HTTP's charset."""
    return parse_page(body, content_type=None, url=URL)


def methods() -> dict[str, Callable[[ParsedPage], str | None]]:
    """What is compared: each engine on the text alone, and in the whole rule."""
    found: dict[str, Callable[[ParsedPage], str | None]] = {}
    for name in engine_names():
        reader = engine(name)
        found[f"text {name}"] = partial(_by_text, reader)
        found[f"rule {name}"] = partial(_by_rule, reader)
    return found


def _by_text(reader: TextEngine, page: ParsedPage) -> str | None:
    return reader.identify(page.text)[0]


def _by_rule(reader: TextEngine, page: ParsedPage) -> str | None:
    return identify(page, engine=reader).language


def accuracy(found: list[str | None], pages: list[Labelled], kinds: Callable[[str], bool]) -> float:
    """Percent right among the pages of some kinds in languages with a langdetect profile."""
    known = engine("langdetect").languages
    right = [
        answer == page.language
        for answer, page in zip(found, pages, strict=True)
        if page.language in known and kinds(page.kind)
    ]
    return round(100 * sum(right) / max(1, len(right)), 2)


def report(pages: list[Labelled]) -> None:
    """One line per method on the labelled pages."""
    digest = hashlib.sha256(b"".join(page.body for page in pages)).hexdigest()[:16]
    parsed, parse_ms = timed(parse, [page.body for page in pages])
    for name, method in methods().items():
        timed(method, parsed[:200])  # profiles and names are read once
        answers, ms = timed(method, parsed)
        line = {
            "method": name,
            "pages": len(pages),
            "corpus": digest,
            "accuracy_pages": accuracy(answers, pages, lambda kind: kind != "feed-charset"),
            "accuracy_feeds": accuracy(answers, pages, lambda kind: kind == "feed-charset"),
            "accuracy_all": accuracy(answers, pages, lambda _: True),
            "parse_ms": round(parse_ms, 3),
            "identify_ms": round(ms, 3),
        }
        print(json.dumps(line), flush=True)


def report_small() -> None:
    """The cost of small pages, the split of it, the median of five runs."""
    bodies = small_pages()
    identify(parse(bodies[0]))
    runs = []
    for _ in range(5):
        parsed, parse_ms = timed(parse, bodies)
        _, identify_ms = timed(identify, parsed)
        runs.append((parse_ms + identify_ms, parse_ms, identify_ms))
    total, parse_ms, identify_ms = sorted(runs)[2]
    line = {"method": "small pages", "kB": round(sum(map(len, bodies)) / len(bodies) / 1_000, 1)}
    costs = {"parse_ms": parse_ms, "identify_ms": identify_ms, "total_ms": total}
    print(json.dumps({**line, **{key: round(value, 3) for key, value in costs.items()}}))


def main() -> int:
    """Print the lines; the labelled pages are skipped where they are absent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=Path, default=PAGES, help="folder with pages.tsv, html.tar")
    folder = parser.parse_args().pages
    if (folder / "html.tar").exists():
        report(read_pages(folder))
    else:
        print(f"skipped: no labelled pages in {folder} (see --pages)", file=sys.stderr)
    report_small()
    return 0


if __name__ == "__main__":
    sys.exit(main())
