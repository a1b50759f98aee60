"""Near-duplicates of a crawl against the exact Jaccard index of all pairs.

    python -m benchmarks.near_duplicates [ARCHIVE.warc.gz] [--pages 3000]

Reads the HTML answers of an archive in its order, extracts their main texts, and lets a new run
store them, as a crawl does. A page is a near-duplicate if an earlier one has a Jaccard index of at
least 0.8 (runs of three words). The truth comes from the exact index of every pair. Prints one JSON
line: precision and recall of the marks, their number inside one host and between hosts, and the
processor time of reading a text and finding its copies, in milliseconds for a page.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fastwarc.warc import ArchiveIterator, WarcRecordType
from scipy import sparse

from crawler.frontier.base import PAGE, Link, Record
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.outputs.extraction import make_extractor, paragraphs_of
from crawler.outputs.near_duplicates import THRESHOLD, Runs, runs_of
from crawler.outputs.text_keeper import TextKeeper
from crawler.outputs.words import units
from crawler.run import open_run
from crawler.url import host_of, normalise
from crawler.visit import Download

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "docs.warc.gz"
_BLOCK = 500


def pages_of(archive: Path, number: int) -> Iterator[Download]:
    """Yield the first HTML answers of an archive, each URL once."""
    seen = set()
    with archive.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
            url = normalise(record.headers["WARC-Target-URI"])
            kind = record.http_headers.get("Content-Type", "") or ""
            if url is None or url in seen or not kind.startswith("text/html"):
                continue
            if record.http_headers.status_code != 200:
                continue
            seen.add(url)
            yield Download(url, 200, record.reader.read(), kind)
            if len(seen) == number:
                return


def true_indices(sets: list[Runs]) -> np.ndarray:
    """Return for each text the highest exact index with an earlier one."""
    codes = {code: at for at, code in enumerate(np.unique(np.concatenate(sets)).tolist())}
    rows = np.repeat(np.arange(len(sets)), [len(runs) for runs in sets])
    columns = [codes[code] for runs in sets for code in runs.tolist()]
    ones = np.ones(len(columns), np.int32)
    matrix = sparse.csr_matrix((ones, (rows, columns)), shape=(len(sets), len(codes)))
    sizes = np.array([len(runs) for runs in sets], np.float64)
    best = np.zeros(len(sets))
    for start in range(0, len(sets), _BLOCK):
        both = (matrix[start : start + _BLOCK] @ matrix.T).toarray().astype(np.float64)
        index = both / np.maximum(sizes[start : start + _BLOCK, None] + sizes[None, :] - both, 1)
        index[np.arange(len(sets))[None, :] >= start + np.arange(len(index))[:, None]] = 0.0
        best[start : start + _BLOCK] = index.max(axis=1)
    return best


def marked(pages: list[Download], folder: Path) -> tuple[list[str | None], float]:
    """Return the URL of which each page is marked as a copy, and the milliseconds for a page."""
    run = open_run(folder, {"lang": "en", "seeds": []}, 0.0)
    frontier = SqliteFrontier(run.connection, FrontierRules(host_cap=0), now=0.0)
    keeper = TextKeeper(run.connection, make_extractor("resiliparse"), is_for_all=True)
    found: list[str | None] = []
    spent = 0.0
    for page in pages:
        frontier.seed([Link(page.url, 0.0)], 0.0)
        lease = frontier.next(0.0)
        if lease is None:
            raise RuntimeError(f"{page.url} was not leased")
        record = Record(PAGE, 0.0, 200, True, language=None, parser="lexbor")
        began = time.process_time()
        text = keeper.text_of(lease, record, page, "")
        spent += time.process_time() - began
        found.append(text.copy_url if text else None)
        frontier.admit(lease, Record(PAGE, 0.0, 200, True, parser="lexbor", text=text), now=0.0)
    run.connection.close()
    return found, 1000 * spent / len(pages)


def main() -> int:
    """Print the JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("archive", type=Path, nargs="?", default=SHARED)
    parser.add_argument("--pages", type=int, default=3000)
    options = parser.parse_args()
    if not options.archive.exists():
        print(f"skipped: {options.archive} is not here", file=sys.stderr)
        return 0
    pages = list(pages_of(options.archive, options.pages))
    extract = make_extractor("resiliparse")
    texts = [paragraphs_of(page.body, page.content_type, extract) for page in pages]
    best = true_indices([runs_of(units(" ".join(parts))) for parts in texts])
    with tempfile.TemporaryDirectory() as folder:
        found, milliseconds = marked(pages, Path(folder))
    is_copy = best >= THRESHOLD
    is_marked = np.array([url is not None for url in found])
    hosts = [host_of(page.url) for page in pages]
    inside = sum(hosts[at] == host_of(url) for at, url in enumerate(found) if url)
    told = {
        "date": time.strftime("%Y-%m-%d"),
        "pages": len(pages),
        "copies": int(is_copy.sum()),
        "marked": int(is_marked.sum()),
        "precision": round(float((is_copy & is_marked).sum() / max(1, is_marked.sum())), 4),
        "recall": round(float((is_copy & is_marked).sum() / max(1, is_copy.sum())), 4),
        "inside_one_host": int(inside),
        "between_hosts": int(is_marked.sum() - inside),
        "missed_indices": sorted(best[is_copy & ~is_marked].round(3).tolist())[:10],
        "milliseconds_a_page": round(milliseconds, 2),
    }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
