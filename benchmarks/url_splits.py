"""F1 of the URL model on unseen URLs, for several ways to divide the data.

    python -m benchmarks.url_splits URLS.tsv.gz [--domains 0 1 2] [--random] [--output FILE]
        [--models FOLDER]

Trains the model as it ships on nine tenths of the URLs and measures it on the last tenth. A tenth
is one of the registered domains, one for each seed, or one of the URLs. The domains of seeds 0 to 2
were used while the model was developed. Those of seed 1000 were held out and used only for its last
two versions. Each run takes some minutes; results are JSON lines. `--models` keeps the models, for
`benchmarks.url_ceiling`.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from classifiers.datasets import LabelledUrl, open_dataset, split, stable_share
from classifiers.training.assessment import assess
from classifiers.training.urls import Options, fit, usable
from classifiers.urls import modelfile
from classifiers.urls.model import UrlModel

Rows = Sequence[LabelledUrl]


def parts(rows: Rows, seeds: Sequence[int], is_random: bool) -> Iterator[tuple[str, Rows, Rows]]:
    """Name, training rows and test rows of each way to divide them."""
    for seed in seeds:
        train, test = split(rows, seed=seed)
        yield f"domains {seed}", train, test
    if is_random:
        shares = [stable_share(row.url, 0, "random") for row in rows]
        train = [row for row, share in zip(rows, shares, strict=True) if share >= 0.1]
        test = [row for row, share in zip(rows, shares, strict=True) if share < 0.1]
        yield "random", train, test


def measure(name: str, train: Rows, test: Rows, models: Path | None = None) -> dict[str, Any]:
    start = time.monotonic()
    learned = fit(train, Options(jobs=2))
    seconds = time.monotonic() - start
    if models is not None:
        modelfile.write(learned, models / f"{name.replace(' ', '-')}.npz")
    model = UrlModel(learned)
    if {row.url for row in train} & {row.url for row in test}:
        raise RuntimeError("URLs of the test were trained on")
    return {
        "benchmark": "url_splits",
        "date": datetime.now(UTC).date().isoformat(),
        "split": name,
        "train": len(train),
        "seconds": round(seconds),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        **assess(model, test),
    }


def shown(result: dict[str, Any]) -> str:
    uncapped = result["uncapped"]
    five = {code: row["F1"] for code, row in result["five"]["languages"].items()}
    return (
        f"{result['split']}: F1 {result['five']['mean_f1']} {five}, all URLs"
        f" {uncapped['five']['mean_f1']}; generic {result['generic_domains']}, all URLs"
        f" {uncapped['generic_domains']}; by kind {result['by_kind']}, all URLs"
        f" {uncapped['by_kind']}; all languages {result['all']['mean_f1']};"
        f" {result['seconds']} s, {result['peak_gb']} GB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("urls", type=Path)
    parser.add_argument("--domains", type=int, nargs="*", default=[0, 1, 2], metavar="SEED")
    parser.add_argument("--random", action="store_true", help="a tenth of the URLs as well")
    parser.add_argument("--output", type=Path, help="append the JSON lines to this file")
    parser.add_argument("--models", type=Path, help="folder to keep the models in")
    args = parser.parse_args()
    rows = usable(open_dataset(args.urls))
    for name, train, test in parts(rows, args.domains, args.random):
        result = measure(name, train, test, args.models)
        print(json.dumps(result), flush=True)
        print(shown(result), file=sys.stderr, flush=True)
        if args.output:
            with args.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
