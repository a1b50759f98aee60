"""Every experiment by its name, in the order in which they are carried out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from classifiers.lab.study.beyond import BEYOND
from classifiers.lab.study.comparisons import COMPARISONS
from classifiers.lab.study.experiments import TABLES
from classifiers.lab.study.few_features import few_features
from classifiers.lab.study.held_out import HeldOutStudy
from classifiers.lab.study.result import Experiment, Result
from classifiers.lab.study.svm_of_paper import svm_of_paper
from classifiers.lab.study.transfer import TRANSFER
from classifiers.lab.study.tree_top import tree
from classifiers.lab.study.validation import Study

EVERY: Final[Mapping[str, Experiment]] = {
    **TABLES,
    **COMPARISONS,
    "tree": tree,
    "few-features": few_features,
    "svm-perf": svm_of_paper,
    **BEYOND,
}


def carry_out(study: Study, names: Sequence[str]) -> Iterator[Result]:
    """Yield the result of each experiment, with the seconds it took after those before it.

    The experiments of `TRANSFER` are for a `HeldOutStudy`.
    """
    for name in names:
        start = time.monotonic()
        result = TRANSFER[name](study) if isinstance(study, HeldOutStudy) else EVERY[name](study)
        yield replace(result, seconds=time.monotonic() - start)
