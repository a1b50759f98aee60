"""The extractors of main texts on pages whose main text is known, and the training of the blocks.

python -m benchmarks.extractors WCXB.tar
python -m benchmarks.extractors WCXB.tar --pages PAGES --fundus FOLDER --judged 0 1 2 3 4
python -m benchmarks.extractors WCXB.tar --pages PAGES --fundus FOLDER --output blocks-v1.npz

WCXB.tar is the development half of WCXB (CC BY 4.0): NNNN.html.gz and NNNN.json. PAGES is a folder
with pages.tsv and html.tar, whose articles name their text (`articleBody`). FOLDER has
the test data of the parsers of fundus (MIT). The F1 is that of words in lower case as a
multiset; the figures are means over pages. A digest of a page's domain is its fold: with --judged,
models are trained on the other folds.
"""

import argparse
import csv
import gzip
import hashlib
import json
import re
import tarfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.arrayfile import Arrays, write_arrays
from langfocus.classifiers.pages.charset.encodings import decode
from langfocus.classifiers.pages.html.tree import affordable
from langfocus.classifiers.tables.suffixes import suffix_reader
from langfocus.crawler.corpus import blocks, extraction

_WORD: Final = re.compile(r"\w+")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]")
_BODY: Final = re.compile(r'"articleBody"\s*:\s*("(?:[^"\\]|\\.)*")')
_RUN: Final = 4
"""Words of the runs by which a long block is found in a main text."""
_FEWEST_LETTERS: Final = 300
_FEWEST_WORDS: Final = 100
_ARTICLES: Final = 0.4
"""Weight of a page of articles alone; a page of WCXB, of seven types, has 1."""


class Page(NamedTuple):
    """A page, its type and domain, and its main text as a person or its publisher marked it."""

    name: str
    kind: str
    domain: str
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
        domain = domain_of(facts.get("url") or name)
        found.append(Page(name.removesuffix(".json"), kind, domain, html, text["main_content"]))
    return found


def articles_of(folder: Path) -> Iterator[Page]:
    """Yield the pages of a folder whose publisher names the text of the article."""
    with (folder / "pages.tsv").open(encoding="utf-8", newline="") as table:
        rows = {row["id"]: row for row in csv.DictReader(table, delimiter="\t")}
    with tarfile.open(folder / "html.tar") as file:
        for member in file:
            part, row = file.extractfile(member), rows.get(Path(member.name).name.split(".")[0])
            if part is None or row is None:
                continue
            html = gzip.decompress(part.read())
            text = _body_of(decode(html, None).utf8.decode("utf-8", "replace"))
            if len(text) >= _FEWEST_LETTERS:
                domain = domain_of(row["url"] or row["path"])
                yield Page(row["id"], row["lang"], domain, html, text)


