"""URLs a second of the URL model against scikit-learn's hashing and sparse product.

Answers the cost of scoring links before they enter the queue. The rival is what the model would
be without its own code: `HashingVectorizer` over the same n-gram lengths, then the product with
the coefficients of a `LinearSVC` for each language. Both run in this process, in turn, and the
figure is the ratio. One JSON line.

    python -m benchmarks.url_model [URLS.tsv.gz]
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.svm import LinearSVC

from classifiers.datasets import LabelledUrls
from classifiers.urls.model import UrlModel

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "urls" / "train.tsv.gz"
ROUNDS = 5
TOTAL = 20_000


def urls_of(path: Path) -> tuple[list[str], list[str]]:
    rows = list(LabelledUrls(path))[::25][:TOTAL]
    return [row.url for row in rows], [row.language for row in rows]


def speed(score: Callable[[list[str]], object], urls: list[str], size: int) -> float:
    """URLs a second in batches of a size, one pass."""
    batches = [urls[at : at + size] for at in range(0, len(urls) - size + 1, size)]
    start = time.perf_counter()
    for batch in batches:
        score(batch)
    return len(batches) * size / (time.perf_counter() - start)


def rival(urls: list[str], languages: list[str]) -> Callable[[list[str]], object]:
    """Hashing and product as scikit-learn does them, one column for each known language."""
    hashing = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 7), n_features=1 << 17, alternate_sign=False
    )
    keep = [at for at, code in enumerate(languages) if code in ("en", "de", "fr", "ru", "zh")][
        :3000
    ]
    svm = LinearSVC().fit(
        hashing.transform([urls[at] for at in keep]), [languages[at] for at in keep]
    )

    def score(batch: list[str]) -> object:
        return svm.decision_function(hashing.transform(batch))

    return score


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    urls, languages = urls_of(path)
    model = UrlModel.load()
    theirs = rival(urls, languages)
    contenders: dict[str, Callable[[list[str]], object]] = {
        "one_language": lambda batch: model.score(batch, "de"),
        "all_languages": model.scores,
        "scikit_learn": theirs,
    }
    result: dict[str, object] = {
        "benchmark": "url_model",
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "model": model.version,
        "languages": len(model.languages),
        "urls": len(urls),
    }
    for score in contenders.values():
        score(urls[:100])
    for size in (1000, 60):
        runs = {
            name: [
                speed(score, urls[: 3000 if name == "scikit_learn" else TOTAL], size)
                for _ in range(ROUNDS)
            ]
            for name, score in contenders.items()
        }
        for name, values in runs.items():
            result[f"{name}_per_s_batch_{size}"] = round(median(values))
        result[f"ratio_batch_{size}"] = round(
            median(runs["one_language"]) / median(runs["scikit_learn"]), 1
        )
        result[f"spread_batch_{size}"] = [
            round(min(runs["one_language"])),
            round(max(runs["one_language"])),
        ]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
