"""Whether anchors of real links between hosts name the language of their targets.

    python -m benchmarks.anchors

The links lie on the pages of `../shared/data/pages`; a target's language comes from another source,
the lists in `../shared/data/urls` (labels "editor", "site-list", "document") or its own page there.
Different links between hosts are counted. Among those into another language than the page's, these
are counted: the anchors in the target's language and in the page's, by the model of texts; and the
URLs whose language the URL model names right. Prints one JSON line.
"""

import csv
import gzip
import json
import tarfile
from collections.abc import Iterator
from operator import eq
from typing import NamedTuple
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from benchmarks.proxyweb import URLS
from benchmarks.versions import PAGES
from langfocus import identify_urls
from langfocus.classifiers.pages.text.textengine import LangfocusEngine
from langfocus.crawler.url import host_of

KINDS = frozenset(("editor", "site-list", "document"))


class Anchor(NamedTuple):
    """A link to a page of another host."""

    language: str  # of the page that it is on
    target: str
    target_language: str
    text: str


def _key(url: str) -> str:
    return url.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")


def _host(url: str) -> str:
    return host_of(url).removeprefix("www.")


def anchors() -> Iterator[Anchor]:
    """Yield the links between hosts whose targets have a label."""
    with gzip.open(URLS, "rt", encoding="utf-8") as file:
        labels = {
            _key(r["url"]): r["lang"]
            for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if r["label_kind"] in KINDS
        }
    with PAGES.with_name("pages.tsv").open(encoding="utf-8") as file:
        pages = {
            row["id"]: row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["url"]
        }
    labels |= {_key(row["url"]): row["lang"] for row in pages.values()}
    with tarfile.open(PAGES) as tar:
        for member in tar:
            page = pages.get(member.name.rpartition("/")[2].partition(".")[0])
            body = tar.extractfile(member)
            if page is None or body is None:
                continue
            for link in LexborHTMLParser(gzip.decompress(body.read())).css("a[href]"):
                try:
                    url = urljoin(page["url"], link.attributes["href"] or "")
                except ValueError:
                    continue
                language = labels.get(_key(url)) if url.startswith("http") else None
                if language and _host(url) != _host(page["url"]):
                    yield Anchor(page["lang"], url, language, " ".join(link.text().split()))


def main() -> None:
    """Count the links, and print the counts."""
    found = list(dict.fromkeys(anchors()))
    engine = LangfocusEngine()
    others = [one for one in found if one.target_language != one.language]
    targets = [one.target_language for one in others]
    said = [engine.rank(one.text)[:1] for one in others]
    codes = [best[0][0] if best else None for best in said]
    named = [url.language for url in identify_urls([one.target for one in others])]
    counts = {
        "links": len(found),
        "into another language": len(others),
        "hosts of these": len({host_of(one.target) for one in others}),
        "anchor in the target's": sum(map(eq, codes, targets)),
        "anchor in the page's": sum(map(eq, codes, (one.language for one in others))),
        "URL in the target's": sum(map(eq, named, targets)),
        "anchor right where the URL is wrong": sum(
            code == target != url for code, url, target in zip(codes, named, targets, strict=True)
        ),
    }
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