def _body_of(html: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    found = _BODY.search(html)
    try:
        body = str(json.loads(found[1], strict=False)) if found else ""
    except ValueError:
        body = ""
    body = LexborHTMLParser(body).text(separator=" ") if "<" in body else body
    marked = LexborHTMLParser(html).css("[itemprop=articleBody]")
    if len(body) >= _FEWEST_LETTERS or len(marked) != 1:
        return body
    return str(marked[0].text(separator=" "))


def fundus_of(folder: Path) -> Iterator[Page]:
    """Yield the pages of fundus with the text that its parsers find there."""
    for path in sorted(folder.glob("*/*.html.gz")):
        html = gzip.decompress(path.read_bytes())
        url = json.loads((path.parent / "meta.info").read_text())[path.name]["url"]
        publisher = re.sub(r"(_\d{4}_\d\d_\d\d.*)?\.html\.gz$", "", path.name)
        versions = json.loads((path.parent / f"{publisher}.json").read_text()).values()
        words = Counter(words_of(decode(html, None).utf8.decode("utf-8", "replace")))
        texts = [_fundus_text(each["body"]) for each in versions if each.get("body")]
        text = max(texts, key=lambda text: _share_in(text, words), default="")
        if len(text) >= _FEWEST_LETTERS and _share_in(text, words) > 0.9:
            yield Page(path.name, path.parent.name, domain_of(url), html, text)


def _fundus_text(body: dict[str, Any]) -> str:
    parts = [line for each in body["sections"] for line in (*each["headline"], *each["paragraphs"])]
    return "\n".join([*body["summary"], *parts])


def _share_in(text: str, words: Counter[str]) -> float:
    own = Counter(words_of(text))
    return (own & words).total() / max(1, own.total())


def domain_of(url: str) -> str:
    """Return the registered domain of a URL."""
    host = urlsplit(url).hostname or url
    return suffix_reader(has_platforms=False)(host).top_domain_under_public_suffix or host


def fold_of(page: Page) -> int:
    """Return the fold of a page, one of five, by a digest of its domain."""
    return hashlib.sha256(page.domain.encode()).digest()[0] % 5


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def f1(text: str, expected: str) -> float:
    """Return the F1 of the words of a text."""
    found, right = Counter(words_of(text)), Counter(words_of(expected))
    total = sum(found.values()) + sum(right.values())
    return 2 * sum((found & right).values()) / total if total else 1.0


def labels_of(texts: Iterable[str], expected: str) -> npt.NDArray[np.bool_]:
    """Return which blocks are in a main text: a line of it, or half of the runs of words."""
    words = _signs_of(expected)
    runs = {tuple(words[at : at + _RUN]) for at in range(len(words))}
    lines = {" ".join(_signs_of(line)) for line in expected.split("\n")}
    whole, labels = f" {' '.join(words)} ", []
    for text in texts:
        own = _signs_of(text)
        pieces = [tuple(own[at : at + _RUN]) for at in range(len(own) - _RUN + 1)]
        line = " ".join(own)
        is_line = line in lines or (len(own) > 1 and f" {line} " in whole)
        is_long = len(pieces) > 1
        labels.append(
            sum(map(runs.__contains__, pieces)) * 2 >= len(pieces) if is_long else is_line
        )
    return np.array(labels, bool)


def _signs_of(text: str) -> list[str]:
    """Return the words of a text; each letter of a script without spaces is one."""
    return [
        part
        for word in words_of(text)
        for part in (list(word) if _UNSPACED.search(word) else [word])
    ]


class Rows(NamedTuple):
    """The labelled blocks of a page, and their weights."""

    features: blocks.Numbers
    labels: npt.NDArray[np.bool_]
    weights: blocks.Numbers


def rows_of(page: Page, weight: float) -> Rows | None:
    """Return the blocks of a page, None if it has none."""
    reading = extraction.find_blocks(extraction.slim(affordable(decode(page.html, None).utf8)))
    if reading is None:
        return None
    found = reading.page.blocks
    labels = labels_of((block.text for block in found), page.text)
    words = np.array([max(1, len(words_of(block.text))) for block in found], float)
    # Of a short text on a long page, each word counts for less: the F1 is low in any case.
    total = max(_FEWEST_WORDS, words[labels].sum() + 0.3 * words.sum())
    return Rows(reading.features, labels, weight * words / total)


def trained(rows: Sequence[Rows]) -> Arrays:
    """Return the arrays of the model."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    weights = np.concatenate([each.weights for each in rows])
    model = HistGradientBoostingClassifier(
        max_iter=250,
        learning_rate=0.05,
        max_leaf_nodes=8,
        max_depth=3,
        max_bins=63,
        max_features=0.3,
        min_samples_leaf=40,
        l2_regularization=5,
        early_stopping=False,
        random_state=1,
    ).fit(
        np.vstack([each.features for each in rows]),
        np.concatenate([each.labels for each in rows]),
        sample_weight=weights / weights.mean(),
    )
    trees: list[Any] = [tree.nodes for (tree,) in model._predictors]
    sizes = np.array([len(tree) for tree in trees])
    roots = sizes.cumsum() - sizes
    nodes, first = np.concatenate(trees), np.repeat(roots, sizes)
    is_leaf, own = nodes["is_leaf"] == 1, np.arange(sizes.sum())
    base = np.array(float(model._baseline_prediction.item()))
    return {
        "roots": roots.astype(np.int32),
        "feature": nodes["feature_idx"].astype(np.int32),
        "threshold": np.where(is_leaf, np.inf, nodes["num_threshold"]).astype(np.float32),
        "left": np.where(is_leaf, own, first + nodes["left"]).astype(np.int32),
        "right": np.where(is_leaf, own, first + nodes["right"]).astype(np.int32),
        "value": np.rint(np.where(is_leaf, nodes["value"], 0.0) * blocks.SCALE).astype(np.int32),
        "base": np.rint(base * blocks.SCALE).astype(np.int32),
    }


def exported(page: Page, extractor: str) -> str:
    """Return the paragraphs that an export has of a page."""
    found = extraction.main_text_of(page.html, None, extractor, has_metadata=False)
    return "\n".join(found.paragraphs)


def scores_of(
    name: str, pages: Sequence[Page], extractor: str = "combined", *, has_kinds: bool = False
) -> list[float]:
    """Print the F1 of an extractor by type of page, and its processor time; return it by page."""
    by_kind, scores, ms = defaultdict(list), [], []
    for page in pages:
        began = time.process_time()
        text = exported(page, extractor)
        ms.append((time.process_time() - began) * 1000)
        scores.append(f1(text, page.text))
        for kind in ("all", page.kind) if has_kinds else ("all",):
            by_kind[kind].append(scores[-1])
    means = (f"{kind} {fmean(each):.3f}" for kind, each in sorted(by_kind.items()))
    times = f"ms: median {median(ms):.0f}, mean {fmean(ms):.0f}"
    print(f"{name}: {', '.join(means)}; {len(pages)} pages, {times}", flush=True)
    return scores


def main() -> None:
    """Print the table, or train the model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wcxb", type=Path)
    parser.add_argument("--pages", type=Path)
    parser.add_argument("--fundus", type=Path)
    parser.add_argument("--judged", type=int, nargs="+", default=[])
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    wcxb = pages_of(asked.wcxb)
    articles = [*articles_of(asked.pages)] if asked.pages else []
    fundus = [*fundus_of(asked.fundus)] if asked.fundus else []
    if asked.output or asked.judged:
        sets = {"WCXB": wcxb, "articles": articles, "fundus": fundus}
        train(sets, asked.judged, asked.output)
        return
    rows = {name: scores_of(name, wcxb, name, has_kinds=True) for name in extraction.EXTRACTORS}
    for one, other in combinations(rows, 2):
        best = fmean(map(max, rows[one], rows[other]))
        print(f"the better of {one} and {other} for each page: {best:.3f}")
    for name in extraction.EXTRACTORS if articles else ():
        scores_of(f"articles, {name}", articles, name)


def train(sets: dict[str, list[Page]], judged: Sequence[int], output: Path | None) -> None:
    """Judge models on folds that they were not trained on; write a model of all pages."""
    weights = {"WCXB": 1.0}
    rows = [
        (page, row)
        for name, pages in sets.items()
        for page in pages
        if (row := rows_of(page, weights.get(name, _ARTICLES)))
    ]
    if output:
        write_arrays(output, **trained([row for _, row in rows]))
    tried: dict[str, list[float]] = defaultdict(list)
    for fold in judged:
        model = trained([row for page, row in rows if fold_of(page) != fold])
        blocks._model = lambda model=model: model  # type: ignore[assignment]
        for name, pages in sets.items():
            own = [page for page in pages if fold_of(page) == fold]
            if own:
                tried[name] += scores_of(f"fold {fold}, {name}", own, has_kinds=name == "WCXB")
    for name, scores in tried.items():
        print(f"{name}: {fmean(scores):.3f} of {len(scores)} pages")


if __name__ == "__main__":
    main()
