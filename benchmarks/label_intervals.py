"""How often the intervals from a person's labels hold the truth, on simulated runs.

    python -m benchmarks.label_intervals [--samples 1000] [--json FILE]

A run has 20,000 pages in seven strata (the identifier's answer and its confidence), and in each a
known number of pages in the target language. Samples are drawn as `langfocus sample` draws them,
labelled without a mistake, and estimated as `langfocus report --labels` does. A 95 % interval
should hold the true value in 95 of 100 samples. The rival is the interval of the textbook (Cochran
1977, 5.4: the stratified estimate and 1.96 standard errors), on the same samples. Prints a table.
"""

import argparse
import sys
from collections.abc import Mapping
from datetime import date
from math import sqrt
from pathlib import Path

import numpy as np

from crawler.report.files import json_text, write_whole
from crawler.report.label_estimate import Labelled, estimate_from_labels
from crawler.report.printer import WIDE, Printer
from crawler.report.provenance import provenance
from crawler.report.sampling import allocation
from crawler.report.strata import Answer, Stratum
from crawler.report.table import Table

TRUTH: Mapping[Stratum, tuple[int, int]] = {
    Stratum(Answer.TARGET, 0): (300, 150),
    Stratum(Answer.TARGET, 1): (1_500, 1_300),
    Stratum(Answer.TARGET, 2): (9_000, 8_900),
    Stratum(Answer.OTHER, 0): (700, 150),
    Stratum(Answer.OTHER, 1): (2_000, 90),
    Stratum(Answer.OTHER, 2): (6_000, 12),
    Stratum(Answer.NONE, 0): (500, 120),
}
"""Stratum -> its pages, and those of them in the target language."""

MODULES = (
    "benchmarks/label_intervals.py",
    "crawler/report/label_estimate.py",
    "crawler/report/sampling.py",
    "crawler/report/strata.py",
)
NUMBERS = (100, 200, 400, 800)
NAMES = ("harvest_rate", "precision", "recall", "relevant")


def truths() -> dict[str, float]:
    """Return the true value of each figure."""
    answered = [both for key, both in TRUTH.items() if key.answer is not Answer.NONE]
    target = [both for key, both in TRUTH.items() if key.answer is Answer.TARGET]
    relevant = sum(both[1] for both in TRUTH.values())
    return {
        "harvest_rate": sum(both[1] for both in answered) / sum(both[0] for both in answered),
        "precision": sum(both[1] for both in target) / sum(both[0] for both in target),
        "recall": sum(both[1] for both in target) / relevant,
        "relevant": relevant,
    }


def textbook(strata: Mapping[Stratum, Labelled]) -> tuple[float, float]:
    """Return the harvest rate's interval by Cochran 1977, (5.1) and (5.13)."""
    parts = [part for key, part in strata.items() if key.answer is not Answer.NONE]
    pages = sum(part.pages for part in parts)
    mean = sum(part.pages / pages * part.relevant / part.labelled for part in parts)
    variance = 0.0
    for part in parts:
        share = part.relevant / part.labelled
        rest = 1 - part.labelled / part.pages
        divisor = max(1, part.labelled - 1)
        variance += (part.pages / pages) ** 2 * rest * share * (1 - share) / divisor
    half = 1.96 * sqrt(variance)
    return mean - half, mean + half


def row(number: int, samples: int) -> tuple[str, ...]:
    """Return how often each interval held the truth with so many labels."""
    chance = np.random.default_rng(number)
    drawn = allocation({key: size for key, (size, _) in TRUTH.items()}, number)
    of = truths()
    held, held_by_textbook, halves = dict.fromkeys(NAMES, 0), 0, 0.0
    for sample in range(samples):
        strata = {
            key: Labelled(size, drawn[key], int(chance.hypergeometric(hit, size - hit, drawn[key])))
            for key, (size, hit) in TRUTH.items()
        }
        found = estimate_from_labels(strata, sample, draws=2_000)
        for name in NAMES:
            interval = getattr(found, name)
            held[name] += interval.low <= of[name] <= interval.high
        low, high = textbook(strata)
        held_by_textbook += low <= of["harvest_rate"] <= high
        assert found.harvest_rate is not None
        halves += (found.harvest_rate.high - found.harvest_rate.low) / 2 / samples
    shares = (f"{100 * held[name] / samples:.1f}" for name in NAMES)
    rival = f"{100 * held_by_textbook / samples:.1f}"
    return (str(sum(drawn.values())), *shares, rival, f"{100 * halves:.1f}")


def main() -> int:
    """Print the table and write the file."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    head = ("labels", "harvest rate", "precision", "recall", "pages", "textbook", "half width")
    table = Table(
        f"Percentage of {given.samples:,} samples whose 95 % interval holds the truth",
        head,
        [row(number, given.samples) for number in NUMBERS],
        notes=[
            "textbook: the harvest rate's interval by Cochran 1977, 5.4, on the same samples. half "
            "width: half of our interval of the harvest rate, in percentage points."
        ],
    )
    Printer(width=WIDE).table(table)
    if given.json:
        command = ["python", "-m", "benchmarks.label_intervals", *sys.argv[1:]]
        measured = provenance(command, [], date.today(), modules=MODULES)
        content = {"measured": measured, "tables": [table.as_json("label-intervals")]}
        print(write_whole(given.json, json_text(content)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
