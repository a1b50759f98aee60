"""Learning of the initial weights of `focus` from crawls in other languages.

Crawls known webs in some languages and records the data from which each crawl learned: the features
of each page with a label, and the relevance of the page. Every crawl has its own weights, drawn
from one normal distribution. The EM algorithm estimates the distribution's mean and covariance from
all crawls (Laird and Ware 1982, "Random-effects models for longitudinal data", with a normal
approximation of each crawl's posterior). The distribution is the prior of the next crawl. `SPREAD`
is added to each variance, because other webs differ more from each other than these webs do.

All crawls begin with the shipped prior of frequent languages (`prior.json`). With `--joined` the
crawls become one half of the population of crawls, and those of that prior the other half. So webs
where the language is rare need no second crawl of the dense ones. The webs `lesson-graph-SEED`
(`benchmarks.rare_webs`) have small languages that no judged web has.

    python -m benchmarks.focus_prior --cache FOLDER --crawls mirror-plain-11:nl,pl
    python -m benchmarks.focus_prior --cache FOLDER --joined --crawls lesson-graph-11:cy,ca
"""

import argparse
import json
import pickle
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import numpy.typing as npt

from benchmarks.focus import KnownCrawl, Strategy
from benchmarks.focus_webs import open_known
from benchmarks.proxyweb import require
from benchmarks.rare_webs import RareWeb
from langfocus.crawler.strategies import makers
from langfocus.crawler.strategies.focus.belief import Belief, Numbers
from langfocus.crawler.strategies.focus.evidence import FEATURES
from langfocus.crawler.strategies.focus.prior import SHIPPED, Prior

Floats = npt.NDArray[np.float64]

PAGES = 1200
SPREAD = 0.05
ROUNDS = 15
FIRST_VARIANCE = 0.3


class Lesson(NamedTuple):
    """What one crawl learned from: features (n, k), and which of n pages were relevant."""

    crawl: str
    features: Floats
    relevant: Floats


def lessons(crawls: Sequence[str], folder: Path) -> Iterator[Lesson]:
    """Crawl, or read what an earlier call kept in `folder`."""
    for name, _, langs in (crawl.partition(":") for crawl in crawls):
        web = _web(name, folder)
        for lang in langs.split(","):
            path = folder / f"lesson-{name}-{lang}-{PAGES}-{len(FEATURES)}.pickle"
            if not path.exists():
                found = _learned(KnownCrawl(web, lang))
                path.write_bytes(pickle.dumps(Lesson(f"{name} {lang}", *found)))
            lesson: Lesson = pickle.loads(path.read_bytes())  # our own file
            print(f"{lesson.crawl}: {len(lesson.relevant)} pages", flush=True)
            yield lesson


def _web(name: str, folder: Path) -> Any:
    return RareWeb(name) if name.startswith("lesson-") else open_known(name, folder)


def _learned(crawl: KnownCrawl) -> tuple[Floats, Floats]:
    """Crawl with `focus`; return the features of the pages with a label, and their relevance."""
    first = Prior.shipped()
    rows: list[Floats] = []
    answers: list[bool] = []
    learn = Belief.learn

    def noting(belief: Belief, known: Numbers, *, is_relevant: bool) -> None:
        rows.append(belief.features([known])[0])
        answers.append(is_relevant)
        learn(belief, known, is_relevant=is_relevant)

    begins = mock.patch.object(makers, "prior_of", return_value=first)
    with begins, mock.patch.object(Belief, "learn", noting):
        crawl.course(Strategy("focus", "both-conservative"), PAGES)
    return np.array(rows), np.array(answers, np.float64)


def fit(lesson: Lesson, mean: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """Return the most probable weights of a crawl under a prior, and their covariance."""
    rows, relevant = lesson.features, lesson.relevant
    weights: Any = mean.copy()

    def loss(of: Floats) -> float:
        odds = rows @ of
        losses = np.logaddexp(0, odds) - relevant * odds
        return float(losses.sum() + (of - mean) @ precision @ (of - mean) / 2)

    for _ in range(30):
        share = 1 / (1 + np.exp(-np.clip(rows @ weights, -40, 40)))
        slope = rows.T @ (share - relevant) + precision @ (weights - mean)
        curve = (rows * (share * (1 - share))[:, None]).T @ rows + precision
        step, size = np.linalg.solve(curve, slope), 1.0
        while loss(weights - size * step) > loss(weights) and size > 1e-4:
            size /= 2
        weights = weights - size * step
        if np.abs(size * step).max() < 1e-7:
            break
    covariance: Floats = np.linalg.inv(curve)
    return weights, covariance


def estimate(crawls: Sequence[Lesson]) -> tuple[Floats, Floats]:
    """Return mean and covariance of the weights over crawls."""
    pooled = Lesson(
        "all",
        np.concatenate([each.features for each in crawls]),
        np.concatenate([each.relevant for each in crawls]),
    )
    k = len(FEATURES)
    mean: Any = fit(pooled, np.zeros(k), np.eye(k) / 10)[0]
    covariance: Any = np.eye(k) * FIRST_VARIANCE
    for _ in range(ROUNDS):
        own = [fit(each, mean, np.linalg.inv(covariance)) for each in crawls]
        weights = np.array([each for each, _ in own])
        mean = weights.mean(axis=0)
        between = (weights - mean).T @ (weights - mean)
        covariance = (between + sum(within for _, within in own)) / len(own)
    return mean, covariance


def joined(mean: Floats, covariance: Floats, other: Prior) -> tuple[Floats, Floats]:
    """Return mean and covariance of two populations of the same size, the other one a prior."""
    gap = (mean - np.array(other.mean)) / 2
    within = np.array(other.covariance) - np.eye(len(FEATURES)) * SPREAD
    return mean - gap, (covariance + within) / 2 + np.outer(gap, gap)


def main() -> None:
    """Write the prior."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--crawls", nargs="+", required=True, help="WEB:LANG,LANG")
    parser.add_argument("--joined", action="store_true", help="with the shipped prior")
    parser.add_argument("--file", type=Path, default=SHIPPED, help="to write")
    arguments = parser.parse_args()
    require()
    found = [
        each
        for each in lessons(arguments.crawls, arguments.cache)
        if 20 <= each.relevant.sum() < len(each.relevant)
    ]
    mean, covariance = estimate(found)
    earlier = json.loads(SHIPPED.read_text(encoding="utf-8"))["card"] if arguments.joined else None
    if earlier:
        mean, covariance = joined(mean, covariance, Prior.shipped())
    covariance = covariance + np.eye(len(FEATURES)) * SPREAD
    for name, weight, variance in zip(FEATURES, mean, covariance.diagonal(), strict=True):
        print(f"{name:42} {weight:8.3f} +- {variance**0.5:.3f}")
    card = {
        "made": time.strftime("%Y-%m-%d"),
        "with": "benchmarks/focus_prior.py",
        "crawls": [each.crawl for each in found],
        "pages": int(sum(len(each.relevant) for each in found)),
        "relevant": int(sum(each.relevant.sum() for each in found)),
        "spread": SPREAD,
    }
    if earlier:
        card["joined"] = earlier
    prior = {
        "card": card,
        "features": FEATURES,
        "strength": Prior.shipped().strength,
        "mean": [round(weight, 4) for weight in mean.tolist()],
        "covariance": [[round(value, 5) for value in row] for row in covariance.tolist()],
    }
    arguments.file.write_text(json.dumps(prior, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
