"""Quality and cost of the extractors of main texts.

    python -m benchmarks.page_extraction [PAGES.tar] [--evaluation FOLDER]

Two measures, for each extractor in the same process:

- Pages whose publisher tells the text of the article: `articleBody` of JSON-LD, or the one element
  with `itemprop=articleBody`, of at least 300 characters. Precision, recall and F1 of words, as
  means over pages.
- With `--evaluation`, the pages of trafilatura's own evaluation: its folder `tests` with
  `evaldata.json` and the pages in `cache` and `eval`. F1 of its phrases that must be and must not
  be in the text, over all pages, which is the score that its gate computes.

Cost is the median and the mean of the processor time of a page in milliseconds, decoding included.
`all text` is resiliparse without the search for the main text. Prints one JSON line for each
extractor, with its figures by language: pages, F1, precision, recall.
"""

import argparse
import csv
import gzip
import json
import re
import statistics
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from classifiers.pages.charset.encodings import decode
from crawler.corpus.extraction import EXTRACTORS, main_text_of, make_extractor

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "pages"
_BODY = re.compile(r'"articleBody"\s*:\s*("(?:[^"\\]|\\.)*")')
_WORD = re.compile(r"\w+")
_FEWEST = 300


class Labelled(NamedTuple):
    """A page, the text that its publisher calls the article, and its language."""

    html: bytes
    body: str
    lang: str


@dataclass
class Score:
    """The sums of an extractor."""

    f1: list[float] = field(default_factory=list)
    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    langs: list[str] = field(default_factory=list)

    def add(self, text: str, body: str, lang: str) -> None:
        """Compare the words of a text with those of the article."""
        self.langs.append(lang)
        found, true = (Counter(_WORD.findall(one.lower())) for one in (text, body))
        both = (found & true).total()
        precision, recall = both / max(1, found.total()), both / max(1, true.total())
        self.precision.append(precision)
        self.recall.append(recall)
        self.f1.append(2 * precision * recall / (precision + recall) if both else 0.0)

    def as_json(self) -> dict[str, float]:
        """Return the means, and the cost."""
        cost = self.milliseconds
        return {
            "pages": len(self.f1),
            **{
                name: round(statistics.mean(getattr(self, name)), 3)
                for name in ("f1", "precision", "recall")
            },
            "median_ms": round(statistics.median(cost), 2),
            "mean_ms": round(statistics.mean(cost), 2),
            "languages": {lang: self._of(lang) for lang in sorted(set(self.langs))},
        }

    def _of(self, lang: str) -> list[float]:
        """Return the number of pages of a language, and the means of their figures."""
        at = [place for place, one in enumerate(self.langs) if one == lang]
        figures = (self.f1, self.precision, self.recall)
        return [len(at), *(round(statistics.mean(f[p] for p in at), 3) for f in figures)]


def labelled(archive: Path) -> Iterator[Labelled]:
    """Yield the pages whose publisher tells the text of the article."""
    with archive.with_name("pages.tsv").open(encoding="utf-8", newline="") as table:
        langs = {row["id"]: row["lang"] for row in csv.DictReader(table, delimiter="\t")}
    with tarfile.open(archive) as pages:
        for member in pages:
            file = pages.extractfile(member)
            if file is None:
                continue
            html = gzip.decompress(file.read())
            body = _body_of(decode(html, None).utf8.decode("utf-8", "replace"))
            if len(body) >= _FEWEST:
                yield Labelled(html, body, langs.get(Path(member.name).name.split(".")[0], "?"))


def _body_of(html: str) -> str:
    found = _BODY.search(html)
    if found:
        try:
            body = str(json.loads(found[1], strict=False))
        except ValueError:
            body = ""
        body = LexborHTMLParser(body).text(separator=" ") if "<" in body else body
        if len(body) >= _FEWEST:
            return body
    marked = LexborHTMLParser(html).css("[itemprop=articleBody]")
    return str(marked[0].text(separator=" ")) if len(marked) == 1 else ""


def extractors() -> dict[str, Callable[[bytes], str]]:
    """Return all extractors of the project, and one that takes the whole text."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    def all_text(html: bytes) -> str:
        return str(extract_plain_text(HTMLTree.parse(decode(html, None).utf8.decode())))

    found: dict[str, Callable[[bytes], str]] = {"all text": all_text}
    for name in EXTRACTORS:
        extract = make_extractor(name)
        found[name] = lambda html, by=extract: "\n".join(main_text_of(html, None, by).paragraphs)  # type: ignore[misc]
    return found


def evaluation(folder: Path, extract: Callable[[bytes], str]) -> dict[str, Any]:
    """Return the score of trafilatura's evaluation for an extractor."""
    data: Mapping[str, Any] = json.loads((folder / "evaldata.json").read_text(encoding="utf-8"))
    hits = wrong = misses = pages = 0
    for item in data.values():
        places = (folder / name / item["file"] for name in ("cache", "eval"))
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            continue
        pages += 1
        text = " ".join(extract(path.read_bytes()).split())
        found = sum(" ".join(phrase.split()) in text for phrase in item["with"])
        hits, misses = hits + found, misses + len(item["with"]) - found
        wrong += sum(" ".join(phrase.split()) in text for phrase in item["without"])
    return {
        "evaluation_pages": pages,
        "evaluation_f1": round(2 * hits / (2 * hits + wrong + misses), 3),
    }


def main() -> int:
    """Print one line for each extractor."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", type=Path, nargs="?", default=SHARED / "html.tar")
    parser.add_argument("--evaluation", type=Path, help="folder tests of trafilatura's repository")
    options = parser.parse_args()
    if not options.pages.exists():
        print(f"skipped: {options.pages} is not here", file=sys.stderr)
        return 0
    pages = list(labelled(options.pages))
    for name, extract in extractors().items():
        score = Score()
        for page in pages:
            began = time.process_time()
            text = extract(page.html)
            score.milliseconds.append(1000 * (time.process_time() - began))
            score.add(text, page.body, page.lang)
        told = evaluation(options.evaluation, extract) if options.evaluation else {}
        date = time.strftime("%Y-%m-%d")
        print(json.dumps({"date": date, "extractor": name, **score.as_json(), **told}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
