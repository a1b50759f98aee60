"""URLs for webs that a URL model never saw, and that model, for `benchmarks.focus`.

The URL model that ships was trained on the URLs that the generated webs are made of, so an ordering
that uses it does better there than on a new web. Here the labelled URLs are split by their
registered domains: one half makes the webs, the other half trains the model of their crawls. The
`mirror` webs have the halves the other way round: the prior of `focus` is learned there, so that it
never saw a host of the webs that are judged.
"""

import csv
import gzip
import subprocess
import sys
from pathlib import Path

from benchmarks.proxyweb import ROOT, URLS
from classifiers.datasets import domain_reader, stable_share

WEB_SHARE = 0.5
"""The share of the registered domains that makes the webs."""

SPLIT_SEED = 16

UNSEEN = "unseen"
MIRROR = "mirror"


def unseen_urls(folder: Path, half: str = UNSEEN) -> Path:
    """Return the table of the URLs that make the webs of a half; it is written once."""
    return _tables(folder)[half != UNSEEN]


def unseen_model(folder: Path, half: str = UNSEEN) -> Path:
    """Return the URL model that saw no registered domain of these webs; it is trained once."""
    path = folder / f"{half}-model.npz"
    if not path.exists():
        unfinished = folder / f"{half}-model-unfinished.npz"
        learned_from = _tables(folder)[half == UNSEEN]
        command = [sys.executable, "-m", "langfocus", "train", str(learned_from)]
        command += ["--no-evaluate", "--output", str(unfinished)]
        subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
        unfinished.rename(path)
    return path


def _tables(folder: Path) -> tuple[Path, Path]:
    """Return the tables of the URLs of the webs and of the other URLs."""
    paths = folder / "unseen-urls.tsv", folder / "other-urls.tsv"
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        _split(*paths)
    return paths


def _split(webs: Path, others: Path) -> None:
    domain = domain_reader()
    with (
        gzip.open(URLS, "rt", encoding="utf-8", newline="") as source,
        webs.open("w", encoding="utf-8", newline="") as first,
        others.open("w", encoding="utf-8", newline="") as second,
    ):
        rows = csv.DictReader(source, delimiter="\t", quoting=csv.QUOTE_NONE)
        header = "\t".join(rows.fieldnames or ()) + "\n"
        first.write(header)
        second.write(header)
        for row in rows:
            is_of_webs = stable_share(domain(row["url"]), SPLIT_SEED) < WEB_SHARE
            (first if is_of_webs else second).write("\t".join(row.values()) + "\n")
