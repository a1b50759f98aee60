"""URLs per second of the URL model against scikit-learn, fastText and py3langid on one core.

Measures the cost of scoring links before they enter the queue. All run in this process, pinned to
one core with one thread, in turn within each round, on new strings each time. The figures are URLs
per second of processor time, and the ratios of speeds within a round. `benchmarks/url_rivals.py`
describes the rivals. F1 is measured for langfocus and the rivals that were trained on the same
rows, on held-out domains (Baykan 2013, 3.3). Prints one JSON line, and a table on standard error.

    python -m benchmarks.url_model URLS.tsv.gz [--no-f1]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.url_rivals import Contestant
    from classifiers.datasets import LabelledUrl

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "urls" / "train.tsv.gz"
SIZES = (1000, 60)
N_URLS = 20_000
PASS_S = 0.25
"""Target seconds of one pass of a contestant; slower ones score fewer URLs."""
ROWS_WITHOUT_F1 = 5_000
PACKAGES = ("numpy", "numba", "scikit-learn", "fasttext-numpy2-wheel", "py3langid")
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
COMPARED = {
    "langfocus de": ("scikit-learn de", "fastText five", "py3langid five"),
    "langfocus five": ("scikit-learn five", "fastText five", "py3langid five"),
    "langfocus five of all": ("scikit-learn five", "fastText five", "py3langid five"),
    "langfocus all": ("fastText five", "py3langid all"),
    "langfocus de, one by one": ("fastText five, one by one", "py3langid five"),
}
"""Pairs of contestants: the speed of the first is divided by that of the second."""

Speeds = dict[str, dict[int, list[float]]]


def main() -> int:
    """Measure, and print the figures."""
    options = arguments()
    if not options.data.exists():
        print(f"no labelled URLs in {options.data}", file=sys.stderr)
        return 1
    os.environ |= ONE_THREAD  # numpy reads it when it is imported
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    result = facts(options)
    result |= contest(options)
    print(table(result), file=sys.stderr)
    print(json.dumps(result))
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", default=DATA, help="labelled URLs")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=40_000, help="URLs to train on")
    parser.add_argument(
        "--f1",
        action=argparse.BooleanOptionalAction,
        default=True,
        help=f"measure F1; without it {ROWS_WITHOUT_F1} URLs are trained on",
    )
    return parser.parse_args()


def facts(options: argparse.Namespace) -> dict[str, Any]:
    """The conditions that the figures depend on."""
    return {
        "benchmark": "url_model",
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit(),
        "versions": {"python": sys.version.split()[0]} | {name: version(name) for name in PACKAGES},
        "corpus": hashlib.sha256(options.data.read_bytes()).hexdigest()[:16],
        "seed": options.seed,
        "rounds": options.rounds,
    }


def commit() -> str:
    """The commit that is measured, with a + if the classifiers have changed since."""
    folder = Path(__file__).resolve().parents[1]
    name, changed = (
        subprocess.run(
            ["git", *command], cwd=folder, capture_output=True, text=True, check=False
        ).stdout.strip()
        for command in (("rev-parse", "--short", "HEAD"), ("status", "-s", "classifiers"))
    )
    return name + "+" if changed else name


def contest(options: argparse.Namespace) -> dict[str, Any]:
    """Speeds, their ratios, and F1."""
    from benchmarks.url_rivals import contestants
    from classifiers.urls.model import UrlModel

    learn, held_out, urls = read(options)
    found = list(contestants(learn, options.seed))
    speeds = measured(found, urls, options.rounds)
    model = UrlModel.load()
    return {
        "model": model.version,
        "languages": len(model.languages),
        "rows": {"trained_on": len(learn), "held_out": len(held_out), "scored": len(urls)},
        "urls_per_s": {
            name: {size: spread(values, 0) for size, values in of_sizes.items()}
            for name, of_sizes in speeds.items()
        },
        "ratios": ratios(speeds),
        "F1": {one.name: f1(one, held_out) for one in found if one.decide} if options.f1 else None,
    }


def read(
    options: argparse.Namespace,
) -> tuple[list[LabelledUrl], list[LabelledUrl], list[str]]:
    """Rows in the five languages to train on and to test, and URLs of any to score."""
    from classifiers.datasets import LabelledUrls, split
    from classifiers.training.examples import FIVE
    from classifiers.training.urls import capped, usable

    draw = random.Random(options.seed)
    train, test = split(usable(LabelledUrls(options.data)), seed=options.seed)
    urls = draw.sample([row.url for row in test], min(N_URLS, len(test)))
    learn, held_out = (
        [row for row in capped(part, 20) if row.language in FIVE] for part in (train, test)
    )
    n_rows = min(len(learn), options.rows if options.f1 else ROWS_WITHOUT_F1)
    return draw.sample(learn, n_rows), held_out, urls


def measured(found: list[Contestant], urls: list[str], rounds: int) -> Speeds:
    """URLs a second of each contestant and size of batch, one value for each round."""
    texts = {one.name: [one.prepare(url).encode("utf-8") for url in urls] for one in found}
    counts = {one.name: _count(one, texts[one.name]) for one in found}
    speeds: Speeds = {one.name: {size: [] for size in SIZES} for one in found}
    for _ in range(rounds):
        for size in SIZES:
            for one in found:
                some = texts[one.name][: counts[one.name] // size * size]
                speeds[one.name][size].append(speed(one, some, size))
    return speeds


def _count(one: Contestant, texts: list[bytes]) -> int:
    """The number of URLs in a pass of PASS_S seconds."""
    speed(one, texts[:60], 60)  # compiles and fills caches
    return min(len(texts), max(*SIZES, int(PASS_S * speed(one, texts[:1000], 500))))


def speed(one: Contestant, texts: list[bytes], size: int) -> float:
    """URLs per second in batches of new strings, one pass.

    Seconds are processor seconds of one thread, so the time of other processes does not count.
    """
    strings = [text.decode("utf-8") for text in texts]
    batches = [strings[at : at + size] for at in range(0, len(strings), size)]
    start = time.process_time()
    scored = [len(one.score(batch)) for batch in batches]
    seconds = time.process_time() - start
    if sum(scored) != len(texts):
        raise SystemExit(f"{one.name} answered for {sum(scored)} of {len(texts)} URLs")
    return len(texts) / seconds


def ratios(speeds: Speeds) -> dict[str, dict[int, dict[str, Any]]]:
    """The speed of langfocus divided by that of each rival, within a round."""
    return {
        f"{our} / {their}": {
            size: spread(
                [a / b for a, b in zip(speeds[our][size], speeds[their][size], strict=True)], 2
            )
            for size in SIZES
        }
        for our, rivals in COMPARED.items()
        if our in speeds
        for their in rivals
    }


def spread(values: list[float], digits: int) -> dict[str, Any]:
    low, middle, high = (round(how(values), digits or None) for how in (min, median, max))
    return {"value": middle, "spread": [low, high]}


def f1(one: Contestant, rows: list[LabelledUrl]) -> dict[str, Any]:
    """F1 in percent on rows: the mean of the five languages, and each."""
    from classifiers.training.assessment import table as measures
    from classifiers.training.examples import FIVE

    decide = one.decide
    if decide is None:
        raise ValueError(f"{one.name} decides nothing")
    found = measures(lambda urls, _: decide([one.prepare(url) for url in urls]), rows, FIVE)
    return {"mean": found["mean_f1"]} | {
        code: row["F1"] for code, row in found["languages"].items()
    }


def table(result: dict[str, Any]) -> str:
    """The figures as a table for people."""
    lines = [f"{'URLs/s':54}" + "".join(f"{size:>12}" for size in SIZES) + f"{'F1 de':>9}{'F1':>7}"]
    for name, of_sizes in result["urls_per_s"].items():
        found = (result["F1"] or {}).get(name, {})
        lines.append(
            f"{name:54}"
            + "".join(f"{of_sizes[size]['value']:12,}" for size in SIZES)
            + f"{found.get('de', ''):>9}{found.get('mean', ''):>7}"
        )
    lines.append("times as fast")
    for name, of_sizes in result["ratios"].items():
        cells = "".join(f"{of_sizes[size]['value']:12}" for size in SIZES)
        lines.append(f"{name:54}{cells}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
