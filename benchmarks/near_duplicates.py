"""Near-duplicates of a crawl against the exact Jaccard index of all pairs.

    python -m benchmarks.near_duplicates [ARCHIVE.warc.gz] [--pages 3000]

Reads the HTML answers of an archive in its order, extracts their main texts, and marks copies as an
export does. A page is a near-duplicate if an earlier one has a Jaccard index of at least 0.8 (runs
of three words). The truth comes from the exact index of every pair. Prints one JSON line: precision
and recall of the marks, their number inside one host and between hosts, and the processor time of
signing a text and finding its copies, in milliseconds for a page.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from fastwarc.warc import ArchiveIterator, WarcRecordType
from scipy import sparse

from classifiers.pages.text.words import units
from crawler.corpus.copies import THRESHOLD, originals, signature_of
from crawler.corpus.extraction import EXTRACTORS, main_text_of, make_extractor
from crawler.url import host_of, normalise
from crawler.visit import Download

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "docs.warc.gz"
_BLOCK = 500

Runs = npt.NDArray[np.int64]


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


def runs_of(words: list[str]) -> Runs:
    """Return the set of runs of three words as sorted numbers."""
    words = words + [""] * (3 - len(words))
    runs = {" ".join(words[at : at + 3]) for at in range(len(words) - 2)}
    return np.unique(np.array([hash(run) for run in runs], np.int64))


def marked(texts: list[list[str]]) -> tuple[list[int], float]:
    """Return the text of which each is marked as a copy, and the milliseconds for a text."""
    began = time.process_time()
    signatures = np.array([signature_of(text) for text in texts], np.uint32)
    found = originals(signatures, np.arange(len(texts), dtype=np.int64))
    spent = time.process_time() - began
    return [int(number) for number in found], 1000 * spent / len(texts)


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
    extract = make_extractor(EXTRACTORS[0])
    found_texts = [main_text_of(page.body, page.content_type, extract) for page in pages]
    texts = [units(" ".join(text.paragraphs)) for text in found_texts]
    best = true_indices([runs_of(text) for text in texts])
    found, milliseconds = marked(texts)
    is_copy = best >= THRESHOLD
    is_marked = np.array(found) != np.arange(len(found))
    hosts = [host_of(page.url) for page in pages]
    inside = sum(hosts[at] == hosts[of] for at, of in enumerate(found) if at != of)
    told = {
        "date": time.strftime("%Y-%m-%d"),
        "pages": len(pages),
        "copies": int(is_copy.sum()),
        "marked": int(is_marked.sum()),
        "precision": round(float((is_copy & is_marked).sum() / max(1, is_marked.sum())), 4),
        "recall": round(float((is_copy & is_marked).sum() / max(1, is_copy.sum())), 4),
        "inside_one_host": int(inside),
        "between_hosts": int(is_marked.sum() - inside),
        "wrong_indices": sorted(best[is_marked & ~is_copy].round(3).tolist())[:10],
        "missed_indices": sorted(best[is_copy & ~is_marked].round(3).tolist())[:10],
        "milliseconds_a_page": round(milliseconds, 2),
    }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
