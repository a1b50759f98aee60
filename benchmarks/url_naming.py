"""How often the language that a URL is named is right, on domains that the model has not seen.

    python -m benchmarks.url_naming URLS.tsv.gz [--domains 2000] [--model FILE] [--output FILE]

Trains on nine tenths of the registered domains and asks at most three URLs of each domain of the
last tenth, with three priors: uniform, the default, and the Web's. `macro` is the mean over the
languages beside English, German, French, Spanish and Italian with ten domains or more in the test,
`small` over those with fewer. `ECE` is the expected calibration error, first where the languages
are as frequent as in the prior, then where every language counts the same: of all, of those of
`macro`, of those of `small`. `--model` takes a model that was trained on the other nine tenths of
the same domains. The rival is the answer before format 3: the largest decision value.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from classifiers.datasets import LabelledUrl, open_dataset, split
from classifiers.training import assessment
from classifiers.training.urls import Options, fit, usable
from classifiers.urls.model import UrlModel
from classifiers.urls.posteriors import Evidence


def of_scores_alone(model: UrlModel) -> UrlModel:
    """The same classifiers, where the largest decision value is named."""
    parameters = model.parameters
    return UrlModel(replace(parameters, evidence=Evidence.of_scores(parameters.languages)))


def figures(model: UrlModel, test: Sequence[LabelledUrl]) -> dict[str, Any]:
    uniform = assessment.naming(of_scores_alone(model), test)["uniform"]
    return {**assessment.naming(model, test), "largest score": uniform}


def shown(name: str, result: dict[str, Any]) -> str:
    kinds = ("of_prior", "", "of_macro", "of_small")
    errors = [result[f"reliability_{kind}".rstrip("_")]["error"] for kind in kinds]
    return (
        f"{name:14} macro of {result['languages_of_macro']} languages {result['macro']:6} small of"
        f" {result['languages_of_small']} {result['small']:6} five {result['five']:6} all URLs"
        f" {result['right']:6} ECE under the prior {errors[0]} all {errors[1]} macro {errors[2]}"
        f" small {errors[3]}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("urls", type=Path)
    parser.add_argument("--domains", type=int, default=2000, metavar="SEED")
    parser.add_argument("--model", type=Path, help="a model trained on the other nine tenths")
    parser.add_argument("--output", type=Path, help="append the JSON line to this file")
    args = parser.parse_args()
    train, test = split(usable(open_dataset(args.urls)), seed=args.domains)
    model = UrlModel.load(args.model) if args.model else UrlModel(fit(train, Options(jobs=2)))
    result = {
        "benchmark": "url_naming",
        "date": datetime.now(UTC).date().isoformat(),
        "split": f"domains {args.domains}",
        **figures(model, test),
    }
    print(json.dumps(result), flush=True)
    for name in ("largest score", *assessment.priors()):
        print(shown(name, result[name]), file=sys.stderr)
    if args.output:
        with args.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
